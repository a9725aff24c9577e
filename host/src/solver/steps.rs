//! The steps of all methods.

use cuda_std::Real;

use super::cg::CgSteps;
use super::gmres::GmresSteps;

/// A backend on which every method runs.
pub trait Steps<T: Real>: CgSteps<T> + GmresSteps<T> {}
impl<T: Real, B: CgSteps<T> + GmresSteps<T>> Steps<T> for B {}

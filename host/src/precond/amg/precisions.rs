//! Number types of a hierarchy: computed in one, applied in the same or in another.

use cuda_std::Real;

use super::cast::Cast;
use crate::precond::ilu::TriangularSolves;
use crate::setup::{Algebra, Formats};

/// Backends that compute a hierarchy in T and apply it in S, which may be the same.
pub trait Precisions<T: Real, S: Real>:
    Algebra<T> + Formats<T, S> + Cast<T, S> + Cast<S, T> + TriangularSolves<S>
{
}

impl<T: Real, S: Real, B: Algebra<T> + Formats<T, S> + Cast<T, S> + Cast<S, T> + TriangularSolves<S>>
    Precisions<T, S> for B
{
}

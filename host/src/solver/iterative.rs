//! What every iterative method does.

use cuda_std::Real;

use super::outcome::{Outcome, Stop};
use crate::backend::Backend;
use crate::error::Result;
use crate::precond::Preconditioner;

/// Called with the iterations done and the newest residual norm, every now and then.
pub type OnProgress<'a> = &'a mut dyn FnMut(u32, f64);

/// A method with its workspace.
pub trait IterativeSolver<T: Real, B: Backend<T>> {
    /// Solves `A x = b` starting from the given `x`.
    #[allow(clippy::too_many_arguments)]
    fn solve(
        &mut self,
        backend: &B,
        a: &B::Matrix,
        m: &mut dyn Preconditioner<T, B>,
        b: &B::Vector,
        x: &mut B::Vector,
        stop: &Stop,
        on_progress: OnProgress,
    ) -> Result<Outcome>;
}

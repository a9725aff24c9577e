//! What methods do that solve for several right-hand sides at once.

use cuda_std::Real;

use super::iterative::{OnProgress, Parts};
use super::outcome::Outcome;
use crate::backend::{Backend, Columns, Memory, OneColumn};
use crate::error::Result;
use crate::precond::Preconditioner;

/// A method for several right-hand sides, with its workspace.
pub trait ColumnsSolver<T: Real, B: Backend<T> + OneColumn>: Send {
    /// Solves `A x = b` for each column, starting from the given `x`, each until its residual norm is at most
    /// its [threshold](Columns::set_thresholds), or for `limit` iterations.
    #[allow(clippy::too_many_arguments)]
    fn solve_columns(
        &mut self,
        backend: &Columns<B>,
        a: &B::Matrix,
        m: &mut dyn Preconditioner<T, Columns<B>>,
        b: &<Columns<B> as Memory<T>>::Vector,
        x: &mut <Columns<B> as Memory<T>>::Vector,
        limit: u32,
        on_progress: OnProgress,
    ) -> Result<Vec<Outcome>>;

    /// Bytes that so many iterations must move for a column, whose product has its share of the matrix.
    fn column_traffic(&self, iterations: u32, parts: &Parts) -> u64;
}

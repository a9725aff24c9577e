//! Several right-hand sides at once: what a system holds for them.

use cuda_std::Real;

use super::Method;
use super::setup::Computes;
use crate::backend::{ColumnVector, Columns, Memory};
use crate::error::Result;
use crate::precond::{ForColumns, Preconditioner};
use crate::solver::{ColumnsSolver, Observer, Outcome, Parts};

/// A method for a number of right-hand sides, with its preconditioner and its workspace.
pub(super) struct ManySolver<T: Real, B: Computes<T>> {
    n: usize,
    columns: Columns<B>,
    m: ForColumns<T, B>,
    solver: Box<dyn ColumnsSolver<T, B>>,
}

type Vector<T, B> = ColumnVector<<B as Memory<T>>::Vector>;

impl<T: Real, B: Computes<T>> ManySolver<T, B> {
    /// For `n` unknowns and so many right-hand sides; `None` where the method or `m` is for one only.
    pub fn new(
        method: Method,
        backend: &B,
        n: usize,
        m: &dyn Preconditioner<T, B>,
        count: usize,
    ) -> Result<Option<Self>> {
        let columns = Columns::new(backend, count)?;
        let Some(m) = m.for_columns(&columns)? else { return Ok(None) };
        let solver = method.make_for_columns(&columns, n, &*m)?;
        Ok(solver.map(|solver| ManySolver { n, columns, m, solver }))
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.columns.count()
    }

    /// Solves from 0, each down to its threshold.
    pub fn solve(
        &mut self,
        a: &B::Matrix,
        b: &Vector<T, B>,
        thresholds: Vec<f64>,
        limit: u32,
        observer: &mut dyn Observer,
    ) -> Result<(Vector<T, B>, Vec<Outcome>)> {
        self.columns.set_thresholds(thresholds);
        let mut x = Memory::<T>::zeros(&self.columns, self.n)?;
        let outcomes =
            self.solver.solve_columns(&self.columns, a, &mut *self.m, b, &mut x, limit, observer)?;
        Ok((x, outcomes))
    }

    /// Bytes that so many iterations must move for a column.
    pub fn traffic(&self, iterations: u32, parts: &Parts) -> u64 {
        self.solver.column_traffic(iterations, parts)
    }
}

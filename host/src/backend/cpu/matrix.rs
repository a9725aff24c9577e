//! The matrices of the CPU backend.

use std::ops::Range;
use std::sync::Arc;

use cuda_std::Real;

use super::chunk::CHUNK;
use super::diagonal_runs::DiagonalRuns;
use super::entry::Bf16;
use crate::backend::Operator;
use crate::matrix::rounding::{Pivot, Rounding};
use crate::matrix::{AnyMatrix, Csr, SLICE};

/// A matrix of the [`Cpu`](super::Cpu) backend: any format, but a CRS matrix with diagonals or with short
/// rows as diagonal runs, which take two thirds of its time or less.
#[derive(Debug)]
pub struct CpuMatrix<T> {
    layout: Layout<T>,
    /// Why this format, where it was chosen here and is none of the backend's own.
    reason: Option<String>,
}

#[derive(Debug)]
enum Layout<T> {
    AsItWas(Arc<AnyMatrix<T>>),
    DiagonalRuns(DiagonalRuns<T>),
    Bf16Runs(DiagonalRuns<T, Bf16>),
}

impl<T> From<Layout<T>> for CpuMatrix<T> {
    fn from(layout: Layout<T>) -> Self {
        CpuMatrix { layout, reason: None }
    }
}

/// Without diagonal runs, which take more time to make than a few products save.
impl<T> From<AnyMatrix<T>> for CpuMatrix<T> {
    fn from(matrix: AnyMatrix<T>) -> Self {
        Layout::AsItWas(Arc::new(matrix)).into()
    }
}

impl<T: Real> CpuMatrix<T> {
    pub(super) fn new(matrix: &Arc<AnyMatrix<T>>) -> Self {
        match &**matrix {
            AnyMatrix::Crs(a) => Self::in_runs(a, || matrix.clone()),
            _ => Layout::AsItWas(matrix.clone()).into(),
        }
    }

    /// `a` with its values rounded.
    pub(super) fn rounded<S: Real>(a: &Arc<Csr<S>>) -> Self {
        Self::in_runs(a, || Arc::new(AnyMatrix::Crs(Csr::in_type(a))))
    }

    /// The rounded matrix. Where pivots are on the diagonal its diagonal runs have entries of 16 bits, which
    /// is all that rounding leaves of them.
    pub(super) fn compressed<S: Real>(rounding: &Rounding<S>, pivot: Pivot) -> Self {
        let a = rounding.matrix();
        let row_values = |rows: Range<usize>, values: &mut [T]| rounding.values(rows, values);
        let stored = match pivot {
            Pivot::Diagonal => DiagonalRuns::from_csr(a, row_values).map(Layout::Bf16Runs),
            Pivot::Largest => DiagonalRuns::from_csr(a, row_values).map(Layout::DiagonalRuns),
        };
        let otherwise = || Arc::new(AnyMatrix::Crs(Arc::new(a.with_rows(row_values))));
        stored.unwrap_or_else(|| Layout::AsItWas(otherwise())).into()
    }

    /// DiagonalRuns of `a` with its values rounded, made without a copy in between.
    fn in_runs<S: Real>(a: &Csr<S>, otherwise: impl FnOnce() -> Arc<AnyMatrix<T>>) -> Self {
        let runs = DiagonalRuns::from_csr(a, |rows, values| a.round_rows(rows, values));
        runs.map_or_else(|| Layout::AsItWas(otherwise()), Layout::DiagonalRuns).into()
    }

    /// In a format that was chosen for this reason, unless it is one of the backend's own.
    pub(super) fn chosen(self, reason: String) -> Self {
        CpuMatrix { reason: Some(reason), ..self }
    }

    /// Rows that a task handles.
    pub(super) fn chunk(&self) -> usize {
        CHUNK.next_multiple_of(self.window())
    }

    /// Ranges of rows for [`multiply`](Self::multiply) begin at multiples of this.
    fn window(&self) -> usize {
        match &self.layout {
            Layout::AsItWas(matrix) => matrix.stored_matrix().window(),
            Layout::DiagonalRuns(_) | Layout::Bf16Runs(_) => SLICE,
        }
    }

    /// `y = A x` for the rows from `first` on.
    pub(super) fn multiply(&self, x: &[T], first: usize, y: &mut [T]) {
        debug_assert!(x.len() == self.n_cols() && first.is_multiple_of(self.window()));
        match &self.layout {
            Layout::AsItWas(matrix) => matrix.stored_matrix().multiply(x, first, y),
            Layout::DiagonalRuns(runs) => runs.multiply(x, first, y),
            Layout::Bf16Runs(runs) => runs.multiply(x, first, y),
        }
    }
}

impl<T: Real> Operator for CpuMatrix<T> {
    fn n_rows(&self) -> usize {
        match &self.layout {
            Layout::AsItWas(a) => a.n_rows(),
            Layout::DiagonalRuns(a) => a.n_rows(),
            Layout::Bf16Runs(a) => a.n_rows(),
        }
    }
    fn n_cols(&self) -> usize {
        match &self.layout {
            Layout::AsItWas(a) => a.n_cols(),
            Layout::DiagonalRuns(a) => a.n_cols(),
            Layout::Bf16Runs(a) => a.n_cols(),
        }
    }
    fn format(&self) -> String {
        match &self.layout {
            Layout::AsItWas(a) => a.format().to_string(),
            Layout::DiagonalRuns(_) => "diagonal runs".into(),
            Layout::Bf16Runs(_) => "diagonal runs, bf16".into(),
        }
    }
    fn sigma(&self) -> usize {
        match &self.layout {
            Layout::AsItWas(a) => a.sigma(),
            Layout::DiagonalRuns(_) | Layout::Bf16Runs(_) => 1,
        }
    }
    fn reason(&self) -> Option<&str> {
        match &self.layout {
            Layout::AsItWas(_) => self.reason.as_deref(),
            Layout::DiagonalRuns(a) => Some(a.reason()),
            Layout::Bf16Runs(a) => Some(a.reason()),
        }
    }
    fn stored(&self) -> u64 {
        match &self.layout {
            Layout::AsItWas(a) => a.stored(),
            Layout::DiagonalRuns(a) => a.stored() as u64,
            Layout::Bf16Runs(a) => a.stored() as u64,
        }
    }
    fn bytes(&self) -> u64 {
        match &self.layout {
            Layout::AsItWas(a) => a.bytes(),
            Layout::DiagonalRuns(a) => a.bytes() as u64,
            Layout::Bf16Runs(a) => a.bytes() as u64,
        }
    }
    fn traffic(&self) -> u64 {
        match &self.layout {
            Layout::AsItWas(a) => a.traffic(),
            Layout::DiagonalRuns(_) | Layout::Bf16Runs(_) => self.bytes(),
        }
    }
    fn entries_in_crs(&self) -> Option<usize> {
        match &self.layout {
            Layout::AsItWas(_) => None,
            Layout::DiagonalRuns(_) | Layout::Bf16Runs(_) => {
                Some(self.bytes() as usize / (size_of::<u32>() + size_of::<T>()))
            }
        }
    }
}

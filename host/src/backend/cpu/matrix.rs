//! The matrices of the CPU backend.

use std::ops::Range;
use std::sync::Arc;

use cuda_std::Real;

use super::chunk::CHUNK;
use super::entry::Half;
use super::stripes::Stripes;
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
    Striped(Stripes<T>),
    Halved(Stripes<T, Half>),
}

impl<T> From<Layout<T>> for CpuMatrix<T> {
    fn from(layout: Layout<T>) -> Self {
        CpuMatrix { layout, reason: None }
    }
}

/// Without stripes, which take more time to make than a few products save.
impl<T> From<AnyMatrix<T>> for CpuMatrix<T> {
    fn from(matrix: AnyMatrix<T>) -> Self {
        Layout::AsItWas(Arc::new(matrix)).into()
    }
}

impl<T: Real> CpuMatrix<T> {
    pub(super) fn new(matrix: &Arc<AnyMatrix<T>>) -> Self {
        match &**matrix {
            AnyMatrix::Crs(a) => Self::striped(a, || matrix.clone()),
            _ => Layout::AsItWas(matrix.clone()).into(),
        }
    }

    /// `a` with its values rounded.
    pub(super) fn rounded<S: Real>(a: &Arc<Csr<S>>) -> Self {
        Self::striped(a, || Arc::new(AnyMatrix::Crs(Csr::in_type(a))))
    }

    /// The rounded matrix. Where pivots are on the diagonal its stripes have entries of 16 bits, which is all
    /// that rounding leaves of them.
    pub(super) fn compressed<S: Real>(rounding: &Rounding<S>, pivot: Pivot) -> Self {
        let a = rounding.matrix();
        let row_values = |rows: Range<usize>, values: &mut [T]| rounding.values(rows, values);
        let stored = match pivot {
            Pivot::Diagonal => Stripes::from_csr(a, row_values).map(Layout::Halved),
            Pivot::Largest => Stripes::from_csr(a, row_values).map(Layout::Striped),
        };
        let otherwise = || Arc::new(AnyMatrix::Crs(Arc::new(a.with_rows(row_values))));
        stored.unwrap_or_else(|| Layout::AsItWas(otherwise())).into()
    }

    /// Stripes of `a` with its values rounded, made without a copy in between.
    fn striped<S: Real>(a: &Csr<S>, otherwise: impl FnOnce() -> Arc<AnyMatrix<T>>) -> Self {
        let stripes = Stripes::from_csr(a, |rows, values| a.round_rows(rows, values));
        stripes.map_or_else(|| Layout::AsItWas(otherwise()), Layout::Striped).into()
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
            Layout::Striped(_) | Layout::Halved(_) => SLICE,
        }
    }

    /// `y = A x` for the rows from `first` on.
    pub(super) fn multiply(&self, x: &[T], first: usize, y: &mut [T]) {
        debug_assert!(x.len() == self.n_cols() && first.is_multiple_of(self.window()));
        match &self.layout {
            Layout::AsItWas(matrix) => matrix.stored_matrix().multiply(x, first, y),
            Layout::Striped(stripes) => stripes.multiply(x, first, y),
            Layout::Halved(stripes) => stripes.multiply(x, first, y),
        }
    }
}

impl<T: Real> Operator for CpuMatrix<T> {
    fn n_rows(&self) -> usize {
        match &self.layout {
            Layout::AsItWas(a) => a.n_rows(),
            Layout::Striped(a) => a.n_rows(),
            Layout::Halved(a) => a.n_rows(),
        }
    }
    fn n_cols(&self) -> usize {
        match &self.layout {
            Layout::AsItWas(a) => a.n_cols(),
            Layout::Striped(a) => a.n_cols(),
            Layout::Halved(a) => a.n_cols(),
        }
    }
    fn format(&self) -> String {
        match &self.layout {
            Layout::AsItWas(a) => a.format().to_string(),
            Layout::Striped(_) => "diagonal runs".into(),
            Layout::Halved(_) => "diagonal runs, bf16".into(),
        }
    }
    fn sigma(&self) -> usize {
        match &self.layout {
            Layout::AsItWas(a) => a.sigma(),
            Layout::Striped(_) | Layout::Halved(_) => 1,
        }
    }
    fn reason(&self) -> Option<&str> {
        match &self.layout {
            Layout::AsItWas(_) => self.reason.as_deref(),
            Layout::Striped(a) => Some(a.reason()),
            Layout::Halved(a) => Some(a.reason()),
        }
    }
    fn stored(&self) -> u64 {
        match &self.layout {
            Layout::AsItWas(a) => a.stored(),
            Layout::Striped(a) => a.stored() as u64,
            Layout::Halved(a) => a.stored() as u64,
        }
    }
    fn bytes(&self) -> u64 {
        match &self.layout {
            Layout::AsItWas(a) => a.bytes(),
            Layout::Striped(a) => a.bytes() as u64,
            Layout::Halved(a) => a.bytes() as u64,
        }
    }
    fn traffic(&self) -> u64 {
        match &self.layout {
            Layout::AsItWas(a) => a.traffic(),
            Layout::Striped(_) | Layout::Halved(_) => self.bytes(),
        }
    }
    fn entries_in_crs(&self) -> Option<usize> {
        match &self.layout {
            Layout::AsItWas(_) => None,
            Layout::Striped(_) | Layout::Halved(_) => {
                Some(self.bytes() as usize / (size_of::<u32>() + size_of::<T>()))
            }
        }
    }
}

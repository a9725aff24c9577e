//! Plain sequential loops: what every other backend is compared with.

use std::sync::Arc;

use cuda_std::Real;

use super::host::{HostBackend, HostGuard};
use crate::matrix::rounding::{Pivot, Rounding};
use crate::matrix::{AnyMatrix, Csr};

mod products;
mod vectors;

pub(crate) use vectors::dot;

/// The sequential backend.
#[derive(Debug, Clone, Default)]
pub struct Reference {
    pub(crate) guard: HostGuard,
}

impl Reference {
    /// The sequential backend.
    pub fn new() -> Self {
        Self::default()
    }

    /// The matrix in CRS with its values rounded.
    pub(crate) fn rounded<S: Real, T: Real>(&self, a: &Arc<Csr<S>>) -> Arc<AnyMatrix<T>> {
        Arc::new(AnyMatrix::Crs(Csr::in_type(a)))
    }

    /// The matrix; why its format was chosen is not kept.
    pub(crate) fn chosen<T: Real>(&self, matrix: Arc<AnyMatrix<T>>, _: String) -> Arc<AnyMatrix<T>> {
        matrix
    }

    /// The rounded matrix in CRS.
    pub(crate) fn compressed<S: Real, T: Real>(&self, rounding: &Rounding<S>, _: Pivot) -> Arc<AnyMatrix<T>> {
        let rounded = rounding.matrix().with_rows(|rows, values| rounding.values(rows, values));
        Arc::new(AnyMatrix::Crs(Arc::new(rounded)))
    }
}

impl HostBackend for Reference {
    fn guard(&self) -> &HostGuard {
        &self.guard
    }
    fn with_guard(&self, guard: HostGuard) -> Self {
        Reference { guard }
    }
    fn zeros_in_memory<T: Real>(&self, n: usize) -> Vec<T> {
        vec![T::ZERO; n]
    }
}

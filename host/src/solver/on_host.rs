//! The matrix as a method may see it on the host.

use std::sync::Arc;

use cuda_std::Real;

use crate::comm::Inside;
use crate::matrix::Csr;

/// A matrix on the host, which may be made there when somebody asks for it: most methods do not.
pub(crate) trait OnHost<T: Real> {
    fn n_rows(&self) -> usize;
    fn csr(&self) -> Arc<Csr<T>>;
}

impl<T: Real> OnHost<T> for Arc<Csr<T>> {
    fn n_rows(&self) -> usize {
        Csr::n_rows(self)
    }
    fn csr(&self) -> Arc<Csr<T>> {
        self.clone()
    }
}

impl<T: Real> OnHost<T> for Inside {
    fn n_rows(&self) -> usize {
        Inside::n_rows(self)
    }
    fn csr(&self) -> Arc<Csr<T>> {
        Csr::in_type(Inside::csr(self))
    }
}

//! The diagonal as a preconditioner.

use cuda_std::Real;

use super::{Preconditioner, Shape};
use crate::backend::Backend;
use crate::error::Result;
use crate::matrix::{Csr, check};

/// `M = D^-1` with `D = diag(A)` (Rosenberger and Haase 2017, section 2.1, one iteration with omega = 1).
pub struct Jacobi<V> {
    inverse_diagonal: V,
}

impl<V> Jacobi<V> {
    /// Inverts the diagonal. [`crate::Error::Diagonal`] names the first row where it cannot be inverted.
    pub fn setup<T: Real, B: Backend<T, Vector = V>>(backend: &B, a: &Csr<T>) -> Result<Self> {
        check::check_diagonal(a, "jacobi")?;
        let inverse: Vec<T> = a.diagonal().into_iter().map(|d| T::ONE / d).collect();
        Ok(Jacobi { inverse_diagonal: backend.vector(&inverse)? })
    }

    /// `1 / diag(A)`.
    pub fn inverse_diagonal(&self) -> &V {
        &self.inverse_diagonal
    }
}

impl<T: Real, B: Backend<T>> Preconditioner<T, B> for Jacobi<B::Vector> {
    fn apply(&mut self, backend: &B, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        backend.scale_rows(T::ONE, &self.inverse_diagonal, r, z)
    }
    fn shape(&self) -> Shape<'_, B::Vector> {
        Shape::Diagonal(&self.inverse_diagonal)
    }
}

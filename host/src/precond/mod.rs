//! Preconditioners: `z = M r` with `M` close to the inverse of A.

use cuda_std::Real;

use crate::backend::Backend;
use crate::error::Result;

mod jacobi;

pub use jacobi::Jacobi;

/// What a solver may fuse into its own passes instead of calling [`Preconditioner::apply`].
pub enum Shape<'a, V> {
    /// M = I.
    Identity,
    /// M = diag(d).
    Diagonal(&'a V),
    /// Anything else.
    General,
}

/// A linear operator `M`, set up for one matrix on one backend.
pub trait Preconditioner<T: Real, B: Backend<T>> {
    /// `z = M r`, queued on `backend`, which may be guarded. Allocates nothing.
    fn apply(&mut self, backend: &B, r: &B::Vector, z: &mut B::Vector) -> Result<()>;

    /// Whether `M` is simple enough to be fused.
    fn shape(&self) -> Shape<'_, B::Vector> {
        Shape::General
    }
}

/// No preconditioner: `z = r`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Identity;

impl<T: Real, B: Backend<T>> Preconditioner<T, B> for Identity {
    fn apply(&mut self, backend: &B, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        backend.copy(r, z)
    }
    fn shape(&self) -> Shape<'_, B::Vector> {
        Shape::Identity
    }
}

//! Preconditioners: `z = M r` with `M` close to the inverse of A.

use cuda_std::Real;

use crate::backend::{Backend, Slot};
use crate::error::Result;

pub mod amg;
mod jacobi;
mod projected;

pub use amg::Amg;
pub use jacobi::{BlockJacobi, Jacobi, SingularBlocks};
pub use projected::{NullSpace, Projected};

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
    /// `z = M r`, queued on `backend`, which may be guarded.
    ///
    /// It allocates nothing. Solvers record two calls and replay them ([`Backend::record`]), so that either every
    /// other call queues the same primitives, or each waits for a scalar: such calls are never replayed.
    fn apply(&mut self, backend: &B, r: &B::Vector, z: &mut B::Vector) -> Result<()>;

    /// `z = M r` and `s[out] = (r, z)`, with which CG goes on.
    fn apply_dot(
        &mut self,
        backend: &B,
        r: &B::Vector,
        z: &mut B::Vector,
        s: &B::Scalars,
        out: Slot,
    ) -> Result<()> {
        self.apply(backend, r, z)?;
        backend.dot(r, z, s, out)
    }

    /// Whether `M` is simple enough to be fused.
    fn shape(&self) -> Shape<'_, B::Vector> {
        Shape::General
    }

    /// Whether `M` is the same operator in every application. A K-cycle depends on its `r`, and then CG takes the
    /// flexible beta.
    fn is_fixed(&self) -> bool {
        true
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

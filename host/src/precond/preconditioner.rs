//! What every preconditioner does.

use std::sync::Arc;

use cuda_std::Real;

use super::{amg, ilu};
use crate::backend::{Backend, Coef, Columns, OneColumn};
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::Matrices;
use crate::solver::cg::{CgStep, CgSteps};
use crate::solver::direct;

/// What a solver may fuse into its own passes instead of calling [`Preconditioner::apply`].
pub enum Shape<'a, V> {
    /// M = I.
    Identity,
    /// M = diag(d).
    Diagonal(&'a V),
    /// Anything else.
    General,
}

/// Bytes that an application must move through memory, whatever the caches keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// By [`Preconditioner::apply`].
    pub apply: u64,
    /// Within an iteration of CG, beyond what that moves without a preconditioner.
    pub in_cg: u64,
}

impl Traffic {
    /// Of what is applied by a pass of its own.
    pub(crate) fn unfused(apply: u64, vector: u64) -> Traffic {
        // r and z are read once more for (r, z), and z in place of r for p.
        Traffic { apply, in_cg: apply + 2 * vector }
    }
}

/// A preconditioner of several right-hand sides.
pub type ForColumns<T, B> = Box<dyn Preconditioner<T, Columns<B>>>;

/// A linear operator `M`, set up for one matrix on one backend.
pub trait Preconditioner<T: Real, B: Backend<T>>: Send {
    /// `z = M r`, queued on `backend`, which may be guarded.
    ///
    /// It allocates nothing. Solvers record two calls and replay them
    /// ([`Monitoring::record`](crate::backend::Monitoring::record)), so that either every other call queues
    /// the same primitives, or each waits for a scalar: such calls are never replayed.
    fn apply(&mut self, backend: &B, r: &B::Vector, z: &mut B::Vector) -> Result<()>;

    /// What CG does after its product: [`CgSteps::cg_step`], `z = M r`, `(r, z)`, and `p = z + beta p`, where
    /// beta is `(r, z) / (r_old, z_old)`, or that of flexible CG (Notay 2000). What z holds then is the
    /// preconditioner's affair. As [`Preconditioner::apply`] it allocates nothing, and every other call
    /// queues the same.
    fn cg_step(&mut self, backend: &B, step: CgStep<T, B>, z: &mut B::Vector) -> Result<()>
    where
        B: CgSteps<T>,
    {
        cg_step_by_primitives(self, backend, step, z)
    }

    /// Whether `M` is simple enough to be fused.
    fn shape(&self) -> Shape<'_, B::Vector> {
        Shape::General
    }

    /// Whether `M` is the same operator in every application. A K-cycle depends on its `r`, and then CG takes
    /// the flexible beta.
    fn is_fixed(&self) -> bool {
        true
    }

    /// What an application moves, `vector` the bytes of a vector. Unless it is said, the least: r and z.
    fn traffic(&self, vector: u64) -> Traffic {
        Traffic::unfused(2 * vector, vector)
    }

    /// What was set up, where that is a hierarchy.
    fn hierarchy(&self) -> Option<&amg::Info> {
        None
    }

    /// What was factorised, where it is an incomplete factorisation.
    fn factors(&self) -> Option<&ilu::Info> {
        None
    }

    /// What was factorised, where it is a factorisation.
    fn factorisation(&self) -> Option<direct::Info> {
        None
    }

    /// The same for several right-hand sides at once, with what it holds shared; `None` where that is not
    /// there.
    fn for_columns(&self, _columns: &Columns<B>) -> Result<Option<ForColumns<T, B>>>
    where
        B: OneColumn,
    {
        Ok(None)
    }

    /// Takes the values of `a`, another matrix of the same pattern for which the same preconditioner can be
    /// made, and which may be where the backend computes already. `false` where it cannot, and is to be set
    /// up again.
    fn update_values(&mut self, _backend: &B, _a: &Arc<Csr<T>>, _there: Option<&B::Csr>) -> Result<bool>
    where
        B: Matrices<T>,
    {
        Ok(false)
    }
}

/// [`Preconditioner::cg_step`] of an `m` that has no faster way.
pub(crate) fn cg_step_by_primitives<T: Real, B: CgSteps<T>, M: Preconditioner<T, B> + ?Sized>(
    m: &mut M,
    backend: &B,
    mut step: CgStep<T, B>,
    z: &mut B::Vector,
) -> Result<()> {
    backend.cg_step(&mut step, None)?;
    let CgStep { s, rho, p_ap, p, ap, r, out, scratch, .. } = step;
    m.apply(backend, r, z)?;
    backend.dot(r, z, s, out)?;
    let beta = if m.is_fixed() {
        Coef::ratio(out, rho)
    } else {
        // p stays A-orthogonal to the one before it.
        backend.dot(z, ap, s, scratch)?;
        Coef::ratio(scratch, p_ap).negated()
    };
    backend.direction(s, None, z, beta, p)
}

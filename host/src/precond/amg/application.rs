//! A cycle as a preconditioner: from T to the number type of the hierarchy and back.

use cuda_std::Real;

use super::cast::Cast;
use super::cycle::Multigrid;
use crate::backend::{Coef, Memory};
use crate::error::Result;
use crate::solver::cg::CgStep;

/// `z = M r`.
pub fn apply<T: Real, S: Real, B: Cast<T, S> + Cast<S, T>>(
    multigrid: &mut Multigrid<S, B>,
    backend: &B,
    r: &<B as Memory<T>>::Vector,
    z: &mut <B as Memory<T>>::Vector,
) -> Result<()> {
    match multigrid.first_sweep_and_vectors() {
        (Some((weight, d)), v) => {
            Cast::<T, S>::cast_scaled(backend, r, weight, d, &mut v.b, &mut v.x)?;
        }
        (None, v) => Cast::<T, S>::cast(backend, r, &mut v.b)?,
    }
    multigrid.cycle(backend)?;
    Cast::<S, T>::cast(backend, multigrid.correction(), z)
}

/// Whether M is the same operator every time: of two levels a K-cycle is a V-cycle.
pub fn is_fixed<S: Real, B: crate::backend::Backend<S>>(multigrid: &Multigrid<S, B>) -> bool {
    multigrid.levels.iter().all(|level| level.flexible.is_none())
}

/// What CG does after its product, with an M that [is fixed](is_fixed). r enters the hierarchy as it is
/// computed, and p and (r, z) take z from there: no pass for a change of the type.
pub fn cg_step<T: Real, S: Real, B: Cast<T, S> + Cast<S, T>>(
    multigrid: &mut Multigrid<S, B>,
    backend: &B,
    mut step: CgStep<T, B>,
) -> Result<()> {
    let (scale, v) = multigrid.first_sweep_and_vectors();
    Cast::<T, S>::cg_step_and_cast(backend, &mut step, scale, &mut v.b, &mut v.x)?;
    multigrid.cycle(backend)?;
    let z = multigrid.correction();
    Cast::<S, T>::cast_dot(backend, step.r, z, step.s, step.out)?;
    Cast::<S, T>::cast_direction(backend, step.s, z, Coef::ratio(step.out, step.rho), step.p)
}

//! Between the number types of the solver and of the hierarchy.

use cuda_std::Real;

use crate::backend::{Backend, Coef, Memory, Slot};
use crate::error::Result;
use crate::solver::cg::CgStep;

mod columns;
mod device;
mod distributed;
mod host;

/// Vectors of T that are rounded to S, by themselves or as part of a pass that is made anyway.
///
/// [`Error::Length`](crate::Error::Length) where lengths do not fit, or there is no such slot.
pub trait Cast<T: Real, S: Real>: Backend<T> + Backend<S> {
    /// `y = x`, rounded to S.
    fn cast(&self, x: &<Self as Memory<T>>::Vector, y: &mut <Self as Memory<S>>::Vector) -> Result<()>;
    /// `y = x`, rounded to S, and `z = omega d .* y`: the way into a hierarchy with the first sweep from
    /// zero.
    fn cast_scaled(
        &self,
        x: &<Self as Memory<T>>::Vector,
        omega: S,
        d: &<Self as Memory<S>>::Vector,
        y: &mut <Self as Memory<S>>::Vector,
        z: &mut <Self as Memory<S>>::Vector,
    ) -> Result<()>;
    /// [`CgSteps::cg_step`](crate::solver::cg::CgSteps::cg_step) without d, and with the new r
    /// [`Cast::cast_scaled`] by `(omega, d)`, or [`Cast::cast`] without them.
    #[allow(clippy::type_complexity)]
    fn cg_step_and_cast(
        &self,
        step: &mut CgStep<T, Self>,
        scale: Option<(S, &<Self as Memory<S>>::Vector)>,
        y: &mut <Self as Memory<S>>::Vector,
        z: &mut <Self as Memory<S>>::Vector,
    ) -> Result<()>;
    /// `s[out] = (r, z)`, z rounded to S.
    fn cast_dot(
        &self,
        r: &<Self as Memory<S>>::Vector,
        z: &<Self as Memory<T>>::Vector,
        s: &<Self as Memory<S>>::Scalars,
        out: Slot,
    ) -> Result<()>;
    /// [`Vectors::direction`](crate::backend::Vectors::direction) without d, z rounded to S.
    fn cast_direction(
        &self,
        s: &<Self as Memory<S>>::Scalars,
        z: &<Self as Memory<T>>::Vector,
        beta: Coef,
        p: &mut <Self as Memory<S>>::Vector,
    ) -> Result<()>;
}

//! [`Cast`] of parts.

use cuda_std::Real;

use super::Cast;
use crate::backend::distributed::{Borders, Distributed};
use crate::backend::{Coef, Memory, Slot};
use crate::error::Result;
use crate::solver::cg::CgStep;

impl<T: Real, S: Real, B: Cast<T, S> + Borders<T> + Borders<S>> Cast<T, S> for Distributed<B> {
    fn cast(&self, x: &<B as Memory<T>>::Vector, y: &mut <B as Memory<S>>::Vector) -> Result<()> {
        Cast::<T, S>::cast(self.inner(), x, y)
    }
    fn cast_scaled(
        &self,
        x: &<B as Memory<T>>::Vector,
        omega: S,
        d: &<B as Memory<S>>::Vector,
        y: &mut <B as Memory<S>>::Vector,
        z: &mut <B as Memory<S>>::Vector,
    ) -> Result<()> {
        Cast::<T, S>::cast_scaled(self.inner(), x, omega, d, y, z)
    }
    fn cg_step_and_cast(
        &self,
        step: &mut CgStep<T, Self>,
        scale: Option<(S, &<B as Memory<S>>::Vector)>,
        y: &mut <B as Memory<S>>::Vector,
        z: &mut <B as Memory<S>>::Vector,
    ) -> Result<()> {
        self.step_of_parts(step, |inner, part| Cast::<T, S>::cg_step_and_cast(inner, part, scale, y, z))
    }
    fn cast_dot(
        &self,
        r: &<B as Memory<S>>::Vector,
        z: &<B as Memory<T>>::Vector,
        s: &<B as Memory<S>>::Scalars,
        out: Slot,
    ) -> Result<()> {
        Cast::<T, S>::cast_dot(self.inner(), r, z, s, out)?;
        self.sum_over_ranks::<S>(s, out, 1)
    }
    fn cast_direction(
        &self,
        s: &<B as Memory<S>>::Scalars,
        z: &<B as Memory<T>>::Vector,
        beta: Coef,
        p: &mut <B as Memory<S>>::Vector,
    ) -> Result<()> {
        Cast::<T, S>::cast_direction(self.inner(), s, z, beta, p)
    }
}

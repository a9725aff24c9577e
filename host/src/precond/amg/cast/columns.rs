//! [`Cast`] of columns: one after the other.

use cuda_std::Real;

use super::Cast;
use crate::backend::{Coef, Columns, Memory, Slot};
use crate::error::Result;
use crate::solver::cg::{CgStep, column_of};

impl<T: Real, S: Real, B: Cast<T, S>> Cast<T, S> for Columns<B> {
    fn cast(&self, x: &<Self as Memory<T>>::Vector, y: &mut <Self as Memory<S>>::Vector) -> Result<()> {
        self.each(|(c, g)| g.cast(x.column(c), &mut y.columns_mut()[c]))
    }
    fn cast_scaled(
        &self,
        x: &<Self as Memory<T>>::Vector,
        omega: S,
        d: &<Self as Memory<S>>::Vector,
        y: &mut <Self as Memory<S>>::Vector,
        z: &mut <Self as Memory<S>>::Vector,
    ) -> Result<()> {
        self.each(|(c, g)| {
            g.cast_scaled(x.column(c), omega, d.column(c), &mut y.columns_mut()[c], &mut z.columns_mut()[c])
        })
    }
    fn cg_step_and_cast(
        &self,
        step: &mut CgStep<T, Self>,
        scale: Option<(S, &<Self as Memory<S>>::Vector)>,
        y: &mut <Self as Memory<S>>::Vector,
        z: &mut <Self as Memory<S>>::Vector,
    ) -> Result<()> {
        self.each(|(c, g)| {
            let scale = scale.map(|(omega, d)| (omega, d.column(c)));
            let (y, z) = (&mut y.columns_mut()[c], &mut z.columns_mut()[c]);
            g.cg_step_and_cast(&mut column_of(step, c), scale, y, z)
        })
    }
    fn cast_dot(
        &self,
        r: &<Self as Memory<S>>::Vector,
        z: &<Self as Memory<T>>::Vector,
        s: &<Self as Memory<S>>::Scalars,
        out: Slot,
    ) -> Result<()> {
        self.each(|(c, g)| g.cast_dot(r.column(c), z.column(c), &s.0[c], out))
    }
    fn cast_direction(
        &self,
        s: &<Self as Memory<S>>::Scalars,
        z: &<Self as Memory<T>>::Vector,
        beta: Coef,
        p: &mut <Self as Memory<S>>::Vector,
    ) -> Result<()> {
        self.each(|(c, g)| g.cast_direction(&s.0[c], z.column(c), beta, &mut p.columns_mut()[c]))
    }
}

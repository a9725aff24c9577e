//! [`Cast`] on the host.

use crate::parallel::*;
use cuda_std::Real;

use super::Cast;
use crate::backend::cpu::Cpu;
use crate::backend::memory::check_lengths;
use crate::backend::reference::Reference;
use crate::backend::{Coef, Length, Memory, Slot, Vectors, check_slots};
use crate::error::Result;
use crate::solver::cg::{CgStep, CgSteps};

macro_rules! casts_of_the_host {
    ($($backend:ty),*) => {$(
        impl<T: Real, S: Real> Cast<T, S> for $backend {
            fn cast(&self, x: &Vec<T>, y: &mut Vec<S>) -> Result<()> {
                check_lengths("cast", x.len(), &[("y", y.len())])?;
                if !self.guard.stopped() {
                    let each = y.par_iter_mut().with_min_len(1 << 14).zip(x.par_iter());
                    each.for_each(|(y, &x)| *y = S::from_f64(x.to_f64()));
                }
                Ok(())
            }
            fn cast_scaled(&self, x: &Vec<T>, omega: S, d: &Vec<S>, y: &mut Vec<S>, z: &mut Vec<S>) -> Result<()> {
                self.cast(x, y)?;
                self.scale_rows(omega, d, y, z)
            }
            fn cg_step_and_cast(
                &self,
                step: &mut CgStep<T, $backend>,
                scale: Option<(S, &Vec<S>)>,
                y: &mut Vec<S>,
                z: &mut Vec<S>,
            ) -> Result<()> {
                self.cg_step(step, None)?;
                let r = &*step.r;
                match scale {
                    Some((omega, d)) => self.cast_scaled(r, omega, d, y, z),
                    None => self.cast(r, y),
                }
            }
            fn cast_dot(
                &self,
                r: &Vec<S>,
                z: &Vec<T>,
                s: &<$backend as Memory<S>>::Scalars,
                out: Slot,
            ) -> Result<()> {
                check_lengths("cast_dot", r.len(), &[("z", z.len())])?;
                check_slots("cast_dot", s.length(), out, 1)?;
                if !self.guard.stopped() {
                    s.set(out, self.dot_of(r, z));
                }
                Ok(())
            }
            fn cast_direction(
                &self,
                s: &<$backend as Memory<S>>::Scalars,
                z: &Vec<T>,
                beta: Coef,
                p: &mut Vec<S>,
            ) -> Result<()> {
                check_lengths("cast_direction", p.len(), &[("z", z.len())])?;
                if let Some([beta]) = self.guard.values(s, [beta])? {
                    self.direction_of(z, beta, p);
                }
                Ok(())
            }
        }
    )*};
}

casts_of_the_host!(Cpu, Reference);

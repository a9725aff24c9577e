//! [`LanczosSteps`] on the CPU.

use cuda_std::Real;

use super::{LanczosStep, LanczosSteps};
use crate::backend::cpu::{CHUNK, Cpu, dot, scaled, total};
use crate::backend::host::{HostBackend, HostScalars};
use crate::backend::reference::Reference;
use crate::backend::{Coef, Length};
use crate::error::Result;
use crate::parallel::*;

impl<T: Real> LanczosSteps<T> for Reference {}

impl<T: Real> LanczosSteps<T> for Cpu {
    fn lanczos_step(&self, s: &HostScalars<T>, step: LanczosStep<Vec<T>>) -> Result<()> {
        // Chunks of whole blocks.
        let chunk = CHUNK.next_multiple_of(step.check(s.length())?);
        let LanczosStep { update, d, r, z, out } = step;
        let n = r.len();
        let (a, ap) = update.map_or((Coef::ZERO, None), |(a, ap)| (a, Some(&ap[..])));
        let Some([a]) = self.guard().values(s, [a])? else { return Ok(()) };
        let of_chunk = |(c, (r, z)): (usize, (&mut [T], &mut [T]))| {
            if let Some(ap) = ap {
                r.iter_mut().zip(&ap[c * chunk..]).for_each(|(r, &ap)| *r += a * ap);
            }
            scaled(T::ONE, d, n, c * chunk, r, z);
            [dot(r, z)]
        };
        let partials: Vec<[T; 1]> = self.install(|| {
            r.par_chunks_mut(chunk).zip(z.par_chunks_mut(chunk)).enumerate().map(of_chunk).collect()
        });
        let [sum] = total(&partials);
        s.set(out, sum);
        Ok(())
    }
}

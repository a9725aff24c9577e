//! [`LanczosSteps`] on the CPU.

use cuda_std::Real;

use super::LanczosSteps;
use crate::backend::cpu::{CHUNK, Cpu, dot, scaled, total};
use crate::backend::host::{HostBackend, HostScalars};
use crate::backend::memory::{check_diagonal, check_lengths};
use crate::backend::reference::Reference;
use crate::backend::{Coef, Length, Slot, check_slots};
use crate::error::Result;
use crate::parallel::*;

impl<T: Real> LanczosSteps<T> for Reference {}

impl<T: Real> LanczosSteps<T> for Cpu {
    fn lanczos_step(
        &self,
        s: &HostScalars<T>,
        step: Option<(Coef, &Vec<T>)>,
        d: &Vec<T>,
        r: &mut Vec<T>,
        z: &mut Vec<T>,
        out: Slot,
    ) -> Result<()> {
        let n = r.len();
        let (a, ap) = step.map_or((Coef::ZERO, None), |(a, ap)| (a, Some(&ap[..])));
        check_lengths("lanczos_step", n, &[("z", z.len()), ("A p", ap.map_or(n, <[T]>::len))])?;
        check_slots("lanczos_step", s.length(), out, 1)?;
        // Chunks of whole blocks.
        let chunk = CHUNK.next_multiple_of(check_diagonal("lanczos_step", n, d.len())?);
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

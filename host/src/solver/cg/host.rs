//! The step of CG on the host.

use crate::parallel::*;
use cuda_std::Real;

use super::steps::{CgStep, CgSteps};
use crate::backend::cpu::{CHUNK, Cpu, dot, total};
use crate::backend::host::{HostBackend, HostMonitor};
use crate::backend::reference::Reference;
use crate::backend::status;
use crate::error::Result;

/// `alpha`, or `None` after stopping the monitor because a quadratic form is not positive.
fn alpha_of<T: Real>(rho: T, p_ap: T, monitor: &HostMonitor) -> Option<T> {
    if !rho.is_finite() || !p_ap.is_finite() {
        monitor.raise(status::NOT_FINITE);
    } else if rho <= T::ZERO {
        monitor.raise(status::INDEFINITE_PRECONDITIONER);
    } else if p_ap <= T::ZERO {
        monitor.raise(status::INDEFINITE_OPERATOR);
    } else {
        return Some(rho / p_ap);
    }
    None
}

impl<T: Real> CgSteps<T> for Reference {
    fn cg_step(&self, step: &mut CgStep<T, Self>, d: Option<&Vec<T>>) -> Result<()> {
        step.check(d)?;
        if self.stopped() {
            return Ok(());
        }
        let CgStep { s, p, ap, x, r, out, monitor, .. } = step;
        let Some(alpha) = alpha_of(s.get(step.rho), s.get(step.p_ap), monitor) else { return Ok(()) };
        let mut rho = T::ZERO;
        let mut square = T::ZERO;
        for i in 0..x.len() {
            x[i] += alpha * p[i];
            r[i] -= alpha * ap[i];
            rho += r[i] * d.map_or(r[i], |d| d[i] * r[i]);
            square += r[i] * r[i];
        }
        s.set(*out, rho);
        s.set(out.offset(1), square);
        monitor.observe(square.to_f64().sqrt());
        Ok(())
    }
}

impl<T: Real> CgSteps<T> for Cpu {
    fn cg_step(&self, step: &mut CgStep<T, Self>, d: Option<&Vec<T>>) -> Result<()> {
        step.check(d)?;
        if self.stopped() {
            return Ok(());
        }
        let CgStep { s, p, ap, x, r, out, monitor, .. } = step;
        let (p, ap) = (&**p, *ap);
        let Some(alpha) = alpha_of(s.get(step.rho), s.get(step.p_ap), monitor) else { return Ok(()) };
        let partials: Vec<[T; 2]> = self.install(|| {
            let chunks = x.par_chunks_mut(CHUNK).zip(r.par_chunks_mut(CHUNK)).enumerate();
            chunks
                .map(|(c, (x, r))| {
                    let rows = c * CHUNK..c * CHUNK + x.len();
                    for (x, &p) in x.iter_mut().zip(&p[rows.clone()]) {
                        *x += alpha * p;
                    }
                    for (r, &ap) in r.iter_mut().zip(&ap[rows.clone()]) {
                        *r -= alpha * ap;
                    }
                    let square = dot(r, r);
                    [d.map_or(square, |d| dot3(r, &d[rows])), square]
                })
                .collect()
        });
        let [rho, square] = total(&partials);
        s.set(*out, rho);
        s.set(out.offset(1), square);
        monitor.observe(square.to_f64().sqrt());
        Ok(())
    }
}

/// `(r, d .* r)`.
fn dot3<T: Real>(r: &[T], d: &[T]) -> T {
    const LANES: usize = 8;
    let mut sums = [T::ZERO; LANES];
    let (r_chunks, d_chunks) = (r.chunks_exact(LANES), d.chunks_exact(LANES));
    let rest: T = r_chunks.remainder().iter().zip(d_chunks.remainder()).map(|(&r, &d)| r * (d * r)).sum();
    for (r, d) in r_chunks.zip(d_chunks) {
        for k in 0..LANES {
            sums[k] += r[k] * (d[k] * r[k]);
        }
    }
    sums.into_iter().sum::<T>() + rest
}

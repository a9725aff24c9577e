//! [`Cast`] on a device.

use cuda_std::Real;
use gpu_kernels::krylov::{self, Entry};
use gpu_kernels::reduce;
use gpu_kernels::setup::convert::{round, round_scaled};

use super::Cast;
use crate::backend::gpu::{DeviceScalars, DeviceVector, Gpu, Work, coefficient, pointer_or_null};
use crate::backend::memory::{check_diagonal, check_lengths};
use crate::backend::{Coef, Slot, Vectors, check_slots};
use crate::error::Result;
use crate::solver::cg::CgStep;

impl<T: Real, S: Real> Cast<T, S> for Gpu {
    fn cast(&self, x: &DeviceVector<T>, y: &mut DeviceVector<S>) -> Result<()> {
        check_lengths("cast", x.len, &[("y", y.len)])?;
        let (n, guard) = (x.len as u64, self.guard());
        let work = Work::on_both::<T, S>(x.len, 1, 1);
        // SAFETY: the lengths are checked above.
        unsafe { self.launch(work, &round { n, x: x.ptr(), y: y.ptr_mut(), guard }) }
    }
    fn cast_scaled(
        &self,
        x: &DeviceVector<T>,
        omega: S,
        d: &DeviceVector<S>,
        y: &mut DeviceVector<S>,
        z: &mut DeviceVector<S>,
    ) -> Result<()> {
        check_lengths("cast_scaled", x.len, &[("y", y.len), ("z", z.len)])?;
        if check_diagonal("cast_scaled", x.len, d.len)? > 1 {
            self.cast(x, y)?;
            return self.scale_rows(omega, d, y, z);
        }
        let (n, guard) = (x.len as u64, self.guard());
        let (y, z) = (y.ptr_mut(), z.ptr_mut());
        let work = Work::on_both::<T, S>(x.len, 1, 3);
        // SAFETY: the lengths are checked above.
        unsafe { self.launch(work, &round_scaled { n, x: x.ptr(), omega, d: d.ptr(), y, z, guard }) }
    }
    fn cg_step_and_cast(
        &self,
        step: &mut CgStep<T, Gpu>,
        scale: Option<(S, &DeviceVector<S>)>,
        y: &mut DeviceVector<S>,
        z: &mut DeviceVector<S>,
    ) -> Result<()> {
        let n = step.x.len();
        check_lengths("cg_step_and_cast", n, &[("y", y.len), ("z", z.len)])?;
        // Blocks on the diagonal take a pass of their own.
        let diagonal = scale.filter(|(_, d)| d.len == n);
        let entry = Entry {
            omega: diagonal.map_or(S::ZERO, |(omega, _)| omega),
            d: pointer_or_null(diagonal.map(|(_, d)| d)),
            y: y.ptr_mut(),
            z: z.ptr_mut(),
        };
        let bytes = size_of::<S>() * n * if diagonal.is_some() { 3 } else { 1 };
        self.cg_step_into(step, None, entry, bytes)?;
        match scale {
            Some((omega, d)) if diagonal.is_none() => self.scale_rows(omega, d, y, z),
            _ => Ok(()),
        }
    }
    fn cast_dot(
        &self,
        r: &DeviceVector<S>,
        z: &DeviceVector<T>,
        s: &DeviceScalars<S>,
        out: Slot,
    ) -> Result<()> {
        check_lengths("cast_dot", r.len, &[("z", z.len)])?;
        check_slots("cast_dot", s.len(), out, 1)?;
        let (n, reduction, guard) = (r.len as u64, self.reduction(s, out), self.guard());
        let kernel = reduce::dot { n, x: r.ptr(), y: z.ptr(), reduction, guard };
        // SAFETY: the lengths are checked above.
        unsafe { self.launch_resident(Work::on_both::<T, S>(r.len, 1, 1), &kernel) }
    }
    fn cast_direction(
        &self,
        s: &DeviceScalars<S>,
        z: &DeviceVector<T>,
        beta: Coef,
        p: &mut DeviceVector<S>,
    ) -> Result<()> {
        check_lengths("cast_direction", p.len, &[("z", z.len)])?;
        let (d, beta, guard) = (std::ptr::null(), coefficient(s, beta)?, self.guard());
        let kernel = krylov::direction { n: p.len as u64, d, z: z.ptr(), beta, p: p.ptr_mut(), guard };
        // SAFETY: the lengths are checked above.
        unsafe { self.launch(Work::on_both::<T, S>(p.len, 1, 2), &kernel) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::backend::{Memory, Monitoring};
    use crate::launch::sim::Sim;

    #[test]
    fn vectors_that_are_too_short_are_refused_and_slots_that_are_not_there() {
        let gpu = Gpu::new(Arc::new(Sim::strict())).unwrap();
        let x: DeviceVector<f64> = gpu.zeros(300).unwrap();
        let mut long: DeviceVector<f32> = gpu.zeros(300).unwrap();
        let mut short: DeviceVector<f32> = gpu.zeros(299).unwrap();
        let d: DeviceVector<f32> = gpu.zeros(300).unwrap();
        let s = Memory::<f32>::scalars(&gpu, 2).unwrap();
        let refusals = [
            gpu.cast(&x, &mut short),
            gpu.cast_scaled(&x, 0.5, &d, &mut long, &mut short),
            gpu.cast_scaled(&x, 0.5, &d, &mut short, &mut long),
            gpu.cast_dot(&short, &x, &s, Slot(0)),
            gpu.cast_dot(&long, &x, &s, Slot(2)),
            gpu.cast_dot(&long, &x, &s, Slot(usize::MAX)),
            gpu.cast_direction(&s, &x, Coef::constant(0.5), &mut short),
        ];
        for (k, refused) in refusals.into_iter().enumerate() {
            assert!(matches!(refused, Err(crate::Error::Length { .. })), "{k}: {refused:?}");
        }
    }

    #[test]
    fn rounding_obeys_the_guard() {
        let gpu = Gpu::new(Arc::new(Sim::strict())).unwrap();
        let hx: Vec<f64> = (0..300).map(|i| (0.1 * i as f64).exp()).collect();
        let rounded: Vec<f32> = hx.iter().map(|&x| x as f32).collect();
        let x = gpu.vector(&hx).unwrap();
        let mut y: DeviceVector<f32> = gpu.zeros(300).unwrap();
        let mut wide: DeviceVector<f64> = gpu.zeros(300).unwrap();

        let monitor = Monitoring::<f64>::monitor(&gpu, 10, f64::MAX).unwrap();
        let guarded = Monitoring::<f64>::guarded(&gpu, &monitor);
        let scalars = Memory::<f64>::scalars(&gpu, 1).unwrap();
        gpu.observe(&scalars, Slot(0), &monitor).unwrap();
        guarded.cast(&x, &mut y).unwrap();
        assert_eq!(y.to_host().unwrap(), [0.0; 300]);

        gpu.cast(&x, &mut y).unwrap();
        assert_eq!(y.to_host().unwrap(), rounded);
        gpu.cast(&y, &mut wide).unwrap();
        assert_eq!(wide.to_host().unwrap(), rounded.into_iter().map(f64::from).collect::<Vec<_>>());
    }
}

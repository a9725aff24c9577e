//! [`LanczosSteps`] on a device.

use cuda_std::Real;
use gpu_kernels::krylov::lanczos_step;

use super::LanczosSteps;
use crate::backend::gpu::{DeviceScalars, DeviceVector, Gpu, Work, block_of, coefficient, constant};
use crate::backend::memory::{check_diagonal, check_lengths};
use crate::backend::{Coef, Slot, check_slots};
use crate::error::Result;

impl<T: Real> LanczosSteps<T> for Gpu {
    fn lanczos_step(
        &self,
        s: &DeviceScalars<T>,
        step: Option<(Coef, &DeviceVector<T>)>,
        d: &DeviceVector<T>,
        r: &mut DeviceVector<T>,
        z: &mut DeviceVector<T>,
        out: Slot,
    ) -> Result<()> {
        match block_of(d, r) {
            2 => self.lanczos_step_of::<T, 2>(s, step, d, r, z, out),
            3 => self.lanczos_step_of::<T, 3>(s, step, d, r, z, out),
            _ => self.lanczos_step_of::<T, 1>(s, step, d, r, z, out),
        }
    }
}

impl Gpu {
    /// Of nodes with B unknowns.
    #[track_caller]
    fn lanczos_step_of<T: Real, const B: usize>(
        &self,
        s: &DeviceScalars<T>,
        step: Option<(Coef, &DeviceVector<T>)>,
        d: &DeviceVector<T>,
        r: &mut DeviceVector<T>,
        z: &mut DeviceVector<T>,
        out: Slot,
    ) -> Result<()> {
        let n = r.len;
        let ap = step.map_or(n, |(_, ap)| ap.len);
        check_lengths("lanczos_step", n, &[("z", z.len), ("A p", ap)])?;
        check_diagonal("lanczos_step", n, d.len)?;
        check_slots("lanczos_step", s.len, out, 1)?;
        let (a, ap) = match step {
            Some((a, ap)) => (coefficient(s, a)?, ap.ptr()),
            None => (constant(0.0), std::ptr::null()),
        };
        let kernel = lanczos_step::<T, B> {
            n: (n / B) as u64,
            a,
            ap,
            d: d.ptr(),
            r: r.ptr_mut(),
            z: z.ptr_mut(),
            reduction: self.reduction(s, out),
            guard: self.guard(),
        };
        let passes = if step.is_some() { 4 } else { 2 } + B;
        // SAFETY: the lengths and slots are checked above, and vectors live until what is queued is done.
        unsafe { self.launch_resident(Work::moving(n / B, (passes * size_of::<T>() * n) as u64), &kernel) }
    }
}

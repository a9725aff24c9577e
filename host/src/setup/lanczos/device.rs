//! [`LanczosSteps`] on a device.

use cuda_std::Real;
use gpu_kernels::krylov::lanczos_step;

use super::{LanczosStep, LanczosSteps};
use crate::backend::gpu::{DeviceScalars, DeviceVector, Gpu, Work, block_of, coefficient, constant};
use crate::error::Result;

impl<T: Real> LanczosSteps<T> for Gpu {
    fn lanczos_step(&self, s: &DeviceScalars<T>, step: LanczosStep<DeviceVector<T>>) -> Result<()> {
        match block_of(step.d, step.r) {
            2 => self.lanczos_step_of::<T, 2>(s, step),
            3 => self.lanczos_step_of::<T, 3>(s, step),
            _ => self.lanczos_step_of::<T, 1>(s, step),
        }
    }
}

impl Gpu {
    /// A step of nodes with B unknowns.
    #[track_caller]
    fn lanczos_step_of<T: Real, const B: usize>(
        &self,
        s: &DeviceScalars<T>,
        step: LanczosStep<DeviceVector<T>>,
    ) -> Result<()> {
        step.check(s.len)?;
        let LanczosStep { update, d, r, z, out } = step;
        let n = r.len;
        let (a, ap) = match update {
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
        let passes = if update.is_some() { 4 } else { 2 } + B;
        // SAFETY: the lengths and slots are checked above, and vectors live until what is queued is done.
        unsafe { self.launch_resident(Work::moving(n / B, (passes * size_of::<T>() * n) as u64), &kernel) }
    }
}

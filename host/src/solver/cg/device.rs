//! The step of CG on a device.

use cuda_std::Real;
use gpu_kernels::krylov::{self, Entry};

use super::steps::{CgStep, CgSteps};
use crate::backend::gpu::{DeviceVector, Gpu, Work, pointer_or_null, slot};
use crate::error::Result;

impl<T: Real> CgSteps<T> for Gpu {
    fn cg_step(&self, step: &mut CgStep<T, Self>, d: Option<&DeviceVector<T>>) -> Result<()> {
        let nowhere =
            Entry { omega: T::ZERO, d: std::ptr::null(), y: std::ptr::null_mut(), z: std::ptr::null_mut() };
        self.cg_step_into(step, d, nowhere, 0)
    }
}

impl Gpu {
    /// [`CgSteps::cg_step`] with an entry into a preconditioner, which moves so many bytes more.
    #[track_caller]
    pub(crate) fn cg_step_into<T: Real, S: Real>(
        &self,
        step: &mut CgStep<T, Self>,
        d: Option<&DeviceVector<T>>,
        entry: Entry<S>,
        bytes: usize,
    ) -> Result<()> {
        step.check(d)?;
        let n = step.x.len();
        let kernel = krylov::cg_step {
            n: n as u64,
            rho: slot(step.s, step.rho),
            p_ap: slot(step.s, step.p_ap),
            p: step.p.ptr(),
            ap: step.ap.ptr(),
            d: pointer_or_null(d),
            x: step.x.ptr_mut(),
            r: step.r.ptr_mut(),
            entry,
            reduction: self.reduction(step.s, step.out),
            monitor: step.monitor.argument(),
        };
        let passes = (6 + usize::from(d.is_some())) * size_of::<T>() * n;
        // SAFETY: the lengths and slots are checked above.
        unsafe { self.launch_resident(Work::moving(n, (passes + bytes) as u64), &kernel) }
    }
}

//! [`Cells`] on a device: a thread a cell.

use std::marker::PhantomData;

use gpu_kernels::cells::{activate, react};

use super::{Gpu, Work, buffer::DeviceVector};
use crate::backend::cells::{Cells, Model, check, with_model};
use crate::backend::memory::check_lengths;
use crate::error::Result;

impl Cells for Gpu {
    fn react(
        &self,
        model: Model,
        dt: f64,
        substeps: u32,
        stimulus: Option<(f64, &DeviceVector<f64>)>,
        v: &mut DeviceVector<f64>,
        states: &mut DeviceVector<f64>,
    ) -> Result<()> {
        let dt = check(model, dt, substeps, stimulus.map(|(_, s)| s.len), v.len, states.len)?;
        // The voltage and the states are read and written, the stimulus is read.
        let vectors = 2 + usize::from(stimulus.is_some());
        let bytes = (vectors * v.len + 2 * states.len) * size_of::<f64>();
        let work = Work::moving(v.len, bytes as u64);
        let (scale, stimulus) = stimulus.map_or((0.0, std::ptr::null()), |(scale, s)| (scale, s.ptr()));
        let n = v.len as u64;
        let (v, states) = (v.ptr_mut(), states.ptr_mut());
        with_model!(model, M => {
            let kernel = react::<M> { n, dt, substeps, scale, stimulus, v, states, instance: PhantomData };
            // SAFETY: the lengths are checked above.
            unsafe { self.launch(work, &kernel) }
        })
    }

    fn activate(
        &self,
        t: f64,
        dt: f64,
        threshold: f64,
        before: &DeviceVector<f64>,
        after: &DeviceVector<f64>,
        times: &mut DeviceVector<f64>,
    ) -> Result<()> {
        check_lengths("activate", times.len, &[("before", before.len), ("after", after.len)])?;
        let (n, before, after) = (times.len as u64, before.ptr(), after.ptr());
        let work = Work::on::<f64>(times.len, 3);
        // SAFETY: the lengths are checked above.
        unsafe { self.launch(work, &activate { n, t, dt, threshold, before, after, times: times.ptr_mut() }) }
    }
}

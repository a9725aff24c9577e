//! [`Monitoring`] on a device.

use cuda_std::Real;
use gpu_kernels::monitor::observe;

use super::buffer::DeviceScalars;
use super::monitor::DeviceMonitor;
use super::{Gpu, slot};
use crate::backend::{Monitoring, Progress, Slot, check_slots};
use crate::error::Result;
use crate::launch::{Graph, notice};

impl<T: Real> Monitoring<T> for Gpu {
    type Monitor = DeviceMonitor;
    type Recording = Graph;

    fn monitor(&self, limit: u32, threshold: f64) -> Result<DeviceMonitor> {
        DeviceMonitor::new(&self.device, limit, threshold)
    }
    fn guarded(&self, monitor: &DeviceMonitor) -> Self {
        Gpu { guard: Some(monitor.clone()), ..self.clone() }
    }
    fn silent(&self, monitor: &DeviceMonitor) -> DeviceMonitor {
        monitor.silent()
    }
    fn has_stopped(&self) -> Result<bool> {
        let Some(monitor) = &self.guard else { return Ok(false) };
        self.device.synchronize()?;
        Ok(!monitor.progress().running())
    }
    fn wait(&self, monitor: &DeviceMonitor, observed: u32) -> Result<Progress> {
        monitor.wait(&*self.device, observed)
    }
    fn history(&self, monitor: &DeviceMonitor) -> Result<Vec<f64>> {
        monitor.history(&*self.device)
    }
    fn observe(&self, s: &DeviceScalars<T>, square: Slot, monitor: &DeviceMonitor) -> Result<()> {
        check_slots("observe", s.len(), square, 1)?;
        // SAFETY: the slot is checked above, and the monitor has room for a norm for each iteration.
        unsafe { self.launch_block(&observe::<T> { square: slot(s, square), monitor: monitor.argument() }) }
    }
    fn record(&self, work: &mut dyn FnMut(&Self) -> Result<()>) -> Result<Option<Graph>> {
        // What is replayed has no caller.
        if notice::of_launches() {
            return Ok(None);
        }
        self.device.record_graph(&mut || work(self))
    }
    unsafe fn replay(&self, recording: &Graph) -> Result<()> {
        // SAFETY: the caller vouches for the memory; the launches were safe when they were recorded.
        unsafe { self.device.replay(recording) }
    }
}

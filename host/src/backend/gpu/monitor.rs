//! The host's side of the stopping decision that kernels take.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gpu_kernels::monitor::{Guard, Monitor};

use super::buffer::Buffer;
use crate::backend::Progress;
use crate::error::Result;
use crate::launch::Launch;

/// Bytes of the mirrored state before the history.
const MIRROR_BYTES: usize = 2 * size_of::<u32>();
/// After this long without progress, the host looks for faults.
const PATIENCE: Duration = Duration::from_secs(2);

/// The state of an iteration on the device; see [`gpu_kernels::monitor::Monitor`].
#[derive(Clone)]
pub struct DeviceMonitor {
    state: Arc<Buffer>,
    mirror: Arc<Buffer>,
    threshold: f64,
    limit: u32,
    /// Whether norms are not taken.
    is_silent: bool,
}

impl DeviceMonitor {
    pub(super) fn new(device: &Arc<dyn Launch>, limit: u32, threshold: f64) -> Result<Self> {
        let state = Buffer::zeroed(device, MIRROR_BYTES)?;
        let mirror_bytes = MIRROR_BYTES + (limit as usize + 1) * size_of::<f64>();
        let mirror = Buffer::host_visible(device, mirror_bytes)?;
        // SAFETY: host-visible memory of this size, which no kernel uses yet.
        unsafe { std::ptr::write_bytes(mirror.address as *mut u8, 0, mirror_bytes) };
        Ok(DeviceMonitor { state, mirror, threshold, limit, is_silent: false })
    }

    pub(super) fn guard(&self) -> Guard {
        Guard { state: self.state.address as *mut u32, mirror: self.mirror.address as *mut u32 }
    }

    /// What kernels take.
    pub(crate) fn argument(&self) -> Monitor {
        let history = if self.is_silent { std::ptr::null_mut() } else { self.norms().cast_mut() };
        Monitor { guard: self.guard(), history, threshold: self.threshold, limit: self.limit }
    }

    pub(super) fn silent(&self) -> Self {
        DeviceMonitor { is_silent: true, ..self.clone() }
    }

    fn norms(&self) -> *const f64 {
        (self.mirror.address + MIRROR_BYTES as u64) as *const f64
    }

    pub(super) fn progress(&self) -> Progress {
        let mirror = self.mirror.address as *const u32;
        // SAFETY: host-visible memory, which the device writes at any time; that many norms are there.
        unsafe {
            let observed = mirror.add(1).read_volatile();
            let norm = match observed {
                0 => f64::NAN,
                _ => self.norms().add(observed as usize - 1).read_volatile(),
            };
            Progress { status: mirror.read_volatile(), observed, norm }
        }
    }

    /// Watches the mirror until `observed` norms are there or the iteration has stopped.
    pub(super) fn wait(&self, device: &dyn Launch, observed: u32) -> Result<Progress> {
        let mut last = (self.progress(), Instant::now());
        loop {
            let progress = self.progress();
            if !progress.running() || progress.observed >= observed {
                return Ok(progress);
            }
            if progress.observed != last.0.observed {
                last = (progress, Instant::now());
            } else if last.1.elapsed() > PATIENCE {
                // Either the device is slow, or a fault has stopped it: the latter is reported here.
                device.synchronize()?;
                return Ok(self.progress());
            }
            std::hint::spin_loop();
        }
    }

    pub(super) fn history(&self, device: &dyn Launch) -> Result<Vec<f64>> {
        device.synchronize()?;
        let observed = self.progress().observed as usize;
        // SAFETY: that many norms were stored, and the device is idle.
        Ok(unsafe { std::slice::from_raw_parts(self.norms(), observed) }.to_vec())
    }
}

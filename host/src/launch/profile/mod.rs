//! What runs on a device, how long each of it takes, and how much memory it has: [`Profiled`] watches any device.

mod log;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::launch::{Address, Counters, DeviceInfo, Event, KernelAttributes, Launch};
use cuda_std::host::Kernel;
use log::Log;
use serde::Serialize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What ran on a device; made by [`Profiled::profile`].
///
/// Times are the device's own, between an event before and an event after each piece of work. About 2 microseconds of each
/// are the events', and where the device waits for the host, the time until the host has queued the work. Launches behind
/// the end of an iteration, which do nothing, are among the others.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Profile {
    /// Each kernel that was launched, the one that took most time first.
    pub kernels: Vec<KernelProfile>,
    /// Copies from the host to the device. Each ends when the host may go on, not when the last byte has arrived.
    pub uploads: CopyProfile,
    /// Copies from the device to the host; as [`Profile::uploads`], without the wait for work queued before.
    pub downloads: CopyProfile,
    /// Copies within the device.
    pub device_copies: CopyProfile,
    /// Memory set to zero.
    pub fills: CopyProfile,
    /// Allocations of device memory.
    pub allocations: u64,
    /// Bytes of all allocations together.
    pub allocated_bytes: u64,
    /// Most bytes that were allocated at a time.
    pub peak_bytes: u64,
    /// Seconds in which the device worked.
    pub busy_seconds: f64,
    /// Seconds from the start of the first piece of work to the end of the last.
    pub span_seconds: f64,
    /// Launches, copies and fills that are in none of the figures, because their times are not known: 0, unless the
    /// device failed.
    pub untimed: u64,
}

impl Profile {
    /// Launches of all kernels.
    pub fn launches(&self) -> u64 {
        self.kernels.iter().map(|kernel| kernel.launches).sum()
    }

    /// Seconds between the first and the last piece of work in which the device had nothing to do.
    pub fn idle_seconds(&self) -> f64 {
        self.span_seconds - self.busy_seconds
    }
}

/// All launches of a kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelProfile {
    /// Its name in the PTX: the kernel's, and those of the types it was compiled for.
    pub name: String,
    /// How often it was launched.
    pub launches: u64,
    /// Seconds of all launches together.
    pub total_seconds: f64,
    /// Seconds of the shortest launch.
    pub min_seconds: f64,
    /// Seconds of the longest launch.
    pub max_seconds: f64,
    /// Blocks of a launch, the least and the most.
    pub grid: (u32, u32),
    /// Threads of a block, the least and the most.
    pub block: (u32, u32),
    /// What it takes; `None` in the simulator.
    pub attributes: Option<KernelAttributes>,
    /// Bytes that all launches together had to move, whatever the caches keep; `None` where that is not known of each.
    pub bytes: Option<u64>,
}

impl KernelProfile {
    /// Seconds of a launch.
    pub fn mean_seconds(&self) -> f64 {
        self.total_seconds / self.launches as f64
    }

    /// Bytes a second, where it is known what had to be moved.
    pub fn bandwidth(&self) -> Option<f64> {
        self.bytes.map(|bytes| bytes as f64 / self.total_seconds).filter(|bandwidth| bandwidth.is_finite())
    }
}

/// All copies in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct CopyProfile {
    /// How many.
    pub count: u64,
    /// Bytes of all together, each once: not for reading and for writing.
    pub bytes: u64,
    /// Seconds of all together.
    pub seconds: f64,
}

impl CopyProfile {
    /// Bytes a second; `None` where there was no copy.
    pub fn bandwidth(&self) -> Option<f64> {
        let bandwidth = self.bytes as f64 / self.seconds;
        bandwidth.is_finite().then_some(bandwidth)
    }
}

/// Something that ran on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// A launch.
    Kernel {
        /// The kernel.
        name: &'static str,
        /// Blocks.
        grid: u32,
        /// Threads of a block.
        block: u32,
        /// Bytes that had to be moved, where that is known.
        bytes: Option<u64>,
    },
    /// A copy from the host of so many bytes.
    Upload(u64),
    /// A copy to the host.
    Download(u64),
    /// A copy within the device.
    Copy(u64),
    /// Memory set to zero.
    Fill(u64),
}

/// When something ran.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// What.
    pub activity: Activity,
    /// Seconds from [`Trace::begin`] to its start.
    pub start: f64,
    /// Seconds that it took.
    pub seconds: f64,
}

/// Everything that ran, one after the other; made by [`Profiled::trace`].
#[derive(Debug, Clone)]
pub struct Trace {
    /// When the device began to be watched.
    pub begin: Instant,
    /// What ran, at most [`TRACE_LIMIT`].
    pub spans: Vec<Span>,
    /// (seconds from `begin`, bytes of device memory allocated from then on), at most [`TRACE_LIMIT`].
    pub memory: Vec<(f64, u64)>,
    /// What ran and what was allocated after the limit was reached.
    pub left_out: u64,
}

/// Most entries of a [`Trace`]: some hundred megabytes, and about what viewers can show.
pub const TRACE_LIMIT: usize = 2_000_000;

/// A device that is watched.
///
/// An event is recorded before and after whatever is queued. So kernels do not overlap as they do otherwise, and there are
/// no graphs: every kernel is queued by itself, which takes the host a few microseconds more.
pub struct Profiled {
    device: Arc<dyn Launch>,
    begin: Instant,
    log: Mutex<Log>,
}

impl Profiled {
    /// Watches `device` from now on.
    pub fn new(device: Arc<dyn Launch>) -> Profiled {
        Profiled { device, begin: Instant::now(), log: Mutex::default() }
    }

    /// The same, keeping what a [`Profiled::trace`] needs.
    pub fn tracing(device: Arc<dyn Launch>) -> Profiled {
        let profiled = Profiled::new(device);
        profiled.log().keep_trace();
        profiled
    }

    /// The device that is watched.
    pub fn device(&self) -> &Arc<dyn Launch> {
        &self.device
    }

    /// What ran up to now. Waits for the device.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device failed; [`Profiled::seen`] then has what ran before.
    pub fn profile(&self) -> Result<Profile> {
        self.log().resolve(&*self.device, 0)?;
        Ok(self.seen())
    }

    /// What is known to have run, without waiting for the rest.
    pub fn seen(&self) -> Profile {
        self.log().profile(&*self.device)
    }

    /// What [`Profiled::seen`] counts, one by one; empty but with [`Profiled::tracing`].
    pub fn trace(&self) -> Trace {
        let (spans, memory, left_out) = self.log().trace();
        Trace { begin: self.begin, spans, memory, left_out }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        // Figures of which one is missing are better than none.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }

    /// Does `work` between two events. The log is not locked meanwhile: a large copy runs on rayon's threads, and one that
    /// waits for it may pick up another copy.
    fn timed(&self, activity: Activity, work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.log().anchor(|| Ok((self.device.record()?, self.now())))?;
        let start = self.device.record()?;
        work()?;
        let end = self.device.record()?;
        self.log().add(&*self.device, activity, start, end)
    }
}

impl Launch for Profiled {
    fn info(&self) -> &DeviceInfo {
        self.device.info()
    }
    fn memory(&self) -> Result<(u64, u64)> {
        self.device.memory()
    }
    fn alloc(&self, bytes: usize) -> Result<Address> {
        let address = self.device.alloc(bytes)?;
        self.log().allocated(self.now(), address, bytes as u64);
        Ok(address)
    }
    fn alloc_host_visible(&self, bytes: usize) -> Result<Address> {
        self.device.alloc_host_visible(bytes)
    }
    unsafe fn free(&self, address: Address) {
        // Before another thread can be given the same address.
        self.log().freed(self.now(), address);
        // SAFETY: the caller's conditions are the same, here and below.
        unsafe { self.device.free(address) }
    }
    unsafe fn upload(&self, destination: Address, source: &[u8]) -> Result<()> {
        // SAFETY: as above.
        let work = || unsafe { self.device.upload(destination, source) };
        self.timed(Activity::Upload(source.len() as u64), work)
    }
    unsafe fn download(&self, destination: &mut [u8], source: Address) -> Result<()> {
        let bytes = destination.len() as u64;
        // SAFETY: as above.
        self.timed(Activity::Download(bytes), || unsafe { self.device.download(destination, source) })
    }
    unsafe fn copy(&self, destination: Address, source: Address, bytes: usize) -> Result<()> {
        // SAFETY: as above.
        let work = || unsafe { self.device.copy(destination, source, bytes) };
        self.timed(Activity::Copy(bytes as u64), work)
    }
    unsafe fn zero(&self, destination: Address, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: as above.
        self.timed(Activity::Fill(bytes as u64), || unsafe { self.device.zero(destination, bytes) })
    }
    unsafe fn launch(&self, grid: u32, block: u32, kernel: &dyn Kernel) -> Result<()> {
        // SAFETY: as above.
        unsafe { self.launch_moving(None, grid, block, kernel) }
    }
    unsafe fn launch_moving(
        &self,
        bytes: Option<u64>,
        grid: u32,
        block: u32,
        kernel: &dyn Kernel,
    ) -> Result<()> {
        if grid == 0 {
            return Ok(());
        }
        let activity = Activity::Kernel { name: kernel.name(), grid, block, bytes };
        // SAFETY: as above.
        self.timed(activity, || unsafe { self.device.launch_moving(bytes, grid, block, kernel) })
    }
    fn kernel_attributes(&self, kernel: &'static str) -> Result<Option<KernelAttributes>> {
        self.device.kernel_attributes(kernel)
    }
    fn preload(&self, kernels: &[&'static str]) -> Result<()> {
        self.device.preload(kernels)
    }
    fn resident_blocks(&self, kernel: &'static str, block: u32) -> Result<u32> {
        self.device.resident_blocks(kernel, block)
    }
    fn synchronize(&self) -> Result<()> {
        self.device.synchronize()
    }
    fn record(&self) -> Result<Event> {
        self.device.record()
    }
    fn elapsed(&self, start: &Event, end: &Event) -> Result<f64> {
        self.device.elapsed(start, end)
    }
    fn counters(&self) -> &Counters {
        self.device.counters()
    }
}

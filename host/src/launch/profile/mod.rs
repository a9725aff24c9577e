//! What runs on a device, how long each of it takes, and how much memory it has: [`Profiled`] watches any
//! device.

mod figures;
mod log;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::launch::{
    Address, Batch, Counters, Cuda, DeviceInfo, Event, Handle, KernelAttributes, Launch, NativeLaunch,
};
use cuda_std::host::Kernel;
use log::Log;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

pub use figures::{Activity, CopyProfile, KernelProfile, Profile, Span, TRACE_LIMIT, Trace};

/// A device that is watched.
///
/// An event is recorded before and after whatever is queued. So kernels do not overlap as they do otherwise,
/// and there are no graphs: every kernel is queued by itself, which takes the host a few microseconds more.
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

    /// Does `work` between two events. The log is not locked meanwhile: a large copy runs on rayon's threads,
    /// and one that waits for it may pick up another copy.
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
    fn alloc_shared(&self, bytes: usize) -> Result<Address> {
        let address = self.device.alloc_shared(bytes)?;
        self.log().allocated(self.now(), address, bytes as u64);
        Ok(address)
    }
    fn reaches(&self, other: &dyn Launch) -> bool {
        self.device.reaches(other)
    }
    fn identity(&self) -> usize {
        self.device.identity()
    }
    unsafe fn admit(&self, address: Address, bytes: usize) {
        // SAFETY: the caller's conditions are the same.
        unsafe { self.device.admit(address, bytes) }
    }
    fn dismiss(&self, address: Address) {
        self.device.dismiss(address);
    }
    fn uuid(&self) -> Option<[u8; 16]> {
        self.device.uuid()
    }
    fn alloc_exported(&self, bytes: usize) -> Result<(Address, Handle)> {
        let (address, handle) = self.device.alloc_exported(bytes)?;
        self.log().allocated(self.now(), address, bytes as u64);
        Ok((address, handle))
    }
    unsafe fn import(&self, handle: &Handle, bytes: usize) -> Result<Address> {
        // SAFETY: the caller's conditions are the same.
        unsafe { self.device.import(handle, bytes) }
    }
    fn close(&self, address: Address) {
        self.device.close(address);
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
    unsafe fn copy_from(
        &self,
        destination: Address,
        other: &dyn Launch,
        source: Address,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: as above.
        let work = || unsafe { self.device.copy_from(destination, other, source, bytes) };
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
    fn takes_batches(&self) -> bool {
        self.device.takes_batches()
    }
    unsafe fn launch_batch(&self, bytes: Option<u64>, grid: u32, block: u32, batch: &Batch) -> Result<()> {
        if grid == 0 {
            return Ok(());
        }
        let activity =
            Activity::Kernel { name: batch.name(), grid: grid * batch.count() as u32, block, bytes };
        // SAFETY: as above.
        self.timed(activity, || unsafe { self.device.launch_batch(bytes, grid, block, batch) })
    }
    unsafe fn launch_native(&self, launch: NativeLaunch) -> Result<()> {
        let (grid, block) = (launch.grid.iter().product(), launch.block.iter().product());
        let activity = Activity::Kernel { name: launch.name, grid, block, bytes: None };
        // SAFETY: as above.
        self.timed(activity, || unsafe { self.device.launch_native(launch) })
    }
    fn kernel_attributes(&self, kernel: &'static str) -> Result<Option<KernelAttributes>> {
        self.device.kernel_attributes(kernel)
    }
    fn cuda(&self) -> Option<Cuda> {
        self.device.cuda()
    }
    fn reserve(&self, bytes: u64) {
        self.device.reserve(bytes);
    }
    fn loading_seconds(&self) -> f64 {
        self.device.loading_seconds()
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

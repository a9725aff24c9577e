//! The simulator as a device: kernels run on the host, thread by thread, with every access checked.

use super::{Address, Counters, DeviceInfo, Event, Handle, Launch};
use crate::error::{Error, Result};
use cuda_std::host::Kernel;
use cuda_std::sim::{self, Fault, Memory, Options, Order};
pub use cuda_std::sim::{KernelReport, Line, Multiprocessor, Occupancy, Report, explain};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Alignment of allocations, as of `cuMemAlloc`.
const ALIGNMENT: usize = 256;
/// Memory that [`Sim::new`] says it has.
const DEFAULT_MEMORY: u64 = 1 << 30;
/// What fresh memory is filled with: NaN in both precisions, and an index no array has.
const POISON: u8 = 0xff;

/// A simulated device.
///
/// Fresh memory is filled with NaN bytes. Whatever a kernel does wrong ends its launch with
/// [`Error::Device`], which names kernel, block and thread ([`cuda_std::sim`] lists what is noticed).
/// Copies and launches are complete when their calls return.
pub struct Sim {
    info: DeviceInfo,
    options: Options,
    state: Mutex<State>,
    counters: Counters,
}

/// What is allocated.
struct State {
    memory: Memory,
    allocations: HashMap<Address, Allocation>,
    /// Bytes of device memory in use.
    used: u64,
}

struct Allocation {
    layout: Layout,
    bytes: u64,
    /// Device memory, as opposed to host memory that kernels see.
    on_device: bool,
}

impl Sim {
    /// A device with 1 GiB of memory.
    pub fn new() -> Self {
        Self::with(DEFAULT_MEMORY, Memory::new(), Options::default())
    }

    /// The same, reporting races too; many times slower.
    pub fn checked() -> Self {
        Self::with(DEFAULT_MEMORY, Memory::new(), Options { races: true, ..Options::default() })
    }

    /// As [`Sim::checked`], reporting also reads of memory that was never written, with blocks in a shuffled
    /// order.
    pub fn strict() -> Self {
        let options = Options { races: true, order: Order::Shuffled(0), ..Options::default() };
        Self::with(DEFAULT_MEMORY, Memory::tracking_writes(), options)
    }

    /// A device with `bytes` bytes of memory, to try what happens when they do not suffice.
    pub fn with_memory_limit(bytes: u64) -> Self {
        Self::with(bytes, Memory::new(), Options::default())
    }

    fn with(total_memory: u64, memory: Memory, options: Options) -> Self {
        // Ranks wait for each other, each on a thread of the host.
        let options = Options { patience: u64::MAX, ..options };
        let info = DeviceInfo {
            name: "simulator".into(),
            ordinal: 0,
            compute_capability: (0, 0),
            multiprocessors: 4,
            total_memory,
            l2_bytes: 1 << 20,
            driver_version: String::new(),
            ptx_target: String::new(),
            machine_code: false,
        };
        let state = Mutex::new(State { memory, allocations: HashMap::new(), used: 0 });
        Self { info, options, state, counters: Counters::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing of the state is ever half changed where a panic could come from.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, bytes: usize, on_device: bool) -> Result<Address> {
        let mut state = self.state();
        let (needed, free) = (bytes as u64, self.info.total_memory - state.used);
        if on_device && needed > free {
            return Err(Error::DeviceMemory {
                device: self.info.name.clone(),
                needed,
                free,
                total: self.info.total_memory,
                detail: "one allocation".into(),
            });
        }
        let layout =
            Layout::from_size_align(bytes.max(1), ALIGNMENT).map_err(|_| too_large("alloc", bytes))?;
        // SAFETY: the size is not zero.
        let pointer = unsafe { alloc(layout) };
        if pointer.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: just allocated with this size.
        unsafe { pointer.write_bytes(POISON, layout.size()) };
        let address = pointer.expose_provenance() as Address;
        state.memory.register(address, needed);
        if !on_device {
            // The host writes there without telling.
            state.memory.mark_written(address, needed);
        }
        state.allocations.insert(address, Allocation { layout, bytes: needed, on_device });
        if on_device {
            state.used += needed;
            Counters::add(&self.counters.allocations, 1);
            Counters::add(&self.counters.allocated_bytes, needed);
        }
        Ok(address)
    }
}

impl State {
    /// Checks that a copy stays within one allocation.
    fn check(&self, call: &str, address: Address, bytes: usize) -> Result<()> {
        if bytes == 0 || self.memory.contains(address, bytes as u64) {
            return Ok(());
        }
        let message = format!("{bytes} bytes at {address:#x} are not within one allocation");
        Err(Error::Device { call: call.into(), message })
    }

    /// Releases the memory of an allocation; returns what it was, or nothing if there was none.
    fn release(&mut self, address: Address) -> Option<Allocation> {
        let allocation = self.allocations.remove(&address)?;
        self.memory.unregister(address);
        if allocation.on_device {
            self.used -= allocation.bytes;
        }
        // SAFETY: allocated with this layout, and forgotten just now.
        unsafe { dealloc(pointer(address), allocation.layout) };
        Some(allocation)
    }
}

fn pointer(address: Address) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

fn too_large(call: &str, bytes: usize) -> Error {
    Error::Device { call: format!("{call}({bytes})"), message: "larger than any memory".into() }
}

impl Default for Sim {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        let mut state = self.state();
        let left: Vec<Address> = state.allocations.keys().copied().collect();
        for address in left {
            state.release(address);
        }
    }
}

fn failed_launch(fault: Fault) -> Error {
    let call = format!("kernel {}, block {}, thread {}", fault.kernel, fault.block, fault.thread);
    Error::Device { call, message: fault.cause() }
}

impl Launch for Sim {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Few, so that small tests too have blocks which take several rounds.
    fn resident_blocks(&self, _kernel: &'static str, _block: u32) -> Result<u32> {
        Ok(2 * self.info.multiprocessors)
    }

    fn memory(&self) -> Result<(u64, u64)> {
        Ok((self.info.total_memory - self.state().used, self.info.total_memory))
    }

    fn alloc(&self, bytes: usize) -> Result<Address> {
        self.take(bytes, true)
    }

    fn alloc_host_visible(&self, bytes: usize) -> Result<Address> {
        self.take(bytes, false)
    }

    fn alloc_shared(&self, bytes: usize) -> Result<Address> {
        self.take(bytes, true)
    }

    /// Another simulator: their memory is that of one process.
    fn reaches(&self, other: &dyn Launch) -> bool {
        other.cuda().is_none()
            && other.info().compute_capability == self.info.compute_capability
            && other.identity() != self.identity()
    }

    unsafe fn admit(&self, address: Address, bytes: usize) {
        let mut state = self.state();
        state.memory.register(address, bytes as u64);
        state.memory.mark_written(address, bytes as u64);
    }

    fn dismiss(&self, address: Address) {
        self.state().memory.unregister(address);
    }

    fn uuid(&self) -> Option<[u8; 16]> {
        let mut uuid = [0; 16];
        uuid[..8].copy_from_slice(&(self.identity() as u64).to_ne_bytes());
        uuid[8..12].copy_from_slice(&std::process::id().to_ne_bytes());
        Some(uuid)
    }

    /// The handle is the address, and the process whose memory it is.
    fn alloc_exported(&self, bytes: usize) -> Result<(Address, Handle)> {
        let address = self.alloc_shared(bytes)?;
        // SAFETY: just allocated with this size.
        unsafe { self.zero(address, bytes)? };
        let mut handle = [0; 64];
        handle[..8].copy_from_slice(&address.to_ne_bytes());
        handle[8..12].copy_from_slice(&std::process::id().to_ne_bytes());
        Ok((address, handle))
    }

    /// Of this process alone, where ranks do as if they were not of one.
    unsafe fn import(&self, handle: &Handle, bytes: usize) -> Result<Address> {
        if handle[8..12] != std::process::id().to_ne_bytes() {
            let message = "the memory is that of another process".into();
            return Err(Error::Device { call: format!("import({bytes} bytes)"), message });
        }
        let address = Address::from_ne_bytes(handle[..8].try_into().expect("8 bytes"));
        // SAFETY: the caller's condition is the same.
        unsafe { self.admit(address, bytes) };
        Ok(address)
    }

    fn close(&self, address: Address) {
        self.dismiss(address);
    }

    unsafe fn free(&self, address: Address) {
        if let Some(Allocation { bytes, on_device: true, .. }) = self.state().release(address) {
            self.counters.allocated_bytes.fetch_sub(bytes, std::sync::atomic::Ordering::Relaxed);
        }
    }

    unsafe fn upload(&self, destination: Address, source: &[u8]) -> Result<()> {
        let state = self.state();
        state.check("upload", destination, source.len())?;
        // SAFETY: the destination was checked, and no `&[u8]` can reach into it.
        unsafe { pointer(destination).copy_from_nonoverlapping(source.as_ptr(), source.len()) };
        state.memory.mark_written(destination, source.len() as u64);
        Counters::add(&self.counters.uploads, 1);
        Counters::add(&self.counters.uploaded_bytes, source.len() as u64);
        Ok(())
    }

    unsafe fn download(&self, destination: &mut [u8], source: Address) -> Result<()> {
        let state = self.state();
        state.check("download", source, destination.len())?;
        // SAFETY: the source was checked, and no `&mut [u8]` can reach into it.
        unsafe { pointer(source).copy_to_nonoverlapping(destination.as_mut_ptr(), destination.len()) };
        Counters::add(&self.counters.downloads, 1);
        Counters::add(&self.counters.downloaded_bytes, destination.len() as u64);
        Ok(())
    }

    unsafe fn copy(&self, destination: Address, source: Address, bytes: usize) -> Result<()> {
        let state = self.state();
        state.check("copy", destination, bytes)?;
        state.check("copy", source, bytes)?;
        // SAFETY: both were checked; `copy` allows for an overlap.
        unsafe { pointer(destination).copy_from(pointer(source), bytes) };
        state.memory.mark_copied(destination, source, bytes as u64);
        Counters::add(&self.counters.device_copies, 1);
        Ok(())
    }

    unsafe fn zero(&self, destination: Address, bytes: usize) -> Result<()> {
        let state = self.state();
        state.check("zero", destination, bytes)?;
        // SAFETY: the destination was checked.
        unsafe { pointer(destination).write_bytes(0, bytes) };
        state.memory.mark_written(destination, bytes as u64);
        Ok(())
    }

    unsafe fn launch(&self, grid: u32, block: u32, kernel: &dyn Kernel) -> Result<()> {
        if grid == 0 {
            return Ok(());
        }
        let state = self.state();
        Counters::add(&self.counters.launches, 1);
        sim::run(kernel, grid, block, &state.memory, &self.options).map_err(failed_launch)
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn record(&self) -> Result<Event> {
        Ok(Event(Box::new(Instant::now())))
    }

    fn elapsed(&self, start: &Event, end: &Event) -> Result<f64> {
        match (start.0.downcast_ref::<Instant>(), end.0.downcast_ref::<Instant>()) {
            (Some(start), Some(end)) => Ok(end.saturating_duration_since(*start).as_secs_f64()),
            _ => Err(Error::Device {
                call: "elapsed".into(),
                message: "an event of another kind of device".into(),
            }),
        }
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }
}

#[cfg(test)]
mod tests;

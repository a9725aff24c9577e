//! Running kernels: memory, launches and clocks of one device, real or simulated.

use crate::error::{Error, Result};
use cuda_std::host::Kernel;
use cust::context::Context;
use cust::stream::Stream;
use cust::sys::CUfunction;
use serde::Serialize;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

mod batch;
pub mod driver;
pub mod notice;
pub mod profile;
pub mod sim;
pub(crate) mod switch;

pub use batch::Batch;

/// An address in a device's memory (for the simulator: a host address).
pub type Address = u64;

/// How a device of another process finds memory that was [exported](Launch::alloc_exported).
pub type Handle = [u8; 64];

/// What is known of a device before anything runs on it.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceInfo {
    /// "NVIDIA H200", "simulator".
    pub name: String,
    /// Ordinal among the machine's devices.
    pub ordinal: u32,
    /// Compute capability, (9, 0) for Hopper; (0, 0) for the simulator.
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of device memory.
    pub total_memory: u64,
    /// Bytes of second-level cache.
    pub l2_bytes: u64,
    /// Version of the driver, "13.0"; empty for the simulator.
    pub driver_version: String,
    /// The PTX target in use ("sm_90"), empty for the simulator.
    pub ptx_target: String,
    /// Whether machine code for it is in use, so that its driver translates nothing.
    pub machine_code: bool,
}

/// What a kernel takes, as the driver translated it for the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct KernelAttributes {
    /// 32-bit registers a thread.
    pub registers: u32,
    /// Bytes of static shared memory a block.
    pub shared_bytes: u32,
    /// Bytes of local memory a thread: spilled registers and arrays indexed at run time.
    pub local_bytes: u32,
    /// The largest block with which it can be launched.
    pub max_threads: u32,
}

/// A moment on the device's time line, made by [`Launch::record`].
pub struct Event(pub(crate) Box<dyn std::any::Any + Send>);

/// Context and stream of a CUDA device, for code that uses `cust` beside this library.
///
/// What is queued on the stream is carried out in turn with what this library queues there.
#[derive(Clone)]
pub struct Cuda {
    /// The device's primary context.
    pub context: Context,
    /// Where this library queues all its work.
    pub stream: Arc<Stream>,
}

/// Work that was recorded to be queued again and again, made by [`Launch::record_graph`].
pub struct Graph(pub(crate) Box<dyn std::any::Any + Send>);

/// A launch of a kernel that was compiled elsewhere.
pub struct NativeLaunch<'a> {
    /// Its name.
    pub name: &'static str,
    /// Its handle.
    pub function: CUfunction,
    /// Blocks along each axis.
    pub grid: [u32; 3],
    /// Threads of a block along each axis.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Where each argument is.
    pub arguments: &'a mut [*mut c_void],
}

/// One device with one stream: everything is carried out in the order it was asked for.
///
/// Two implementations: [`driver::Driver`] (CUDA driver API through `cust`) and [`sim::Sim`] (the host
/// simulator of `cuda_std`); [`profile::Profiled`] watches either. [`crate::backend::gpu::Gpu`] is its only
/// user.
pub trait Launch: Send + Sync {
    /// The device's properties.
    fn info(&self) -> &DeviceInfo;
    /// (free, total) bytes of device memory now.
    fn memory(&self) -> Result<(u64, u64)>;
    /// Context and stream, if it is a CUDA device.
    fn cuda(&self) -> Option<Cuda> {
        None
    }
    /// Takes `bytes` of device memory, aligned to 256. The contents are undefined.
    fn alloc(&self, bytes: usize) -> Result<Address>;
    /// Takes `bytes` of host memory which kernels can also write, at the same address.
    fn alloc_host_visible(&self, bytes: usize) -> Result<Address>;
    /// Takes `bytes` of device memory that other devices can use too when this one is done with what is
    /// queued: those that [reach](Launch::reaches) this device, their kernels where they have
    /// [admitted](Launch::admit) the memory.
    ///
    /// # Errors
    /// There is not so much, or the device shares none.
    fn alloc_shared(&self, bytes: usize) -> Result<Address> {
        let message = format!("{} shares no memory with other devices", self.info().name);
        Err(Error::Device { call: format!("alloc_shared({bytes} bytes)"), message })
    }
    /// Whether kernels of this device can use memory that `other` shares; another device of this process.
    fn reaches(&self, other: &dyn Launch) -> bool {
        let _ = other;
        false
    }
    /// What tells devices of this process apart.
    fn identity(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
    /// Lets kernels of this device use `bytes` bytes of memory that another shares, until
    /// [`Launch::dismiss`].
    ///
    /// # Safety
    /// They stay there until then.
    unsafe fn admit(&self, address: Address, bytes: usize) {
        let _ = (address, bytes);
    }
    /// Takes [`Launch::admit`] back. No kernel that uses the memory is queued.
    fn dismiss(&self, address: Address) {
        let _ = address;
    }
    /// What tells devices of all processes of this machine apart, if they can use each other's memory.
    fn uuid(&self) -> Option<[u8; 16]> {
        None
    }
    /// [`Launch::alloc_shared`] for kernels of devices of other processes, which [import](Launch::import) it.
    /// When it has been given back it is not to be given away but to another memory that is exported: another
    /// process may still have it.
    ///
    /// # Errors
    /// There is not so much, or the device exports none.
    fn alloc_exported(&self, bytes: usize) -> Result<(Address, Handle)> {
        let message = format!("{} shares no memory with other processes", self.info().name);
        Err(Error::Device { call: format!("alloc_exported({bytes} bytes)"), message })
    }
    /// Lets kernels of this device use `bytes` bytes that a device of another process has exported, until
    /// [`Launch::close`]; their address here.
    ///
    /// # Safety
    /// They stay there until then.
    ///
    /// # Errors
    /// The device does not reach that one.
    unsafe fn import(&self, handle: &Handle, bytes: usize) -> Result<Address> {
        let _ = handle;
        let message = format!("{} uses no memory of other processes", self.info().name);
        Err(Error::Device { call: format!("import({bytes} bytes)"), message })
    }
    /// Takes [`Launch::import`] back. No kernel that uses the memory is queued.
    fn close(&self, address: Address) {
        let _ = address;
    }
    /// Gives memory of [`Launch::alloc`], [`Launch::alloc_shared`], [`Launch::alloc_exported`] or
    /// [`Launch::alloc_host_visible`] back, after the work queued before.
    ///
    /// # Safety
    /// `address` came from this device, is given back once, and nothing uses it afterwards.
    unsafe fn free(&self, address: Address);
    /// Copies `source` to the device; returns when `source` may be reused.
    ///
    /// # Safety
    /// `destination` is valid for `source.len()` bytes.
    unsafe fn upload(&self, destination: Address, source: &[u8]) -> Result<()>;
    /// Copies to the host, after everything queued before; returns when the bytes are there.
    ///
    /// # Safety
    /// `source` is valid for `destination.len()` bytes.
    unsafe fn download(&self, destination: &mut [u8], source: Address) -> Result<()>;
    /// Queues a copy within the device.
    ///
    /// # Safety
    /// Both are valid for `bytes` bytes and do not overlap.
    unsafe fn copy(&self, destination: Address, source: Address, bytes: usize) -> Result<()>;
    /// Queues a copy from memory of another device of this process, which has finished what it queued there.
    /// Here it goes through the host.
    ///
    /// # Safety
    /// Both are valid for `bytes` bytes, and the source stays as it is until the copy is done.
    ///
    /// # Errors
    /// The devices are of different kinds, or one of them fails.
    unsafe fn copy_from(
        &self,
        destination: Address,
        other: &dyn Launch,
        source: Address,
        bytes: usize,
    ) -> Result<()> {
        let mut on_host = vec![0; bytes];
        // SAFETY: the caller vouches for both.
        unsafe {
            other.download(&mut on_host, source)?;
            self.upload(destination, &on_host)
        }
    }
    /// Queues setting `bytes` bytes to zero.
    ///
    /// # Safety
    /// `destination` is valid for `bytes` bytes.
    unsafe fn zero(&self, destination: Address, bytes: usize) -> Result<()>;
    /// Queues `kernel` on `grid` blocks of `block` threads. A grid of 0 blocks does nothing.
    ///
    /// # Safety
    /// The kernel's own safety conditions hold for its arguments.
    unsafe fn launch(&self, grid: u32, block: u32, kernel: &dyn Kernel) -> Result<()>;
    /// [`Launch::launch`] of a kernel that must move so many bytes through memory, whatever the caches keep,
    /// where that is known; only [`profile::Profiled`] makes use of it.
    ///
    /// # Safety
    /// As of [`Launch::launch`].
    unsafe fn launch_moving(
        &self,
        bytes: Option<u64>,
        grid: u32,
        block: u32,
        kernel: &dyn Kernel,
    ) -> Result<()> {
        let _ = bytes;
        // SAFETY: the caller's conditions are the same.
        unsafe { self.launch(grid, block, kernel) }
    }
    /// Whether it makes several launches [at once](Launch::launch_batch).
    fn takes_batches(&self) -> bool {
        false
    }
    /// Queues these launches, which do not depend on each other, as one, each on `grid` blocks of `block`
    /// threads; they must move so many bytes together, where that is known.
    ///
    /// # Safety
    /// As of [`Launch::launch`], for each of them.
    ///
    /// # Errors
    /// The device [takes](Launch::takes_batches) none.
    unsafe fn launch_batch(&self, bytes: Option<u64>, grid: u32, block: u32, batch: &Batch) -> Result<()> {
        let _ = (bytes, grid, block);
        let message = format!("{} makes one launch at a time", self.info().name);
        Err(Error::Device { call: batch.name().into(), message })
    }
    /// Queues a kernel of a module that was compiled elsewhere.
    ///
    /// # Safety
    /// The function is of this device's context, the arguments are those of its kernel, and its own safety
    /// conditions hold for them.
    ///
    /// # Errors
    /// The device runs no such code, as the simulator, or the driver refuses the launch.
    unsafe fn launch_native(&self, launch: NativeLaunch) -> Result<()> {
        let message = format!("{} runs kernels written in Rust alone", self.info().name);
        Err(Error::Device { call: launch.name.into(), message })
    }
    /// What the kernel with this name takes; `None` where nothing is known of that, as in the simulator.
    ///
    /// # Errors
    /// There is no such kernel, or it does not load.
    fn kernel_attributes(&self, kernel: &'static str) -> Result<Option<KernelAttributes>> {
        let _ = kernel;
        Ok(None)
    }
    /// Takes so much memory from the system, of what is free, so that later allocations need not wait for it.
    /// It may be called beside other work of the device; meanwhile [`Launch::memory`] counts it as taken.
    fn reserve(&self, bytes: u64) {
        let _ = bytes;
    }
    /// Seconds that went so far into loading kernels, which for PTX is the time that the driver translates
    /// it.
    fn loading_seconds(&self) -> f64 {
        0.0
    }
    /// Records what `work` queues on this device instead of queueing it.
    ///
    /// Launches and zeroing are recorded; calls that allocate, copy, or wait fail, and there is no graph
    /// then. `None` where there is none, as on a device that cannot record: nothing of what `work` asked for
    /// is done, and it may not even have been called, or twice.
    ///
    /// # Errors
    /// Those of `work`, but for calls that cannot be recorded.
    fn record_graph(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Option<Graph>> {
        let _ = work;
        Ok(None)
    }
    /// Queues what was recorded.
    ///
    /// # Safety
    /// The safety conditions of what was recorded hold again: all memory that it uses is still there.
    unsafe fn replay(&self, graph: &Graph) -> Result<()> {
        let _ = graph;
        Err(Error::Device {
            call: "replay".into(),
            message: format!("{} records no graphs, and this one is another device's", self.info().name),
        })
    }
    /// Blocks of `block` threads of the kernel with this name that the whole device runs at once.
    fn resident_blocks(&self, kernel: &'static str, block: u32) -> Result<u32>;
    /// Waits until everything queued is done; reports faults of kernels.
    fn synchronize(&self) -> Result<()>;
    /// Queues a time stamp.
    fn record(&self) -> Result<Event>;
    /// Seconds between two recorded events; waits for the later one.
    fn elapsed(&self, start: &Event, end: &Event) -> Result<f64>;
    /// What was asked of the device so far.
    fn counters(&self) -> &Counters;
}

/// Counts of what was asked of a device; the papers print them, tests assert them.
#[derive(Debug, Default)]
pub struct Counters {
    /// Kernel launches, those of replayed graphs included.
    pub launches: AtomicU64,
    /// Graphs replayed.
    pub graph_launches: AtomicU64,
    /// Device allocations.
    pub allocations: AtomicU64,
    /// Bytes allocated now.
    pub allocated_bytes: AtomicU64,
    /// Copies host to device, and their bytes.
    pub uploads: AtomicU64,
    /// Bytes copied host to device.
    pub uploaded_bytes: AtomicU64,
    /// Copies device to host, and their bytes.
    pub downloads: AtomicU64,
    /// Bytes copied device to host.
    pub downloaded_bytes: AtomicU64,
    /// Copies within the device.
    pub device_copies: AtomicU64,
}

/// The values of [`Counters`] at one moment.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Kernel launches, those of replayed graphs included.
    pub launches: u64,
    /// Graphs replayed.
    pub graph_launches: u64,
    /// Device allocations.
    pub allocations: u64,
    /// Bytes allocated now.
    pub allocated_bytes: u64,
    /// Copies host to device.
    pub uploads: u64,
    /// Bytes copied host to device.
    pub uploaded_bytes: u64,
    /// Copies device to host.
    pub downloads: u64,
    /// Bytes copied device to host.
    pub downloaded_bytes: u64,
    /// Copies within the device.
    pub device_copies: u64,
}

impl Counts {
    /// What was added since `before`; allocated bytes as they are now.
    pub fn since(&self, before: &Counts) -> Counts {
        Counts {
            launches: self.launches - before.launches,
            graph_launches: self.graph_launches - before.graph_launches,
            allocations: self.allocations - before.allocations,
            allocated_bytes: self.allocated_bytes,
            uploads: self.uploads - before.uploads,
            uploaded_bytes: self.uploaded_bytes - before.uploaded_bytes,
            downloads: self.downloads - before.downloads,
            downloaded_bytes: self.downloaded_bytes - before.downloaded_bytes,
            device_copies: self.device_copies - before.device_copies,
        }
    }
}

impl Counters {
    /// The present values.
    pub fn snapshot(&self) -> Counts {
        let get = |c: &AtomicU64| c.load(Ordering::Relaxed);
        Counts {
            launches: get(&self.launches),
            graph_launches: get(&self.graph_launches),
            allocations: get(&self.allocations),
            allocated_bytes: get(&self.allocated_bytes),
            uploads: get(&self.uploads),
            uploaded_bytes: get(&self.uploaded_bytes),
            downloads: get(&self.downloads),
            downloaded_bytes: get(&self.downloaded_bytes),
            device_copies: get(&self.device_copies),
        }
    }

    /// Adds `n` to one of the counters.
    pub fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, Ordering::Relaxed);
    }
}

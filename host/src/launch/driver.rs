//! The CUDA driver: [`Driver`] is one GPU with one stream.
//!
//! The crate `cust` (crates/cust) manages devices, contexts, streams, modules, events and memory. Where it
//! offers no call, the driver's function is called through `cust::sys`. The driver is loaded when the first
//! function of this module is called, so that programs start without one.

mod device;
mod function;
mod graph;
mod image;
mod kernels;
mod launch;
mod limits;
mod lock;
mod memory;
mod module;
mod overlap;
mod page_locked;
mod staging;
mod status;
mod waiting_room;

use crate::error::{Error, Result};
use crate::launch::{Address, Counters, Cuda, DeviceInfo, Launch};
use cust::context::{Context, CurrentContext};
use cust::device::Device;
use cust::memory::cuda_free_locked;
use cust::stream::{Stream, StreamFlags};
use cust::sys::{self, CUresult, CUstream};
use kernels::Kernels;
use lock::lock;
use memory::DeviceMemory;
use overlap::Launcher;
use staging::Staging;
use status::{check, is_fault};
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};
use waiting_room::WaitingRoom;

pub(crate) use status::failed;

pub use device::{device_count, devices, driver_version};
pub use graph::GRAPHS_VARIABLE;
pub use image::{CUBIN_VARIABLE, MachineCode, PtxImage};
pub use limits::{Limits, limits};
pub use overlap::PDL_VARIABLE;

/// One GPU with its primary context, one stream, and the kernels of one image.
///
/// Any thread may use it; every call makes the context current on its thread.
pub struct Driver {
    info: DeviceInfo,
    counters: Counters,
    memory: DeviceMemory,
    allocations: Mutex<HashMap<Address, Allocation>>,
    /// Page-locked memory given back, (bytes, address): every solve wants some of the same size, and the
    /// system takes longer to lock it than a short solve takes.
    idle_page_locked: Mutex<Vec<(usize, Address)>>,
    /// Memory that other processes have had, (bytes, address), for what is exported next. Never given back to
    /// the driver, which forbids that while another process may have it.
    idle_exported: Mutex<Vec<(usize, Address)>>,
    /// Made for the first large copy; taken out while a copy uses it.
    staging: Mutex<Option<Staging>>,
    /// Made for the first small copy to the device.
    waiting_room: Mutex<Option<WaitingRoom>>,
    kernels: Kernels,
    launcher: Launcher,
    /// Whether it records graphs.
    graphs: bool,
    stream: Arc<Stream>,
    /// Last, so that it is released last.
    context: Arc<Context>,
}

/// Pieces of idle page-locked memory that are kept.
const KEPT_PAGE_LOCKED: usize = 4;
/// Bytes of the smallest: the progress of a solve of 30,000 iterations.
const LEAST_PAGE_LOCKED: usize = 1 << 18;

struct Allocation {
    bytes: usize,
    kind: Kind,
}

/// Where an allocation is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Device,
    /// On the device, outside of its pool, whose memory other devices do not see.
    Shared,
    /// The same for devices of other processes.
    Exported,
    /// Page-locked memory of the host.
    Host,
}

impl Driver {
    /// Opens device `ordinal` with the newest of the images which it takes, on a stream of its own.
    ///
    /// Machine code for the device is loaded where the image has some ([`CUBIN_VARIABLE`]). Else the device's
    /// driver translates each kernel when it is first used: some milliseconds, less where it finds it in its
    /// cache. Kernels may start before those in front of them have ended, unless the environment says
    /// otherwise ([`PDL_VARIABLE`]).
    ///
    /// # Errors
    /// [`Error::NoDevice`] if there is no driver, no such device, or no image for it; [`Error::Device`]
    /// with the translator's log if the image's shortest kernel does not load.
    pub fn open(ordinal: u32, images: &[PtxImage]) -> Result<Driver> {
        let (device, info) = device::device(ordinal)?;
        let context =
            Context::new(device).map_err(failed(format!("cuDevicePrimaryCtxRetain({})", info.name)))?;
        CurrentContext::set_current(&context).map_err(failed("cuCtxSetCurrent"))?;
        // cust makes no non-blocking streams. The legacy stream, which a blocking one waits for, is
        // never used here: every copy below names its stream.
        let stream = Stream::new(StreamFlags::DEFAULT, None).map_err(failed("cuStreamCreate"))?;
        Driver::with(device, info, Cuda { context, stream: Arc::new(stream) }, images)
    }

    /// [`Driver::open`] for a program that has a context and a stream: all work is queued on that stream.
    ///
    /// # Errors
    /// As for [`Driver::open`].
    pub fn on(cuda: Cuda, images: &[PtxImage]) -> Result<Driver> {
        CurrentContext::set_current(&cuda.context).map_err(failed("cuCtxSetCurrent"))?;
        let device = CurrentContext::get_device().map_err(failed("cuCtxGetDevice"))?;
        for ordinal in 0..device_count()? {
            let (other, info) = device::device(ordinal)?;
            if other == device {
                return Driver::with(device, info, cuda, images);
            }
        }
        Err(Error::NoDevice("the context's device is none of those of this machine".into()))
    }

    /// On a device whose context is current.
    fn with(device: Device, mut info: DeviceInfo, cuda: Cuda, images: &[PtxImage]) -> Result<Driver> {
        let image = image::newest(images, &info)?;
        info.ptx_target = image.name();
        let kernels = Kernels::new(image, &mut info)?;
        Ok(Driver {
            info,
            counters: Counters::default(),
            memory: DeviceMemory::of(device),
            allocations: Mutex::default(),
            idle_page_locked: Mutex::default(),
            idle_exported: Mutex::default(),
            staging: Mutex::default(),
            waiting_room: Mutex::default(),
            kernels,
            launcher: Launcher::from_env(),
            graphs: graph::from_env(),
            stream: cuda.stream,
            context: Arc::new(cuda.context),
        })
    }

    /// The same, recording no graphs: solvers queue every kernel by itself.
    pub fn without_graphs(mut self) -> Driver {
        self.graphs = false;
        self
    }

    /// Makes the page-locked memory of copies, and of a solve's progress, now, which takes some
    /// milliseconds, and not in the first of them. Where it cannot be had, that one will say so.
    pub fn prepare_copies(&self) {
        if self.enter().is_ok() {
            let _ = self.with_room(0, |_| Ok(()));
            let made = Staging::new().ok();
            let mut staging = lock(&self.staging);
            *staging = staging.take().or(made);
            if let Ok(address) = self.alloc_host_visible(LEAST_PAGE_LOCKED) {
                // SAFETY: nobody else has the address.
                unsafe { self.free(address) };
            }
        }
    }

    /// How many blocks of `block` threads of `kernel` one multiprocessor holds at a time.
    ///
    /// # Errors
    /// The image has no kernel of that name.
    pub fn max_active_blocks(&self, kernel: &'static str, block: u32) -> Result<u32> {
        self.enter()?;
        self.kernels.max_active_blocks(kernel, block)
    }

    /// Makes the context current on this thread. Cheap: a store, where it is current already.
    fn enter(&self) -> Result<()> {
        CurrentContext::set_current(&*self.context).map_err(failed("cuCtxSetCurrent"))
    }

    /// As [`Driver::enter`], for a call that cannot be recorded.
    fn enter_now(&self, call: impl FnOnce() -> String) -> Result<()> {
        if graph::recording(&self.context).is_some() {
            graph::refuse();
            let message = "work that is recorded must not allocate, copy, or wait for the device";
            return Err(Error::Device { call: call(), message: message.into() });
        }
        self.enter()
    }

    /// Where this thread's work goes.
    fn queue(&self) -> CUstream {
        graph::recording(&self.context).map_or(self.stream.as_inner(), |recording| recording.stream)
    }

    /// Queues the kernel of this name on `grid` blocks, along x and y, of `block` threads.
    ///
    /// # Safety
    /// The arguments are those of that kernel, and its own safety conditions hold for them.
    unsafe fn launch_named(
        &self,
        name: &'static str,
        grid: [u32; 2],
        block: u32,
        arguments: &mut [*mut c_void],
    ) -> Result<()> {
        let blocks = grid[0] * grid[1];
        if blocks == 0 {
            return Ok(());
        }
        self.enter()?;
        let mut function = self.kernels.function(name)?;
        let recording = graph::recording(&self.context);
        function.waits &= recording.is_none_or(|recording| recording.overlap);
        let stream = recording.map_or(self.stream.as_inner(), |recording| recording.stream);
        // SAFETY: the function is of this context; the caller vouches for the arguments.
        let status = unsafe { self.launcher.launch(function, grid, block, stream, arguments) };
        self.waited(status, || format!("cuLaunchKernel({name}, {blocks} blocks of {block} threads)"))?;
        match recording {
            Some(_) => graph::count_launch(),
            None => Counters::add(&self.counters.launches, 1),
        }
        self.kernels.launched(name, blocks, block);
        Ok(())
    }

    /// The result of a call that waits, and so brings up the faults of kernels queued before it.
    fn waited(&self, status: CUresult, call: impl FnOnce() -> String) -> Result<()> {
        check(status, call).map_err(|error| match error {
            Error::Device { call, message } if is_fault(status) => {
                Error::Device { call, message: format!("{message}; {}", self.kernels.recent()) }
            }
            other => other,
        })
    }

    fn finish(&self, call: impl FnOnce() -> String) -> Result<()> {
        // SAFETY: the stream is this driver's, and its context is current.
        self.waited(unsafe { sys::cuStreamSynchronize(self.stream.as_inner()) }, call)
    }

    /// Enters an allocation into the books.
    fn allocated(&self, address: Address, bytes: usize, kind: Kind) -> Address {
        lock(&self.allocations).insert(address, Allocation { bytes, kind });
        if kind != Kind::Host {
            Counters::add(&self.counters.allocations, 1);
            Counters::add(&self.counters.allocated_bytes, bytes as u64);
        }
        address
    }

    /// Memory of so many bytes for others, set to zero before any of them writes there.
    fn cleared(&self, address: Address, bytes: usize) -> Result<Address> {
        // SAFETY: it was allocated with this size, and nobody has it yet.
        let cleared = unsafe { self.zero(address, bytes) };
        match cleared.and_then(|()| self.finish(|| format!("cuMemsetD8Async({bytes} bytes)"))) {
            Ok(()) => Ok(address),
            Err(error) => {
                // SAFETY: nobody else has the address.
                unsafe { self.free(address) };
                Err(error)
            }
        }
    }

    /// Runs a copy with the staging buffers. They are taken out of their lock meanwhile: the copy runs
    /// on rayon's threads, which may pick up another copy while they wait for this one.
    fn staged(&self, copy: impl FnOnce(&mut Staging) -> Result<()>) -> Result<()> {
        let present = lock(&self.staging).take();
        let mut staging = present.map_or_else(Staging::new, Ok)?;
        let copied = copy(&mut staging);
        let finished = self.finish(|| "cuStreamSynchronize(staged copy)".into());
        *lock(&self.staging) = Some(staging);
        // A fault of a kernel stops the copy too, and `finished` says which kernels it may have been.
        finished.and(copied)
    }

    /// Lets `copy` put so many bytes, which have room in an empty one, into the waiting room.
    fn with_room(&self, bytes: usize, copy: impl FnOnce(&mut WaitingRoom) -> Result<()>) -> Result<()> {
        let mut room = lock(&self.waiting_room);
        let room = match &mut *room {
            Some(room) => room,
            none => none.insert(WaitingRoom::new()?),
        };
        if !room.has_room(bytes) {
            self.finish(|| "cuStreamSynchronize(copies that wait)".into())?;
            room.clear();
        }
        copy(room)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // The fields are given back on this thread. Without a context they are leaked.
        if self.enter().is_ok() {
            for (_, address) in lock(&self.idle_page_locked).drain(..) {
                // SAFETY: it was given back, and nothing uses it.
                let _ = unsafe { cuda_free_locked(address as *mut u8) };
            }
            // SAFETY: the stream is this driver's, and its context is current.
            unsafe { self.memory.trim(self.stream.as_inner()) };
        }
    }
}

#[cfg(test)]
mod tests;

//! The CUDA driver: [`Driver`] is one GPU with one stream.
//!
//! The crate `cust` (crates/cust) manages devices, contexts, streams, modules, events and memory. Where it
//! offers no call, the driver's function is called through `cust::sys`. The driver is loaded when the first
//! function of this module is called, so that programs start without one.

mod device;
mod graph;
mod image;
mod kernels;
mod memory;
mod module;
mod overlap;
mod staging;
mod status;

use crate::error::{Error, Result};
use crate::launch::{Address, Counters, DeviceInfo, Event, Graph, KernelAttributes, Launch};
use cuda_std::host::Kernel;
use cust::context::{Context, CurrentContext};
use cust::error::CudaError;
use cust::event::EventFlags;
use cust::memory::cuda_free_locked;
use cust::stream::{Stream, StreamFlags};
use cust::sys::{self, CUresult, CUstream};
use graph::Recorded;
use kernels::Kernels;
use memory::DeviceMemory;
use overlap::Launcher;
use staging::Staging;
use status::{check, failed, is_fault};
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use device::{device_count, devices, driver_version};
pub use graph::GRAPHS_VARIABLE;
pub use image::{CUBIN_VARIABLE, MachineCode, PtxImage};
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
    /// Made for the first large copy; taken out while a copy uses it.
    staging: Mutex<Option<Staging>>,
    kernels: Kernels,
    launcher: Launcher,
    /// Whether it records graphs.
    graphs: bool,
    stream: Stream,
    /// Last, so that it is released last.
    context: Arc<Context>,
}

/// Pieces of idle page-locked memory that are kept.
const KEPT_PAGE_LOCKED: usize = 4;

struct Allocation {
    bytes: usize,
    host_visible: bool,
}

impl Driver {
    /// Opens device `ordinal` with the newest of the images which it takes.
    ///
    /// Machine code for the device is loaded where the image has some ([`CUBIN_VARIABLE`]). Else the device's
    /// driver translates each kernel when it is first used: some milliseconds, less where it finds it in its
    /// cache. Kernels may start before those in front of them have ended, unless the
    /// environment says otherwise ([`PDL_VARIABLE`]).
    ///
    /// # Errors
    /// [`Error::NoDevice`] if there is no driver, no such device, or no image for it; [`Error::Device`]
    /// with the translator's log if the image's shortest kernel does not load.
    pub fn open(ordinal: u32, images: &[PtxImage]) -> Result<Driver> {
        let (device, mut info) = device::device(ordinal)?;
        let image = image::newest(images, &info)?;
        let context =
            Context::new(device).map_err(failed(format!("cuDevicePrimaryCtxRetain({})", info.name)))?;
        CurrentContext::set_current(&context).map_err(failed("cuCtxSetCurrent"))?;
        info.ptx_target = image.name();
        let kernels = Kernels::new(image, &mut info)?;
        // cust makes no non-blocking streams. The legacy stream, which a blocking one waits for, is
        // never used here: every copy below names its stream.
        let stream = Stream::new(StreamFlags::DEFAULT, None).map_err(failed("cuStreamCreate"))?;
        Ok(Driver {
            info,
            counters: Counters::default(),
            memory: DeviceMemory::of(device),
            allocations: Mutex::default(),
            idle_page_locked: Mutex::default(),
            staging: Mutex::default(),
            kernels,
            launcher: Launcher::from_env(),
            graphs: graph::from_env(),
            stream,
            context: Arc::new(context),
        })
    }

    /// The same, recording no graphs: solvers queue every kernel by itself.
    pub fn without_graphs(mut self) -> Driver {
        self.graphs = false;
        self
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
    fn allocated(&self, address: Address, bytes: usize, host_visible: bool) -> Address {
        lock(&self.allocations).insert(address, Allocation { bytes, host_visible });
        if !host_visible {
            Counters::add(&self.counters.allocations, 1);
            Counters::add(&self.counters.allocated_bytes, bytes as u64);
        }
        address
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

/// A lock whose data is valid even if a thread panicked while it held it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Launch for Driver {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn resident_blocks(&self, kernel: &'static str, block: u32) -> Result<u32> {
        Ok(self.max_active_blocks(kernel, block)? * self.info.multiprocessors)
    }

    fn memory(&self) -> Result<(u64, u64)> {
        self.enter()?;
        // What is given back counts as free when the device has come to it.
        self.finish(|| "cuStreamSynchronize".into())?;
        let (free, total) = cust::memory::mem_get_info().map_err(failed("cuMemGetInfo"))?;
        Ok(((free as u64 + self.memory.idle()).min(total as u64), total as u64))
    }

    fn alloc(&self, bytes: usize) -> Result<Address> {
        let call = || format!("cuMemAlloc({bytes} bytes)");
        self.enter_now(call)?;
        // The driver has no allocation of 0 bytes, but an empty vector must have an address.
        let mut address = 0;
        // SAFETY: this driver queues everything on this stream, graphs too.
        let status = unsafe { self.memory.take(&mut address, bytes.max(1), self.stream.as_inner()) };
        if status == CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            let (free, total) = self.memory()?;
            return Err(Error::DeviceMemory {
                device: self.info.name.clone(),
                needed: bytes as u64,
                free,
                total,
                detail: "in one piece".into(),
            });
        }
        self.waited(status, call)?;
        Ok(self.allocated(address, bytes, false))
    }

    fn alloc_host_visible(&self, bytes: usize) -> Result<Address> {
        self.enter_now(|| format!("cuMemAllocHost({bytes} bytes of page-locked memory)"))?;
        let kept = {
            let mut idle = lock(&self.idle_page_locked);
            idle.iter().position(|&(size, _)| size == bytes).map(|k| idle.swap_remove(k).1)
        };
        let address = match kept {
            Some(address) => address,
            None => memory::take_page_locked(bytes.max(1), &self.info.name)?,
        };
        Ok(self.allocated(address, bytes, true))
    }

    unsafe fn free(&self, address: Address) {
        let Some(allocation) = lock(&self.allocations).remove(&address) else { return };
        if !allocation.host_visible {
            self.counters.allocated_bytes.fetch_sub(allocation.bytes as u64, Ordering::Relaxed);
        }
        // A fault that comes up here comes up again in the next call that can report it.
        if self.enter().is_err() {
            return;
        }
        // SAFETY: it came from the same allocator and, as the caller promises, nothing uses it later.
        unsafe {
            if allocation.host_visible {
                let _ = self.finish(String::new);
                let mut idle = lock(&self.idle_page_locked);
                idle.push((allocation.bytes, address));
                if idle.len() > KEPT_PAGE_LOCKED {
                    let _ = cuda_free_locked(idle.remove(0).1 as *mut u8);
                }
            } else {
                self.memory.give_back(address, self.stream.as_inner());
            }
        }
    }

    unsafe fn upload(&self, destination: Address, source: &[u8]) -> Result<()> {
        let bytes = source.len();
        let call = || format!("cuMemcpyHtoDAsync({bytes} bytes to {destination:#x})");
        self.enter_now(call)?;
        if bytes >= staging::STAGE {
            // SAFETY: the caller vouches for the destination.
            self.staged(|staging| unsafe { staging.upload(destination, source, &self.stream) })?;
        } else if bytes > 0 {
            // SAFETY: the caller vouches for the destination, and `source` is borrowed until the end.
            let status = unsafe {
                sys::cuMemcpyHtoDAsync_v2(destination, source.as_ptr().cast(), bytes, self.stream.as_inner())
            };
            self.waited(status, call)?;
            self.finish(call)?;
        }
        Counters::add(&self.counters.uploads, 1);
        Counters::add(&self.counters.uploaded_bytes, bytes as u64);
        Ok(())
    }

    unsafe fn download(&self, destination: &mut [u8], source: Address) -> Result<()> {
        let bytes = destination.len();
        let call = || format!("cuMemcpyDtoHAsync({bytes} bytes from {source:#x})");
        self.enter_now(call)?;
        if bytes >= staging::STAGE {
            // SAFETY: the caller vouches for the source.
            self.staged(|staging| unsafe { staging.download(destination, source, &self.stream) })?;
        } else if bytes > 0 {
            // SAFETY: the caller vouches for the source, and `destination` is borrowed until the end.
            let status = unsafe {
                sys::cuMemcpyDtoHAsync_v2(
                    destination.as_mut_ptr().cast(),
                    source,
                    bytes,
                    self.stream.as_inner(),
                )
            };
            self.waited(status, call)?;
            self.finish(call)?;
        }
        Counters::add(&self.counters.downloads, 1);
        Counters::add(&self.counters.downloaded_bytes, bytes as u64);
        Ok(())
    }

    unsafe fn copy(&self, destination: Address, source: Address, bytes: usize) -> Result<()> {
        let call = || format!("cuMemcpyDtoDAsync({bytes} bytes from {source:#x} to {destination:#x})");
        self.enter_now(call)?;
        if bytes > 0 {
            // SAFETY: the caller vouches for both.
            let status =
                unsafe { sys::cuMemcpyDtoDAsync_v2(destination, source, bytes, self.stream.as_inner()) };
            self.waited(status, call)?;
        }
        Counters::add(&self.counters.device_copies, 1);
        Ok(())
    }

    unsafe fn zero(&self, destination: Address, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.enter()?;
        // SAFETY: the caller vouches for the destination.
        let status = unsafe { sys::cuMemsetD8Async(destination, 0, bytes, self.queue()) };
        self.waited(status, || format!("cuMemsetD8Async({bytes} bytes at {destination:#x})"))
    }

    unsafe fn launch(&self, grid: u32, block: u32, kernel: &dyn Kernel) -> Result<()> {
        if grid == 0 {
            return Ok(());
        }
        self.enter()?;
        let name = kernel.name();
        let mut function = self.kernels.function(name)?;
        let recording = graph::recording(&self.context);
        function.waits &= recording.is_none_or(|recording| recording.overlap);
        let stream = recording.map_or(self.stream.as_inner(), |recording| recording.stream);
        let mut status = CUresult::CUDA_ERROR_INVALID_VALUE;
        kernel.arguments(&mut |arguments| {
            // SAFETY: the function is of this context; the arguments are those of the kernel of this
            // name, which `#[kernel]` made both; the caller vouches for their values.
            status = unsafe { self.launcher.launch(function, grid, block, stream, arguments) };
        });
        self.waited(status, || format!("cuLaunchKernel({name}, {grid} blocks of {block} threads)"))?;
        match recording {
            Some(_) => graph::count_launch(),
            None => Counters::add(&self.counters.launches, 1),
        }
        self.kernels.launched(name, grid, block);
        Ok(())
    }

    fn kernel_attributes(&self, kernel: &'static str) -> Result<Option<KernelAttributes>> {
        self.enter()?;
        self.kernels.attributes(kernel).map(Some)
    }

    fn loading_seconds(&self) -> f64 {
        self.kernels.loading_seconds()
    }

    fn record_graph(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Option<Graph>> {
        if !self.graphs {
            return Ok(None);
        }
        self.enter_now(|| "cuStreamBeginCapture".into())?;
        let recorded = match graph::record(&self.context, true, work) {
            Ok(Some(recorded)) => Some(recorded),
            // Drivers before 12.3 have no overlap within graphs, and say so somewhere on the way.
            _ => graph::record(&self.context, false, work)?,
        };
        Ok(recorded.map(|recorded| Graph(Box::new(recorded))))
    }

    unsafe fn replay(&self, graph: &Graph) -> Result<()> {
        let call = || "cuGraphLaunch".to_owned();
        self.enter_now(call)?;
        let recorded = graph.0.downcast_ref::<Recorded>().filter(|recorded| recorded.is_of(&self.context));
        let recorded = recorded.ok_or_else(|| Error::Device {
            call: call(),
            message: "the graph was recorded by another device".into(),
        })?;
        // SAFETY: the graph is of this context; the caller vouches for what is in it.
        let status = unsafe { sys::cuGraphLaunch(recorded.graph, self.stream.as_inner()) };
        self.waited(status, call)?;
        Counters::add(&self.counters.graph_launches, 1);
        Counters::add(&self.counters.launches, recorded.launches);
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        let call = || "cuStreamSynchronize".to_owned();
        self.enter_now(call)?;
        self.finish(call)
    }

    fn record(&self) -> Result<Event> {
        self.enter_now(|| "cuEventRecord".into())?;
        let event = cust::event::Event::new(EventFlags::DEFAULT).map_err(failed("cuEventCreate"))?;
        event.record(&self.stream).map_err(failed("cuEventRecord"))?;
        Ok(Event(Box::new(event)))
    }

    fn elapsed(&self, start: &Event, end: &Event) -> Result<f64> {
        self.enter()?;
        let foreign = || Error::Device {
            call: "cuEventElapsedTime".into(),
            message: "an event was recorded by another kind of device".into(),
        };
        let start = start.0.downcast_ref::<cust::event::Event>().ok_or_else(foreign)?;
        let end = end.0.downcast_ref::<cust::event::Event>().ok_or_else(foreign)?;
        for event in [start, end] {
            let status = event.synchronize().map_or_else(CudaError::status, |()| CUresult::CUDA_SUCCESS);
            self.waited(status, || "cuEventSynchronize".into())?;
        }
        let milliseconds = end.elapsed_time_f32(start).map_err(failed("cuEventElapsedTime"))?;
        Ok(f64::from(milliseconds) * 1e-3)
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_driver_the_error_says_what_to_install() {
        if cust::driver::load().is_ok() {
            println!("skipped: this machine has a CUDA driver");
            return;
        }
        let refusals =
            [Driver::open(0, &[]).err(), device_count().err(), devices().err(), driver_version().err()];
        for error in refusals {
            let error = error.expect("there is no driver");
            assert!(matches!(error, Error::NoDevice(_)), "{error:?}");
            let expected = "no GPU: libcuda.so.1 not found: install the NVIDIA driver; \
                            --device cpu works without (libcuda.so.1: ";
            assert!(error.to_string().starts_with(expected), "{error}");
        }
    }

    #[test]
    fn statuses_keep_their_number_where_no_driver_explains_them() {
        let error = failed("cuMemAlloc(8 bytes)")(CudaError::OutOfMemory);
        if cust::driver::load().is_err() {
            assert_eq!(error.to_string(), "cuMemAlloc(8 bytes) failed: CUDA error 2");
        }
        assert_eq!(CudaError::IllegalAddress.status(), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        assert_eq!(CudaError::InvalidMemoryAllocation.status(), CUresult::CUDA_ERROR_INVALID_VALUE);
        assert!(is_fault(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
        assert!(!is_fault(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
    }
}

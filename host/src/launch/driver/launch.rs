//! [`Launch`] for a driver's device: memory, copies, launches, recordings and events.

use super::graph::{self, Recorded};
use super::lock::lock;
use super::status::failed;
use super::{Driver, KEPT_PAGE_LOCKED, Kind, LEAST_PAGE_LOCKED, memory, staging};
use crate::error::{Error, Result};
use crate::launch::{
    Address, Batch, Counters, Cuda, DeviceInfo, Event, Graph, Handle, KernelAttributes, Launch, NativeLaunch,
};
use cuda_std::host::Kernel;
use cust::context::Context;
use cust::device::Device;
use cust::error::CudaError;
use cust::event::EventFlags;
use cust::memory::cuda_free_locked;
use cust::sys::{self, CUipcMemHandle, CUresult};
use std::sync::atomic::Ordering;

impl Launch for Driver {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn cuda(&self) -> Option<Cuda> {
        Some(Cuda { context: Context::clone(&self.context), stream: self.stream.clone() })
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
        Ok(self.allocated(address, bytes, Kind::Device))
    }

    /// Pieces of some sizes, so that the next that is asked for finds one that was given back.
    fn alloc_host_visible(&self, bytes: usize) -> Result<Address> {
        let bytes = bytes.max(LEAST_PAGE_LOCKED).next_power_of_two();
        self.enter_now(|| format!("cuMemAllocHost({bytes} bytes of page-locked memory)"))?;
        let kept = {
            let mut idle = lock(&self.idle_page_locked);
            idle.iter().position(|&(size, _)| size == bytes).map(|k| idle.swap_remove(k).1)
        };
        let address = match kept {
            Some(address) => address,
            None => memory::take_page_locked(bytes, &self.info.name)?,
        };
        Ok(self.allocated(address, bytes, Kind::Host))
    }

    fn alloc_shared(&self, bytes: usize) -> Result<Address> {
        let call = || format!("cuMemAlloc({bytes} bytes to be shared)");
        self.enter_now(call)?;
        let mut address = 0;
        // SAFETY: `address` is writable.
        self.waited(unsafe { sys::cuMemAlloc_v2(&mut address, bytes.max(1)) }, call)?;
        Ok(self.allocated(address, bytes, Kind::Shared))
    }

    fn uuid(&self) -> Option<[u8; 16]> {
        Device::get_device(self.info.ordinal).and_then(Device::uuid).ok()
    }

    /// Pieces of some sizes, so that the next that is exported finds one that was given back.
    fn alloc_exported(&self, bytes: usize) -> Result<(Address, Handle)> {
        /// What the driver gives other processes at least.
        const LEAST: usize = 2 << 20;
        let size = bytes.max(LEAST).next_power_of_two();
        let call = || format!("cuMemAlloc({size} bytes for other processes)");
        self.enter_now(call)?;
        let kept = {
            let mut idle = lock(&self.idle_exported);
            idle.iter().position(|&(kept, _)| kept == size).map(|k| idle.swap_remove(k).1)
        };
        let mut address = kept.unwrap_or_default();
        if kept.is_none() {
            // SAFETY: `address` is writable.
            self.waited(unsafe { sys::cuMemAlloc_v2(&mut address, size) }, call)?;
        }
        let address = self.cleared(self.allocated(address, size, Kind::Exported), size)?;
        let mut handle = CUipcMemHandle { reserved: [0; 64] };
        // SAFETY: `handle` is writable, and the memory is this device's.
        let status = unsafe { sys::cuIpcGetMemHandle(&mut handle, address) };
        self.waited(status, || "cuIpcGetMemHandle".into()).inspect_err(|_| {
            // SAFETY: nobody else has the address.
            unsafe { self.free(address) }
        })?;
        Ok((address, handle.reserved))
    }

    unsafe fn import(&self, handle: &Handle, bytes: usize) -> Result<Address> {
        let call = || format!("cuIpcOpenMemHandle({bytes} bytes)");
        self.enter_now(call)?;
        let (mut address, handle) = (0, CUipcMemHandle { reserved: *handle });
        let flags = sys::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
        // SAFETY: `address` is writable; a handle that is none is refused.
        self.waited(unsafe { sys::cuIpcOpenMemHandle_v2(&mut address, handle, flags) }, call)?;
        Ok(address)
    }

    fn close(&self, address: Address) {
        if self.enter().is_ok() {
            let _ = self.finish(String::new);
            // SAFETY: it was imported, and as the caller promises nothing uses it later.
            unsafe { sys::cuIpcCloseMemHandle(address) };
        }
    }

    /// A GPU with peer access, which is enabled then.
    fn reaches(&self, other: &dyn Launch) -> bool {
        let Some(Cuda { context, .. }) = other.cuda() else { return false };
        let device = |ordinal: u32| Device::get_device(ordinal).map(|device| device.as_raw());
        let (Ok(mine), Ok(its)) = (device(self.info.ordinal), device(other.info().ordinal)) else {
            return false;
        };
        let mut can = 0;
        // SAFETY: `can` is writable, and this driver's context is current in the second call.
        unsafe {
            if sys::cuDeviceCanAccessPeer(&mut can, mine, its) != CUresult::CUDA_SUCCESS || can == 0 {
                return false;
            }
            let enabled = [CUresult::CUDA_SUCCESS, CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED];
            self.enter().is_ok() && enabled.contains(&sys::cuCtxEnablePeerAccess(context.as_raw(), 0))
        }
    }

    unsafe fn free(&self, address: Address) {
        let Some(allocation) = lock(&self.allocations).remove(&address) else { return };
        if allocation.kind != Kind::Host {
            self.counters.allocated_bytes.fetch_sub(allocation.bytes as u64, Ordering::Relaxed);
        }
        // A fault that comes up here comes up again in the next call that can report it.
        if self.enter().is_err() {
            return;
        }
        // SAFETY: it came from the same allocator and, as the caller promises, nothing uses it later.
        unsafe {
            match allocation.kind {
                Kind::Host => {
                    let _ = self.finish(String::new);
                    let mut idle = lock(&self.idle_page_locked);
                    idle.push((allocation.bytes, address));
                    if idle.len() > KEPT_PAGE_LOCKED {
                        let _ = cuda_free_locked(idle.remove(0).1 as *mut u8);
                    }
                }
                Kind::Shared => {
                    let _ = self.finish(String::new);
                    sys::cuMemFree_v2(address);
                }
                Kind::Exported => lock(&self.idle_exported).push((allocation.bytes, address)),
                Kind::Device => self.memory.give_back(address, self.stream.as_inner()),
            }
        }
    }

    unsafe fn upload(&self, destination: Address, source: &[u8]) -> Result<()> {
        let bytes = source.len();
        let call = || format!("cuMemcpyHtoDAsync({bytes} bytes to {destination:#x})");
        self.enter_now(call)?;
        if bytes >= staging::LEAST {
            // SAFETY: the caller vouches for the destination.
            self.staged(|staging| unsafe { staging.upload(destination, source, &self.stream) })?;
        } else if bytes > 0 {
            self.with_room(bytes, |room| {
                // SAFETY: the caller vouches for the destination, and the bytes wait until they are copied.
                let status = unsafe {
                    sys::cuMemcpyHtoDAsync_v2(
                        destination,
                        room.put(source).cast(),
                        bytes,
                        self.stream.as_inner(),
                    )
                };
                self.waited(status, call)
            })?;
        }
        Counters::add(&self.counters.uploads, 1);
        Counters::add(&self.counters.uploaded_bytes, bytes as u64);
        Ok(())
    }

    unsafe fn download(&self, destination: &mut [u8], source: Address) -> Result<()> {
        let bytes = destination.len();
        let call = || format!("cuMemcpyDtoHAsync({bytes} bytes from {source:#x})");
        self.enter_now(call)?;
        if bytes >= staging::LEAST {
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

    unsafe fn copy_from(
        &self,
        destination: Address,
        other: &dyn Launch,
        source: Address,
        bytes: usize,
    ) -> Result<()> {
        let call = || format!("cuMemcpyPeerAsync({bytes} bytes from {source:#x} to {destination:#x})");
        self.enter_now(call)?;
        let Some(Cuda { context, .. }) = other.cuda() else {
            let message = format!("{} is no CUDA device", other.info().name);
            return Err(Error::Device { call: call(), message });
        };
        if bytes > 0 {
            let (to, from) = (self.context.as_raw(), context.as_raw());
            // SAFETY: the caller vouches for both.
            let status = unsafe {
                sys::cuMemcpyPeerAsync(destination, to, source, from, bytes, self.stream.as_inner())
            };
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
        let mut launched = Ok(());
        kernel.arguments(&mut |arguments| {
            // SAFETY: the arguments are those of the kernel of this name, which `#[kernel]` made both; the
            // caller vouches for their values.
            launched = unsafe { self.launch_named(kernel.name(), [grid, 1], block, arguments) };
        });
        launched
    }
    fn takes_batches(&self) -> bool {
        true
    }
    unsafe fn launch_batch(&self, _: Option<u64>, grid: u32, block: u32, batch: &Batch) -> Result<()> {
        let grid = [grid, batch.count() as u32];
        // SAFETY: as above; there are as many sets of arguments as blocks along y.
        unsafe { self.launch_named(batch.name(), grid, block, &mut [batch.argument()]) }
    }
    unsafe fn launch_native(&self, launch: NativeLaunch) -> Result<()> {
        self.enter()?;
        let NativeLaunch { name, function, grid, block, shared, arguments } = launch;
        // SAFETY: the caller vouches for the function and its arguments.
        let status = unsafe {
            sys::cuLaunchKernel(
                function,
                grid[0],
                grid[1],
                grid[2],
                block[0],
                block[1],
                block[2],
                shared,
                self.queue(),
                arguments.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        self.waited(status, || format!("cuLaunchKernel({name}, {grid:?} blocks of {block:?} threads)"))?;
        match graph::recording(&self.context) {
            Some(_) => graph::count_launch(),
            None => Counters::add(&self.counters.launches, 1),
        }
        self.kernels.launched(name, grid.iter().product(), block.iter().product());
        Ok(())
    }

    fn kernel_attributes(&self, kernel: &'static str) -> Result<Option<KernelAttributes>> {
        self.enter()?;
        self.kernels.attributes(kernel).map(Some)
    }

    fn reserve(&self, bytes: u64) {
        if self.enter().is_ok() {
            // SAFETY: the stream is this driver's, and its context is current.
            unsafe { self.memory.reserve(bytes, self.stream.as_inner()) };
        }
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

//! The context that is current on a thread.

use super::primary::{Context, ContextFlags, ContextHandle};
use crate::device::Device;
use crate::error::{CudaError, CudaResult, ToResult};
use crate::sys::{self, CUcontext};

/// What fast memory on a multiprocessor is for: shared memory and the cache share it on some devices.
#[derive(Copy, Clone, Debug, Hash, Eq, PartialEq)]
#[repr(u32)]
#[non_exhaustive]
pub enum CacheConfig {
    /// The default.
    PreferNone = 0,
    /// More shared memory.
    PreferShared = 1,
    /// More cache.
    PreferL1 = 2,
    /// As much of both.
    PreferEqual = 3,
}

/// What a context limits.
#[derive(Copy, Clone, Debug, Hash, Eq, PartialEq)]
#[repr(u32)]
#[non_exhaustive]
pub enum ResourceLimit {
    /// Bytes of stack of each thread of a kernel.
    StackSize = 0,
    /// Bytes of what kernels print.
    PrintfFifoSize = 1,
    /// Bytes that kernels allocate from.
    MallocHeapSize = 2,
    /// Depth of grids that wait for grids.
    DeviceRuntimeSynchronizeDepth = 3,
    /// Grids that kernels have launched and that have not begun.
    DeviceRuntimePendingLaunchCount = 4,
    /// Bytes that a miss in the L2 cache brings.
    MaxL2FetchGranularity = 5,
}

/// Width of the banks of shared memory, on devices where it can be chosen.
#[derive(Copy, Clone, Debug, Hash, Eq, PartialEq)]
#[repr(u32)]
#[non_exhaustive]
pub enum SharedMemoryConfig {
    /// The device's own.
    DefaultBankSize = 0,
    /// 4 bytes.
    FourByteBankSize = 1,
    /// 8 bytes.
    EightByteBankSize = 2,
}

/// Priorities of streams; smaller numbers are greater priorities.
#[derive(Debug, Clone, Hash, Eq, PartialEq)]
pub struct StreamPriorityRange {
    /// The least priority.
    pub least: i32,
    /// The greatest priority.
    pub greatest: i32,
}

/// The handle of the current context; None where there is none.
pub(super) fn handle() -> Option<CUcontext> {
    let mut context = std::ptr::null_mut();
    // SAFETY: `context` is writable.
    unsafe { sys::cuCtxGetCurrent(&mut context) }.to_result().ok()?;
    (!context.is_null()).then_some(context)
}

/// The context that is current on the calling thread.
#[derive(Debug)]
pub struct CurrentContext;

/// All functions fail where no context is current.
impl CurrentContext {
    /// What fast memory is for.
    ///
    /// # Errors
    /// The driver's.
    pub fn get_cache_config() -> CudaResult<CacheConfig> {
        let mut config = 0;
        // SAFETY: `config` is writable.
        unsafe { sys::cuCtxGetCacheConfig(&mut config) }.to_result()?;
        match config {
            0 => Ok(CacheConfig::PreferNone),
            1 => Ok(CacheConfig::PreferShared),
            2 => Ok(CacheConfig::PreferL1),
            3 => Ok(CacheConfig::PreferEqual),
            _ => Err(CudaError::UnknownError),
        }
    }

    /// Its device.
    ///
    /// # Errors
    /// The driver's.
    pub fn get_device() -> CudaResult<Device> {
        let mut device = 0;
        // SAFETY: `device` is writable.
        unsafe { sys::cuCtxGetDevice(&mut device) }.to_result()?;
        Ok(Device::from_raw(device))
    }

    /// Its flags.
    ///
    /// # Errors
    /// The driver's.
    pub fn get_flags() -> CudaResult<ContextFlags> {
        let mut flags = 0;
        // SAFETY: `flags` is writable.
        unsafe { sys::cuCtxGetFlags(&mut flags) }.to_result()?;
        Ok(ContextFlags::from_bits_truncate(flags))
    }

    /// A limit.
    ///
    /// # Errors
    /// The device has no such limit.
    pub fn get_resource_limit(resource: ResourceLimit) -> CudaResult<usize> {
        let mut limit = 0;
        // SAFETY: `limit` is writable.
        unsafe { sys::cuCtxGetLimit(&mut limit, resource as u32) }.to_result()?;
        Ok(limit)
    }

    /// Width of the banks of shared memory.
    ///
    /// # Errors
    /// The driver's.
    pub fn get_shared_memory_config() -> CudaResult<SharedMemoryConfig> {
        let mut config = 0;
        // SAFETY: `config` is writable.
        unsafe { sys::cuCtxGetSharedMemConfig(&mut config) }.to_result()?;
        match config {
            0 => Ok(SharedMemoryConfig::DefaultBankSize),
            1 => Ok(SharedMemoryConfig::FourByteBankSize),
            2 => Ok(SharedMemoryConfig::EightByteBankSize),
            _ => Err(CudaError::UnknownError),
        }
    }

    /// The priorities that streams can have.
    ///
    /// # Errors
    /// The driver's.
    pub fn get_stream_priority_range() -> CudaResult<StreamPriorityRange> {
        let mut range = StreamPriorityRange { least: 0, greatest: 0 };
        // SAFETY: both are writable.
        unsafe { sys::cuCtxGetStreamPriorityRange(&mut range.least, &mut range.greatest) }.to_result()?;
        Ok(range)
    }

    /// Chooses how fast memory is shared between cache and shared memory.
    ///
    /// # Errors
    /// The driver's.
    pub fn set_cache_config(config: CacheConfig) -> CudaResult<()> {
        // SAFETY: it takes a number.
        unsafe { sys::cuCtxSetCacheConfig(config as u32) }.to_result()
    }

    /// Sets a limit.
    ///
    /// # Errors
    /// The device has no such limit.
    pub fn set_resource_limit(resource: ResourceLimit, limit: usize) -> CudaResult<()> {
        // SAFETY: it takes numbers.
        unsafe { sys::cuCtxSetLimit(resource as u32, limit) }.to_result()
    }

    /// Chooses the width of the banks of shared memory.
    ///
    /// # Errors
    /// The driver's.
    pub fn set_shared_memory_config(config: SharedMemoryConfig) -> CudaResult<()> {
        // SAFETY: it takes a number.
        unsafe { sys::cuCtxSetSharedMemConfig(config as u32) }.to_result()
    }

    /// Makes a context current on this thread. Cheap where it is current already.
    ///
    /// # Errors
    /// The driver's.
    pub fn set_current<C: ContextHandle>(context: &C) -> CudaResult<()> {
        // SAFETY: the context is borrowed, and so alive.
        unsafe { sys::cuCtxSetCurrent(context.get_inner()) }.to_result()
    }

    /// Waits for all that is queued in it.
    ///
    /// # Errors
    /// The fault of a kernel that ran before.
    pub fn synchronize() -> CudaResult<()> {
        // SAFETY: it takes nothing.
        unsafe { sys::cuCtxSynchronize() }.to_result()
    }
}

/// The stack of contexts that every thread has. The one on top is the current one.
///
/// In cust 0.3 it is `context::legacy::ContextStack`.
#[derive(Debug)]
pub struct ContextStack;

impl ContextStack {
    /// Puts a context on top of the stack.
    ///
    /// # Errors
    /// The driver's.
    pub fn push<C: ContextHandle>(context: &C) -> CudaResult<()> {
        // SAFETY: the context is borrowed, and so alive.
        unsafe { sys::cuCtxPushCurrent_v2(context.get_inner()) }.to_result()
    }

    /// Takes the context on top off the stack. None where other code made it.
    ///
    /// # Errors
    /// The stack is empty.
    pub fn pop() -> CudaResult<Option<Context>> {
        let mut context = std::ptr::null_mut();
        // SAFETY: `context` is writable.
        unsafe { sys::cuCtxPopCurrent_v2(&mut context) }.to_result()?;
        Ok(Context::of(context))
    }
}

//! The context that is current on a thread.

use super::primary::{Context, ContextFlags, ContextHandle};
use crate::device::Device;
use crate::error::{CudaError, CudaResult, ToResult};
use crate::sys::{self, CUcontext};

/// What fast memory on a multiprocessor is for: shared memory and the cache share it on some devices.
///
/// ```no_run
/// # use cust::context::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// CurrentContext::set_cache_config(CacheConfig::PreferL1)?;
/// # Ok(())
/// # }
/// ```
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
///
/// ```no_run
/// # use cust::context::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// // Kernels that allocate need more than the 8 MiB there are at first.
/// CurrentContext::set_resource_limit(ResourceLimit::MallocHeapSize, 64 << 20)?;
/// # Ok(())
/// # }
/// ```
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
///
/// ```no_run
/// # use cust::context::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// CurrentContext::set_shared_memory_config(SharedMemoryConfig::EightByteBankSize)?;
/// # Ok(())
/// # }
/// ```
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
///
/// ```no_run
/// # use cust::context::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// let StreamPriorityRange { least, greatest } = CurrentContext::get_stream_priority_range()?;
/// assert!(greatest <= least);
/// # Ok(())
/// # }
/// ```
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
///
/// ```no_run
/// # use cust::context::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// println!("on {}", CurrentContext::get_device()?.name()?);
/// CurrentContext::synchronize()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CurrentContext;

/// All functions fail where no context is current.
impl CurrentContext {
    /// What fast memory is for.
    ///
    /// ```no_run
    /// # use cust::context::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// println!("{:?}", CurrentContext::get_cache_config()?);
    /// # Ok(())
    /// # }
    /// ```
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
    /// ```no_run
    /// # use cust::context::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let memory = CurrentContext::get_device()?.total_memory()?;
    /// # Ok(())
    /// # }
    /// ```
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
    /// ```no_run
    /// # use cust::context::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let sleeps = CurrentContext::get_flags()?.contains(ContextFlags::SCHED_BLOCKING_SYNC);
    /// # Ok(())
    /// # }
    /// ```
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
    /// ```no_run
    /// # use cust::context::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let bytes = CurrentContext::get_resource_limit(ResourceLimit::PrintfFifoSize)?;
    /// # Ok(())
    /// # }
    /// ```
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
    /// ```no_run
    /// # use cust::context::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// println!("{:?}", CurrentContext::get_shared_memory_config()?);
    /// # Ok(())
    /// # }
    /// ```
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
    /// ```no_run
    /// # use cust::context::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use cust::prelude::*;
    /// # let _context = cust::quick_init()?;
    /// let range = CurrentContext::get_stream_priority_range()?;
    /// let urgent = Stream::new(StreamFlags::DEFAULT, Some(range.greatest))?;
    /// # Ok(())
    /// # }
    /// ```
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
    /// ```no_run
    /// # use cust::context::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// CurrentContext::set_cache_config(CacheConfig::PreferShared)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn set_cache_config(config: CacheConfig) -> CudaResult<()> {
        // SAFETY: it takes a number.
        unsafe { sys::cuCtxSetCacheConfig(config as u32) }.to_result()
    }

    /// Sets a limit.
    ///
    /// ```no_run
    /// # use cust::context::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// // 4 MiB of what kernels print between two times that the host waits.
    /// CurrentContext::set_resource_limit(ResourceLimit::PrintfFifoSize, 4 << 20)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The device has no such limit.
    pub fn set_resource_limit(resource: ResourceLimit, limit: usize) -> CudaResult<()> {
        // SAFETY: it takes numbers.
        unsafe { sys::cuCtxSetLimit(resource as u32, limit) }.to_result()
    }

    /// Chooses the width of the banks of shared memory.
    ///
    /// ```no_run
    /// # use cust::context::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// CurrentContext::set_shared_memory_config(SharedMemoryConfig::FourByteBankSize)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn set_shared_memory_config(config: SharedMemoryConfig) -> CudaResult<()> {
        // SAFETY: it takes a number.
        unsafe { sys::cuCtxSetSharedMemConfig(config as u32) }.to_result()
    }

    /// Makes a context current on this thread. Cheap where it is current already.
    ///
    /// ```no_run
    /// # use cust::context::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let context = cust::quick_init()?;
    /// std::thread::spawn(move || {
    ///     CurrentContext::set_current(&context)?;
    ///     CurrentContext::synchronize()
    /// });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn set_current<C: ContextHandle>(context: &C) -> CudaResult<()> {
        // SAFETY: the context is borrowed, and so alive.
        unsafe { sys::cuCtxSetCurrent(context.get_inner()) }.to_result()
    }

    /// Waits for all that is queued in it.
    ///
    /// ```no_run
    /// # use cust::context::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// // The error of a kernel that failed comes here.
    /// CurrentContext::synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
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
///
/// ```no_run
/// # use cust::context::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let other = cust::quick_init()?;
/// ContextStack::push(&other)?;
/// // What is done here is done in the other context.
/// ContextStack::pop()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ContextStack;

impl ContextStack {
    /// Puts a context on top of the stack.
    ///
    /// ```no_run
    /// # use cust::context::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = cust::quick_init()?;
    /// ContextStack::push(&context)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn push<C: ContextHandle>(context: &C) -> CudaResult<()> {
        // SAFETY: the context is borrowed, and so alive.
        unsafe { sys::cuCtxPushCurrent_v2(context.get_inner()) }.to_result()
    }

    /// Takes the context on top off the stack. None where other code made it.
    ///
    /// ```no_run
    /// # use cust::context::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = cust::quick_init()?;
    /// ContextStack::push(&context)?;
    /// let popped = ContextStack::pop()?;
    /// assert_eq!(popped.map(|popped| popped.as_raw()), Some(context.as_raw()));
    /// # Ok(())
    /// # }
    /// ```
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

//! The primary context of a device.

use crate::device::Device;
use crate::error::{CudaResult, DropResult, ToResult};
use crate::private::Sealed;
use crate::sys::{self, CUcontext, CUdevice};
use crate::version::CudaApiVersion;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, PoisonError, Weak};

bitflags::bitflags! {
    /// How a thread waits for the device, and what a context can do.
    ///
    /// ```no_run
    /// # use cust::context::{Context, ContextFlags, ContextHandle};
    /// # use cust::prelude::{CudaFlags, Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = cust::quick_init()?;
    /// context.set_flags(ContextFlags::SCHED_BLOCKING_SYNC | ContextFlags::LMEM_RESIZE_TO_MAX)?;
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct ContextFlags: u32 {
        /// Keeps a processor busy while it waits: least latency.
        const SCHED_SPIN = 0x01;
        /// Lets other threads run while it waits.
        const SCHED_YIELD = 0x02;
        /// Sleeps while it waits.
        const SCHED_BLOCKING_SYNC = 0x04;
        /// The driver chooses among these.
        const SCHED_AUTO = 0x00;
        /// Page-locked memory can have addresses on the device. Every context can do that today.
        const MAP_HOST = 0x08;
        /// Keeps local memory that a kernel needed for the next one.
        const LMEM_RESIZE_TO_MAX = 0x10;
    }
}

/// What can be made current.
///
/// ```no_run
/// # use cust::context::{Context, ContextFlags, ContextHandle};
/// # use cust::prelude::{CudaFlags, Device};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// /// Whether two are the same.
/// fn same(one: &impl ContextHandle, other: &impl ContextHandle) -> bool {
///     one.get_inner() == other.get_inner()
/// }
/// # Ok(())
/// # }
/// ```
pub trait ContextHandle: Sealed {
    /// The driver's handle.
    ///
    /// ```no_run
    /// # use cust::context::{Context, ContextFlags, ContextHandle};
    /// # use cust::prelude::{CudaFlags, Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = cust::quick_init()?;
    /// assert_eq!(context.get_inner(), context.as_raw());
    /// # Ok(())
    /// # }
    /// ```
    fn get_inner(&self) -> CUcontext;
}

/// A device's primary context, kept until the last clone is dropped and everything made in it.
///
/// In cust 0.3 cloning asks the driver and panics where it refuses. Here it counts.
///
/// ```no_run
/// # use cust::context::{Context, ContextFlags, ContextHandle};
/// # use cust::prelude::{CudaFlags, Device};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// cust::init(CudaFlags::empty())?;
/// let context = Context::new(Device::get_device(0)?)?;
/// // The same one, which is there until both are dropped.
/// let again = context.clone();
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Context {
    primary: Arc<Primary>,
}

#[derive(Debug)]
struct Primary {
    handle: CUcontext,
    device: CUdevice,
}

// SAFETY: any thread may use the handle; the driver locks what is behind it.
unsafe impl Send for Primary {}
// SAFETY: as above.
unsafe impl Sync for Primary {}

impl Primary {
    fn release(&mut self) -> CudaResult<()> {
        // SAFETY: it was retained when this was made, and is released once.
        unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) }.to_result()
    }
}

impl Drop for Primary {
    fn drop(&mut self) {
        // A context that is not released is there until the process ends.
        let _ = self.release();
    }
}

/// The contexts that this process holds, so that what is made in one can keep it.
static HELD: Mutex<Vec<Weak<Primary>>> = Mutex::new(Vec::new());

/// The context with that property, if it is held.
fn held(wanted: impl Fn(&Primary) -> bool, contexts: &[Weak<Primary>]) -> Option<Context> {
    let primary = contexts.iter().filter_map(Weak::upgrade).find(|primary| wanted(primary))?;
    Some(Context { primary })
}

impl Context {
    /// Takes the device's primary context, which is created if no one holds it, and makes it current on
    /// this thread.
    ///
    /// ```no_run
    /// # use cust::context::{Context, ContextFlags, ContextHandle};
    /// # use cust::prelude::{CudaFlags, Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// cust::init(CudaFlags::empty())?;
    /// let context = Context::new(Device::get_device(0)?)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's: there may be no memory left for a context.
    pub fn new(device: Device) -> CudaResult<Context> {
        let device = device.as_raw();
        let context = {
            let mut contexts = HELD.lock().unwrap_or_else(PoisonError::into_inner);
            contexts.retain(|primary| primary.strong_count() > 0);
            match held(|primary| primary.device == device, &contexts) {
                Some(context) => context,
                None => {
                    let mut handle = std::ptr::null_mut();
                    // SAFETY: `handle` is writable.
                    unsafe { sys::cuDevicePrimaryCtxRetain(&mut handle, device) }.to_result()?;
                    let primary = Arc::new(Primary { handle, device });
                    contexts.push(Arc::downgrade(&primary));
                    Context { primary }
                }
            }
        };
        // SAFETY: the context is alive.
        unsafe { sys::cuCtxSetCurrent(context.as_raw()) }.to_result()?;
        Ok(context)
    }

    /// The context of a handle, if this process made it with [`Context::new`] and still holds it.
    pub(super) fn of(handle: CUcontext) -> Option<Context> {
        let contexts = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        held(|primary| primary.handle == handle, &contexts)
    }

    /// Destroys all that is in the device's primary context, of whatever part of the program.
    ///
    /// ```no_run
    /// # use cust::context::{Context, ContextFlags, ContextHandle};
    /// # use cust::prelude::{CudaFlags, Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Device::get_device(0)?;
    /// // SAFETY: nothing of it is in use.
    /// unsafe { Context::reset(&device)? };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// Nothing that was made in it is used afterwards.
    ///
    /// # Errors
    /// The driver's.
    pub unsafe fn reset(device: &Device) -> CudaResult<()> {
        // SAFETY: the caller's promise.
        unsafe { sys::cuDevicePrimaryCtxReset_v2(device.as_raw()) }.to_result()
    }

    /// Sets the flags of the primary context.
    ///
    /// ```no_run
    /// # use cust::context::{Context, ContextFlags, ContextHandle};
    /// # use cust::prelude::{CudaFlags, Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = cust::quick_init()?;
    /// // Sleep while waiting, as other work needs the processor.
    /// context.set_flags(ContextFlags::SCHED_BLOCKING_SYNC)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn set_flags(&self, flags: ContextFlags) -> CudaResult<()> {
        // SAFETY: it takes numbers.
        unsafe { sys::cuDevicePrimaryCtxSetFlags_v2(self.primary.device, flags.bits()) }.to_result()
    }

    /// The driver's handle.
    ///
    /// ```no_run
    /// # use cust::context::{Context, ContextFlags, ContextHandle};
    /// # use cust::prelude::{CudaFlags, Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = cust::quick_init()?;
    /// let mut version = 0;
    /// // SAFETY: the context is alive, and the number writable.
    /// unsafe { cust::sys::cuCtxGetApiVersion(context.as_raw(), &mut version) };
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_raw(&self) -> CUcontext {
        self.primary.handle
    }

    /// The version of the API that the context was made for.
    ///
    /// ```no_run
    /// # use cust::context::{Context, ContextFlags, ContextHandle};
    /// # use cust::prelude::{CudaFlags, Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = cust::quick_init()?;
    /// println!("made for {:?}", context.get_api_version()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn get_api_version(&self) -> CudaResult<CudaApiVersion> {
        let mut version = 0;
        // SAFETY: the context is alive, and `version` is writable.
        unsafe { sys::cuCtxGetApiVersion(self.as_raw(), &mut version) }.to_result()?;
        Ok(CudaApiVersion::from_raw(version as i32))
    }

    /// Drops it, and returns the driver's answer. While clones or things made in it are there nothing
    /// happens.
    ///
    /// ```no_run
    /// # use cust::context::{Context, ContextFlags, ContextHandle};
    /// # use cust::prelude::{CudaFlags, Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = cust::quick_init()?;
    /// if let Err((error, _context)) = Context::drop(context) {
    ///     println!("the driver says {error}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's, with the context.
    pub fn drop(context: Context) -> DropResult<Context> {
        let Ok(primary) = Arc::try_unwrap(context.primary) else { return Ok(()) };
        let mut primary = ManuallyDrop::new(primary);
        primary.release().map_err(|error| {
            let primary = Arc::new(ManuallyDrop::into_inner(primary));
            (error, Context { primary })
        })
    }
}

impl Sealed for Context {}
impl ContextHandle for Context {
    fn get_inner(&self) -> CUcontext {
        self.as_raw()
    }
}

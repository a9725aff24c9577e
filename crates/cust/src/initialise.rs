//! The start of the driver.

use crate::context::{Context, ContextFlags};
use crate::device::Device;
use crate::driver;
use crate::error::{CudaError, CudaResult, ToResult};
use crate::sys;

bitflags::bitflags! {
    /// Flags of [`init`]. There are none.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// cust::init(CudaFlags::empty())?;
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct CudaFlags: u32 {}
}

/// Loads the driver and initialises it. It may be called any number of times.
///
/// ```no_run
/// # use cust::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// cust::init(CudaFlags::empty())?;
/// println!("{} devices", Device::num_devices()?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`CudaError::DriverNotFound`] if there is no driver, [`CudaError::SharedObjectInitFailed`] if there is one
/// that cannot be loaded ([`driver::load`] says why), [`CudaError::NoDevice`] if it sees no device, and
/// others if it does not start.
pub fn init(flags: CudaFlags) -> CudaResult<()> {
    driver::load()?;
    // SAFETY: it takes a number.
    unsafe { sys::cuInit(flags.bits()) }.to_result()
}

/// Whether this machine has a driver that sees a device.
///
/// ```no_run
/// # use cust::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// if !cust::has_device()? {
///     println!("skipped: there is no GPU");
///     return Ok(());
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Those of [`init`] other than [`CudaError::DriverNotFound`] and [`CudaError::NoDevice`]: there is a driver,
/// but it is broken.
pub fn has_device() -> CudaResult<bool> {
    match init(CudaFlags::empty()) {
        Ok(()) => Ok(Device::num_devices()? > 0),
        Err(CudaError::DriverNotFound | CudaError::NoDevice) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Initialises the driver and makes a context on the first device, current on this thread.
///
/// ```no_run
/// # use cust::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let _context = cust::quick_init()?;
/// let x = DeviceBuffer::from_slice(&[1.0, 2.0, 3.0])?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Those of [`init`] and [`Context::new`].
#[must_use = "what is done on a device needs a context that is alive"]
pub fn quick_init() -> CudaResult<Context> {
    init(CudaFlags::empty())?;
    let context = Context::new(Device::get_device(0)?)?;
    context.set_flags(ContextFlags::SCHED_AUTO)?;
    Ok(context)
}

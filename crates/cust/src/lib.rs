//! The CUDA driver API for Rust, with the names and types of the crate `cust` 0.3.
//!
//! Code written for cust compiles against this crate. What is different:
//!
//! - **No CUDA toolkit is needed to build**, and none to run. The driver's library is loaded when
//!   [`quick_init`] or [`init`] asks for it; a program starts without one, and gets
//!   [`CudaError::DriverNotFound`].
//! - **Safe functions are sound.** Whatever is made in a context keeps it alive, and is given back in it on
//!   whichever thread that happens. Lengths are checked, and lengths that differ are an error, not a panic.
//!   Where that changed a signature, the item says so.
//! - Statuses that drivers may return are all named, and those that are not known are no undefined behaviour.
//! - Textures, surfaces, arrays, linking, external memory and NVTX are not here.
//!
//! ```no_run
//! use cust::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let ptx = "";
//! let _context = cust::quick_init()?;
//! let module = Module::from_ptx(ptx, &[])?;
//! let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
//! let x = DeviceBuffer::from_slice(&[1.0_f32, 2.0, 3.0])?;
//! let y = DeviceBuffer::from_slice(&[0.0_f32; 3])?;
//! // SAFETY: the kernel takes two pointers and a length, and stays within it.
//! unsafe {
//!     launch!(module.double<<<1, 32, 0, stream>>>(x.as_device_ptr(), y.as_device_ptr(), x.len()))?;
//! }
//! stream.synchronize()?;
//! let mut result = [0.0_f32; 3];
//! y.copy_to(&mut result)?;
//! # Ok(())
//! # }
//! ```

#[cfg(not(target_pointer_width = "64"))]
compile_error!("CUDA has device addresses of 64 bits; so must the host");

pub mod context;
pub mod device;
pub mod driver;
pub mod error;
pub mod event;
pub mod function;
pub mod memory;
pub mod module;
pub mod prelude;
pub mod stream;
#[allow(missing_docs, non_camel_case_types, non_snake_case, reason = "NVIDIA's names and documentation")]
pub mod sys;
pub mod util;

pub use cust_derive::DeviceCopy;

use context::{Context, ContextFlags};
use device::Device;
use error::{CudaError, CudaResult, ToResult};

bitflags::bitflags! {
    /// Flags of [`init`]. There are none.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct CudaFlags: u32 {}
}

/// Loads the driver and initialises it. It may be called any number of times.
///
/// # Errors
/// There is no driver ([`CudaError::DriverNotFound`]), it does not start, or it sees no device.
pub fn init(flags: CudaFlags) -> CudaResult<()> {
    driver::load().map_err(|_| CudaError::DriverNotFound)?;
    // SAFETY: it takes a number.
    unsafe { sys::cuInit(flags.bits()) }.to_result()
}

/// Initialises the driver and makes a context on the first device, current on this thread.
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

/// The newest version of CUDA that the driver supports.
#[derive(Debug, Hash, Eq, PartialEq, Ord, PartialOrd, Copy, Clone)]
pub struct CudaApiVersion {
    /// 1000 times the major version and 10 times the minor one.
    version: i32,
}

impl CudaApiVersion {
    /// Loads the driver and asks it. The driver need not be initialised.
    ///
    /// # Errors
    /// There is no driver.
    pub fn get() -> CudaResult<CudaApiVersion> {
        driver::load().map_err(|_| CudaError::DriverNotFound)?;
        let mut version = 0;
        // SAFETY: `version` is writable.
        unsafe { sys::cuDriverGetVersion(&mut version) }.to_result()?;
        Ok(CudaApiVersion { version })
    }

    /// 12 of version 12.8.
    pub fn major(self) -> i32 {
        self.version / 1000
    }

    /// 8 of version 12.8.
    pub fn minor(self) -> i32 {
        self.version % 1000 / 10
    }
}

/// Keeps traits of this crate from being implemented elsewhere.
pub(crate) mod private {
    pub trait Sealed {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_split() {
        let version = CudaApiVersion { version: 12_080 };
        assert_eq!((version.major(), version.minor()), (12, 8));
    }
}

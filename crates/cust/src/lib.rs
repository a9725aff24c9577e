//! The CUDA driver API for Rust, with the names and types of the crate `cust` 0.3.
//!
//! Code written for cust compiles against this crate. What is different:
//!
//! - **No CUDA toolkit is needed to build**, and none to run. The driver's library is loaded when
//!   [`quick_init`] or [`init`] asks for it; a program starts without one, and gets
//!   [`DriverNotFound`](error::CudaError::DriverNotFound). [`has_device`] tells a machine without a driver or
//!   without a device from one whose driver is broken.
//! - **Safe functions are sound.** Whatever is made in a context keeps it alive, and is given back in it on
//!   whichever thread that happens. Lengths are checked, and lengths that differ are an error, not a panic.
//!   Where that changed a signature, the item says so.
//! - Statuses that drivers may return are all named, and those that are not known are no undefined behaviour.
//! - Textures, surfaces, arrays, external memory and NVTX are not here.
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

pub mod cluster;
pub mod context;
pub mod cooperative;
pub mod device;
pub mod driver;
pub mod error;
pub mod event;
pub mod function;
mod initialise;
pub mod link;
pub mod memory;
pub mod module;
pub mod prelude;
mod private;
pub mod stream;
#[allow(missing_docs, non_camel_case_types, non_snake_case, reason = "NVIDIA's names and documentation")]
pub mod sys;
pub mod util;
mod version;

pub use cust_derive::DeviceCopy;
pub use initialise::{CudaFlags, has_device, init, quick_init};
pub use version::CudaApiVersion;

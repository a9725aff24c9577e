//! Contexts: what a program has on a device, its memory, modules and streams.
//!
//! A device has one primary context, which all of a program's libraries share. [`Context`] holds it. Calls
//! work on the context that is current on their thread ([`CurrentContext`]).
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use cust::context::{Context, CurrentContext};
//! use cust::prelude::*;
//!
//! cust::init(CudaFlags::empty())?;
//! let context = Context::new(Device::get_device(0)?)?;
//! // Another thread makes it current for itself.
//! std::thread::scope(|scope| {
//!     scope.spawn(|| CurrentContext::set_current(&context));
//! });
//! # Ok(())
//! # }
//! ```

mod current;
mod owner;
mod primary;

pub use current::{
    CacheConfig, ContextStack, CurrentContext, ResourceLimit, SharedMemoryConfig, StreamPriorityRange,
};
pub(crate) use owner::Owner;
pub use primary::{Context, ContextFlags, ContextHandle};

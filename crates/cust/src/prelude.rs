//! What most programs use: `use cust::prelude::*;`.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use cust::prelude::*;
//!
//! let _context = cust::quick_init()?;
//! let stream = Stream::new(StreamFlags::DEFAULT, None)?;
//! let x = DeviceBuffer::from_slice(&[1.0, 2.0, 3.0])?;
//! # Ok(())
//! # }
//! ```

pub use crate::CudaFlags;
pub use crate::context::{Context, ContextFlags};
pub use crate::device::Device;
pub use crate::event::{Event, EventFlags, EventStatus};
pub use crate::function::Function;
pub use crate::launch;
pub use crate::memory::{
    CopyDestination, DeviceBuffer, DevicePointer, DeviceSlice, DeviceVariable, UnifiedBuffer,
};
pub use crate::module::Module;
pub use crate::stream::{Stream, StreamFlags};
pub use crate::util::*;

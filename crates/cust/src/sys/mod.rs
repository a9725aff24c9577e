//! The driver's own functions and types, by NVIDIA's names (`cuda.h`).
//!
//! Every function returns [`CUresult::CUDA_ERROR_NOT_INITIALIZED`] before [`crate::driver::load`] and where
//! there is no driver, and [`CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND`] where the driver is too
//! old to have it. None panics.
//!
//! What the functions do is documented in NVIDIA's CUDA Driver API reference.

mod entry;
mod functions;
mod launch;
mod status;
mod types;

pub(crate) use functions::ENTRIES;
pub use functions::*;
pub use launch::*;
pub(crate) use status::statuses;
pub use status::{CUresult, cudaError_enum};
pub use types::*;

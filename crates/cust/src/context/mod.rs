//! Contexts: what a program has on a device, its memory, modules and streams.
//!
//! A device has one primary context, which all of a program's libraries share. [`Context`] holds it. Calls
//! work on the context that is current on their thread ([`CurrentContext`]).

mod current;
mod owner;
mod primary;

pub use current::{
    CacheConfig, ContextStack, CurrentContext, ResourceLimit, SharedMemoryConfig, StreamPriorityRange,
};
pub(crate) use owner::Owner;
pub use primary::{Context, ContextFlags, ContextHandle};

//! Atomic operations on global and shared memory.
//!
//! A type's name says for whom its operations are atomic: `BlockAtomicU32` for a block, `AtomicU32` for the
//! device, `SystemAtomicU32` for all devices and the host. Those for a block are unsafe, since other blocks
//! may see the memory. Operations return what was there before. They take the orderings of
//! [`core::sync::atomic`]; `fetch_*` and `swap` take all of them, `load` and `store` those that make sense.
//!
//! The two functions are relaxed: fences ([`crate::thread::device_fence`]) give the order where one is
//! needed.

mod types;

pub use crate::ordering::{Ordering, Scope};
pub use types::*;

use crate::platform;

/// Adds `value` to `*address` (wrapping); returns what was there.
///
/// # Safety
/// The pointer is valid for reads and writes.
#[inline(always)]
#[track_caller]
pub unsafe fn atomic_add_u32(address: *mut u32, value: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { platform::atomic_add(address, value) }
}

/// Adds one to `*address`, or sets it to 0 if it is `limit` or more; returns what was there.
///
/// # Safety
/// The pointer is valid for reads and writes.
#[inline(always)]
#[track_caller]
pub unsafe fn atomic_inc_u32(address: *mut u32, limit: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { platform::atomic_inc(address, limit) }
}

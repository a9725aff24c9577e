//! Atomic operations on global memory, at the scope of the device, in no particular order.
//!
//! Fences ([`crate::thread::device_fence`]) give the order where one is needed.

use crate::platform;

/// Adds `value` to `*address` (wrapping); returns what was there.
///
/// # Safety
/// The pointer is valid for reads and writes.
#[inline(always)]
pub unsafe fn atomic_add_u32(address: *mut u32, value: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { platform::atomic_add(address, value) }
}

/// Adds one to `*address`, or sets it to 0 if it is `limit` or more; returns what was there.
///
/// # Safety
/// The pointer is valid for reads and writes.
#[inline(always)]
pub unsafe fn atomic_inc_u32(address: *mut u32, limit: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { platform::atomic_inc(address, limit) }
}

//! Atomic operations on global and shared memory.
//!
//! A type's name says for whom its operations are atomic: `BlockAtomicU32` for a block, `AtomicU32` for the
//! device, `SystemAtomicU32` for all devices and the host. Those for a block are unsafe, since other blocks
//! may see the memory. Operations return what was there before. They take the orderings of
//! [`core::sync::atomic`]; `fetch_*` and `swap` take all of them, `load` and `store` those that make sense.
//!
//! The two functions are relaxed: fences ([`crate::thread::device_fence`]) give the order where one is
//! needed.
//!
//! ```
//! use cuda_std::atomic::{AtomicU32, Ordering};
//! use cuda_std::{kernel, sim, thread};
//!
//! /// Counts the x of each value.
//! #[kernel]
//! pub unsafe fn histogram(x: &[u8], bins: &[AtomicU32]) {
//!     let i = thread::index_1d() as usize;
//!     if i < x.len() {
//!         bins[x[i] as usize].fetch_add(1, Ordering::Relaxed);
//!     }
//! }
//!
//! let bins = [const { AtomicU32::new(0) }; 256];
//! // SAFETY: there is a bin for every value.
//! unsafe { sim::launch!(histogram<<<1, 32>>>(b"abracadabra", &bins)) }?;
//! assert_eq!(bins[b'a' as usize].load(Ordering::Relaxed), 5);
//! # Ok::<(), sim::Fault>(())
//! ```

mod types;

pub use crate::ordering::{Ordering, Scope};
pub use types::*;

use crate::platform;

/// Adds `value` to `*address` (wrapping); returns what was there.
///
/// ```
/// # use cuda_std::atomic;
/// let mut count = 5;
/// // SAFETY: it is valid.
/// let before = unsafe { atomic::atomic_add_u32(&mut count, 2) };
/// assert_eq!((before, count), (5, 7));
/// ```
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
/// ```
/// # use cuda_std::atomic;
/// let mut turn = 2;
/// // Round by round from 0 to 2.
/// // SAFETY: it is valid.
/// unsafe { atomic::atomic_inc_u32(&mut turn, 2) };
/// assert_eq!(turn, 0);
/// ```
///
/// # Safety
/// The pointer is valid for reads and writes.
#[inline(always)]
#[track_caller]
pub unsafe fn atomic_inc_u32(address: *mut u32, limit: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { platform::atomic_inc(address, limit) }
}

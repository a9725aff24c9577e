//! Copies from global to shared memory that go on while the thread does: `cp.async`, from compute capability
//! 8.0 on. Before, the thread makes them itself.
//!
//! A thread asks for copies, closes a group of them with [`commit`], and waits for its groups with
//! [`wait_prior`]. A barrier after that makes what they copied visible to the block.
//!
//! ```
//! use cuda_std::{kernel, memory::*, pipeline, shared, thread};
//!
//! /// y = x the other way round, by blocks of 64.
//! #[kernel]
//! pub unsafe fn turn(x: *const f32, y: *mut f32) {
//!     let tile = shared![f32; 64];
//!     let (t, i) = (thread::thread_idx_x() as usize, thread::index_x());
//!     pipeline::copy_async::<f32, 1>(tile, t, x.add(i));
//!     pipeline::commit();
//!     pipeline::wait_prior::<0>();
//!     thread::sync_threads();
//!     y.st(i, tile.get(63 - t));
//! }
//!
//! let (x, mut y) = (Vec::from_iter((0..64).map(|i| i as f32)), vec![0.0; 64]);
//! // SAFETY: both have 64 elements.
//! unsafe { cuda_std::sim::launch!(turn<<<1, 64>>>(x.as_ptr(), y.as_mut_ptr())) }?;
//! assert!((0..64).all(|i| y[i] == 63.0 - i as f32));
//! # Ok::<(), cuda_std::sim::Fault>(())
//! ```
//!
//! In the simulator what is copied is there when the thread has waited, and not before.

use crate::memory::Word;
use crate::platform;
use crate::shared::Shared;

/// Asks for a copy of `N` elements from `from` to elements `i`, `i + 1`, .. of shared memory: 4, 8 or 16
/// bytes, both at multiples of that.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{pipeline, shared};
/// # sim::call("example", Configuration::new(1, 1), || unsafe {
/// let (x, tile) = ([1.5_f32, 2.5], shared![f32; 2]);
/// pipeline::copy_async::<f32, 1>(tile, 0, x.as_ptr().add(1));
/// pipeline::commit();
/// pipeline::wait_prior::<0>();
/// assert_eq!(tile.get(0), 2.5);
/// # }).unwrap();
/// ```
///
/// # Safety
/// `from` is valid for reads of `N` elements, which nobody writes until the copy is done. The array has the
/// elements, and no other thread touches them without a barrier between.
#[inline(always)]
#[track_caller]
pub unsafe fn copy_async<T: Word, const N: usize>(to: Shared<T>, i: usize, from: *const T) {
    const { assert!(matches!(N * size_of::<T>(), 4 | 8 | 16), "a copy is of 4, 8 or 16 bytes") };
    // SAFETY: the caller's promise.
    unsafe { platform::copy_async::<T, N>(to.base(), i, from) }
}

/// Closes a group: the copies that this thread has asked for since the last.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{pipeline, shared};
/// # sim::call("example", Configuration::new(1, 1), || unsafe {
/// # let (x, tile) = ([1.5_f32, 2.5], shared![f32; 2]);
/// // Two groups of a copy each, of which the first is waited for alone.
/// for i in 0..2 {
///     pipeline::copy_async::<f32, 1>(tile, i, x.as_ptr().add(i));
///     pipeline::commit();
/// }
/// pipeline::wait_prior::<1>();
/// assert_eq!(tile.get(0), 1.5);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn commit() {
    platform::commit_copies()
}

/// Waits until all groups of this thread but the last `N` are done.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{pipeline, shared};
/// # sim::call("example", Configuration::new(1, 1), || unsafe {
/// # let (x, tile) = ([1.5_f32], shared![f32; 1]);
/// pipeline::copy_async::<f32, 1>(tile, 0, x.as_ptr());
/// pipeline::commit();
/// // All groups.
/// pipeline::wait_prior::<0>();
/// assert_eq!(tile.get(0), 1.5);
/// # }).unwrap();
/// ```
#[inline(always)]
#[track_caller]
pub fn wait_prior<const N: usize>() {
    platform::wait_for_copies::<N>()
}

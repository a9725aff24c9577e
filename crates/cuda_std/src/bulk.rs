//! Bulk copies from global to shared memory, from compute capability 9.0 on: one thread asks for some KiB at
//! once, and the others wait for them.
//!
//! A [`Barrier`], a word of shared memory, counts the bytes that have come. The copies up to
//! [`Barrier::commit`] are a phase of it, and phases are waited for by their number. Kernels that use this
//! module say
//! `#[kernel(needs = sm_90)]`.
//!
//! ```
//! use cuda_std::{bulk::Barrier, kernel, memory::*, shared, sim, thread};
//!
//! /// y = x the other way round, by blocks of 64.
//! #[kernel(needs = sm_90)]
//! pub unsafe fn turn(x: *const f32, y: *mut f32) {
//!     let (tile, barrier) = (shared![f32; 64], Barrier::at(shared![u64; 1]));
//!     let t = thread::thread_idx_x() as usize;
//!     if t == 0 {
//!         barrier.init();
//!         barrier.copy(tile, 0, x.add(64 * thread::block_idx_x() as usize), 64);
//!         barrier.commit();
//!     }
//!     thread::sync_threads();
//!     barrier.wait(0);
//!     y.st(thread::index_x(), tile.get(63 - t));
//! }
//!
//! # #[repr(align(16))]
//! # struct Aligned([f32; 128]);
//! # let numbers = Aligned(core::array::from_fn(|i| i as f32));
//! # let x = &numbers.0;
//! let mut y = vec![0.0; 128];
//! // SAFETY: x, at a multiple of 16 bytes, and y have 128 elements.
//! unsafe { sim::launch!(turn<<<2, 64>>>(x.as_ptr(), y.as_mut_ptr())) }?;
//! assert_eq!((y[0], y[64]), (63.0, 127.0));
//! # Ok::<(), sim::Fault>(())
//! ```
//!
//! In the simulator what is copied is there when somebody has waited for it, and not before; it reports
//! barriers that nobody has initialised, and phases that are closed before the one in front was waited for.

use crate::memory::Word;
use crate::platform;
use crate::shared::Shared;

/// What threads wait at for copies.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{bulk::Barrier, shared};
/// # sim::call("example", Configuration::new(1, 1), || unsafe {
/// # #[repr(align(16))]
/// # struct Aligned([f32; 4]);
/// # let x = Aligned([1.0, 2.0, 3.0, 4.0]);
/// let (tile, barrier) = (shared![f32; 4], Barrier::at(shared![u64; 1]));
/// barrier.init();
/// barrier.copy(tile, 0, x.0.as_ptr(), 4);
/// barrier.commit();
/// barrier.wait(0);
/// assert_eq!(tile.get(3), 4.0);
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Barrier(Shared<u64>);

impl Barrier {
    /// The barrier in element 0 of an array, which serves nothing else.
    ///
    /// ```
    /// # use cuda_std::{host::Configuration, sim};
    /// # use cuda_std::{bulk::Barrier, shared};
    /// # sim::call("example", Configuration::new(1, 1), || unsafe {
    /// // Two barriers, one for each half of a buffer.
    /// let words = [shared![u64; 1], shared![u64; 1]];
    /// let barriers = words.map(Barrier::at);
    /// barriers.map(|barrier| barrier.init());
    /// # }).unwrap();
    /// ```
    #[inline(always)]
    pub fn at(word: Shared<u64>) -> Self {
        Self(word)
    }

    /// Makes the word a barrier. One thread of the block does so, and a barrier of the block follows before
    /// others use it.
    ///
    /// ```
    /// # use cuda_std::{host::Configuration, sim};
    /// # use cuda_std::{bulk::Barrier, shared};
    /// # sim::call("example", Configuration::new(1, 32), || unsafe {
    /// # use cuda_std::thread;
    /// let barrier = Barrier::at(shared![u64; 1]);
    /// if thread::thread_idx_x() == 0 {
    ///     barrier.init();
    /// }
    /// thread::sync_threads();
    /// # }).unwrap();
    /// ```
    ///
    /// # Safety
    /// The array has an element.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn init(self) {
        // SAFETY: the caller's promise.
        unsafe { platform::bulk_init(self.0.base()) }
    }

    /// Asks for a copy of `count` elements from `from` to elements `i`, `i + 1`, .. of `to`, as part of the
    /// present phase. Their bytes, and both addresses, are multiples of 16.
    ///
    /// ```
    /// # use cuda_std::{host::Configuration, sim};
    /// # use cuda_std::{bulk::Barrier, shared};
    /// # sim::call("example", Configuration::new(1, 1), || unsafe {
    /// # #[repr(align(16))]
    /// # struct Aligned([f32; 8]);
    /// # let x = Aligned([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    /// # let (tile, barrier) = (shared![f32; 8], Barrier::at(shared![u64; 1]));
    /// # barrier.init();
    /// // Two copies, and a phase that has both.
    /// barrier.copy(tile, 0, x.0.as_ptr(), 4);
    /// barrier.copy(tile, 4, x.0.as_ptr().add(4), 4);
    /// barrier.commit();
    /// barrier.wait(0);
    /// assert_eq!(tile.get(7), 8.0);
    /// # }).unwrap();
    /// ```
    ///
    /// # Safety
    /// The barrier is initialised, and this is the thread that commits. `from` is valid for reads of `count`
    /// elements, which nobody writes until the copy is done. The array has the elements, and no other thread
    /// touches them until it has waited.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn copy<T: Word>(self, to: Shared<T>, i: usize, from: *const T, count: usize) {
        // SAFETY: the caller's promise.
        unsafe { platform::bulk_copy(self.0.base(), to.base(), i, from, count) }
    }

    /// Closes the present phase: the copies that were asked for since the last. One thread of the block does
    /// so in all phases, and not before that in front was waited for.
    ///
    /// ```
    /// # use cuda_std::{host::Configuration, sim};
    /// # use cuda_std::{bulk::Barrier, shared};
    /// # sim::call("example", Configuration::new(1, 1), || unsafe {
    /// # #[repr(align(16))]
    /// # struct Aligned([f32; 8]);
    /// # let x = Aligned([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    /// # let (tile, barrier) = (shared![f32; 4], Barrier::at(shared![u64; 1]));
    /// # barrier.init();
    /// for phase in 0..2 {
    ///     barrier.copy(tile, 0, x.0.as_ptr().add(4 * phase as usize), 4);
    ///     barrier.commit();
    ///     barrier.wait(phase);
    /// }
    /// assert_eq!(tile.get(0), 5.0);
    /// # }).unwrap();
    /// ```
    ///
    /// # Safety
    /// The barrier is initialised.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn commit(self) {
        // SAFETY: the caller's promise.
        unsafe { platform::bulk_commit(self.0.base()) }
    }

    /// Waits until a phase (0, 1, 2, ..) is closed and its copies are there, which are then visible to this
    /// thread. It is the present phase, or the one before.
    ///
    /// ```
    /// # use cuda_std::{host::Configuration, sim};
    /// # use cuda_std::{bulk::Barrier, shared};
    /// # sim::call("example", Configuration::new(1, 1), || unsafe {
    /// # #[repr(align(16))]
    /// # struct Aligned([f32; 4]);
    /// # let x = Aligned([1.0, 2.0, 3.0, 4.0]);
    /// # let (tile, barrier) = (shared![f32; 4], Barrier::at(shared![u64; 1]));
    /// # barrier.init();
    /// barrier.copy(tile, 0, x.0.as_ptr(), 4);
    /// barrier.commit();
    /// barrier.wait(0);
    /// assert_eq!(tile.get(0), 1.0);
    /// # }).unwrap();
    /// ```
    ///
    /// # Safety
    /// The barrier is initialised.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn wait(self, phase: u32) {
        // SAFETY: the caller's promise.
        unsafe { platform::bulk_wait(self.0.base(), phase) }
    }
}

//! Shared memory: static as a plain pointer ([`shared_array!`](crate::shared_array)) or as an array that the
//! simulator checks ([`shared!`](crate::shared!)), and dynamic, as either ([`dynamic_shared_mem`],
//! [`dynamic_shared`]).
//!
//! ```
//! use cuda_std::{kernel, memory::*, shared, sim, thread};
//!
//! /// Turns each block's part of y round.
//! #[kernel]
//! pub unsafe fn turn(y: *mut f32) {
//!     let (tile, t, i) = (shared![f32; 64], thread::thread_idx_x() as usize, thread::index_x());
//!     tile.set(t, y.ld(i));
//!     thread::sync_threads();
//!     y.st(i, tile.get(63 - t));
//! }
//!
//! let mut y = Vec::from_iter((0..128).map(|i| i as f32));
//! // SAFETY: y has two parts of 64 elements.
//! unsafe { sim::launch!(turn<<<2, 64>>>(y.as_mut_ptr())) }?;
//! assert_eq!((y[0], y[64]), (63.0, 127.0));
//! # Ok::<(), sim::Fault>(())
//! ```

use crate::memory::Word;
use crate::platform::{self, SharedBase};
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

/// An array in the shared memory of the block; made by [`shared!`](crate::shared!) and [`dynamic_shared`].
///
/// Its contents are undefined until written. The simulator reports a read of an element that no thread
/// of the block has written.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{shared, thread};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// let (sums, t) = (shared![f64; 32], thread::thread_idx_x() as usize);
/// sums.set(t, 0.5);
/// thread::sync_threads();
/// if t == 0 {
///     let total: f64 = (0..32).map(|i| sums.get(i)).sum();
///     assert_eq!(total, 16.0);
/// }
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Shared<T> {
    base: SharedBase,
    element: PhantomData<T>,
}

impl<T: Word> Shared<T> {
    /// The array at an address of the shared window.
    #[cfg(target_arch = "nvptx64")]
    #[doc(hidden)]
    #[inline(always)]
    pub fn at(base: u32) -> Self {
        Self { base, element: PhantomData }
    }

    /// The current block's array of that name and size.
    #[cfg(not(target_arch = "nvptx64"))]
    #[doc(hidden)]
    pub fn named(name: &'static str, length: usize) -> Self {
        Self { base: platform::shared(name, length, size_of::<T>()), element: PhantomData }
    }

    /// Where it is.
    #[inline(always)]
    pub(crate) fn base(self) -> SharedBase {
        self.base
    }

    /// Element `i`.
    ///
    /// ```
    /// # use cuda_std::{host::Configuration, sim};
    /// # use cuda_std::{shared, thread};
    /// # sim::call("example", Configuration::new(1, 1), || unsafe {
    /// let numbers = shared![u32; 4];
    /// numbers.set(3, 7);
    /// assert_eq!(numbers.get(3), 7);
    /// # }).unwrap();
    /// ```
    ///
    /// # Safety
    /// `i` is less than the length; somebody wrote the element, and a barrier came since if it was another
    /// thread.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn get(self, i: usize) -> T {
        // SAFETY: the caller's promise.
        unsafe { T::load_shared(self.base, i) }
    }

    /// Sets element `i`.
    ///
    /// ```
    /// # use cuda_std::{host::Configuration, sim};
    /// # use cuda_std::{shared, thread};
    /// # sim::call("example", Configuration::new(1, 4), || unsafe {
    /// let (numbers, t) = (shared![u32; 4], thread::thread_idx_x());
    /// numbers.set(t as usize, t * t);
    /// assert_eq!(numbers.get(t as usize), t * t);
    /// # }).unwrap();
    /// ```
    ///
    /// # Safety
    /// `i` is less than the length, and no other thread touches the element without a barrier between.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn set(self, i: usize, value: T) {
        // SAFETY: the caller's promise.
        unsafe { T::store_shared(self.base, i, value) }
    }
}

impl Shared<u64> {
    /// The same memory as words of 32 bits, twice as many.
    ///
    /// ```
    /// # use cuda_std::{host::Configuration, sim};
    /// # use cuda_std::{shared, thread};
    /// # sim::call("example", Configuration::new(1, 1), || unsafe {
    /// let keys = shared![u64; 2];
    /// keys.set(0, 1 << 32 | 7);
    /// assert_eq!((keys.words().get(0), keys.words().get(1)), (7, 1));
    /// # }).unwrap();
    /// ```
    #[inline(always)]
    pub fn words(self) -> Shared<u32> {
        Shared { base: platform::shared_words(self.base), element: PhantomData }
    }
}

impl Shared<u32> {
    /// Element `i` as it is now, though other threads may change it by atomic operations meanwhile.
    ///
    /// ```
    /// # use cuda_std::{host::Configuration, sim};
    /// # use cuda_std::{shared, thread};
    /// # sim::call("example", Configuration::new(1, 32), || unsafe {
    /// let count = shared![u32; 1];
    /// if thread::thread_idx_x() == 0 {
    ///     count.set(0, 0);
    /// }
    /// thread::sync_threads();
    /// count.add(0, 1);
    /// // Others may be adding now.
    /// assert!(count.get_volatile(0) >= 1);
    /// # }).unwrap();
    /// ```
    ///
    /// # Safety
    /// `i` is less than the length; somebody wrote the element, and a barrier came since if it was another
    /// thread and no atomic operation.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn get_volatile(self, i: usize) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { platform::load_shared_volatile(self.base, i) }
    }

    /// Sets element `i` to `new` if it is `expected`; returns what was there. Atomic within the block, in no
    /// particular order.
    ///
    /// ```
    /// # use cuda_std::{host::Configuration, sim};
    /// # use cuda_std::{shared, thread};
    /// # sim::call("example", Configuration::new(1, 32), || unsafe {
    /// let owner = shared![u32; 1];
    /// if thread::thread_idx_x() == 0 {
    ///     owner.set(0, u32::MAX);
    /// }
    /// thread::sync_threads();
    /// // One thread wins.
    /// let won = owner.compare_and_swap(0, u32::MAX, thread::thread_idx_x()) == u32::MAX;
    /// assert_eq!(thread::sync_threads_count(won.into()), 1);
    /// # }).unwrap();
    /// ```
    ///
    /// # Safety
    /// As [`Shared::get_volatile`].
    #[inline(always)]
    #[track_caller]
    pub unsafe fn compare_and_swap(self, i: usize, expected: u32, new: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { platform::atomic_cas_shared(self.base, i, expected, new) }
    }

    /// Adds to element `i`, wrapping; returns what was there. Atomic within the block, in no particular
    /// order.
    ///
    /// ```
    /// # use cuda_std::{host::Configuration, sim};
    /// # use cuda_std::{shared, thread};
    /// # sim::call("example", Configuration::new(1, 32), || unsafe {
    /// let bins = shared![u32; 2];
    /// if thread::thread_idx_x() < 2 {
    ///     bins.set(thread::thread_idx_x() as usize, 0);
    /// }
    /// thread::sync_threads();
    /// bins.add(thread::thread_idx_x() as usize % 2, 1);
    /// thread::sync_threads();
    /// assert_eq!(bins.get(1), 16);
    /// # }).unwrap();
    /// ```
    ///
    /// # Safety
    /// As [`Shared::get_volatile`].
    #[inline(always)]
    #[track_caller]
    pub unsafe fn add(self, i: usize, value: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { platform::atomic_add_shared(self.base, i, value) }
    }

    /// Sets the bits of `bits` in element `i`; returns what was there. Atomic within the block, in no
    /// particular order.
    ///
    /// ```
    /// # use cuda_std::{host::Configuration, sim};
    /// # use cuda_std::{shared, thread};
    /// # sim::call("example", Configuration::new(1, 32), || unsafe {
    /// let seen = shared![u32; 1];
    /// if thread::thread_idx_x() == 0 {
    ///     seen.set(0, 0);
    /// }
    /// thread::sync_threads();
    /// seen.or(0, 1 << (thread::thread_idx_x() % 4));
    /// thread::sync_threads();
    /// assert_eq!(seen.get(0), 0b1111);
    /// # }).unwrap();
    /// ```
    ///
    /// # Safety
    /// As [`Shared::get_volatile`].
    #[inline(always)]
    #[track_caller]
    pub unsafe fn or(self, i: usize, bits: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { platform::atomic_or_shared(self.base, i, bits) }
    }
}

/// The dynamic shared memory of the block as an array that the simulator checks, as long as the bytes that
/// the launch asked for allow. Accesses are faster than through [`dynamic_shared_mem`]: they name shared
/// memory, and a pointer may lead anywhere.
///
/// Every call gives the same memory; in the simulator it is another one than [`dynamic_shared_mem`]'s.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{shared, thread};
/// # sim::call("example", Configuration { shared_bytes: 256, ..Configuration::new(1, 64) }, || unsafe {
/// // With 256 bytes of dynamic shared memory, 64 numbers of 4 bytes:
/// let (tile, t) = (shared::dynamic_shared::<f32>(), thread::thread_idx_x() as usize);
/// tile.set(t, t as f32);
/// thread::sync_threads();
/// assert_eq!(tile.get(63), 63.0);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn dynamic_shared<T: Word>() -> Shared<T> {
    Shared { base: platform::dynamic_shared_base(size_of::<T>()), element: PhantomData }
}

/// The dynamic shared memory of the block, as many bytes as the launch asked for, at a multiple of 16. Its
/// contents are undefined until written.
///
/// Every call gives the same memory.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{shared, thread};
/// # sim::call("example", Configuration { shared_bytes: 256, ..Configuration::new(1, 64) }, || unsafe {
/// // With 256 bytes of dynamic shared memory, 64 numbers of 4 bytes:
/// let (tile, t) = (shared::dynamic_shared_mem::<f32>(), thread::thread_idx_x() as usize);
/// *tile.add(t) = t as f32;
/// thread::sync_threads();
/// assert_eq!(*tile.add(63), 63.0);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn dynamic_shared_mem<T>() -> *mut T {
    platform::dynamic_shared().cast()
}

/// What [`address_space`](crate::address_space) makes of a variable: where it is.
///
/// # Safety
/// The address is that of a `Value` in the shared memory of the block, always the same.
#[doc(hidden)]
pub unsafe trait SharedVariable {
    /// What is there.
    type Value;
    /// Where.
    fn address() -> *mut Self::Value;
}

/// A variable in shared memory, under `#[address_space(shared)]`. It is used like its value.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{shared, thread};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// use cuda_std::address_space;
///
/// #[address_space(shared)]
/// static mut TILE: [u32; 32] = [0; 32];
///
/// let t = thread::thread_idx_x();
/// TILE[t as usize] = t;
/// thread::sync_threads();
/// assert_eq!(TILE[31], 31);
/// # }).unwrap();
/// ```
pub struct SharedStatic<V: SharedVariable>(PhantomData<V>);

impl<V: SharedVariable> SharedStatic<V> {
    /// The one of its type.
    #[doc(hidden)]
    #[allow(clippy::new_without_default, reason = "made by the macro alone")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }

    /// Where it is.
    ///
    /// ```
    /// # use cuda_std::{host::Configuration, sim};
    /// # use cuda_std::{shared, thread};
    /// # sim::call("example", Configuration::new(1, 1), || unsafe {
    /// # use cuda_std::address_space;
    /// #[address_space(shared)]
    /// static mut COUNT: u32 = 0;
    ///
    /// let count: *mut u32 = (*&raw const COUNT).as_mut_ptr();
    /// *count = 7;
    /// assert_eq!(*count, 7);
    /// # }).unwrap();
    /// ```
    #[inline(always)]
    pub fn as_mut_ptr(&self) -> *mut V::Value {
        V::address()
    }
}

// SAFETY: whoever uses a `static mut` vouches that nobody else does at the same time.
unsafe impl<V: SharedVariable> Sync for SharedStatic<V> {}

impl<V: SharedVariable> Deref for SharedStatic<V> {
    type Target = V::Value;

    #[inline(always)]
    fn deref(&self) -> &V::Value {
        // SAFETY: the address is the variable's; a `static mut` is used under the caller's promise.
        unsafe { &*V::address() }
    }
}

impl<V: SharedVariable> DerefMut for SharedStatic<V> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut V::Value {
        // SAFETY: as above.
        unsafe { &mut *V::address() }
    }
}

/// The current block's variable of that name.
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
pub fn variable<T>(name: &'static str) -> *mut T {
    let layout = std::alloc::Layout::new::<T>();
    assert!(layout.size() != 0, "{name} has no size");
    platform::variable(name, layout).cast()
}

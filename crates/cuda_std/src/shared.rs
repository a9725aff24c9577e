//! Static shared memory: see [`shared_array!`](crate::shared_array).

use crate::memory::Word;
use crate::platform::{self, SharedBase};
use core::marker::PhantomData;

/// An array in the shared memory of the block; made by [`shared_array!`](crate::shared_array).
///
/// Its contents are undefined until written. The simulator reports a read of an element that no thread
/// of the block has written.
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

    /// The current block's array of that name.
    #[cfg(not(target_arch = "nvptx64"))]
    #[doc(hidden)]
    pub fn named(name: &'static str, length: usize) -> Self {
        Self { base: platform::shared(name, length), element: PhantomData }
    }

    /// Element `i`.
    ///
    /// # Safety
    /// `i` is less than the length; somebody wrote the element, and a barrier came since if it was another
    /// thread.
    #[inline(always)]
    pub unsafe fn get(self, i: usize) -> T {
        // SAFETY: the caller's promise.
        unsafe { T::load_shared(self.base, i) }
    }

    /// Sets element `i`.
    ///
    /// # Safety
    /// `i` is less than the length, and no other thread touches the element without a barrier between.
    #[inline(always)]
    pub unsafe fn set(self, i: usize, value: T) {
        // SAFETY: the caller's promise.
        unsafe { T::store_shared(self.base, i, value) }
    }
}

impl Shared<u64> {
    /// The same memory as words of 32 bits, twice as many.
    #[inline(always)]
    pub fn words(self) -> Shared<u32> {
        Shared { base: platform::shared_words(self.base), element: PhantomData }
    }
}

impl Shared<u32> {
    /// Element `i` as it is now, though other threads may change it by atomic operations meanwhile.
    ///
    /// # Safety
    /// `i` is less than the length; somebody wrote the element, and a barrier came since if it was another
    /// thread and no atomic operation.
    #[inline(always)]
    pub unsafe fn get_volatile(self, i: usize) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { platform::load_shared_volatile(self.base, i) }
    }

    /// Sets element `i` to `new` if it is `expected`; returns what was there. Atomic within the block, in no
    /// particular order.
    ///
    /// # Safety
    /// As [`Shared::get_volatile`].
    #[inline(always)]
    pub unsafe fn compare_and_swap(self, i: usize, expected: u32, new: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { platform::atomic_cas_shared(self.base, i, expected, new) }
    }

    /// Sets the bits of `bits` in element `i`; returns what was there. Atomic within the block, in no
    /// particular order.
    ///
    /// # Safety
    /// As [`Shared::get_volatile`].
    #[inline(always)]
    pub unsafe fn or(self, i: usize, bits: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { platform::atomic_or_shared(self.base, i, bits) }
    }
}

//! Static shared memory: see [`shared_array!`](crate::shared_array).

use crate::memory::Word;
use crate::platform::SharedBase;
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
        Self { base: crate::platform::shared(name, length), element: PhantomData }
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

//! Shared memory: static as a plain pointer ([`shared_array!`](crate::shared_array)) or as an array that the
//! simulator checks ([`shared!`](crate::shared!)), and dynamic, as either ([`dynamic_shared_mem`],
//! [`dynamic_shared`]).

use crate::memory::Word;
use crate::platform::{self, SharedBase};
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

/// An array in the shared memory of the block; made by [`shared!`](crate::shared!) and [`dynamic_shared`].
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

    /// The current block's array of that name, for which so many bytes an element are reserved.
    #[cfg(not(target_arch = "nvptx64"))]
    #[doc(hidden)]
    pub fn named(name: &'static str, length: usize, bytes: usize) -> Self {
        Self { base: platform::shared(name, length, bytes), element: PhantomData }
    }

    /// Where it is.
    #[inline(always)]
    pub(crate) fn base(self) -> SharedBase {
        self.base
    }

    /// Element `i`.
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
    #[track_caller]
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
    #[track_caller]
    pub unsafe fn compare_and_swap(self, i: usize, expected: u32, new: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { platform::atomic_cas_shared(self.base, i, expected, new) }
    }

    /// Adds to element `i`, wrapping; returns what was there. Atomic within the block, in no particular
    /// order.
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
#[inline(always)]
pub fn dynamic_shared<T: Word>() -> Shared<T> {
    Shared { base: platform::dynamic_shared_base(size_of::<T>()), element: PhantomData }
}

/// The dynamic shared memory of the block, as many bytes as the launch asked for, at a multiple of 16. Its
/// contents are undefined until written.
///
/// Every call gives the same memory.
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
pub struct SharedStatic<V: SharedVariable>(PhantomData<V>);

impl<V: SharedVariable> SharedStatic<V> {
    /// The one of its type.
    #[doc(hidden)]
    #[allow(clippy::new_without_default, reason = "made by the macro alone")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }

    /// Where it is.
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

//! Global memory: loads and stores through raw pointers, with the caching each access deserves.
//!
//! ```
//! use cuda_std::{kernel, memory::*, sim, thread};
//!
//! /// y = a x + y
//! #[kernel]
//! pub unsafe fn axpy(n: usize, a: f64, x: *const f64, y: *mut f64) {
//!     let i = thread::index_x();
//!     if i < n {
//!         y.st(i, a * x.ld_nc(i) + y.ld(i));
//!     }
//! }
//!
//! let (x, mut y) = ([1.0, 2.0, 3.0], [0.5; 3]);
//! // SAFETY: both have 3 elements.
//! unsafe { sim::launch!(axpy<<<1, 32>>>(3, 2.0, x.as_ptr(), y.as_mut_ptr())) }?;
//! assert_eq!(y, [2.5, 4.5, 6.5]);
//! # Ok::<(), sim::Fault>(())
//! ```

use crate::platform;

#[doc(hidden)]
pub use crate::caching::{Load, Store};

/// Element types that one instruction loads: numbers of 1, 2, 4 or 8 bytes, and `bool`.
///
/// ```
/// # use cuda_std::memory::*;
/// /// The sum of two elements, of any type that one instruction loads.
/// unsafe fn sum<T: Word + std::ops::Add<Output = T>>(x: *const T) -> T {
///     // SAFETY: the caller's promise.
///     unsafe { x.ld(0) + x.ld(1) }
/// }
///
/// // SAFETY: there are two.
/// assert_eq!(unsafe { sum([1.5, 2.0].as_ptr()) }, 3.5);
/// ```
pub trait Word: Copy + Send + Sync + 'static {
    /// Loads from global memory.
    ///
    /// # Safety
    /// As [`GlobalLoad`].
    #[doc(hidden)]
    unsafe fn load(how: Load, base: *const Self, i: usize) -> Self;
    /// Loads two neighbours through the read-only path.
    ///
    /// # Safety
    /// As [`GlobalLoad::ld_nc_x2`].
    #[doc(hidden)]
    unsafe fn load_x2(base: *const Self, i: usize) -> [Self; 2];
    /// Loads four neighbours through the read-only path.
    ///
    /// # Safety
    /// As [`GlobalLoad::ld_nc_x4`].
    #[doc(hidden)]
    unsafe fn load_x4(base: *const Self, i: usize) -> [Self; 4];
    /// Stores to global memory.
    ///
    /// # Safety
    /// As [`GlobalStore`].
    #[doc(hidden)]
    unsafe fn store(how: Store, base: *mut Self, i: usize, value: Self);
    /// Loads from shared memory.
    ///
    /// # Safety
    /// As [`crate::shared::Shared::get`].
    #[doc(hidden)]
    unsafe fn load_shared(base: platform::SharedBase, i: usize) -> Self;
    /// Stores to shared memory.
    ///
    /// # Safety
    /// As [`crate::shared::Shared::set`].
    #[doc(hidden)]
    unsafe fn store_shared(base: platform::SharedBase, i: usize, value: Self);
    /// Loads from the shared memory of a block of the cluster.
    ///
    /// # Safety
    /// As [`crate::cluster::ClusterShared::get`].
    #[doc(hidden)]
    unsafe fn load_cluster(base: platform::SharedBase, i: usize) -> Self;
    /// Stores to the shared memory of a block of the cluster.
    ///
    /// # Safety
    /// As [`crate::cluster::ClusterShared::set`].
    #[doc(hidden)]
    unsafe fn store_cluster(base: platform::SharedBase, i: usize, value: Self);
}

macro_rules! word {
    (
        $bits:ty, $load:ident, $load_x2:ident, $load_x4:ident, $store:ident, $load_shared:ident,
        $store_shared:ident, $load_cluster:ident, $store_cluster:ident: $($t:ty, $to:expr, $from:expr;)*
    ) => {$(
        impl Word for $t {
            #[inline(always)]
            #[track_caller]
            unsafe fn load(how: Load, base: *const Self, i: usize) -> Self {
                // SAFETY: the caller's promise; the bits are as large as `Self`.
                $from(unsafe { platform::$load(how, base.cast::<$bits>(), i) })
            }
            #[inline(always)]
            #[track_caller]
            unsafe fn load_x2(base: *const Self, i: usize) -> [Self; 2] {
                // SAFETY: as above.
                unsafe { platform::$load_x2(base.cast::<$bits>(), i) }.map($from)
            }
            #[inline(always)]
            #[track_caller]
            unsafe fn load_x4(base: *const Self, i: usize) -> [Self; 4] {
                // SAFETY: as above.
                unsafe { platform::$load_x4(base.cast::<$bits>(), i) }.map($from)
            }
            #[inline(always)]
            #[track_caller]
            unsafe fn store(how: Store, base: *mut Self, i: usize, value: Self) {
                // SAFETY: as above.
                unsafe { platform::$store(how, base.cast::<$bits>(), i, $to(value)) }
            }
            #[inline(always)]
            #[track_caller]
            unsafe fn load_shared(base: platform::SharedBase, i: usize) -> Self {
                // SAFETY: the caller's promise.
                $from(unsafe { platform::$load_shared(base, i) })
            }
            #[inline(always)]
            #[track_caller]
            unsafe fn store_shared(base: platform::SharedBase, i: usize, value: Self) {
                // SAFETY: the caller's promise.
                unsafe { platform::$store_shared(base, i, $to(value)) }
            }
            #[inline(always)]
            #[track_caller]
            unsafe fn load_cluster(base: platform::SharedBase, i: usize) -> Self {
                // SAFETY: the caller's promise.
                $from(unsafe { platform::$load_cluster(base, i) })
            }
            #[inline(always)]
            #[track_caller]
            unsafe fn store_cluster(base: platform::SharedBase, i: usize, value: Self) {
                // SAFETY: the caller's promise.
                unsafe { platform::$store_cluster(base, i, $to(value)) }
            }
        }
    )*};
}

word! {
    u8, load_8, load_x2_8, load_x4_8, store_8, load_shared_8, store_shared_8, load_cluster_8, store_cluster_8:
    u8, |v| v, |b| b;
    i8, |v: i8| v as u8, |b: u8| b as i8;
    bool, u8::from, |b: u8| b != 0;
}
word! {
    u16, load_16, load_x2_16, load_x4_16, store_16, load_shared_16, store_shared_16,
    load_cluster_16, store_cluster_16:
    u16, |v| v, |b| b;
    i16, |v: i16| v as u16, |b: u16| b as i16;
}
#[cfg(feature = "half")]
word! {
    u16, load_16, load_x2_16, load_x4_16, store_16, load_shared_16, store_shared_16,
    load_cluster_16, store_cluster_16:
    half::f16, half::f16::to_bits, half::f16::from_bits;
    half::bf16, half::bf16::to_bits, half::bf16::from_bits;
}
word! {
    u32, load_32, load_x2_32, load_x4_32, store_32, load_shared_32, store_shared_32,
    load_cluster_32, store_cluster_32:
    u32, |v| v, |b| b;
    i32, |v: i32| v as u32, |b: u32| b as i32;
    f32, f32::to_bits, f32::from_bits;
}
word! {
    u64, load_64, load_x2_64, load_x4_64, store_64, load_shared_64, store_shared_64,
    load_cluster_64, store_cluster_64:
    u64, |v| v, |b| b;
    i64, |v: i64| v as u64, |b: u64| b as i64;
    f64, f64::to_bits, f64::from_bits;
}

/// Loads from global memory: `x.ld(i)` is `x[i]`.
///
///
/// ```
/// # use cuda_std::memory::*;
/// let x = [1, 2, 3];
/// // SAFETY: x has 3 elements.
/// assert_eq!(unsafe { x.as_ptr().ld(2) }, 3);
/// ```
pub trait GlobalLoad: Copy {
    /// Type of the elements.
    type Element: Word;

    /// Element `i`.
    ///
    /// ```
    /// # use cuda_std::memory::*;
    /// # let x = [1.5, 2.5];
    /// // SAFETY: x has 2 elements.
    /// assert_eq!(unsafe { x.as_ptr().ld(1) }, 2.5);
    /// ```
    ///
    /// # Safety
    /// The pointer is valid for reads at `i`, and no other thread writes there without a barrier between.
    unsafe fn ld(self, i: usize) -> Self::Element;
    /// Element `i` of an array that is not written during the kernel: gathered through the read-only path.
    ///
    /// ```
    /// # use cuda_std::memory::*;
    /// # let x = [1.5, 2.5];
    /// // SAFETY: x has 2 elements, which nobody writes.
    /// assert_eq!(unsafe { x.as_ptr().ld_nc(1) }, 2.5);
    /// ```
    ///
    /// # Safety
    /// As [`GlobalLoad::ld`]; nobody writes the element during the kernel.
    unsafe fn ld_nc(self, i: usize) -> Self::Element;
    /// Element `i` of an array that is not written during the kernel and read once: leaves no trace in the
    /// first-level cache to speak of, and goes first from the second.
    ///
    /// ```
    /// # use cuda_std::memory::*;
    /// # let x = [1.5, 2.5];
    /// // SAFETY: x has 2 elements, which nobody writes.
    /// assert_eq!(unsafe { x.as_ptr().ld_cs(1) }, 2.5);
    /// ```
    ///
    /// # Safety
    /// As [`GlobalLoad::ld_nc`].
    unsafe fn ld_cs(self, i: usize) -> Self::Element;
    /// Elements `i` and `i + 1` with one instruction, as [`GlobalLoad::ld_nc`].
    ///
    /// ```
    /// # use cuda_std::memory::*;
    /// #[repr(align(8))]
    /// struct Pairs([f32; 4]);
    ///
    /// let x = Pairs([1.0, 2.0, 3.0, 4.0]);
    /// // SAFETY: element 2 begins a pair.
    /// assert_eq!(unsafe { x.0.as_ptr().ld_nc_x2(2) }, [3.0, 4.0]);
    /// ```
    ///
    /// # Safety
    /// As [`GlobalLoad::ld_nc`] for both; the address of element `i` is a multiple of the two's size.
    unsafe fn ld_nc_x2(self, i: usize) -> [Self::Element; 2];
    /// Elements `i` to `i + 3`, up to 16 bytes an instruction, as [`GlobalLoad::ld_nc`].
    ///
    /// ```
    /// # use cuda_std::memory::*;
    /// #[repr(align(16))]
    /// struct Fours([f32; 4]);
    ///
    /// let x = Fours([1.0, 2.0, 3.0, 4.0]);
    /// // SAFETY: it begins at a multiple of 16 bytes.
    /// assert_eq!(unsafe { x.0.as_ptr().ld_nc_x4(0) }, [1.0, 2.0, 3.0, 4.0]);
    /// ```
    ///
    /// # Safety
    /// As [`GlobalLoad::ld_nc`] for all four; the address of element `i` is a multiple of their size, or of
    /// 16 if that is less.
    unsafe fn ld_nc_x4(self, i: usize) -> [Self::Element; 4];
    /// Element `i` as it is now, whoever wrote it (for what other blocks of the same kernel wrote).
    ///
    /// ```
    /// # use cuda_std::memory::*;
    /// # let sums = [1.5, 2.5];
    /// // What the block that came before this one has left.
    /// // SAFETY: there are 2 elements.
    /// assert_eq!(unsafe { sums.as_ptr().ld_volatile(1) }, 2.5);
    /// ```
    ///
    /// # Safety
    /// The pointer is valid for reads at `i`.
    unsafe fn ld_volatile(self, i: usize) -> Self::Element;
    /// Element `i`, a word that another thread may be storing this moment; the old value and the new will
    /// both do, so that it may come from the nearest cache.
    ///
    /// ```
    /// # use cuda_std::memory::*;
    /// # let colours = [0, 1];
    /// // A neighbour's colour, whether it has one by now or not.
    /// // SAFETY: there are 2 elements.
    /// assert_eq!(unsafe { colours.as_ptr().ld_flag(1) }, 1);
    /// ```
    ///
    /// # Safety
    /// The pointer is valid for reads at `i`.
    unsafe fn ld_flag(self, i: usize) -> Self::Element;
}

/// Stores to global memory: `y.st(i, v)` is `y[i] = v`.
///
/// ```
/// # use cuda_std::memory::*;
/// let mut y = [0; 3];
/// // SAFETY: y has 3 elements.
/// unsafe { y.as_mut_ptr().st(1, 7) };
/// assert_eq!(y, [0, 7, 0]);
/// ```
pub trait GlobalStore: GlobalLoad {
    /// Sets element `i`.
    ///
    /// ```
    /// # use cuda_std::memory::*;
    /// # let mut y = [0.0; 2];
    /// // SAFETY: y has 2 elements.
    /// unsafe { y.as_mut_ptr().st(1, 0.5) };
    /// assert_eq!(y, [0.0, 0.5]);
    /// ```
    ///
    /// # Safety
    /// The pointer is valid for writes at `i`, and no other thread touches it without a barrier between.
    unsafe fn st(self, i: usize, value: Self::Element);
    /// Sets element `i`, which is not read again soon.
    ///
    /// ```
    /// # use cuda_std::memory::*;
    /// # let mut y = [0.0; 2];
    /// // SAFETY: y has 2 elements.
    /// unsafe { y.as_mut_ptr().st_cs(1, 0.5) };
    /// assert_eq!(y, [0.0, 0.5]);
    /// ```
    ///
    /// # Safety
    /// As [`GlobalStore::st`].
    unsafe fn st_cs(self, i: usize, value: Self::Element);
    /// Sets element `i`, which other threads may read or write at the same time.
    ///
    /// ```
    /// # use cuda_std::memory::*;
    /// # let mut flags = [0; 2];
    /// // Others are waiting for it.
    /// // SAFETY: there are 2 elements.
    /// unsafe { flags.as_mut_ptr().st_volatile(1, 1) };
    /// assert_eq!(flags, [0, 1]);
    /// ```
    ///
    /// # Safety
    /// The pointer is valid for writes at `i`.
    unsafe fn st_volatile(self, i: usize, value: Self::Element);
}

macro_rules! global_load {
    ($pointer:ty) => {
        impl<T: Word> GlobalLoad for $pointer {
            type Element = T;

            #[inline(always)]
            #[track_caller]
            unsafe fn ld(self, i: usize) -> T {
                // SAFETY: the caller's promise.
                unsafe { T::load(Load::Plain, self, i) }
            }
            #[inline(always)]
            #[track_caller]
            unsafe fn ld_nc(self, i: usize) -> T {
                // SAFETY: the caller's promise.
                unsafe { T::load(Load::Constant, self, i) }
            }
            #[inline(always)]
            #[track_caller]
            unsafe fn ld_cs(self, i: usize) -> T {
                // SAFETY: the caller's promise.
                unsafe { T::load(Load::Streamed, self, i) }
            }
            #[inline(always)]
            #[track_caller]
            unsafe fn ld_nc_x2(self, i: usize) -> [T; 2] {
                // SAFETY: the caller's promise.
                unsafe { T::load_x2(self, i) }
            }
            #[inline(always)]
            #[track_caller]
            unsafe fn ld_nc_x4(self, i: usize) -> [T; 4] {
                // SAFETY: the caller's promise.
                unsafe { T::load_x4(self, i) }
            }
            #[inline(always)]
            #[track_caller]
            unsafe fn ld_volatile(self, i: usize) -> T {
                // SAFETY: the caller's promise.
                unsafe { T::load(Load::Volatile, self, i) }
            }
            #[inline(always)]
            #[track_caller]
            unsafe fn ld_flag(self, i: usize) -> T {
                // SAFETY: the caller's promise.
                unsafe { T::load(Load::Flag, self, i) }
            }
        }
    };
}

global_load!(*const T);
global_load!(*mut T);

impl<T: Word> GlobalStore for *mut T {
    #[inline(always)]
    #[track_caller]
    unsafe fn st(self, i: usize, value: T) {
        // SAFETY: the caller's promise.
        unsafe { T::store(Store::Plain, self, i, value) }
    }
    #[inline(always)]
    #[track_caller]
    unsafe fn st_cs(self, i: usize, value: T) {
        // SAFETY: the caller's promise.
        unsafe { T::store(Store::Streamed, self, i, value) }
    }
    #[inline(always)]
    #[track_caller]
    unsafe fn st_volatile(self, i: usize, value: T) {
        // SAFETY: the caller's promise.
        unsafe { T::store(Store::Volatile, self, i, value) }
    }
}

//! What the 32 threads of a warp do together.
//!
//! Every function takes the mask of the lanes that take part. All of them that have not exited must make
//! the same call with the same mask, and the caller must be one of them.
//!
//! ```
//! use cuda_std::{kernel, memory::*, sim, warp};
//!
//! /// y_w = the sum of the 32 numbers of warp w.
//! #[kernel]
//! pub unsafe fn sums(x: *const f32, y: *mut f32) {
//!     let i = cuda_std::thread::index_x();
//!     let mut sum = x.ld(i);
//!     for distance in [16, 8, 4, 2, 1] {
//!         sum += warp::warp_shuffle_xor(warp::FULL_MASK, sum, distance, 32);
//!     }
//!     if warp::lane_id() == 0 {
//!         y.st(i / 32, sum);
//!     }
//! }
//!
//! let (x, mut y) = ([0.5; 64], [0.0; 2]);
//! // SAFETY: two warps.
//! unsafe { sim::launch!(sums<<<1, 64>>>(x.as_ptr(), y.as_mut_ptr())) }?;
//! assert_eq!(y, [16.0; 2]);
//! # Ok::<(), sim::Fault>(())
//! ```

use crate::platform;

#[doc(hidden)]
pub use crate::lanes::Shuffle;
pub use crate::lanes::{FULL_MASK, WARP_SIZE, WarpReductionOp};

/// Values that lanes can exchange.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// // Also numbers of 8, 16 and 64 bits.
/// assert_eq!(warp::warp_shuffle_idx(FULL_MASK, f64::from(warp::lane_id()), 3, 32), 3.0);
/// assert_eq!(warp::warp_shuffle_idx(FULL_MASK, warp::lane_id() as i8 - 5, 3, 32), -2);
/// # }).unwrap();
/// ```
pub trait WarpShuffleValue: Copy {
    /// Carries out a shuffle.
    ///
    /// # Safety
    /// As the function for `shuffle`.
    #[doc(hidden)]
    unsafe fn shuffle(self, shuffle: Shuffle, mask: u32, operand: u32, width: u32) -> Self;
}

macro_rules! shuffle_value {
    ($($t:ty, $platform:ident, $to:expr, $from:expr;)*) => {$(
        impl WarpShuffleValue for $t {
            #[inline(always)]
            #[track_caller]
            unsafe fn shuffle(self, shuffle: Shuffle, mask: u32, operand: u32, width: u32) -> Self {
                // SAFETY: the caller's promise.
                $from(unsafe { platform::$platform(shuffle, mask, $to(self), operand, width) })
            }
        }
    )*};
}

shuffle_value! {
    u8, shuffle_32, u32::from, |b: u32| b as u8;
    i8, shuffle_32, |v: i8| v as u32, |b: u32| b as i8;
    u16, shuffle_32, u32::from, |b: u32| b as u16;
    i16, shuffle_32, |v: i16| v as u32, |b: u32| b as i16;
    u32, shuffle_32, |v| v, |b| b;
    i32, shuffle_32, |v: i32| v as u32, |b: u32| b as i32;
    f32, shuffle_32, f32::to_bits, f32::from_bits;
    u64, shuffle_64, |v| v, |b| b;
    i64, shuffle_64, |v: i64| v as u64, |b: u64| b as i64;
    f64, shuffle_64, f64::to_bits, f64::from_bits;
}

#[cfg(feature = "half")]
shuffle_value! {
    half::f16, shuffle_32, |v: half::f16| v.to_bits().into(), |b: u32| half::f16::from_bits(b as u16);
    half::bf16, shuffle_32, |v: half::bf16| v.to_bits().into(), |b: u32| half::bf16::from_bits(b as u16);
}

/// Values that lanes can compare: numbers of 32 and 64 bits. Floating-point numbers are compared bit by bit.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// // 0 and -0 have different bits.
/// let zero = if warp::lane_id() < 8 { 0.0_f32 } else { -0.0 };
/// let same = warp::warp_match_any(FULL_MASK, zero);
/// assert_eq!(same, if warp::lane_id() < 8 { 0xff } else { !0xff });
/// # }).unwrap();
/// ```
pub trait WarpMatchValue: Copy {
    /// The bits that are compared.
    #[doc(hidden)]
    fn bits(self) -> u64;
}

macro_rules! match_value {
    ($($t:ty, $bits:expr;)*) => {$(
        impl WarpMatchValue for $t {
            #[inline(always)]
            fn bits(self) -> u64 {
                $bits(self)
            }
        }
    )*};
}

match_value! {
    u32, u64::from;
    i32, |v: i32| u64::from(v as u32);
    f32, |v: f32| u64::from(v.to_bits());
    u64, |v| v;
    i64, |v: i64| v as u64;
    f64, f64::to_bits;
}

/// Values that lanes can combine: `u32` and `i32`.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// use warp::WarpReductionOp::Min;
/// let lane = warp::lane_id() as i32;
/// assert_eq!(warp::warp_reduce(FULL_MASK, lane - 5, Min), -5);
/// # }).unwrap();
/// ```
pub trait WarpReduceValue: Copy {
    /// Combines the values of the lanes of `mask`.
    ///
    /// # Safety
    /// As [`warp_reduce`].
    #[doc(hidden)]
    unsafe fn reduce(self, mask: u32, op: WarpReductionOp) -> Self;
}

impl WarpReduceValue for u32 {
    #[inline(always)]
    #[track_caller]
    unsafe fn reduce(self, mask: u32, op: WarpReductionOp) -> Self {
        // SAFETY: the caller's promise.
        unsafe { platform::reduce(mask, self, op, false) }
    }
}

impl WarpReduceValue for i32 {
    #[inline(always)]
    #[track_caller]
    unsafe fn reduce(self, mask: u32, op: WarpReductionOp) -> Self {
        // SAFETY: the caller's promise.
        unsafe { platform::reduce(mask, self as u32, op, true) as i32 }
    }
}

/// The index of this thread within its warp.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 64), || unsafe {
/// # use cuda_std::thread;
/// assert_eq!(warp::lane_id(), thread::thread_idx_x() % 32);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn lane_id() -> u32 {
    platform::lane_id()
}

/// The mask of the lanes that run with this one now. It says nothing of those that come later, and on a
/// device lanes may be apart that need not be: pass masks that are known instead. In the simulator, all lanes
/// that have not exited.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 20), || unsafe {
/// // This lane is among them, and none beyond the end of a block of 20 threads.
/// assert!(warp::activemask() & warp::lanemask_eq() != 0);
/// assert!(warp::activemask() < 1 << 20);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn activemask() -> u32 {
    platform::active_mask()
}

/// The mask of this lane.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// if warp::lane_id() == 3 {
///     assert_eq!(warp::lanemask_eq(), 0b1000);
/// }
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn lanemask_eq() -> u32 {
    1 << lane_id()
}

/// The mask of the lanes below this one.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// // Which of the lanes that have an element is this? They write without gaps.
/// let has_one = warp::lane_id() % 2 == 1;
/// let all = warp::warp_vote_ballot(FULL_MASK, has_one);
/// let place = (all & warp::lanemask_lt()).count_ones();
/// assert_eq!(place, warp::lane_id() / 2);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn lanemask_lt() -> u32 {
    lanemask_eq() - 1
}

/// The mask of this lane and those below.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// if warp::lane_id() == 3 {
///     assert_eq!(warp::lanemask_le(), 0b1111);
/// }
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn lanemask_le() -> u32 {
    lanemask_lt() | lanemask_eq()
}

/// The mask of the lanes above this one.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// if warp::lane_id() == 3 {
///     assert_eq!(warp::lanemask_gt(), !0b1111);
/// }
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn lanemask_gt() -> u32 {
    !lanemask_le()
}

/// The mask of this lane and those above.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// if warp::lane_id() == 3 {
///     assert_eq!(warp::lanemask_ge(), !0b111);
/// }
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn lanemask_ge() -> u32 {
    !lanemask_lt()
}

/// The value of the lane `delta` below within groups of `width` lanes; its own for the first `delta`.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// // Sums of this lane's 1 and those below: a scan.
/// let (mut sum, lane) = (1, warp::lane_id());
/// for delta in [1, 2, 4, 8, 16] {
///     let below = warp::warp_shuffle_up(FULL_MASK, sum, delta, 32);
///     sum += if lane >= delta { below } else { 0 };
/// }
/// assert_eq!(sum, lane + 1);
/// # }).unwrap();
/// ```
///
/// # Safety
/// See the [module](self). `width` is a power of two up to 32.
#[inline(always)]
#[track_caller]
pub unsafe fn warp_shuffle_up<T: WarpShuffleValue>(mask: u32, value: T, delta: u32, width: u32) -> T {
    // SAFETY: the caller's promise.
    unsafe { value.shuffle(Shuffle::Up, mask, delta, width) }
}

/// The value of the lane `delta` above within groups of `width` lanes; its own for the last `delta`.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// let mut sum = warp::lane_id();
/// for delta in [16, 8, 4, 2, 1] {
///     sum += warp::warp_shuffle_down(FULL_MASK, sum, delta, 32);
/// }
/// // The first lane has the sum of all.
/// if warp::lane_id() == 0 {
///     assert_eq!(sum, 31 * 32 / 2);
/// }
/// # }).unwrap();
/// ```
///
/// # Safety
/// See the [module](self). `width` is a power of two up to 32.
#[inline(always)]
#[track_caller]
pub unsafe fn warp_shuffle_down<T: WarpShuffleValue>(mask: u32, value: T, delta: u32, width: u32) -> T {
    // SAFETY: the caller's promise.
    unsafe { value.shuffle(Shuffle::Down, mask, delta, width) }
}

/// The value of the lane whose number is this lane's with the bits of `lane_mask` flipped.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// let neighbour = warp::warp_shuffle_xor(FULL_MASK, warp::lane_id(), 1, 32);
/// assert_eq!(neighbour, warp::lane_id() ^ 1);
/// # }).unwrap();
/// ```
///
/// # Safety
/// See the [module](self). `width` is a power of two up to 32.
#[inline(always)]
#[track_caller]
pub unsafe fn warp_shuffle_xor<T: WarpShuffleValue>(mask: u32, value: T, lane_mask: u32, width: u32) -> T {
    // SAFETY: the caller's promise.
    unsafe { value.shuffle(Shuffle::Xor, mask, lane_mask, width) }
}

/// The value of lane `index` of this group of `width` lanes.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// // What lane 5 has goes to all; with groups of 8 it is lane 5 of each.
/// let lane = warp::lane_id();
/// assert_eq!(warp::warp_shuffle_idx(FULL_MASK, lane, 5, 32), 5);
/// assert_eq!(warp::warp_shuffle_idx(FULL_MASK, lane, 5, 8), lane / 8 * 8 + 5);
/// # }).unwrap();
/// ```
///
/// # Safety
/// See the [module](self). `width` is a power of two up to 32.
#[inline(always)]
#[track_caller]
pub unsafe fn warp_shuffle_idx<T: WarpShuffleValue>(mask: u32, value: T, index: u32, width: u32) -> T {
    // SAFETY: the caller's promise.
    unsafe { value.shuffle(Shuffle::Index, mask, index, width) }
}

/// The mask of the lanes for which `predicate` holds.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// assert_eq!(warp::warp_vote_ballot(FULL_MASK, warp::lane_id() < 4), 0b1111);
/// # }).unwrap();
/// ```
///
/// # Safety
/// See the [module](self).
#[inline(always)]
#[track_caller]
pub unsafe fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { platform::ballot(mask, predicate) }
}

/// Whether `predicate` holds for any of the lanes.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// assert!(warp::warp_vote_any(FULL_MASK, warp::lane_id() == 7));
/// assert!(!warp::warp_vote_any(FULL_MASK, warp::lane_id() == 32));
/// # }).unwrap();
/// ```
///
/// # Safety
/// See the [module](self).
#[inline(always)]
#[track_caller]
pub unsafe fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { platform::ballot(mask, predicate) != 0 }
}

/// Whether `predicate` holds for all of the lanes.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// assert!(warp::warp_vote_all(FULL_MASK, warp::lane_id() < 32));
/// assert!(!warp::warp_vote_all(FULL_MASK, warp::lane_id() < 31));
/// # }).unwrap();
/// ```
///
/// # Safety
/// See the [module](self).
#[inline(always)]
#[track_caller]
pub unsafe fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { platform::ballot(mask, !predicate) == 0 }
}

/// The mask of the lanes that gave the same `value` as this one.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// // Lanes with the same number let one of them add for all.
/// let same = warp::warp_match_any(FULL_MASK, warp::lane_id() / 4);
/// assert_eq!(same.count_ones(), 4);
/// # }).unwrap();
/// ```
///
/// # Safety
/// See the [module](self).
#[inline(always)]
#[track_caller]
pub unsafe fn warp_match_any<T: WarpMatchValue>(mask: u32, value: T) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { platform::match_any(mask, value.bits()) }
}

/// `mask` if all of its lanes gave the same `value`.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// assert_eq!(warp::warp_match_all(FULL_MASK, 7), Some(FULL_MASK));
/// assert_eq!(warp::warp_match_all(FULL_MASK, warp::lane_id()), None);
/// # }).unwrap();
/// ```
///
/// # Safety
/// See the [module](self).
#[inline(always)]
#[track_caller]
pub unsafe fn warp_match_all<T: WarpMatchValue>(mask: u32, value: T) -> Option<u32> {
    // SAFETY: the caller's promise.
    (unsafe { platform::match_any(mask, value.bits()) } == mask).then_some(mask)
}

/// The lanes' values combined by `op`; sums wrap around. One instruction from compute capability 8.0 on, and
/// 32 shuffles before.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// use warp::WarpReductionOp::{Add, Max};
/// assert_eq!(warp::warp_reduce(FULL_MASK, 1_u32, Add), 32);
/// assert_eq!(warp::warp_reduce(FULL_MASK, warp::lane_id(), Max), 31);
/// # }).unwrap();
/// ```
///
/// # Safety
/// See the [module](self).
#[inline(always)]
#[track_caller]
pub unsafe fn warp_reduce<T: WarpReduceValue>(mask: u32, value: T, op: WarpReductionOp) -> T {
    // SAFETY: the caller's promise.
    unsafe { value.reduce(mask, op) }
}

/// Waits until the lanes of `mask` are here, and what they wrote is visible to all of them.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// # use cuda_std::shared;
/// let (tile, lane) = (shared![u32; 32], warp::lane_id());
/// tile.set(lane as usize, lane);
/// warp::sync_warp(FULL_MASK);
/// assert_eq!(tile.get(31 - lane as usize), 31 - lane);
/// # }).unwrap();
/// ```
///
/// # Safety
/// See the [module](self).
#[inline(always)]
#[track_caller]
pub unsafe fn sync_warp(mask: u32) {
    // SAFETY: the caller's promise.
    unsafe { platform::sync_warp(mask) }
}

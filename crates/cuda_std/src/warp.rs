//! What the 32 threads of a warp do together.
//!
//! Every function takes the mask of the lanes that take part. All of them that have not exited must make
//! the same call with the same mask, and the caller must be one of them.

use crate::platform;

#[doc(hidden)]
pub use crate::lanes::Shuffle;
pub use crate::lanes::{FULL_MASK, WARP_SIZE};

/// Values that lanes can exchange.
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
    u32, shuffle_32, |v| v, |b| b;
    i32, shuffle_32, |v: i32| v as u32, |b: u32| b as i32;
    f32, shuffle_32, f32::to_bits, f32::from_bits;
    u64, shuffle_64, |v| v, |b| b;
    i64, shuffle_64, |v: i64| v as u64, |b: u64| b as i64;
    f64, shuffle_64, f64::to_bits, f64::from_bits;
}

/// The index of this thread within its warp.
#[inline(always)]
pub fn lane_id() -> u32 {
    platform::lane_id()
}

/// The value of the lane `delta` above within groups of `width` lanes; its own for the last `delta`.
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
/// # Safety
/// See the [module](self).
#[inline(always)]
#[track_caller]
pub unsafe fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { platform::ballot(mask, !predicate) == 0 }
}

/// Waits until the lanes of `mask` are here, and what they wrote is visible to all of them.
///
/// # Safety
/// See the [module](self).
#[inline(always)]
#[track_caller]
pub unsafe fn sync_warp(mask: u32) {
    // SAFETY: the caller's promise.
    unsafe { platform::sync_warp(mask) }
}

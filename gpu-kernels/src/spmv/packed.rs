//! Entries of reduced SELL in 32 bits, of which some are the distance of the column from the row's origin,
//! and the others tell the value.

use cuda_std::{Real, memory::*};

use crate::sizes::SLICE;
use crate::unroll::unroll;

/// What is in the 32 bits.
pub(super) trait Packed<T>: Copy {
    /// Whether a value is looked up in memory, which is not done for entries that are not there.
    const LOOKS_UP: bool;

    /// How far the column is from the origin.
    fn distance(self, entry: u32) -> i32;

    /// The value.
    ///
    /// # Safety
    /// The entry is one of the matrix; it may be 0 where nothing is looked up.
    unsafe fn value(self, entry: u32) -> T;

    /// The column.
    #[inline(always)]
    fn column(self, entry: u32, origin: usize) -> usize {
        origin.wrapping_add_signed(self.distance(entry) as isize)
    }
}

/// Entries of a row in flight.
const BATCH: usize = 8;

/// `sum` and the products of a row's entries, as [`super::gather`] has them.
///
/// # Safety
/// The matrix has that row, and x its columns.
#[inline(always)]
pub(super) unsafe fn gather<T: Real, P: Packed<T>>(
    packed: P,
    entries: *const u32,
    x: *const T,
    origin: usize,
    (start, width): (usize, u32),
    mut sum: T,
) -> T {
    let mut at = start;
    let mut left = width;
    while left > 0 {
        let mut words = [0u32; BATCH];
        let mut factors = [T::ZERO; BATCH];
        let here = |k: usize| (k as u32) < left;
        // SAFETY: the caller's promise.
        unsafe {
            unroll::<BATCH>(|k| {
                if here(k) {
                    words[k] = entries.ld_cs(at + k * SLICE);
                }
            });
            unroll::<BATCH>(|k| {
                if here(k) {
                    factors[k] = x.ld_nc(packed.column(words[k], origin));
                }
            });
            // Values are near: to have them before x is here would take registers from other warps.
            unroll::<BATCH>(|k| {
                if here(k) || !P::LOOKS_UP {
                    sum = packed.value(words[k]).mul_add(factors[k], sum);
                }
            });
        }
        at += BATCH * SLICE;
        left = left.saturating_sub(BATCH as u32);
    }
    sum
}

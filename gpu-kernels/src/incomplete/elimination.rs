//! L and U, the rows of a colour at once.

use arithmetic::pivots::Pivots;
use cuda_std::{atomic, kernel, memory::*};

use super::search::find;
use crate::setup::sub_warp::{Pattern, SubWarp};

/// L and U in one pattern with its diagonal, in the order of elimination; at first A.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct FactorRows {
    /// Rows and columns.
    pub pattern: Pattern,
    /// Places of the diagonal.
    pub diagonal: *const u32,
    /// L below the diagonal, without its ones, and U from there on.
    pub values: *mut f64,
}

// SAFETY: addresses of the device.
unsafe impl Send for FactorRows {}
// SAFETY: as above.
unsafe impl Sync for FactorRows {}

impl FactorRows {
    /// Replaces the entry on the diagonal of row e, from `found`, by the pivot.
    ///
    /// # Safety
    /// The row is there, and the lanes of the sub-warp call it together; `found` is that of lane 0.
    #[inline(always)]
    unsafe fn set_pivot(
        &self,
        sub_warp: SubWarp,
        e: usize,
        found: f64,
        (entry, most): (f64, f64),
        pivots: Pivots,
        changed: *mut u32,
    ) {
        if sub_warp.lane == 0 {
            // SAFETY: the caller's promise.
            unsafe {
                let (pivot, is_changed) = pivots.checked(found, entry, most);
                self.values.st(self.diagonal.ld_nc(e) as usize, pivot);
                if is_changed {
                    atomic::atomic_add_u32(changed, 1);
                }
            }
        }
    }

    /// The entry on the diagonal and the largest magnitude of row e, before it is eliminated.
    ///
    /// # Safety
    /// The row is there, and the lanes of the sub-warp call it together.
    #[inline(always)]
    unsafe fn entry_and_largest(&self, sub_warp: SubWarp, e: usize) -> (f64, f64) {
        // SAFETY: the caller's promise.
        unsafe {
            let (start, end) = self.pattern.range(e);
            let mut most = 0.0f64;
            let mut at = start + sub_warp.lane as usize;
            while at < end {
                let magnitude = self.values.ld(at).abs();
                most = if magnitude > most { magnitude } else { most };
                at += sub_warp.lanes as usize;
            }
            let entry = self.values.ld(self.diagonal.ld_nc(e) as usize);
            // Afterwards the row is changed.
            sub_warp.sync();
            (entry, sub_warp.reduce(most, |x, y| if y > x { y } else { x }))
        }
    }
}

/// The rows from `first` to `end` of `L U` (Saad 2003, algorithm 10.4), which do not depend on each other;
/// those before are there. Pivots that are too small are changed, and counted.
#[kernel]
pub unsafe fn eliminate_rows(
    first: u64,
    end: u64,
    log2_lanes: u32,
    factors: FactorRows,
    are_positive: u32,
    shift: f64,
    changed: *mut u32,
) {
    // SAFETY: the launcher's factors have these rows.
    unsafe {
        let FactorRows { pattern, diagonal, values } = factors;
        let sub_warp = SubWarp::of(log2_lanes);
        let mut e = first as usize + sub_warp.first();
        while e < end as usize {
            let before = factors.entry_and_largest(sub_warp, e);
            let row = pattern.range(e);
            let on_diagonal = diagonal.ld_nc(e) as usize;
            let mut at = row.0;
            while at < on_diagonal {
                let k = pattern.col_idx.ld_nc(at) as usize;
                let pivot = diagonal.ld_nc(k) as usize;
                let factor = values.ld(at) / values.ld(pivot);
                let (_, end_of_k) = pattern.range(k);
                let mut u = pivot + 1 + sub_warp.lane as usize;
                while u < end_of_k {
                    let place = find(pattern, row, pattern.col_idx.ld_nc(u));
                    if place < row.1 {
                        values.st(place, values.ld(place) - factor * values.ld(u));
                    }
                    u += sub_warp.lanes as usize;
                }
                sub_warp.sync();
                if sub_warp.lane == 0 {
                    values.st(at, factor);
                }
                at += 1;
            }
            let found = if sub_warp.lane == 0 { values.ld(on_diagonal) } else { 0.0 };
            let pivots = Pivots { are_positive: are_positive != 0, shift };
            factors.set_pivot(sub_warp, e, found, before, pivots, changed);
            e += sub_warp.stride();
        }
    }
}

/// The same without fill, and without changes off the diagonal but for the division by pivots (Barrett and
/// others 1994, section 3.4.2).
#[kernel]
pub unsafe fn eliminate_pivots(
    first: u64,
    end: u64,
    log2_lanes: u32,
    factors: FactorRows,
    are_positive: u32,
    shift: f64,
    changed: *mut u32,
) {
    // SAFETY: the launcher's factors have these rows.
    unsafe {
        let FactorRows { pattern, diagonal, values } = factors;
        let sub_warp = SubWarp::of(log2_lanes);
        let mut e = first as usize + sub_warp.first();
        while e < end as usize {
            let before = factors.entry_and_largest(sub_warp, e);
            let row = pattern.range(e);
            let on_diagonal = diagonal.ld_nc(e) as usize;
            let mut found = before.0;
            let mut base = row.0;
            // Each lane has an entry; their products are subtracted in ascending order.
            while base < on_diagonal {
                let at = base + sub_warp.lane as usize;
                let (mut product, mut is_there) = (0.0, false);
                if at < on_diagonal {
                    let k = pattern.col_idx.ld_nc(at) as usize;
                    let pivot = diagonal.ld_nc(k) as usize;
                    let factor = values.ld(at) / values.ld(pivot);
                    values.st(at, factor);
                    let (_, end_of_k) = pattern.range(k);
                    let place = find(pattern, (pivot + 1, end_of_k), e as u32);
                    if place < end_of_k {
                        product = factor * values.ld(place);
                        is_there = true;
                    }
                }
                let lanes = sub_warp.ballot(is_there);
                sub_warp.in_order(lanes, product, |product| found -= product);
                base += sub_warp.lanes as usize;
            }
            let pivots = Pivots { are_positive: are_positive != 0, shift };
            factors.set_pivot(sub_warp, e, found, before, pivots, changed);
            e += sub_warp.stride();
        }
    }
}

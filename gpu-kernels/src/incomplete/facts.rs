//! What decides how a matrix is factorised.

use cuda_std::{Real, kernel, memory::*, thread};

use super::search::find;
use crate::setup::sub_warp::{Pattern, SubWarp};
use crate::unroll::unroll;

/// Places in the array of [`factor_facts()`]: a diagonal entry is not positive,
pub const NOT_POSITIVE: usize = 0;
/// is 0 or not there,
pub const ZERO: usize = 1;
/// is not there;
pub const MISSING: usize = 2;
/// an entry differs from its mirror image by more than rounding;
pub const UNSYMMETRIC: usize = 3;
/// an entry has no mirror image in the pattern;
pub const UNPAIRED: usize = 4;
/// a row has more entries than are factorised here.
pub const LONG: usize = 5;
/// How many there are.
pub const FACTS: usize = 6;

/// The largest magnitude of each row.
#[kernel(T = [f32, f64])]
pub unsafe fn row_largest<T: Real>(n: u64, log2_lanes: u32, a: Pattern, values: *const T, largest: *mut f64) {
    // SAFETY: the launcher's matrix has n rows, as many as there are elements.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut i = sub_warp.first();
        while i < n as usize {
            let (start, end) = a.range(i);
            let mut most = 0.0f64;
            let mut e = start + sub_warp.lane as usize;
            while e < end {
                let magnitude = values.ld_nc(e).to_f64().abs();
                most = if magnitude > most { magnitude } else { most };
                e += sub_warp.lanes as usize;
            }
            let most = sub_warp.reduce(most, |x, y| if y > x { y } else { x });
            if sub_warp.lane == 0 {
                largest.st(i, most);
            }
            i += sub_warp.stride();
        }
    }
}

/// Sets `facts[LONG]` to 1 if a row has more than `most` entries.
#[kernel]
pub unsafe fn find_long_rows(n: u64, most: u32, a: Pattern, facts: *mut u32) {
    // SAFETY: the launcher's matrix has n rows.
    unsafe {
        let mut i = thread::index_x();
        while i < n as usize {
            let (start, end) = a.range(i);
            if end - start > most as usize {
                facts.st_volatile(LONG, 1);
            }
            i += thread::stride();
        }
    }
}

/// Sets `facts[k]` to 1 for each fact that holds, but LONG; two entries are mirror images if
/// `|a_ij - a_ji| <= tolerance * min(largest_i, largest_j)`.
#[kernel(T = [f32, f64])]
pub unsafe fn factor_facts<T: Real>(
    n: u64,
    log2_lanes: u32,
    a: Pattern,
    values: *const T,
    largest: *const f64,
    tolerance: f64,
    facts: *mut u32,
) {
    // SAFETY: the launcher's matrix is square, of n rows, as many as there are elements.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut i = sub_warp.first();
        while i < n as usize {
            let row = a.range(i);
            if sub_warp.lane == 0 {
                let place = find(a, row, i as u32);
                let d = if place < row.1 { values.ld_nc(place).to_f64() } else { 0.0 };
                let holds = [(MISSING, place == row.1), (ZERO, d == 0.0), (NOT_POSITIVE, d <= 0.0)];
                unroll::<3>(|k| {
                    if holds[k].1 {
                        facts.st_volatile(holds[k].0, 1);
                    }
                });
            }
            let largest_i = largest.ld_nc(i);
            let mut e = row.0 + sub_warp.lane as usize;
            while e < row.1 {
                let j = a.col_idx.ld_nc(e) as usize;
                let value = values.ld_nc(e).to_f64();
                let mirror = a.range(j);
                let place = find(a, mirror, i as u32);
                let mut mirrored = 0.0;
                if place < mirror.1 {
                    mirrored = values.ld_nc(place).to_f64();
                } else {
                    facts.st_volatile(UNPAIRED, 1);
                }
                let largest_j = largest.ld_nc(j);
                let scale = if largest_j < largest_i { largest_j } else { largest_i };
                if (value - mirrored).abs() > tolerance * scale {
                    facts.st_volatile(UNSYMMETRIC, 1);
                }
                e += sub_warp.lanes as usize;
            }
            i += sub_warp.stride();
        }
    }
}

//! Rows of ranks whose values are rounded as they will be compressed.

use arithmetic::compression::{Compression, reach_of_row};
use cuda_std::{Real, kernel, memory::*, thread};

use super::interpolate::Rows;
use super::parts::Numbers;
use super::sub_warp::{SubWarp, any};
use crate::reduce::{Max, Reduction, grid_reduce};

/// The entry of row `i` that is its pivot: that in column `diagonal[k]`, if there is one; where `diagonal` is
/// null the first of those that are largest in f32, and the first of all where none is a number.
///
/// # Safety
/// The matrix has a row `i`, and `diagonal` a column for it.
#[inline(always)]
unsafe fn pivot_of_row<T: Real>(a: Rows<T>, i: usize, k: usize, diagonal: *const u32) -> Option<usize> {
    // SAFETY: entries of the matrix.
    unsafe {
        if !diagonal.is_null() {
            return a.find(i, diagonal.ld_nc(k));
        }
        let (start, end) = a.pattern.range(i);
        let (mut largest, mut found) = (-1.0, start);
        for e in start..end {
            let magnitude = (a.values.ld_nc(e).to_f64() as f32).abs();
            if magnitude > largest {
                (largest, found) = (magnitude, e);
            }
        }
        (start < end).then_some(found)
    }
}

/// `out = max |number of a column - that of its row's pivot|` over all entries of the rows `rows[k]`; column
/// j has number `numbers[j]`. A row without a pivot has one in column `diagonal[k]` that is not stored.
#[kernel(T = [f32, f64])]
pub unsafe fn reach_of_rows<T: Real>(
    n: u64,
    a: Rows<T>,
    rows: Numbers,
    diagonal: *const u32,
    numbers: Numbers,
    reduction: Reduction<f64>,
) {
    let mut farthest = 0;
    let mut k = thread::index_x();
    // SAFETY: the launcher's arrays fit the matrix.
    unsafe {
        while k < n as usize {
            let i = rows.of(k) as usize;
            let (start, end) = a.pattern.range(i);
            if start < end {
                let column = |e: usize| a.pattern.col_idx.ld_nc(e);
                let number = |column: u32| numbers.of(column as usize);
                let pivot = match pivot_of_row(a, i, k, diagonal) {
                    Some(e) => column(e),
                    None => diagonal.ld_nc(k),
                };
                let row_reach = reach_of_row(number(pivot), number(column(start)), number(column(end - 1)));
                farthest = if row_reach > farthest { row_reach } else { farthest };
            }
            k += thread::stride();
        }
        grid_reduce::<f64, Max, 1>([farthest as f64], reduction, |_| ());
    }
}

/// The values in f32 that [compressed](crate::spmv::compressed) entries of the rows `rows[k]` can have; what
/// rounding loses of a row is added to its pivot, in f32 and in the order of its entries.
#[kernel(T = [f32, f64])]
pub unsafe fn round_rows<T: Real>(
    n: u64,
    log2_lanes: u32,
    a: Rows<T>,
    rows: Numbers,
    diagonal: *const u32,
    compression: Compression,
    rounded: *mut T,
) {
    let sub_warp = SubWarp::in_step(log2_lanes);
    // SAFETY: the launcher's arrays fit the matrix.
    unsafe {
        sub_warp.for_each_row(n as usize, |k| {
            let row = k.map(|k| (rows.of(k) as usize, k));
            let (start, end) = row.map_or((0, 0), |(i, _)| a.pattern.range(i));
            let pivot = match row {
                Some((i, k)) if !diagonal.is_null() => a.find(i, diagonal.ld_nc(k)),
                _ if !diagonal.is_null() => None,
                _ => largest_of_row(sub_warp, a, start, end),
            };
            let (mut lost, mut first) = (0.0, start);
            while any(first < end) {
                let e = first + sub_warp.lane as usize;
                let mut of_entry = 0.0;
                if e < end && pivot != Some(e) {
                    let value = a.values.ld_nc(e).to_f64() as f32;
                    let near = compression.round(value);
                    rounded.st(e, T::from_f64(near as f64));
                    of_entry = value - near;
                }
                sub_warp.in_order(sub_warp.ballot(of_entry != 0.0), of_entry, |of_entry| lost += of_entry);
                first += sub_warp.lanes as usize;
            }
            if let (Some(e), 0) = (pivot, sub_warp.lane) {
                rounded.st(e, T::from_f64((a.values.ld_nc(e).to_f64() as f32 + lost) as f64));
            }
        });
    }
}

/// The first entry of a row, from `start` to `end`, that is largest in f32, the first of all where none is a
/// number. The lanes of a sub-warp look together.
///
/// # Safety
/// These are entries of the matrix, and the sub-warp's lanes are here together.
#[inline(always)]
unsafe fn largest_of_row<T: Real>(sub_warp: SubWarp, a: Rows<T>, start: usize, end: usize) -> Option<usize> {
    // Magnitude and place of the largest: of equals the first has the larger key. 0 for what is no number.
    let mut largest = 0_u64;
    let mut e = start + sub_warp.lane as usize;
    while e < end {
        // SAFETY: the caller's promise.
        let magnitude = (unsafe { a.values.ld_nc(e) }.to_f64() as f32).abs();
        let key = (magnitude.to_bits() as u64) << 32 | (u32::MAX - e as u32) as u64;
        largest = if magnitude >= 0.0 { largest.max(key) } else { largest };
        e += sub_warp.lanes as usize;
    }
    let largest = sub_warp.reduce(largest, u64::max);
    let found = if largest == 0 { start } else { (u32::MAX - largest as u32) as usize };
    (start < end).then_some(found)
}

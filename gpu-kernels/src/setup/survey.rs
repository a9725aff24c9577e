//! A look at every entry of a matrix.

use arithmetic::survey::{Found, Row, is_indefinite_pair};
use cuda_std::{Real, atomic, kernel, memory::*, shared, thread};

use super::interpolate::Rows;
use super::sub_warp::{Pattern, SubWarp};
use crate::reduce::{Add, Max, block_reduce};
use crate::unroll::unroll;

/// What the rows of each block have, in `n` rows, the first of which is row `first` of the matrix; those with
/// more than `usual` entries have many: of block b number k of [`Found::sums`], and behind these of
/// [`Found::maxima`], at `k * grid + b`.
#[kernel(T = [f32, f64])]
pub unsafe fn survey_rows<T: Real>(
    n: u64,
    first: u32,
    log2_lanes: u32,
    a: Pattern,
    values: *const T,
    usual: u64,
    found: *mut f64,
) {
    let sums_scratch = shared![f64; 96];
    let maxima_scratch = shared![f64; 48];
    // SAFETY: the launcher's arguments describe a valid CRS matrix of n rows, and `found` has room for so
    // many numbers of each block.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut mine = Found::NONE;
        let mut i = sub_warp.first();
        while i < n as usize {
            let ((start, end), number) = (a.range(i), first + i as u32);
            let mut row = Row::NONE;
            let (mut is_here, mut own) = (false, 0.0);
            let mut base = start;
            while base < end {
                let e = base + sub_warp.lane as usize;
                let (mut is_off_diagonal, mut v) = (false, 0.0);
                if e < end {
                    let j = a.col_idx.ld_nc(e);
                    v = values.ld_nc(e).to_f64();
                    mine.add_entry(number, j, v);
                    is_off_diagonal = j != number;
                    if !is_off_diagonal {
                        (is_here, own) = (true, v);
                    }
                }
                sub_warp.in_order(sub_warp.ballot(is_off_diagonal), v, |v| row.add(v));
                base += sub_warp.lanes as usize;
            }
            row.diagonal = sub_warp.first_of(is_here, own, 0.0);
            if sub_warp.lane == 0 {
                mine.add_row(number, (end - start) as u64, usual, row);
            }
            i += sub_warp.stride();
        }
        let sums = block_reduce::<f64, Add, { Found::SUMS }>(mine.sums(), sums_scratch);
        let maxima = block_reduce::<f64, Max, { Found::MAXIMA }>(mine.maxima(), maxima_scratch);
        if thread::thread_idx_x() == 0 {
            let (grid, block) = (thread::grid_dim_x() as usize, thread::block_idx_x() as usize);
            unroll::<{ Found::SUMS }>(|k| found.st(k * grid + block, sums[k]));
            unroll::<{ Found::MAXIMA }>(|k| found.st((Found::SUMS + k) * grid + block, maxima[k]));
        }
    }
}

/// The largest magnitude of each row.
#[kernel(T = [f32, f64])]
pub unsafe fn largest_of_rows<T: Real>(
    n: u64,
    log2_lanes: u32,
    a: Pattern,
    values: *const T,
    largest: *mut T,
) {
    // SAFETY: the launcher's arguments describe a valid CRS matrix of n rows, and `largest` has n elements.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut i = sub_warp.first();
        while i < n as usize {
            let (start, end) = a.range(i);
            let mut most = T::ZERO;
            let mut e = start + sub_warp.lane as usize;
            while e < end {
                most = most.max_nan(values.ld_nc(e).abs());
                e += sub_warp.lanes as usize;
            }
            let mut distance = sub_warp.lanes / 2;
            while distance > 0 {
                most = most.max_nan(sub_warp.from_lane(most, sub_warp.lane ^ distance));
                distance /= 2;
            }
            if sub_warp.lane == 0 {
                largest.st(i, most);
            }
            i += sub_warp.stride();
        }
    }
}

/// Adds to `counts` the number of entries whose mirror images are stored too, and the number of those that
/// differ from these, or from 0, by more than `tolerance` of the `largest` magnitude in the rows of both.
#[kernel(T = [f32, f64])]
pub unsafe fn compare_mirrored<T: Real>(
    n: u64,
    log2_lanes: u32,
    a: Rows<T>,
    largest: *const T,
    tolerance: T,
    counts: *mut u32,
) {
    let scratch = shared![f64; 16];
    // SAFETY: the launcher's arguments describe a valid square CRS matrix of n rows, `largest` has n elements
    // and `counts` two.
    unsafe {
        let (mut images, mut faults) = (0.0, 0.0);
        SubWarp::of(log2_lanes).for_each_entry(n, a.pattern, |i, e| {
            let (j, v) = (a.pattern.col_idx.ld_nc(e) as usize, a.values.ld_nc(e));
            let image = a.find(j, i as u32);
            let mirrored = if let Some(place) = image { a.values.ld_nc(place) } else { T::ZERO };
            images += if image.is_some() { 1.0 } else { 0.0 };
            if v != mirrored {
                let (one, other) = (largest.ld_nc(i), largest.ld_nc(j));
                let least = if one < other { one } else { other };
                faults += if (v - mirrored).abs() <= tolerance * least { 0.0 } else { 1.0 };
            }
        });
        let found = block_reduce::<f64, Add, 2>([images, faults], scratch);
        if thread::thread_idx_x() == 0 {
            atomic::atomic_add_u32(counts, found[0] as u32);
            atomic::atomic_add_u32(counts.wrapping_add(1), found[1] as u32);
        }
    }
}

/// Adds to `count` the number of entries off the diagonal with `a_ij^2 > (1 + rounding) a_ii a_jj > 0`: x of
/// two unknowns for which `x^T A x` has the other sign than the diagonal.
#[kernel(T = [f32, f64])]
pub unsafe fn count_indefinite_pairs<T: Real>(
    n: u64,
    log2_lanes: u32,
    a: Pattern,
    values: *const T,
    diagonal: *const T,
    count: *mut u32,
) {
    let scratch = shared![f64; 8];
    // SAFETY: the launcher's arguments describe a valid square CRS matrix of n rows, and `diagonal` has n
    // elements.
    unsafe {
        let mut pairs = 0.0;
        SubWarp::of(log2_lanes).for_each_entry(n, a, |i, e| {
            let (j, v) = (a.col_idx.ld_nc(e) as usize, values.ld_nc(e).to_f64());
            let [d, other] = [diagonal.ld_nc(i), diagonal.ld_nc(j)].map(Real::to_f64);
            pairs += if i != j && is_indefinite_pair(v, d, other) { 1.0 } else { 0.0 };
        });
        let [found] = block_reduce::<f64, Add, 1>([pairs], scratch);
        if thread::thread_idx_x() == 0 {
            atomic::atomic_add_u32(count, found as u32);
        }
    }
}

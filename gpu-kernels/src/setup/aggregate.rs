//! Aggregates around roots, and the interpolation that is constant on each.

use cuda_std::{Real, kernel, memory::*, thread};

use super::columns::LongRows;
use super::sub_warp::{Pattern, SubWarp};
use arithmetic::smoothing::SINGLETON;

/// Belongs to no aggregate.
pub const NONE: u32 = u32::MAX;

/// What `offer` has for the neighbour `j` of `i` with the largest `|s_ij|`, the first of equals, among those
/// for which it has something other than [`NONE`].
#[inline(always)]
unsafe fn strongest<T: Real>(
    sub_warp: SubWarp,
    s: Pattern,
    values: *const T,
    i: usize,
    offer: impl Fn(usize) -> u32,
) -> u32 {
    // SAFETY: the callers' matrix is valid.
    unsafe {
        let (mut best, mut column, mut offered) = (T::ZERO, NONE, NONE);
        let (start, end) = s.range(i);
        let mut e = start + sub_warp.lane as usize;
        while e < end {
            let j = s.col_idx.ld_nc(e);
            if j as usize != i {
                let here = offer(j as usize);
                if here != NONE {
                    let v = values.ld_nc(e).abs();
                    if column == NONE || v > best {
                        (best, column, offered) = (v, j, here);
                    }
                }
            }
            e += sub_warp.lanes as usize;
        }
        let most = sub_warp.reduce(best, |x, y| if y > x { y } else { x });
        // Columns ascend, so that the first of equals has the smallest.
        let candidate = if column != NONE && best == most { column } else { NONE };
        let first = sub_warp.reduce(candidate, |x, y| if y < x { y } else { x });
        sub_warp.first_of(candidate != NONE && candidate == first, offered, NONE)
    }
}

/// `root_of[i]` = `i` for roots (1 in `roots`) and the [`SINGLETON`], else the root it joins among its
/// neighbours, or [`NONE`].
#[kernel(T = [f32, f64])]
pub unsafe fn join_roots<T: Real>(
    n: u64,
    log2_lanes: u32,
    s: Pattern,
    values: *const T,
    roots: *const u32,
    root_of: *mut u32,
) {
    // SAFETY: the launcher's arguments describe a valid CRS matrix of n rows; the arrays have n elements.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut i = sub_warp.first();
        while i < n as usize {
            let mut root = i as u32;
            if roots.ld_nc(i) == 0 {
                let offer = |j| if roots.ld_nc(j) == 1 { j as u32 } else { NONE };
                root = strongest(sub_warp, s, values, i, offer);
            }
            if sub_warp.lane == 0 {
                root_of.st(i, root);
            }
            i += sub_warp.stride();
        }
    }
}

/// Those without a root join that of a neighbour (`before` is what [`join_roots()`] found, `root_of` the
/// outcome) unless it is [`SINGLETON`], or become roots if they have a neighbour; `is_root` has 1 for all
/// roots and 0 for others.
#[kernel(T = [f32, f64])]
pub unsafe fn join_neighbours<T: Real>(
    n: u64,
    log2_lanes: u32,
    s: Pattern,
    values: *const T,
    roots: *const u32,
    before: *const u32,
    root_of: *mut u32,
    is_root: *mut u32,
) {
    // SAFETY: as above.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut i = sub_warp.first();
        while i < n as usize {
            let mut root = before.ld_nc(i);
            if root == NONE {
                let offer = |j| if roots.ld_nc(j) == SINGLETON { NONE } else { before.ld_nc(j) };
                root = strongest(sub_warp, s, values, i, offer);
                let (start, end) = s.range(i);
                let is_isolated = end == start || end == start + 1 && s.col_idx.ld_nc(start) == i as u32;
                if root == NONE && !is_isolated {
                    root = i as u32;
                }
            }
            if sub_warp.lane == 0 {
                root_of.st(i, root);
                is_root.st(i, (root == i as u32) as u32);
            }
            i += sub_warp.stride();
        }
    }
}

/// From roots to their numbers, in place.
#[kernel]
pub unsafe fn number_aggregates(n: u64, numbers: *const u32, root_of: *mut u32) {
    // SAFETY: the arrays have n elements, and roots are unknowns.
    unsafe {
        let mut i = thread::index_x();
        while i < n as usize {
            let root = root_of.ld(i);
            if root != NONE {
                root_of.st(i, numbers.ld_nc(root as usize));
            }
            i += thread::stride();
        }
    }
}

/// Row lengths of the piecewise constant interpolation: 1, or 0 for [`NONE`].
#[kernel]
pub unsafe fn tentative_lengths(n: u64, aggregates: *const u32, lengths: *mut u32) {
    // SAFETY: the arrays have n elements.
    unsafe {
        let mut i = thread::index_x();
        while i < n as usize {
            lengths.st(i, (aggregates.ld_nc(i) != NONE) as u32);
            i += thread::stride();
        }
    }
}

/// The piecewise constant interpolation: 1 in column `aggregates[i]` of row `i`.
#[kernel(T = [f32, f64])]
pub unsafe fn tentative<T: Real>(
    n: u64,
    aggregates: *const u32,
    row_ptr: *const u32,
    col_idx: *mut u32,
    values: *mut T,
) {
    // SAFETY: the arrays fit a matrix of n rows with these lengths.
    unsafe {
        let mut i = thread::index_x();
        while i < n as usize {
            let aggregate = aggregates.ld_nc(i);
            if aggregate != NONE {
                let e = row_ptr.ld_nc(i) as usize;
                col_idx.st(e, aggregate);
                values.st(e, T::ONE);
            }
            i += thread::stride();
        }
    }
}

/// The aggregate that the lane's entry of a row of S leads to, [`NONE`] where there is none, and whether it
/// is the first entry of the row that does.
///
/// # Safety
/// The row is S's, with no more entries than lanes; the sub-warp's lanes call this together.
#[inline(always)]
unsafe fn aggregate_of_lane(
    sub_warp: SubWarp,
    (start, end): (usize, usize),
    s: Pattern,
    aggregates: *const u32,
) -> (u32, bool) {
    let e = start + sub_warp.lane as usize;
    // SAFETY: an entry of S; its column is an unknown.
    let aggregate = if e < end { unsafe { aggregates.ld_nc(s.col_idx.ld_nc(e) as usize) } } else { NONE };
    let mut is_first = aggregate != NONE;
    let mut other = 0;
    while other < (end - start) as u32 {
        is_first &= sub_warp.from_lane(aggregate, other) != aggregate || other >= sub_warp.lane;
        other += 1;
    }
    (aggregate, is_first)
}

/// `lengths[i]` = the number of aggregates that row i of S leads to: the row lengths of `S P_0`. Rows with
/// more entries than lanes are not counted, but go to `long`.
#[kernel]
pub unsafe fn aggregated_lengths(
    n: u64,
    log2_lanes: u32,
    s: Pattern,
    aggregates: *const u32,
    lengths: *mut u32,
    long: LongRows,
) {
    // SAFETY: the launcher's arguments describe a valid CRS matrix of n rows, and have an element for each.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut i = sub_warp.first();
        while i < n as usize {
            let row = s.range(i);
            let fits = row.1 - row.0 <= sub_warp.lanes as usize;
            let mut length = 0;
            if fits {
                let (_, is_first) = aggregate_of_lane(sub_warp, row, s, aggregates);
                length = sub_warp.ballot(is_first).count_ones();
            }
            if sub_warp.lane == 0 {
                lengths.st(i, length);
                if !fits {
                    long.push(i);
                }
            }
            i += sub_warp.stride();
        }
    }
}

/// `S P_0` with P_0 the piecewise constant interpolation: columns ascending, the entries of S that lead to an
/// aggregate added in their order. No row of S has more entries than lanes.
#[kernel(T = [f32, f64])]
pub unsafe fn aggregated<T: Real>(
    n: u64,
    log2_lanes: u32,
    s: Pattern,
    values: *const T,
    aggregates: *const u32,
    row_ptr: *const u32,
    col_idx: *mut u32,
    sums: *mut T,
) {
    // SAFETY: the launcher's arguments describe valid CRS matrices of n rows.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut i = sub_warp.first();
        while i < n as usize {
            let row = s.range(i);
            let e = row.0 + sub_warp.lane as usize;
            let value = if e < row.1 { values.ld_nc(e) } else { T::ZERO };
            let (aggregate, is_first) = aggregate_of_lane(sub_warp, row, s, aggregates);
            let firsts = sub_warp.ballot(is_first);
            let (mut sum, mut rank) = (T::ZERO, 0);
            let mut other = 0;
            while other < (row.1 - row.0) as u32 {
                let (theirs, v) = (sub_warp.from_lane(aggregate, other), sub_warp.from_lane(value, other));
                if theirs == aggregate {
                    sum += v;
                }
                rank += (theirs < aggregate) as usize & (firsts >> other & 1) as usize;
                other += 1;
            }
            if is_first {
                let to = row_ptr.ld_nc(i) as usize + rank;
                col_idx.st(to, aggregate);
                sums.st(to, sum);
            }
            i += sub_warp.stride();
        }
    }
}

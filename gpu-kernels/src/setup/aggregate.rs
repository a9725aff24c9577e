//! Aggregates around roots, and the interpolation that is constant on each.

use cuda_std::{Real, kernel, memory::*, shared, thread};

use super::columns::{LongRows, Table};
use super::interpolate::Rows;
use super::product::{Entries, add, write_sums};
use super::sub_warp::{Pattern, SubWarp, any};
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

/// Calls `visit` with the aggregate of column j, where it has one, and the value of `s_ij`, for every j of
/// these entries of S in ascending order, until it says no. What is read next is asked for ahead.
///
/// # Safety
/// S is valid; all lanes of the warp call this.
#[inline(always)]
unsafe fn walk_aggregates<S: Entries>(
    (start, end): (usize, usize),
    s: S,
    aggregates: *const u32,
    mut visit: impl FnMut(u32, S::Value) -> bool,
) {
    // SAFETY: entries of S, whose columns are unknowns.
    unsafe {
        let entry = |p: usize| match p < end {
            true => (s.pattern().col_idx.ld_nc(p), s.value(p)),
            false => (NONE, S::NOTHING),
        };
        let aggregate = |column: u32| if column == NONE { NONE } else { aggregates.ld_nc(column as usize) };
        let (mut p, mut end_of_row) = (start, end);
        let (here, mut ahead) = (entry(p), entry(p + 1));
        let (mut to, mut v) = (aggregate(here.0), here.1);
        while any(p < end_of_row) {
            let (to_ahead, v_ahead) = (aggregate(ahead.0), ahead.1);
            ahead = entry(p + 2);
            p += 1;
            if p <= end_of_row && to != NONE && !visit(to, v) {
                end_of_row = p;
            }
            (to, v) = (to_ahead, v_ahead);
        }
    }
}

/// `lengths[i]` = the number of aggregates that row i of S leads to: the row lengths of `S P_0`, with P_0 the
/// interpolation that is constant on aggregates; 0 for rows that a thread's table has no [room](Table::room)
/// for, which go to `long`.
#[kernel]
pub unsafe fn aggregated_lengths(
    n: u64,
    s: Pattern,
    aggregates: *const u32,
    lengths: *mut u32,
    long: LongRows,
) {
    let alone = SubWarp::in_step(0);
    let table = Table::of(alone, 0, shared![u64; 2048]);
    // SAFETY: the launcher's arguments describe a valid CRS matrix of n rows, and have an element for each.
    unsafe {
        alone.for_each_row(n as usize, |row| {
            table.clear();
            let (mut count, mut is_full) = (0, false);
            let entries = row.map_or((0, 0), |row| s.range(row));
            walk_aggregates(entries, s, aggregates, |aggregate, ()| {
                let is_new = table.insert(aggregate, table.slots()).is_none_or(|(_, is_new)| is_new);
                count += is_new as u32;
                is_full = count as usize > table.room();
                !is_full
            });
            if let Some(row) = row {
                lengths.st(row, if is_full { 0 } else { count });
                if is_full {
                    long.push(row);
                }
            }
        });
    }
}

/// `S P_0`: columns ascending, the entries of S that lead to an aggregate added in their order. A thread's
/// table has room for every row.
#[kernel(T = [f32, f64])]
pub unsafe fn aggregated<T: Real>(
    n: u64,
    s: Rows<T>,
    aggregates: *const u32,
    row_ptr: *const u32,
    col_idx: *mut u32,
    values: *mut T,
) {
    let alone = SubWarp::in_step(0);
    let table = Table::of(alone, 0, shared![u64; 2048]);
    let sums = shared![T; 4096];
    // SAFETY: the launcher's arguments describe valid CRS matrices of n rows.
    unsafe {
        alone.for_each_row(n as usize, |row| {
            let start = row.map_or(0, |row| row_ptr.ld_nc(row) as usize);
            table.clear();
            let entries = row.map_or((0, 0), |row| s.pattern.range(row));
            walk_aggregates(entries, s, aggregates, |aggregate, v| {
                add(table, sums, aggregate, v);
                true
            });
            write_sums(table, sums, start, col_idx, values);
        });
    }
}

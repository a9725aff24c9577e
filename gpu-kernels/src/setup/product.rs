//! Sparse products C = A B, row by row (Gustavson 1978): the number of columns of each row, the columns, the
//! values.
//!
//! A sub-warp of lanes shares a row of A. For columns each lane takes other entries of it, with all of B's
//! row; for values they walk through its entries in turn, and take the entries of B's row.

use cuda_std::{Real, kernel, memory::*, shared, thread, warp::WARP_SIZE};

use super::columns::{Bitmap, LOADED, LongRows, SLOTS, Table};
use super::sub_warp::{Pattern, SubWarp};
use crate::sizes::BLOCK;

/// Slots that a column is looked for in before the table counts as full, of which a row that is too long
/// would otherwise look at all for each of its columns.
const PROBES: usize = 16;

/// A matrix in CRS that no kernel writes meanwhile.
#[derive(Clone, Copy)]
pub(super) struct Matrix<T> {
    pub pattern: Pattern,
    pub values: *const T,
}

/// Calls `visit` with column j and `a_ik b_kj` for every k of row i of A in ascending order and every j of
/// row k of B, k after k: the lanes come together in between.
///
/// # Safety
/// The matrices are valid; the sub-warp's lanes call this together.
#[inline(always)]
unsafe fn walk<T: Real>(
    sub_warp: SubWarp,
    row: usize,
    a: Matrix<T>,
    b: Matrix<T>,
    mut visit: impl FnMut(u32, T),
) {
    let (lane, lanes) = (sub_warp.lane, sub_warp.lanes);
    // SAFETY: entries of the matrices.
    unsafe {
        let (start, end) = a.pattern.range(row);
        // Places have 32 bits, as row pointers do: half the instructions.
        let (mut next, end) = (start as u32, end as u32);
        // Where row k of B is, and a_ik.
        let factor = |p: u32| {
            if p >= end {
                return (0, 0, T::ZERO);
            }
            let k = a.pattern.col_idx.ld_nc(p as usize) as usize;
            let value = a.values.ld_nc(p as usize);
            (b.pattern.row_ptr.ld_nc(k), b.pattern.row_ptr.ld_nc(k + 1), value)
        };
        let entry = |p: u32, end: u32| {
            if p >= end {
                return (0, T::ZERO);
            }
            (b.pattern.col_idx.ld_nc(p as usize), b.values.ld_nc(p as usize))
        };
        // Each lane asks for one k ahead; the rows of B are asked for one ahead, too.
        let mut ahead = factor(next + lane);
        while next < end {
            let (starts, ends, a_values) = ahead;
            ahead = factor(next + lanes + lane);
            let count = if end - next < lanes { end - next } else { lanes };
            let range = |j: u32| (sub_warp.from_lane(starts, j) + lane, sub_warp.from_lane(ends, j));
            let (mut p, mut row_end) = range(0);
            let (mut column, mut value) = entry(p, row_end);
            let mut j = 0;
            while j < count {
                let (p_ahead, end_ahead) = range(j + 1);
                let end_ahead = if j + 1 < count { end_ahead } else { 0 };
                let (column_ahead, value_ahead) = entry(p_ahead, end_ahead);
                let a_ik = sub_warp.from_lane(a_values, j);
                while p < row_end {
                    visit(column, a_ik * value);
                    p += lanes;
                    (column, value) = entry(p, row_end);
                }
                sub_warp.sync();
                (p, row_end, column, value) = (p_ahead, end_ahead, column_ahead, value_ahead);
                j += 1;
            }
            next += lanes;
        }
    }
}

/// Calls `visit` with the columns of row k of B for every k of row i of A, in any order: each lane takes k of
/// its own, and leaves a row of B when `visit` says so. That takes half the instructions of [`walk`], since
/// nothing has to be told to other lanes.
///
/// # Safety
/// As [`walk`].
#[inline(always)]
unsafe fn walk_columns(
    sub_warp: SubWarp,
    row: usize,
    a: Pattern,
    b: Pattern,
    mut visit: impl FnMut(u32) -> bool,
) {
    // SAFETY: entries of the matrices.
    unsafe {
        let (start, end) = a.range(row);
        let mut next = start as u32 + sub_warp.lane;
        while next < end as u32 {
            let (start_of_b, end_of_b) = b.range(a.col_idx.ld_nc(next as usize) as usize);
            let mut p = start_of_b as u32;
            while p < end_of_b as u32 && visit(b.col_idx.ld_nc(p as usize)) {
                p += 1;
            }
            next += sub_warp.lanes;
        }
    }
}

/// Sets the columns of row `row` of A B within the window; the block's warps share the entries of A's row.
///
/// # Safety
/// The matrices are valid; all threads of a block call this.
#[inline(always)]
unsafe fn mark(row: usize, a: Pattern, b: Pattern, bitmap: Bitmap, window: core::ops::Range<usize>) {
    let (lane, warp) = (thread::thread_idx_x() % WARP_SIZE, thread::thread_idx_x() / WARP_SIZE);
    // SAFETY: entries of the matrices.
    unsafe {
        let (start, end) = a.range(row);
        let mut k = start + warp as usize;
        while k < end {
            let (start_of_b, end_of_b) = b.range(a.col_idx.ld_nc(k) as usize);
            let mut p = start_of_b + lane as usize;
            while p < end_of_b {
                bitmap.set(&window, b.col_idx.ld_nc(p));
                p += WARP_SIZE as usize;
            }
            k += (BLOCK / WARP_SIZE) as usize;
        }
    }
}

/// `lengths[i]` = the number of columns of row i of A B, or 0 for rows for which the table seems too small:
/// those go to `long`. Which ones may depend on the order of the lanes; their lengths and columns do not.
#[kernel]
pub unsafe fn count_columns(
    n_rows: u64,
    log2_lanes: u32,
    a: Pattern,
    b: Pattern,
    lengths: *mut u32,
    long: LongRows,
) {
    let sub_warp = SubWarp::of(log2_lanes);
    let table = Table::of(sub_warp, log2_lanes, shared![u64; 2048]);
    let mut row = sub_warp.first();
    while row < n_rows as usize {
        table.clear();
        let mut full = false;
        walk_columns(sub_warp, row, a, b, |column| {
            let is_in = table.insert(column, PROBES).is_some();
            full |= !is_in;
            is_in
        });
        sub_warp.sync();
        let (count, full) = (sub_warp.reduce(table.count(), |a, b| a + b), sub_warp.ballot(full) != 0);
        if sub_warp.lane == 0 {
            lengths.st(row, if full { 0 } else { count });
            if full {
                long.push(row);
            }
        }
        row += sub_warp.stride();
    }
}

/// `lengths[i]` = the number of columns of row i of A B, for long rows.
#[kernel]
pub unsafe fn count_columns_long(n_cols: u64, a: Pattern, b: Pattern, lengths: *mut u32, long: LongRows) {
    let bitmap = Bitmap::of(shared![u64; 2048]);
    let scratch = shared![u64; 8];
    long.for_each(|row| {
        let mut count = 0;
        bitmap.for_each_window(
            n_cols as usize,
            |window| mark(row, a, b, bitmap, window),
            |_| count += bitmap.count(),
        );
        let (_, total) = super::scan::block_scan(u64::from(count), scratch);
        if thread::thread_idx_x() == 0 {
            lengths.st(row, total as u32);
        }
    });
}

/// The columns of A B, ascending, to `columns`, but for rows that have too many for a table.
#[kernel]
pub unsafe fn write_columns(
    n_rows: u64,
    log2_lanes: u32,
    a: Pattern,
    b: Pattern,
    row_ptr: *const u32,
    columns: *mut u32,
) {
    let sub_warp = SubWarp::of(log2_lanes);
    let table = Table::of(sub_warp, log2_lanes, shared![u64; 2048]);
    let mut row = sub_warp.first();
    while row < n_rows as usize {
        let (start, end) = Pattern { row_ptr, col_idx: columns }.range(row);
        if end - start <= table.slots() {
            table.clear();
            walk_columns(sub_warp, row, a, b, |column| table.insert(column, table.slots()).is_some());
            table.compact();
            table.write_ascending(end - start, columns, start);
        }
        row += sub_warp.stride();
    }
}

/// The columns of A B, ascending, to `columns`, for long rows.
#[kernel]
pub unsafe fn write_columns_long(
    n_cols: u64,
    a: Pattern,
    b: Pattern,
    row_ptr: *const u32,
    columns: *mut u32,
    long: LongRows,
) {
    let bitmap = Bitmap::of(shared![u64; 2048]);
    let scratch = shared![u64; 8];
    long.for_each(|row| {
        let mut place = row_ptr.ld_nc(row) as usize;
        bitmap.for_each_window(
            n_cols as usize,
            |window| mark(row, a, b, bitmap, window),
            |first| place += bitmap.write_ascending(first, columns, place, scratch),
        );
    });
}

/// `c_ij = sum_k a_ik b_kj` in the pattern of C: k ascending, from 0, every multiplication and addition
/// rounded. If `accumulate`, from the `c_ij` that is there.
///
/// The sums are in shared memory, in slots that a hash table of the row's columns gives; those of rows too
/// long for it are in `c_values` itself.
#[kernel(T = [f32, f64])]
pub unsafe fn multiply<T: Real>(
    n_rows: u64,
    log2_lanes: u32,
    a: Pattern,
    a_values: *const T,
    b: Pattern,
    b_values: *const T,
    c: Pattern,
    c_values: *mut T,
    accumulate: u32,
) {
    let sub_warp = SubWarp::of(log2_lanes);
    let table = Table::of(sub_warp, log2_lanes, shared![u64; 2048]);
    let sums = shared![T; 4096];
    let (lane, lanes) = (sub_warp.lane as usize, sub_warp.lanes as usize);
    let (a, b) = (Matrix { pattern: a, values: a_values }, Matrix { pattern: b, values: b_values });
    let mut row = sub_warp.first();
    while row < n_rows as usize {
        let (start, end) = c.range(row);
        if end - start <= table.slots() / SLOTS * LOADED {
            table.clear();
            let mut p = start + lane;
            while p < end {
                if let Some(slot) = table.insert(c.col_idx.ld_nc(p), table.slots()) {
                    sums.set(slot, if accumulate != 0 { c_values.ld(p) } else { T::ZERO });
                }
                p += lanes;
            }
            sub_warp.sync();
            walk(sub_warp, row, a, b, |column, product| {
                let slot = table.find(column);
                sums.set(slot, sums.get(slot) + product);
            });
            let mut p = start + lane;
            while p < end {
                c_values.st(p, sums.get(table.find(c.col_idx.ld_nc(p))));
                p += lanes;
            }
        } else {
            multiply_in_place(sub_warp, row, a, b, c, c_values, accumulate);
        }
        row += sub_warp.stride();
    }
}

/// The same for a row whose sums are in `c_values` itself.
///
/// # Safety
/// As [`walk`]; C has the pattern of A B.
#[inline(always)]
unsafe fn multiply_in_place<T: Real>(
    sub_warp: SubWarp,
    row: usize,
    a: Matrix<T>,
    b: Matrix<T>,
    c: Pattern,
    c_values: *mut T,
    accumulate: u32,
) {
    // SAFETY: entries of the matrices; what one lane has added to, another adds to after they came together.
    unsafe {
        let (start, end) = c.range(row);
        let mut p = start + sub_warp.lane as usize;
        while p < end && accumulate == 0 {
            c_values.st(p, T::ZERO);
            p += sub_warp.lanes as usize;
        }
        sub_warp.sync();
        walk(sub_warp, row, a, b, |column, product| {
            let p = position(c.col_idx, start, end, column);
            c_values.st(p, c_values.ld(p) + product);
        });
    }
}

/// The first place in `columns[start..end]`, which ascends, of a number that is not below `column`.
///
/// # Safety
/// The range is valid.
#[inline(always)]
pub(super) unsafe fn position(columns: *const u32, start: usize, end: usize, column: u32) -> usize {
    let (mut low, mut high) = (start, end);
    while low < high {
        let middle = low + (high - low) / 2;
        // SAFETY: within the range.
        if unsafe { columns.ld_nc(middle) } < column {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

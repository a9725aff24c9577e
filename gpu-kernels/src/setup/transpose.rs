//! Transposes: entries are counted for each column, put to the column's row in any order, and sorted there.

use cuda_std::{Real, atomic, kernel, memory::*, shared, thread};

use super::columns::{Bitmap, LongRows, Table};
use super::product::position;
use super::sub_warp::{Pattern, SubWarp};
use crate::sizes::BLOCK;

/// Adds to `lengths[j]` the number of entries of column j.
#[kernel]
pub unsafe fn count_rows(nnz: u64, columns: *const u32, lengths: *mut u32) {
    let mut p = thread::index_x();
    while p < nnz as usize {
        atomic::atomic_add_u32(lengths.wrapping_add(columns.ld_nc(p) as usize), 1);
        p += thread::stride();
    }
}

/// Puts the number i of every row of A that has an entry (i, j) to the places from `next[j]` on, in any
/// order, and moves `next[j]` behind them.
#[kernel]
pub unsafe fn scatter_rows(n_rows: u64, log2_lanes: u32, a: Pattern, next: *mut u32, rows: *mut u32) {
    let sub_warp = SubWarp::of(log2_lanes);
    let mut row = sub_warp.first();
    while row < n_rows as usize {
        let (start, end) = a.range(row);
        let mut p = start + sub_warp.lane as usize;
        while p < end {
            let place = atomic::atomic_add_u32(next.wrapping_add(a.col_idx.ld_nc(p) as usize), 1);
            rows.st(place as usize, row as u32);
            p += sub_warp.lanes as usize;
        }
        row += sub_warp.stride();
    }
}

/// Sorts each row of `unsorted` to `sorted`, but for those too long for a table, which go to `long`.
#[kernel]
pub unsafe fn sort_rows(n_rows: u64, log2_lanes: u32, unsorted: Pattern, sorted: *mut u32, long: LongRows) {
    let sub_warp = SubWarp::in_step(log2_lanes);
    let table = Table::of(sub_warp, log2_lanes, shared![u64; 2048]);
    sub_warp.for_each_row(n_rows as usize, |row| {
        let (start, mut end) = row.map_or((0, 0), |row| unsorted.range(row));
        if end - start > table.slots() {
            end = start;
            if let Some(row) = row.filter(|_| sub_warp.lane == 0) {
                long.push(row);
            }
        }
        table.load(end - start, unsorted.col_idx, start);
        table.rank(end - start, |place, column, _| sorted.st(start + place, column));
    });
}

/// Sorts the long rows of `unsorted` to `sorted`.
#[kernel]
pub unsafe fn sort_rows_long(n_cols: u64, unsorted: Pattern, sorted: *mut u32, long: LongRows) {
    let bitmap = Bitmap::of(shared![u64; 2048]);
    let scratch = shared![u64; 8];
    long.for_each(|row| {
        let (start, end) = unsorted.range(row);
        let mut place = start;
        bitmap.for_each_window(
            n_cols as usize,
            |window| {
                let mut p = start + thread::thread_idx_x() as usize;
                while p < end {
                    bitmap.set(&window, unsorted.col_idx.ld_nc(p));
                    p += BLOCK as usize;
                }
            },
            |first| place += bitmap.write_ascending(first, sorted, place, scratch),
        );
    });
}

/// The values of the transpose, of `n_rows` rows, in its pattern.
#[kernel(T = [f32, f64])]
pub unsafe fn transpose_values<T: Real>(
    n_rows: u64,
    log2_lanes: u32,
    a: Pattern,
    values: *const T,
    at: Pattern,
    at_values: *mut T,
) {
    let sub_warp = SubWarp::of(log2_lanes);
    let mut row = sub_warp.first();
    while row < n_rows as usize {
        let (start, end) = at.range(row);
        let mut p = start + sub_warp.lane as usize;
        while p < end {
            let (start_of_a, end_of_a) = a.range(at.col_idx.ld_nc(p) as usize);
            at_values.st(p, values.ld_nc(position(a.col_idx, start_of_a, end_of_a, row as u32)));
            p += sub_warp.lanes as usize;
        }
        row += sub_warp.stride();
    }
}

//! Parts of matrices and vectors: rows of two, one below the other, in another order, as ranks put together
//! what is theirs and what others sent.

use cuda_std::{Real, kernel, memory::*, thread};

use super::interpolate::Rows;
use super::sub_warp::{Pattern, SubWarp};

/// The place of columns whose entries are left out.
pub const NOWHERE: u32 = u32::MAX;

/// Which rows are taken, and where their entries go.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Choice {
    /// For each row which it is: of the upper matrix, and from `n_upper` on of the lower one.
    pub source: Numbers,
    /// Rows of the upper matrix.
    pub n_upper: u64,
    /// Where its columns go, ascending but for [`NOWHERE`].
    pub places: Numbers,
}

/// A number for each index: from a table, or, where that is null, numbers that follow each other for indices
/// that do, and [`NOWHERE`] for all others. Most ranks have rows that follow each other.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Numbers {
    /// The table.
    pub table: *const u32,
    /// The indices that have numbers: the first, and how many.
    pub first: u32,
    /// See `first`.
    pub count: u32,
    /// The number of the first.
    pub number: u32,
}

// SAFETY: plain addresses of device memory; the kernels say who may use them when.
unsafe impl Send for Numbers {}
// SAFETY: as above.
unsafe impl Sync for Numbers {}

impl Numbers {
    /// Those of a table.
    pub fn of_table(table: *const u32) -> Numbers {
        Numbers { table, first: 0, count: 0, number: 0 }
    }

    /// The number of an index.
    #[inline(always)]
    pub(crate) unsafe fn of(self, index: usize) -> u32 {
        if !self.table.is_null() {
            // SAFETY: the caller's promise: the table has a number for the index.
            return unsafe { self.table.ld_nc(index) };
        }
        let from_first = (index as u32).wrapping_sub(self.first);
        if from_first < self.count { self.number + from_first } else { NOWHERE }
    }
}

// SAFETY: plain addresses of device memory; the kernels say who may use them when.
unsafe impl Send for Choice {}
// SAFETY: as above.
unsafe impl Sync for Choice {}

impl Choice {
    /// The row of the upper matrix that row `i` is, or of the lower one.
    #[inline(always)]
    unsafe fn row(self, i: usize) -> Result<usize, usize> {
        // SAFETY: the caller's promise, a row of the result.
        let row = unsafe { self.source.of(i) } as usize;
        if row < self.n_upper as usize { Ok(row) } else { Err(row - self.n_upper as usize) }
    }

    /// Where an entry of the upper matrix goes.
    #[inline(always)]
    unsafe fn place(self, upper: Pattern, p: usize) -> u32 {
        // SAFETY: the caller's promise, an entry; there is a place for each column.
        unsafe { self.places.of(upper.col_idx.ld_nc(p) as usize) }
    }
}

/// Lengths of the chosen rows.
#[kernel]
pub unsafe fn part_lengths(
    n: u64,
    log2_lanes: u32,
    choice: Choice,
    upper: Pattern,
    lower: Pattern,
    lengths: *mut u32,
) {
    let sub_warp = SubWarp::of(log2_lanes);
    let mut i = sub_warp.first();
    // SAFETY: the launcher's arrays fit the matrices, whose rows are those that are chosen.
    unsafe {
        while i < n as usize {
            let count = match choice.row(i) {
                Ok(row) => {
                    let (start, end) = upper.range(row);
                    let (mut count, mut p) = (0, start + sub_warp.lane as usize);
                    while p < end {
                        count += (choice.place(upper, p) != NOWHERE) as u32;
                        p += sub_warp.lanes as usize;
                    }
                    sub_warp.reduce(count, |a, b| a + b)
                }
                Err(row) => {
                    let (start, end) = lower.range(row);
                    (end - start) as u32
                }
            };
            if sub_warp.lane == 0 {
                lengths.st(i, count);
            }
            i += sub_warp.stride();
        }
    }
}

/// The chosen rows.
#[kernel(T = [f32, f64])]
pub unsafe fn part_entries<T: Real>(
    n: u64,
    log2_lanes: u32,
    choice: Choice,
    upper: Rows<T>,
    lower: Rows<T>,
    row_ptr: *const u32,
    columns: *mut u32,
    values: *mut T,
) {
    let sub_warp = SubWarp::of(log2_lanes);
    let (lane, lanes) = (sub_warp.lane as usize, sub_warp.lanes as usize);
    let mut i = sub_warp.first();
    // SAFETY: the launcher's arrays fit the matrices, and there is room for each row.
    unsafe {
        while i < n as usize {
            let mut to = row_ptr.ld_nc(i) as usize;
            match choice.row(i) {
                Ok(row) => {
                    let (mut first, end) = upper.pattern.range(row);
                    while first < end {
                        let p = first + lane;
                        let place = if p < end { choice.place(upper.pattern, p) } else { NOWHERE };
                        let staying = sub_warp.ballot(place != NOWHERE);
                        if place != NOWHERE {
                            let rank = (staying & ((1 << lane) - 1)).count_ones() as usize;
                            columns.st(to + rank, place);
                            values.st(to + rank, upper.values.ld_nc(p));
                        }
                        to += staying.count_ones() as usize;
                        first += lanes;
                    }
                }
                Err(row) => {
                    let (start, end) = lower.pattern.range(row);
                    let mut p = start + lane;
                    while p < end {
                        columns.st(to + p - start, lower.pattern.col_idx.ld_nc(p));
                        values.st(to + p - start, lower.values.ld_nc(p));
                        p += lanes;
                    }
                }
            }
            i += sub_warp.stride();
        }
    }
}

/// `out[k]` = the entry of A in row `rows[k]` and column `columns[k]`, 0 where there is none.
#[kernel(T = [f32, f64])]
pub unsafe fn entries_at<T: Real>(n: u64, a: Rows<T>, rows: *const u32, columns: *const u32, out: *mut T) {
    let mut k = thread::index_x();
    // SAFETY: the launcher's arrays have those elements, and the matrix those rows.
    unsafe {
        while k < n as usize {
            let (mut p, end) = a.pattern.range(rows.ld_nc(k) as usize);
            let column = columns.ld_nc(k);
            while p < end && a.pattern.col_idx.ld_nc(p) < column {
                p += 1;
            }
            let is_there = p < end && a.pattern.col_idx.ld_nc(p) == column;
            out.st(k, if is_there { a.values.ld_nc(p) } else { T::ZERO });
            k += thread::stride();
        }
    }
}

/// `marks[k]` = 1 where row `rows[k]` has an entry in a column with a place, or, if `without` is not 0, in
/// one whose place is [`NOWHERE`]; else 0.
#[kernel]
pub unsafe fn rows_in_places(
    n: u64,
    log2_lanes: u32,
    a: Pattern,
    rows: Numbers,
    places: Numbers,
    without: u32,
    marks: *mut u32,
) {
    let sub_warp = SubWarp::of(log2_lanes);
    let mut k = sub_warp.first();
    // SAFETY: the launcher's arrays fit the matrix, which has those rows.
    unsafe {
        while k < n as usize {
            let (start, end) = a.range(rows.of(k) as usize);
            let (mut found, mut p) = (0, start + sub_warp.lane as usize);
            while p < end {
                let is_nowhere = places.of(a.col_idx.ld_nc(p) as usize) == NOWHERE;
                found |= (is_nowhere == (without != 0)) as u32;
                p += sub_warp.lanes as usize;
            }
            let found = sub_warp.reduce(found, |a, b| a | b);
            if sub_warp.lane == 0 {
                marks.st(k, found);
            }
            k += sub_warp.stride();
        }
    }
}

/// `counts[i]` = 1 where it is not 0.
#[kernel]
pub unsafe fn mark_counted(n: u64, counts: *mut u32) {
    let mut i = thread::index_x();
    // SAFETY: the launcher's array has those elements.
    unsafe {
        while i < n as usize {
            counts.st(i, (counts.ld(i) != 0) as u32);
            i += thread::stride();
        }
    }
}

/// `out[k]` = element `k % per_row` of row `source[k / per_row]`: of `upper`, and from `n_upper` on of
/// `lower`; 0 for [`NOWHERE`].
#[kernel(T = [f32, f64])]
pub unsafe fn part_elements<T: Real>(
    n: u64,
    per_row: u64,
    source: *const u32,
    n_upper: u64,
    upper: *const T,
    lower: *const T,
    out: *mut T,
) {
    let mut k = thread::index_x();
    // SAFETY: the launcher's vectors have those rows.
    unsafe {
        while k < n as usize {
            let (row, l) = (source.ld_nc(k / per_row as usize), k % per_row as usize);
            let (at, n_upper) = (row as usize, n_upper as usize);
            let element = match at < n_upper {
                true => upper.ld_nc(at * per_row as usize + l),
                false if row == NOWHERE => T::ZERO,
                false => lower.ld_nc((at - n_upper) * per_row as usize + l),
            };
            out.st(k, element);
            k += thread::stride();
        }
    }
}

/// Row pointers of some rows of a matrix: `out[i] = wide[i] - wide[0]`, which 32 bits hold.
#[kernel]
pub unsafe fn narrow_pointers(n: u64, wide: *const u64, out: *mut u32) {
    let mut i = thread::index_x();
    // SAFETY: the launcher's arrays have n elements.
    unsafe {
        while i < n as usize {
            out.st(i, (wide.ld_nc(i) - wide.ld_nc(0)) as u32);
            i += thread::stride();
        }
    }
}

/// The number of an index in runs: `number + step (index - start)` for the last of the pairs (start, number)
/// with a start up to the index, or [`NOWHERE`] where the number is that. The first start is 0.
///
/// # Safety
/// There are so many pairs.
#[inline(always)]
unsafe fn number_in_runs(index: u32, runs: u64, pairs: *const u32, step: u32) -> u32 {
    // The first run behind the index is between these.
    let (mut low, mut high) = (1, runs as usize);
    // SAFETY: the caller's promise.
    unsafe {
        while low < high {
            let middle = low + (high - low) / 2;
            if pairs.ld_nc(2 * middle) <= index {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let (start, number) = (pairs.ld_nc(2 * (low - 1)), pairs.ld_nc(2 * (low - 1) + 1));
        if number == NOWHERE { NOWHERE } else { number + step * (index - start) }
    }
}

/// The numbers of runs, each one more than the last, or, with a `step` of 0, the same in all of a run:
/// `out[i]` is that of index i.
#[kernel]
pub unsafe fn numbers_of_runs(n: u64, runs: u64, pairs: *const u32, step: u32, out: *mut u32) {
    let mut i = thread::index_x();
    // SAFETY: the launcher's arrays have those elements.
    unsafe {
        while i < n as usize {
            out.st(i, number_in_runs(i as u32, runs, pairs, step));
            i += thread::stride();
        }
    }
}

/// `out[i]` = the number of index `first[i]` in runs, [`NOWHERE`] where that is it.
#[kernel]
pub unsafe fn numbers_through_runs(n: u64, first: *const u32, runs: u64, pairs: *const u32, out: *mut u32) {
    let mut i = thread::index_x();
    // SAFETY: the launcher's arrays have those elements, and the runs have those indices.
    unsafe {
        while i < n as usize {
            let index = first.ld_nc(i);
            out.st(i, if index == NOWHERE { NOWHERE } else { number_in_runs(index, runs, pairs, 1) });
            i += thread::stride();
        }
    }
}

/// `out[i]` = 1 for places that are marked with 1, and for which `own` has not [`NOWHERE`], else 0.
#[kernel]
pub unsafe fn mark_own(n: u64, own: *const u32, marks: *const u32, out: *mut u32) {
    let mut i = thread::index_x();
    // SAFETY: the launcher's arrays have those elements.
    unsafe {
        while i < n as usize {
            out.st(i, (own.ld_nc(i) != NOWHERE && marks.ld_nc(i) == 1) as u32);
            i += thread::stride();
        }
    }
}

/// `out[i]` = `numbers[before[i]]` for the places that are marked, of which there are `before[i]` in front of
/// place i, [`NOWHERE`] for others.
#[kernel]
pub unsafe fn numbers_of_marked(n: u64, before: *const u32, numbers: *const u32, out: *mut u32) {
    let mut i = thread::index_x();
    // SAFETY: the launcher's arrays have those elements, and one more of `before`.
    unsafe {
        while i < n as usize {
            let k = before.ld_nc(i);
            let is_marked = before.ld_nc(i + 1) != k;
            out.st(i, if is_marked { numbers.ld_nc(k as usize) } else { NOWHERE });
            i += thread::stride();
        }
    }
}

/// `out[i] = second[first[i]]`, [`NOWHERE`] where `first[i]` is that.
#[kernel]
pub unsafe fn numbers_through(n: u64, first: *const u32, second: *const u32, out: *mut u32) {
    let mut i = thread::index_x();
    // SAFETY: the launcher's arrays have those elements, and the first has places of the second.
    unsafe {
        while i < n as usize {
            let place = first.ld_nc(i);
            out.st(i, if place == NOWHERE { NOWHERE } else { second.ld_nc(place as usize) });
            i += thread::stride();
        }
    }
}

/// `some_k = all[places_k]`.
#[kernel]
pub unsafe fn take_numbers(n: u64, places: *const u32, all: *const u32, some: *mut u32) {
    let mut k = thread::index_x();
    // SAFETY: the launcher's arrays have those elements.
    unsafe {
        while k < n as usize {
            some.st(k, all.ld_nc(places.ld_nc(k) as usize));
            k += thread::stride();
        }
    }
}

/// `all[places_k] = some_k`; no place is there twice.
#[kernel]
pub unsafe fn put_numbers(n: u64, places: *const u32, some: *const u32, all: *mut u32) {
    let mut k = thread::index_x();
    // SAFETY: the launcher's arrays have those elements.
    unsafe {
        while k < n as usize {
            all.st(places.ld_nc(k) as usize, some.ld_nc(k));
            k += thread::stride();
        }
    }
}

//! Sparse products C = A B, row by row (Gustavson 1978): the number of columns of each row, the columns, the
//! values.
//!
//! A sub-warp of lanes shares a row of C. They walk through the entries of A's row in turn, and take the
//! entries of B's row. The sub-warps of a warp do so [in step](SubWarp::in_step), which takes half the
//! instructions.

use cuda_std::{Real, kernel, memory::*, shared, shared::Shared, thread, warp::WARP_SIZE};

use super::columns::{Bitmap, LongRows, Table};
use super::interpolate::Rows;
use super::sub_warp::{Pattern, SubWarp, any};
use crate::sizes::BLOCK;

/// Slots that a column is looked for in before the table counts as full, of which a row that is too long
/// would otherwise look at all for each of its columns.
const PROBES: usize = 16;
/// Stands for the row of B behind the last entry of a row of A.
const NO_ROW: u32 = u32::MAX;

/// A matrix, or a pattern alone.
pub(super) trait Entries: Copy {
    /// What is read with a column.
    type Value: Copy;
    /// What stands for it where there is no entry.
    const NOTHING: Self::Value;

    fn pattern(self) -> Pattern;

    /// The value of entry `p`.
    ///
    /// # Safety
    /// There is one.
    unsafe fn value(self, p: usize) -> Self::Value;
}

impl Entries for Pattern {
    type Value = ();
    const NOTHING: Self::Value = ();

    #[inline(always)]
    fn pattern(self) -> Pattern {
        self
    }

    #[inline(always)]
    unsafe fn value(self, _: usize) -> Self::Value {}
}

impl<T: Real> Entries for Rows<T> {
    type Value = T;
    const NOTHING: T = T::ZERO;

    #[inline(always)]
    fn pattern(self) -> Pattern {
        self.pattern
    }

    #[inline(always)]
    unsafe fn value(self, p: usize) -> T {
        // SAFETY: the caller's promise.
        unsafe { self.values.ld_nc(p) }
    }
}

/// Calls `visit` with column j, the value of `a_ik` and that of `b_kj`, for every k of these entries of A in
/// ascending order and every j of row k of B, k after k, until it says no: the sub-warp's lanes have entries
/// of row k of B each. What is read next is asked for ahead: where the row of B after the next one is, the
/// next entries of B.
///
/// # Safety
/// The matrices are valid; the sub-warp is [in step](SubWarp::in_step), and all lanes of the warp call this.
#[inline(always)]
unsafe fn walk<A: Entries, B: Entries>(
    sub_warp: SubWarp,
    (start, end): (usize, usize),
    a: A,
    b: B,
    mut visit: impl FnMut(u32, A::Value, B::Value) -> bool,
) {
    // SAFETY: entries of the matrices.
    unsafe {
        // Places have 32 bits, as row pointers do: half the instructions.
        let (mut next, end_of_a) = (start as u32, end as u32);
        let factor = |p: u32| match p < end_of_a {
            true => (a.pattern().col_idx.ld_nc(p as usize), a.value(p as usize)),
            false => (NO_ROW, A::NOTHING),
        };
        // From this lane's first entry.
        let range = |k: u32| match k != NO_ROW {
            true => {
                let (start, end) = b.pattern().range(k as usize);
                (start as u32 + sub_warp.lane, end as u32)
            }
            false => (0, 0),
        };
        let entry = |p: u32, end: u32| match p < end {
            true => (b.pattern().col_idx.ld_nc(p as usize), b.value(p as usize)),
            false => (NO_ROW, B::NOTHING),
        };
        let (here, ahead) = (factor(next), factor(next + 1));
        let mut then = factor(next + 2);
        let (mut a_ik, mut a_ahead) = (here.1, ahead.1);
        let ((mut p, mut end), mut row_ahead) = (range(here.0), range(ahead.0));
        let mut loaded = entry(p, end);
        while any(next < end_of_a) {
            let (has, (column, b_kj), factor_here) = (p < end, loaded, a_ik);
            p += sub_warp.lanes;
            // The lanes leave a row of B together.
            if p - sub_warp.lane >= end && next < end_of_a {
                ((p, end), a_ik) = (row_ahead, a_ahead);
                (row_ahead, a_ahead) = (range(then.0), then.1);
                then = factor(next + 3);
                next += 1;
            }
            loaded = entry(p, end);
            if has && !visit(column, factor_here, b_kj) {
                (next, p, end) = (end_of_a, sub_warp.lane, 0);
            }
            sub_warp.sync();
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

/// `lengths[i]` = the number of columns of row i of A B, or 0 for rows that the table has no
/// [room](Table::room) for: those go to `long`. Which ones may depend on the order of the lanes; their
/// lengths and columns do not.
#[kernel]
pub unsafe fn count_columns(
    n_rows: u64,
    log2_lanes: u32,
    a: Pattern,
    b: Pattern,
    lengths: *mut u32,
    of: LongRows,
    long: LongRows,
) {
    let sub_warp = SubWarp::in_step(log2_lanes);
    let table = Table::of(sub_warp, log2_lanes, shared![u64; 2048]);
    sub_warp.for_each_row(of.count_of(n_rows), |i| {
        let row = i.map(|i| of.row(i));
        let entries = row.map_or((0, 0), |row| a.range(row));
        table.clear();
        let mut full = false;
        let mut count = 0;
        walk(sub_warp, entries, a, b, |column, (), ()| {
            match table.insert(column, PROBES) {
                Some((_, is_new)) => count += is_new as u32,
                None => full = true,
            }
            !full
        });
        count = sub_warp.reduce(count, |a, b| a + b);
        full = sub_warp.ballot(full) != 0 || count as usize > table.room();
        if let Some(row) = row.filter(|_| sub_warp.lane == 0) {
            lengths.st(row, if full { 0 } else { count });
            if full {
                long.push(row);
            }
        }
    });
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

/// The row of a list, where the pattern that its lengths make leaves it for a table: where its entries in it
/// are, and the entries of A.
#[inline(always)]
unsafe fn row_for_table(
    table: Table,
    row: Option<usize>,
    c: *const u32,
    a: Pattern,
) -> (usize, (usize, usize)) {
    // SAFETY: rows of the matrices.
    unsafe {
        let (start, end) = row.map_or((0, 0), |row| Pattern { row_ptr: c, col_idx: c }.range(row));
        let entries = row.filter(|_| end - start <= table.room()).map_or((0, 0), |row| a.range(row));
        (start, entries)
    }
}

/// The columns of A B, ascending, to `columns`, but for rows that the table has no [room](Table::room) for.
#[kernel]
pub unsafe fn write_columns(
    n_rows: u64,
    log2_lanes: u32,
    a: Pattern,
    b: Pattern,
    row_ptr: *const u32,
    columns: *mut u32,
    of: LongRows,
) {
    let sub_warp = SubWarp::in_step(log2_lanes);
    let table = Table::of(sub_warp, log2_lanes, shared![u64; 2048]);
    sub_warp.for_each_row(of.count_of(n_rows), |i| {
        let (start, entries) = row_for_table(table, i.map(|i| of.row(i)), row_ptr, a);
        table.clear();
        walk(sub_warp, entries, a, b, |column, (), ()| table.insert(column, table.slots()).is_some());
        let count = table.compact(|_| (), |_, ()| ());
        table.rank(count, |place, column, _| columns.st(start + place, column));
    });
}

/// The same with the values `c_ij = sum_k a_ik b_kj`: k ascending, from 0, every multiplication and addition
/// rounded.
#[kernel(T = [f32, f64])]
pub unsafe fn write_product<T: Real>(
    n_rows: u64,
    log2_lanes: u32,
    a: Rows<T>,
    b: Rows<T>,
    row_ptr: *const u32,
    columns: *mut u32,
    values: *mut T,
    of: LongRows,
) {
    let sub_warp = SubWarp::in_step(log2_lanes);
    let table = Table::of(sub_warp, log2_lanes, shared![u64; 2048]);
    let sums = shared![T; 4096];
    sub_warp.for_each_row(of.count_of(n_rows), |i| {
        let (start, entries) = row_for_table(table, i.map(|i| of.row(i)), row_ptr, a.pattern);
        table.clear();
        walk(sub_warp, entries, a, b, |column, a_ik, b_kj| {
            add(table, sums, column, a_ik * b_kj);
            true
        });
        write_sums(table, sums, start, columns, values);
    });
}

/// Adds to the sum of a column, which begins with 0, in a table that has room for it.
///
/// # Safety
/// No other lane adds to this column meanwhile.
#[inline(always)]
pub(super) unsafe fn add<T: Real>(table: Table, sums: Shared<T>, column: u32, value: T) {
    // SAFETY: within the table and as many sums; the caller's promise.
    unsafe {
        if let Some((slot, is_new)) = table.insert(column, table.slots()) {
            sums.set(slot, if is_new { T::ZERO } else { sums.get(slot) } + value);
        }
    }
}

/// Writes the columns of a table to `columns[start..]`, ascending, and their sums to `values[start..]`.
///
/// # Safety
/// There is room for them; as [`Table::rank`].
#[inline(always)]
pub(super) unsafe fn write_sums<T: Real>(
    table: Table,
    sums: Shared<T>,
    start: usize,
    columns: *mut u32,
    values: *mut T,
) {
    // SAFETY: the sums are those of the columns; the caller's promise.
    unsafe {
        let count = table.compact(|from| sums.get(from), |to, sum| sums.set(to, sum));
        table.rank(count, |place, column, slot| {
            columns.st(start + place, column);
            values.st(start + place, sums.get(slot));
        });
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
/// The sums are in shared memory, in slots that a hash table of the row's columns gives. Rows that it has no
/// [room](Table::room) for go to `long`; where that is no list, their sums are in `c_values` itself.
#[kernel(T = [f32, f64])]
pub unsafe fn multiply<T: Real>(
    n_rows: u64,
    log2_lanes: u32,
    a: Rows<T>,
    b: Rows<T>,
    c: Pattern,
    c_values: *mut T,
    accumulate: u32,
    of: LongRows,
    long: LongRows,
) {
    let sub_warp = SubWarp::in_step(log2_lanes);
    let table = Table::of(sub_warp, log2_lanes, shared![u64; 2048]);
    let sums = shared![T; 4096];
    let (lane, lanes) = (sub_warp.lane as usize, sub_warp.lanes as usize);
    sub_warp.for_each_row(of.count_of(n_rows), |i| {
        let row = i.map(|i| of.row(i));
        let (start, end) = row.map_or((0, 0), |row| c.range(row));
        let entries = row.map_or((0, 0), |row| a.pattern.range(row));
        let is_short = end - start <= table.room();
        let (end_of_short, short) = if is_short { (end, entries) } else { (start, (0, 0)) };
        table.clear();
        let mut p = start + lane;
        while any(p < end_of_short) {
            if p < end_of_short
                && let Some((slot, _)) = table.insert(c.col_idx.ld_nc(p), table.slots())
            {
                sums.set(slot, if accumulate != 0 { c_values.ld(p) } else { T::ZERO });
            }
            p += lanes;
        }
        sub_warp.sync();
        walk(sub_warp, short, a, b, |column, a_ik, b_kj| {
            let slot = table.find(column);
            sums.set(slot, sums.get(slot) + a_ik * b_kj);
            true
        });
        let mut p = start + lane;
        while any(p < end_of_short) {
            if p < end_of_short {
                c_values.st(p, sums.get(table.find(c.col_idx.ld_nc(p))));
            }
            p += lanes;
        }
        if long.count.is_null() {
            let (end, entries) = if is_short { (start, (0, 0)) } else { (end, entries) };
            multiply_in_place(sub_warp, entries, [a, b], c, (start, end), c_values, accumulate);
        } else if let Some(row) = row.filter(|_| !is_short && lane == 0) {
            long.push(row);
        }
    });
}

/// The same for a row whose sums are in `c_values` itself; its entries in C begin and end so.
///
/// # Safety
/// As [`walk`]; C has the pattern of A B.
#[inline(always)]
unsafe fn multiply_in_place<T: Real>(
    sub_warp: SubWarp,
    entries: (usize, usize),
    [a, b]: [Rows<T>; 2],
    c: Pattern,
    (start, end): (usize, usize),
    c_values: *mut T,
    accumulate: u32,
) {
    // SAFETY: entries of the matrices; what one lane has added to, another adds to after they came together.
    unsafe {
        let mut p = start + sub_warp.lane as usize;
        while any(p < end && accumulate == 0) {
            if p < end {
                c_values.st(p, T::ZERO);
            }
            p += sub_warp.lanes as usize;
        }
        sub_warp.sync();
        walk(sub_warp, entries, a, b, |column, a_ik, b_kj| {
            let p = position(c.col_idx, start, end, column);
            c_values.st(p, c_values.ld(p) + a_ik * b_kj);
            true
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

//! Twins: rows with the columns of the row before them, as where a node has several unknowns. Where the
//! entries of a product are is found from matrices without twins, and twins are multiplied together.
//!
//! `numbers[i]` is how many rows before row i are no twins, for one i more than there are rows. Row i of A is
//! row `numbers[i + 1] - 1` of the thinned matrix, as its twins are. `first_of_b[k]` is 0 where row k of B is
//! a twin, else 1.

use core::ops::RangeInclusive;

use cuda_std::{Real, atomic, kernel, memory::*, shared, shared::Shared, thread};

use super::columns::{SLOTS, Table};
use super::interpolate::Rows;
use super::sub_warp::{Pattern, SubWarp};
use crate::unroll::unroll;

/// Threads of a block where twins are multiplied: more have no room in shared memory.
pub const BLOCK: u32 = 64;
/// Twins of A, and of B, that are multiplied together, at most.
pub const TOGETHER: usize = 3;
/// Slots of a block's tables.
const BLOCK_SLOTS: usize = BLOCK as usize * SLOTS;

/// Whether row `i` has the columns of the row before.
///
/// # Safety
/// The matrix is valid; the sub-warp's lanes call this together.
#[inline(always)]
unsafe fn is_twin(sub_warp: SubWarp, a: Pattern, i: usize) -> bool {
    // SAFETY: entries of the matrix.
    unsafe {
        let (start, end) = a.range(i);
        if i == 0 || start - a.row_ptr.ld_nc(i - 1) as usize != end - start {
            return false;
        }
        let mut first = start;
        while first < end {
            let p = first + sub_warp.lane as usize;
            let differs = p < end && a.col_idx.ld_nc(p) != a.col_idx.ld_nc(p + start - end);
            if sub_warp.ballot(differs) != 0 {
                return false;
            }
            first += sub_warp.lanes as usize;
        }
        true
    }
}

/// The k-th of the rows that are looked at, one somewhere within each `step` rows, so that the rows of a node
/// are met alike.
#[inline(always)]
pub fn sampled(k: usize, step: usize) -> usize {
    k * step + ((k as u32).wrapping_mul(0x9e37_79b1) >> 16) as usize % step
}

/// Adds to `count` how many are twins of the first `samples` rows of [`sampled`].
#[kernel]
pub unsafe fn count_twins(samples: u64, step: u64, log2_lanes: u32, a: Pattern, count: *mut u32) {
    let sub_warp = SubWarp::of(log2_lanes);
    let mut k = sub_warp.first();
    // SAFETY: the matrix has a row in each step.
    unsafe {
        while k < samples as usize {
            let is_twin = is_twin(sub_warp, a, sampled(k, step as usize));
            if is_twin && sub_warp.lane == 0 {
                atomic::atomic_add_u32(count, 1);
            }
            k += sub_warp.stride();
        }
    }
}

/// `first[i]` = 0 where row i is a twin, else 1.
#[kernel]
pub unsafe fn find_twins(n: u64, log2_lanes: u32, a: Pattern, first: *mut u32) {
    let sub_warp = SubWarp::of(log2_lanes);
    let mut i = sub_warp.first();
    // SAFETY: the matrix has n rows, and `first` an element for each.
    unsafe {
        while i < n as usize {
            let is_twin = is_twin(sub_warp, a, i);
            if sub_warp.lane == 0 {
                first.st(i, !is_twin as u32);
            }
            i += sub_warp.stride();
        }
    }
}

/// Calls `f(number, start, end)` for the rows that are no twins, with the entries of each.
#[inline(always)]
unsafe fn for_each_first(
    sub_warp: SubWarp,
    n: u64,
    a: Pattern,
    numbers: *const u32,
    mut f: impl FnMut(usize, usize, usize),
) {
    let mut i = sub_warp.first();
    // SAFETY: the matrix has n rows, and `numbers` one for each and one more.
    unsafe {
        while i < n as usize {
            let number = numbers.ld_nc(i);
            if numbers.ld_nc(i + 1) > number {
                let (start, end) = a.range(i);
                f(number as usize, start, end);
            }
            i += sub_warp.stride();
        }
    }
}

/// Whether entry `p` of a row that begins at `start` stays in the thinned matrix: all but those that follow
/// an entry whose row of B is the one before and has the same columns.
#[inline(always)]
unsafe fn stays(a: Pattern, start: usize, p: usize, first_of_b: *const u32) -> bool {
    // SAFETY: an entry of the matrix, whose column is a row of B.
    unsafe {
        let k = a.col_idx.ld_nc(p);
        first_of_b.ld_nc(k as usize) != 0 || p == start || a.col_idx.ld_nc(p - 1) + 1 != k
    }
}

/// Row lengths of A without twins, its own and those of B among its columns.
#[kernel]
pub unsafe fn thin_lengths(
    n: u64,
    log2_lanes: u32,
    a: Pattern,
    numbers: *const u32,
    first_of_b: *const u32,
    lengths: *mut u32,
) {
    let sub_warp = SubWarp::of(log2_lanes);
    // SAFETY: the launcher's arrays fit the matrices.
    unsafe {
        for_each_first(sub_warp, n, a, numbers, |number, start, end| {
            let (mut count, mut p) = (0, start + sub_warp.lane as usize);
            while p < end {
                count += stays(a, start, p, first_of_b) as u32;
                p += sub_warp.lanes as usize;
            }
            let count = sub_warp.reduce(count, |a, b| a + b);
            if sub_warp.lane == 0 {
                lengths.st(number, count);
            }
        });
    }
}

/// The columns of those rows.
#[kernel]
pub unsafe fn thin_columns(
    n: u64,
    log2_lanes: u32,
    a: Pattern,
    numbers: *const u32,
    first_of_b: *const u32,
    row_ptr: *const u32,
    columns: *mut u32,
) {
    let sub_warp = SubWarp::of(log2_lanes);
    // SAFETY: the launcher's arrays fit the matrices.
    unsafe {
        for_each_first(sub_warp, n, a, numbers, |number, start, end| {
            let (mut to, mut first) = (row_ptr.ld_nc(number) as usize, start);
            while first < end {
                let p = first + sub_warp.lane as usize;
                let stays = p < end && stays(a, start, p, first_of_b);
                let staying = sub_warp.ballot(stays);
                if stays {
                    let rank = (staying & ((1 << sub_warp.lane) - 1)).count_ones();
                    columns.st(to + rank as usize, a.col_idx.ld_nc(p));
                }
                to += staying.count_ones() as usize;
                first += sub_warp.lanes as usize;
            }
        });
    }
}

/// Row lengths of the matrix whose rows without twins are those of C.
#[kernel]
pub unsafe fn repeat_lengths(n: u64, numbers: *const u32, c: Pattern, lengths: *mut u32) {
    let mut i = thread::index_x();
    // SAFETY: the launcher's arrays fit the matrix, which has a row for each number.
    unsafe {
        while i < n as usize {
            let (start, end) = c.range(numbers.ld_nc(i + 1) as usize - 1);
            lengths.st(i, (end - start) as u32);
            i += thread::stride();
        }
    }
}

/// The columns of those rows.
#[kernel]
pub unsafe fn repeat_columns(
    n: u64,
    log2_lanes: u32,
    numbers: *const u32,
    c: Pattern,
    row_ptr: *const u32,
    columns: *mut u32,
) {
    let sub_warp = SubWarp::of(log2_lanes);
    let mut i = sub_warp.first();
    // SAFETY: as above, and there is room for the columns.
    unsafe {
        while i < n as usize {
            let (start, end) = c.range(numbers.ld_nc(i + 1) as usize - 1);
            let to = row_ptr.ld_nc(i) as usize;
            let mut p = start + sub_warp.lane as usize;
            while p < end {
                columns.st(to + p - start, c.col_idx.ld_nc(p));
                p += sub_warp.lanes as usize;
            }
            i += sub_warp.stride();
        }
    }
}

/// `rows[numbers[i]] = i` for the rows i with a number of their own, and behind them the number of all rows.
#[kernel]
pub unsafe fn list_rows(n: u64, numbers: *const u32, rows: *mut u32) {
    let mut i = thread::index_x();
    // SAFETY: there is room for each number, and for one more.
    unsafe {
        while i < n as usize {
            let (number, next) = (numbers.ld_nc(i), numbers.ld_nc(i + 1));
            if next > number {
                rows.st(number as usize, i as u32);
            }
            if i + 1 == n as usize {
                rows.st(next as usize, n as u32);
            }
            i += thread::stride();
        }
    }
}

/// `starts[i]` = 1 for one in [`TOGETHER`] rows from each of `firsts` on, the rows that are no twins, else 0.
#[kernel]
pub unsafe fn start_rows(n: u64, numbers: *const u32, firsts: *const u32, starts: *mut u32) {
    let mut i = thread::index_x();
    // SAFETY: `firsts` has a row for each number.
    unsafe {
        while i < n as usize {
            let first = firsts.ld_nc(numbers.ld_nc(i + 1) as usize - 1) as usize;
            starts.st(i, (i - first).is_multiple_of(TOGETHER) as u32);
            i += thread::stride();
        }
    }
}

/// Up to [`TOGETHER`] rows of A that have the same columns.
#[derive(Clone, Copy)]
struct Twins<T> {
    /// The entries of the first; those of the others follow.
    start: usize,
    end: usize,
    /// How many rows there are.
    count: usize,
    values: *const T,
}

/// Up to [`TOGETHER`] rows of B that have the same columns and follow one another, as do their columns in A.
#[derive(Clone, Copy)]
struct Run {
    /// Where the first is in the rows of A.
    p: usize,
    /// How many there are; 0 for none.
    count: usize,
    /// The entries of the first; those of the others follow.
    start: usize,
    end: usize,
}

/// A column of rows of B, and the entries there.
#[derive(Clone, Copy)]
struct Entries<T> {
    column: u32,
    values: [T; TOGETHER],
}

impl<T: Real> Twins<T> {
    /// The entries of all rows in the columns of a run: `factors[q][r]` of row r, 0 for what is not there.
    #[inline(always)]
    unsafe fn factors(self, run: Run) -> [[T; TOGETHER]; TOGETHER] {
        let mut factors = [[T::ZERO; TOGETHER]; TOGETHER];
        unroll::<TOGETHER>(|q| {
            unroll::<TOGETHER>(|r| {
                if q < run.count && r < self.count {
                    // SAFETY: rows with the same columns have the same lengths.
                    factors[q][r] = unsafe { self.values.ld_nc(run.p + q + r * (self.end - self.start)) };
                }
            });
        });
        factors
    }
}

impl Run {
    /// Entry `e` of the first row, and those of the others; anything beyond its end.
    #[inline(always)]
    unsafe fn entries<T: Real>(self, b: Rows<T>, e: usize) -> Entries<T> {
        let mut entries = Entries { column: 0, values: [T::ZERO; TOGETHER] };
        if e < self.end {
            // SAFETY: entries of B.
            unsafe {
                entries.column = b.pattern.col_idx.ld_nc(e);
                unroll::<TOGETHER>(|q| {
                    if q < self.count {
                        entries.values[q] = b.values.ld_nc(e + q * (self.end - self.start));
                    }
                });
            }
        }
        entries
    }
}

/// What each lane knows of an entry of a row of A. Nothing is done with it before it is needed, so that
/// nothing waits for it.
#[derive(Clone, Copy)]
struct Known {
    /// Its column k, and that of the entry before.
    k: u32,
    before: u32,
    /// Whether row k of B is no twin, and its entries.
    first_of_b: u32,
    of_b: (u32, u32),
}

impl Known {
    /// Of the lanes' entries from `first` on.
    #[inline(always)]
    unsafe fn of(
        sub_warp: SubWarp,
        a: Pattern,
        (first, end): (usize, usize),
        b: Pattern,
        first_of_b: *const u32,
    ) -> Self {
        let mut known = Known { k: 0, before: 0, first_of_b: 0, of_b: (0, 0) };
        let p = first + sub_warp.lane as usize;
        if p < end {
            // SAFETY: entries of the matrices.
            unsafe {
                known.k = a.col_idx.ld_nc(p);
                if p > first {
                    known.before = a.col_idx.ld_nc(p - 1);
                }
                known.first_of_b = first_of_b.ld_nc(known.k as usize);
                known.of_b = (b.row_ptr.ld_nc(known.k as usize), b.row_ptr.ld_nc(known.k as usize + 1));
            }
        }
        known
    }
}

/// The runs among as many entries of a row of A as the sub-warp has lanes, from the first to the last.
#[derive(Clone, Copy)]
struct Runs {
    sub_warp: SubWarp,
    /// The first of the entries, and how many there are.
    first: usize,
    count: usize,
    /// The entries of rows of B.
    of_b: (u32, u32),
    /// The lanes whose entries begin a row of twins that was not reached yet.
    left: u32,
    /// The entry reached, the one behind its twins, and the entries of its row of B.
    at: usize,
    next: usize,
    start: usize,
    end: usize,
}

impl Runs {
    /// Those of these entries, from `first` on.
    #[inline(always)]
    fn of(sub_warp: SubWarp, known: Known, (first, end): (usize, usize)) -> Self {
        let (lane, lanes) = (sub_warp.lane as usize, sub_warp.lanes as usize);
        let is_twin = (known.first_of_b == 0) & (known.before + 1 == known.k);
        let left = sub_warp.ballot(first + lane < end && (lane == 0 || !is_twin));
        let count = if end - first < lanes { end - first } else { lanes };
        Runs { sub_warp, first, count, of_b: known.of_b, left, at: 0, next: 0, start: 0, end: 0 }
    }

    /// The next of them, of no rows behind the last.
    #[inline(always)]
    fn take(&mut self) -> Run {
        if self.at == self.next && self.left != 0 {
            let lane = self.left.trailing_zeros();
            self.left &= self.left - 1;
            self.at = lane as usize;
            self.next = if self.left == 0 { self.count } else { self.left.trailing_zeros() as usize };
            self.start = self.sub_warp.from_lane(self.of_b.0, lane) as usize;
            self.end = self.sub_warp.from_lane(self.of_b.1, lane) as usize;
        }
        if self.at == self.next {
            return Run { p: 0, count: 0, start: 0, end: 0 };
        }
        let count = if self.next - self.at < TOGETHER { self.next - self.at } else { TOGETHER };
        let run = Run { p: self.first + self.at, count, start: self.start, end: self.end };
        self.at += count;
        // Twins are as long.
        let skipped = count * (self.end - self.start);
        (self.start, self.end) = (self.start + skipped, self.end + skipped);
        run
    }
}

/// Sums for the columns of up to [`TOGETHER`] rows of C.
#[derive(Clone, Copy)]
struct Sums<T> {
    table: Table,
    /// For each row a sum for each slot.
    sums: Shared<T>,
}

impl<T: Real> Sums<T> {
    /// 0 for the columns of these entries of C.
    #[inline(always)]
    unsafe fn start(self, sub_warp: SubWarp, c: Pattern, (start, end): (usize, usize)) {
        // SAFETY: entries of C, which the table has room for.
        unsafe {
            self.table.clear();
            let mut p = start + sub_warp.lane as usize;
            while p < end {
                if let Some((slot, _)) = self.table.insert(c.col_idx.ld_nc(p), self.table.slots()) {
                    unroll::<TOGETHER>(|r| self.sums.set(slot + r * BLOCK_SLOTS, T::ZERO));
                }
                p += sub_warp.lanes as usize;
            }
            sub_warp.sync();
        }
    }

    /// Adds the products of these factors with `count` entries of a column, one after the other.
    #[inline(always)]
    unsafe fn add(self, entries: Entries<T>, count: usize, factors: [[T; TOGETHER]; TOGETHER]) {
        // SAFETY: a column of C, which no other lane has.
        unsafe {
            let slot = self.table.find(entries.column);
            let mut sums = [T::ZERO; TOGETHER];
            unroll::<TOGETHER>(|r| sums[r] = self.sums.get(slot + r * BLOCK_SLOTS));
            unroll::<TOGETHER>(|q| {
                if q < count {
                    unroll::<TOGETHER>(|r| sums[r] += factors[q][r] * entries.values[q]);
                }
            });
            unroll::<TOGETHER>(|r| self.sums.set(slot + r * BLOCK_SLOTS, sums[r]));
        }
    }

    /// The sums to these entries of C, and to those of the rows after it, which are `length` further on each.
    #[inline(always)]
    unsafe fn finish(
        self,
        sub_warp: SubWarp,
        (rows, length): (usize, usize),
        c: Pattern,
        (start, end): (usize, usize),
        c_values: *mut T,
    ) {
        // SAFETY: entries of C.
        unsafe {
            let mut p = start + sub_warp.lane as usize;
            while p < end {
                let slot = self.table.find(c.col_idx.ld_nc(p));
                unroll::<TOGETHER>(|r| {
                    if r < rows {
                        c_values.st(p + r * length, self.sums.get(slot + r * BLOCK_SLOTS));
                    }
                });
                p += sub_warp.lanes as usize;
            }
        }
    }
}

/// Adds up the products of rows of A with rows of B, k ascending, in these columns. What comes next is asked
/// for ahead: the next run, and the next entries of B.
#[inline(always)]
unsafe fn add_up<T: Real>(
    sub_warp: SubWarp,
    sums: Sums<T>,
    a: Pattern,
    rows: Twins<T>,
    b: Rows<T>,
    first_of_b: *const u32,
    columns: RangeInclusive<u32>,
) {
    let (lane, lanes) = (sub_warp.lane as usize, sub_warp.lanes as usize);
    let mut first = rows.start;
    // SAFETY: entries of the matrices; the sub-warp's lanes go the same way.
    unsafe {
        let mut known = Known::of(sub_warp, a, (first, rows.end), b.pattern, first_of_b);
        while first < rows.end {
            let mut runs = Runs::of(sub_warp, known, (first, rows.end));
            known = Known::of(sub_warp, a, (first + lanes, rows.end), b.pattern, first_of_b);
            let mut run = runs.take();
            let mut factors = rows.factors(run);
            let mut entries = run.entries(b, run.start + lane);
            while run.count > 0 {
                let ahead = runs.take();
                let factors_ahead = rows.factors(ahead);
                let mut e = run.start;
                while e < run.end {
                    let here = entries;
                    let next = e + lanes;
                    entries = match next < run.end {
                        true => run.entries(b, next + lane),
                        false => ahead.entries(b, ahead.start + lane),
                    };
                    if e + lane < run.end && columns.contains(&here.column) {
                        sums.add(here, run.count, factors);
                    }
                    e = next;
                }
                if run.start == run.end {
                    entries = ahead.entries(b, ahead.start + lane);
                }
                sub_warp.sync();
                (run, factors) = (ahead, factors_ahead);
            }
            first += lanes;
        }
    }
}

/// `c_ij = sum_k a_ik b_kj` in the pattern of C, in blocks of [`BLOCK`]: the sums of
/// [`multiply`](super::product::multiply()), those of the rows from one of `starts` to the next at once.
#[kernel(T = [f32, f64])]
pub unsafe fn multiply_twins<T: Real>(
    n_starts: u64,
    log2_lanes: u32,
    starts: *const u32,
    a: Rows<T>,
    b: Rows<T>,
    first_of_b: *const u32,
    c: Pattern,
    c_values: *mut T,
) {
    let sub_warp = SubWarp::of(log2_lanes);
    let sums = Sums { table: Table::of(sub_warp, log2_lanes, shared![u64; 512]), sums: shared![T; 3072] };
    let room = sums.table.room();
    let mut s = sub_warp.first();
    // SAFETY: the launcher's arrays fit the matrices.
    unsafe {
        while s < n_starts as usize {
            let (row, next) = (starts.ld_nc(s) as usize, starts.ld_nc(s + 1) as usize);
            let (start, end) = a.pattern.range(row);
            let rows = Twins { start, end, count: next - row, values: a.values };
            let (start_of_c, end_of_c) = c.range(row);
            let length = end_of_c - start_of_c;
            // A row that is too long for a table, part after part.
            let mut from = start_of_c;
            while from < end_of_c {
                let to = if end_of_c - from < room { end_of_c } else { from + room };
                sums.start(sub_warp, c, (from, to));
                let columns = c.col_idx.ld_nc(from)..=c.col_idx.ld_nc(to - 1);
                add_up(sub_warp, sums, a.pattern, rows, b, first_of_b, columns);
                sums.finish(sub_warp, (rows.count, length), c, (from, to), c_values);
                from = to;
            }
            s += sub_warp.stride();
        }
    }
}

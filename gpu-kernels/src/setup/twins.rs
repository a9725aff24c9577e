//! Twins: rows with the columns of the row before them, as where a node has several unknowns. Where the entries
//! of a product are is found from matrices without twins, and twins are multiplied together.
//!
//! `numbers[i]` is how many rows before row i are no twins, for one i more than there are rows. Row i of A is
//! row `numbers[i + 1] - 1` of the thinned matrix, as its twins are. `first_of_b[k]` is 0 where row k of B is a
//! twin, else 1.

use cuda_std::{Real, atomic, kernel, memory::*, shared, shared::Shared, thread};

use super::columns::{LOADED, SLOTS, Table};
use super::product::{Matrix, multiply_in_place};
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

/// The k-th of the rows that are looked at, one somewhere within each `step` rows, so that the rows of a node are
/// met alike.
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

/// Whether entry `p` of a row that begins at `start` stays in the thinned matrix: all but those that follow an
/// entry whose row of B is the one before and has the same columns.
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

/// `firsts[numbers[i]] = i` for the rows i that are no twins, and behind them the number of rows.
#[kernel]
pub unsafe fn list_firsts(n: u64, numbers: *const u32, firsts: *mut u32) {
    let mut i = thread::index_x();
    // SAFETY: `firsts` has an element for each number, and one more.
    unsafe {
        while i < n as usize {
            let (number, next) = (numbers.ld_nc(i), numbers.ld_nc(i + 1));
            if next > number {
                firsts.st(number as usize, i as u32);
            }
            if i + 1 == n as usize {
                firsts.st(next as usize, n as u32);
            }
            i += thread::stride();
        }
    }
}

/// Up to [`TOGETHER`] rows of A that have the same columns.
#[derive(Clone, Copy)]
struct Rows<T> {
    /// The entries of the first; those of the others follow.
    start: usize,
    end: usize,
    /// How many rows there are.
    count: usize,
    values: *const T,
}

impl<T: Real> Rows<T> {
    /// The entries of all rows at place `p` of the first, 0 for rows that are not there.
    #[inline(always)]
    unsafe fn entries(self, p: usize) -> [T; TOGETHER] {
        let mut entries = [T::ZERO; TOGETHER];
        unroll::<TOGETHER>(|r| {
            if r < self.count {
                // SAFETY: rows with the same columns have the same lengths.
                entries[r] = unsafe { self.values.ld_nc(p + r * (self.end - self.start)) };
            }
        });
        entries
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
    /// 0 for the columns of a row of C.
    #[inline(always)]
    unsafe fn start(self, sub_warp: SubWarp, c: Pattern, (start, end): (usize, usize)) {
        // SAFETY: entries of C, which the table has room for.
        unsafe {
            self.table.clear();
            let mut p = start + sub_warp.lane as usize;
            while p < end {
                if let Some(slot) = self.table.insert(c.col_idx.ld_nc(p), self.table.slots()) {
                    unroll::<TOGETHER>(|r| self.sums.set(slot + r * BLOCK_SLOTS, T::ZERO));
                }
                p += sub_warp.lanes as usize;
            }
            sub_warp.sync();
        }
    }

    /// Adds `a_ik b_kj` for each row i, each of `count` rows k of B, which have the same columns, k ascending, and
    /// each of these columns j. `p` is where the first k is in the rows of A, `start..end` where its row is.
    #[inline(always)]
    unsafe fn add(
        self,
        sub_warp: SubWarp,
        rows: Rows<T>,
        (p, count): (usize, usize),
        b: Matrix<T>,
        (start, end): (usize, usize),
    ) {
        // SAFETY: entries of the matrices; no other lane has the column.
        unsafe {
            let mut factors = [[T::ZERO; TOGETHER]; TOGETHER];
            unroll::<TOGETHER>(|q| {
                if q < count {
                    factors[q] = rows.entries(p + q);
                }
            });
            let mut e = start + sub_warp.lane as usize;
            while e < end {
                let slot = self.table.find(b.pattern.col_idx.ld_nc(e));
                let mut sums = [T::ZERO; TOGETHER];
                unroll::<TOGETHER>(|r| sums[r] = self.sums.get(slot + r * BLOCK_SLOTS));
                unroll::<TOGETHER>(|q| {
                    if q < count {
                        let value = b.values.ld_nc(e + q * (end - start));
                        unroll::<TOGETHER>(|r| sums[r] += factors[q][r] * value);
                    }
                });
                unroll::<TOGETHER>(|r| self.sums.set(slot + r * BLOCK_SLOTS, sums[r]));
                e += sub_warp.lanes as usize;
            }
            sub_warp.sync();
        }
    }

    /// The sums to the rows of C, of which the first is here.
    #[inline(always)]
    unsafe fn finish(
        self,
        sub_warp: SubWarp,
        rows: usize,
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
                        c_values.st(p + r * (end - start), self.sums.get(slot + r * BLOCK_SLOTS));
                    }
                });
                p += sub_warp.lanes as usize;
            }
        }
    }
}

/// `c_ij = sum_k a_ik b_kj` in the pattern of C, in blocks of [`BLOCK`]: the sums of
/// [`multiply`](super::product::multiply()), those of up to [`TOGETHER`] rows at once.
#[kernel(T = [f32, f64])]
pub unsafe fn multiply_twins<T: Real>(
    n: u64,
    log2_lanes: u32,
    a: Pattern,
    a_values: *const T,
    numbers: *const u32,
    firsts: *const u32,
    b: Pattern,
    b_values: *const T,
    first_of_b: *const u32,
    c: Pattern,
    c_values: *mut T,
) {
    let sub_warp = SubWarp::of(log2_lanes);
    let sums = Sums { table: Table::of(sub_warp, log2_lanes, shared![u64; 512]), sums: shared![T; 3072] };
    let (a, b) = (Matrix { pattern: a, values: a_values }, Matrix { pattern: b, values: b_values });
    let mut row = sub_warp.first();
    // SAFETY: the launcher's arrays fit the matrices.
    unsafe {
        while row < n as usize {
            let number = numbers.ld_nc(row + 1) as usize - 1;
            let (first, next) = (firsts.ld_nc(number) as usize, firsts.ld_nc(number + 1) as usize);
            // One in so many multiplies for those that follow it.
            if (row - first).is_multiple_of(TOGETHER) {
                let count = if next - row < TOGETHER { next - row } else { TOGETHER };
                let of_c = c.range(row);
                if of_c.1 - of_c.0 <= sums.table.slots() / SLOTS * LOADED {
                    sums.start(sub_warp, c, of_c);
                    for_each_run(sub_warp, a.pattern, row, b.pattern, first_of_b, |places, of_b| {
                        let (start, end) = a.pattern.range(row);
                        let rows = Rows { start, end, count, values: a.values };
                        sums.add(sub_warp, rows, places, b, of_b);
                    });
                    sums.finish(sub_warp, count, c, of_c, c_values);
                } else {
                    let mut i = row;
                    while i < row + count {
                        multiply_in_place(sub_warp, i, a, b, c, c_values, 0);
                        i += 1;
                    }
                }
            }
            row += sub_warp.stride();
        }
    }
}

/// Calls `f((p, count), range)` for the entries of a row of A, where `count` of them from `p` on have rows of B
/// that are twins, and the first of these has its entries in `range`.
#[inline(always)]
unsafe fn for_each_run(
    sub_warp: SubWarp,
    a: Pattern,
    row: usize,
    b: Pattern,
    first_of_b: *const u32,
    mut f: impl FnMut((usize, usize), (usize, usize)),
) {
    // SAFETY: entries of the matrices; the sub-warp's lanes go the same way.
    unsafe {
        let (start, end) = a.range(row);
        let mut first = start;
        while first < end {
            let p = first + sub_warp.lane as usize;
            let (mut begins, mut of_b) = (false, (0, 0));
            if p < end {
                let k = a.col_idx.ld_nc(p) as usize;
                begins = p == first || stays(a, start, p, first_of_b);
                of_b = (b.row_ptr.ld_nc(k), b.row_ptr.ld_nc(k + 1));
            }
            let here =
                if end - first < sub_warp.lanes as usize { end - first } else { sub_warp.lanes as usize };
            let mut left = sub_warp.ballot(begins);
            while left != 0 {
                let lane = left.trailing_zeros();
                left &= left - 1;
                let next = if left == 0 { here } else { left.trailing_zeros() as usize };
                let (from, to) = (sub_warp.from_lane(of_b.0, lane), sub_warp.from_lane(of_b.1, lane));
                let (from, to) = (from as usize, to as usize);
                let mut q = lane as usize;
                while q < next {
                    let count = if next - q < TOGETHER { next - q } else { TOGETHER };
                    let skipped = (q - lane as usize) * (to - from);
                    f((first + q, count), (from + skipped, to + skipped));
                    q += count;
                }
            }
            first += sub_warp.lanes as usize;
        }
    }
}

//! Interpolation from coarse unknowns: the averages of Mandel and Brezina, and extended+i.
//!
//! `coarse` has 1 for coarse unknowns and 0 for fine ones, `numbers` the numbers of the coarse ones. Three
//! restrictions of the matrices A and S (the strong entries of A, and its diagonal) carry everything:
//!
//! ```text
//! L   strong fine neighbours k of a fine i, and i itself      S restricted to fine columns
//! R   its strong coarse neighbours, in coarse numbers         S restricted to coarse columns
//! B   all its coarse neighbours, in coarse numbers            A restricted to coarse columns
//! ```
//!
//! where a coarse row is one entry, its unknown. Then R is the pattern of averages, and that of the product L
//! R the pattern of extended+i interpolation.

use cuda_std::{Real, kernel, memory::*, thread};

use super::sub_warp::Pattern;

/// Lanes of a row where its entries are computed one by one.
pub const LANES: usize = 8;

/// A matrix in CRS that no kernel writes meanwhile.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Rows<T> {
    /// Where its entries are.
    pub pattern: Pattern,
    /// One for each.
    pub values: *const T,
}

impl<T: Real> Rows<T> {
    /// The first entry of row `i`, and the one behind its last.
    #[inline(always)]
    unsafe fn range(self, i: usize) -> (usize, usize) {
        // SAFETY: the caller's promise, a row of a valid matrix.
        unsafe { self.pattern.range(i) }
    }

    #[inline(always)]
    unsafe fn column(self, e: usize) -> u32 {
        // SAFETY: the caller's promise, an entry of a valid matrix.
        unsafe { self.pattern.col_idx.ld_nc(e) }
    }

    #[inline(always)]
    unsafe fn value(self, e: usize) -> T {
        // SAFETY: as above.
        unsafe { self.values.ld_nc(e) }
    }

    /// The entry of column `j` in row `i`.
    #[inline(always)]
    pub(super) unsafe fn find(self, i: usize, j: u32) -> Option<usize> {
        // SAFETY: as above.
        unsafe {
            let (mut low, end) = self.range(i);
            let mut high = end;
            while low < high {
                let middle = low + (high - low) / 2;
                if self.column(middle) < j {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            if low < end && self.column(low) == j { Some(low) } else { None }
        }
    }

    /// `a_ij`, 0 where none is stored.
    #[inline(always)]
    unsafe fn get(self, i: usize, j: u32) -> T {
        // SAFETY: as above.
        unsafe {
            match self.find(i, j) {
                Some(e) => self.value(e),
                None => T::ZERO,
            }
        }
    }
}

/// `c_ij = c_ij - s_i p_ij` with `s_i = 1 / (omega d_i)`, or 0 where `d_i` is 0, for the entries of P, all of
/// which C has too.
#[kernel(T = [f32, f64])]
pub unsafe fn subtract_scaled<T: Real>(
    n: u64,
    p: Rows<T>,
    omega: T,
    d: *const T,
    c: Pattern,
    values: *mut T,
) {
    let mut i = thread::index_x();
    // SAFETY: the launcher's arguments describe valid CRS matrices of n rows.
    unsafe {
        while i < n as usize {
            let row_d = d.ld_nc(i);
            let scale = if row_d == T::ZERO { T::ZERO } else { T::ONE / (omega * row_d) };
            let (mut e, end) = p.range(i);
            let (mut at, end_of_c) = c.range(i);
            // Both ascend.
            while e < end && at < end_of_c {
                if c.col_idx.ld_nc(at) == p.column(e) {
                    values.st(at, values.ld(at) - scale * p.value(e));
                    e += 1;
                }
                at += 1;
            }
            i += thread::stride();
        }
    }
}

/// Row lengths of the restriction of a matrix to coarse (`wanted = 1`) or fine (0) columns, where a coarse
/// row is one entry.
#[kernel]
pub unsafe fn restricted_lengths(n: u64, a: Pattern, coarse: *const u32, wanted: u32, lengths: *mut u32) {
    // SAFETY: the launcher's arguments describe a valid CRS matrix of n rows.
    unsafe {
        let mut i = thread::index_x();
        while i < n as usize {
            let mut length = 1;
            if coarse.ld_nc(i) == 0 {
                length = 0;
                let (mut e, end) = a.range(i);
                while e < end {
                    length += (coarse.ld_nc(a.col_idx.ld_nc(e) as usize) == wanted) as u32;
                    e += 1;
                }
            }
            lengths.st(i, length);
            i += thread::stride();
        }
    }
}

/// The restriction of `a` whose row lengths [`restricted_lengths()`] counts, `row_ptr` made of them; a coarse
/// row is 1 in the column of its unknown. Columns are renumbered where there are `numbers`.
#[kernel(T = [f32, f64])]
pub unsafe fn restricted<T: Real>(
    n: u64,
    a: Rows<T>,
    coarse: *const u32,
    wanted: u32,
    numbers: *const u32,
    row_ptr: *const u32,
    col_idx: *mut u32,
    values: *mut T,
) {
    // SAFETY: the launcher's arguments describe valid CRS matrices of n rows.
    unsafe {
        let mut i = thread::index_x();
        while i < n as usize {
            let mut to = row_ptr.ld_nc(i) as usize;
            let put = |to: usize, column: u32, value: T| {
                col_idx.st(to, if numbers.is_null() { column } else { numbers.ld_nc(column as usize) });
                values.st(to, value);
            };
            if coarse.ld_nc(i) == 1 {
                put(to, i as u32, T::ONE);
            } else {
                let (mut e, end) = a.range(i);
                while e < end {
                    let column = a.column(e);
                    if coarse.ld_nc(column as usize) == wanted {
                        put(to, column, a.value(e));
                        to += 1;
                    }
                    e += 1;
                }
            }
            i += thread::stride();
        }
    }
}

/// Each entry of a row becomes 1 over their number.
#[kernel(T = [f32, f64])]
pub unsafe fn row_means<T: Real>(n: u64, row_ptr: *const u32, values: *mut T) {
    // SAFETY: the launcher's arguments describe a valid CRS matrix of n rows.
    unsafe {
        let mut i = thread::index_x();
        while i < n as usize {
            let (mut e, end) = (row_ptr.ld_nc(i), row_ptr.ld_nc(i + 1));
            let value = T::ONE / T::from_f64((end - e) as f64);
            while e < end {
                values.st(e as usize, value);
                e += 1;
            }
            i += thread::stride();
        }
    }
}

/// An entry `v` of a row whose diagonal has the sign `negative`, or 0 where `v` has that sign too.
#[inline(always)]
fn opposed<T: Real>(negative: bool, v: T) -> T {
    if (v < T::ZERO) != negative { v } else { T::ZERO }
}

/// For each strong fine neighbour k of i, an entry of L: with `d = sum abar_kl` over the l of row i of P, and
/// `abar_ki`,
///
/// ```text
/// shares = a_ik / d,  to_diagonal = shares abar_ki      or where d = 0:     shares = 0,  to_diagonal = a_ik
/// ```
///
/// and for i itself 1 and 0. `l` has the values of A, `p` the pattern of the interpolation (values are not
/// read), `diagonal` the signs of A's. [`LANES`] threads a row.
#[kernel(T = [f32, f64])]
pub unsafe fn extended_shares<T: Real>(
    n: u64,
    a: Rows<T>,
    b: Rows<T>,
    l: Rows<T>,
    p: Rows<T>,
    diagonal: *const T,
    shares: *mut T,
    to_diagonal: *mut T,
) {
    // SAFETY: the launcher's arguments describe valid CRS matrices of n rows.
    unsafe {
        let mut i = thread::index_x() / LANES;
        while i < n as usize {
            let (start, end) = l.range(i);
            let mut e = start + thread::index_x() % LANES;
            while e < end {
                let k = l.column(e) as usize;
                let (mut share, mut back) = (T::ONE, T::ZERO);
                if k != i {
                    let negative = diagonal.ld_nc(k) < T::ZERO;
                    let mut sum = T::ZERO;
                    let (mut f, end) = b.range(k);
                    while f < end {
                        let v = opposed(negative, b.value(f));
                        if v != T::ZERO && p.find(i, b.column(f)).is_some() {
                            sum += v;
                        }
                        f += 1;
                    }
                    back = opposed(negative, a.get(k, i as u32));
                    sum += back;
                    let v = l.value(e);
                    (share, back) = if sum == T::ZERO { (T::ZERO, v) } else { (v / sum, v / sum * back) };
                }
                shares.st(e, share);
                to_diagonal.st(e, back);
                e += LANES;
            }
            i += thread::stride() / LANES;
        }
    }
}

/// `a~_ii` of the fine rows: from 0 over row i of A, `a_ii` and the weak entries that are not in row i of P;
/// then over row i of L, `to_diagonal`. Where that is 0, `a_ii`.
#[kernel(T = [f32, f64])]
pub unsafe fn extended_divisors<T: Real>(
    n: u64,
    a: Rows<T>,
    s: Rows<T>,
    l: Rows<T>,
    p: Rows<T>,
    coarse: *const u32,
    numbers: *const u32,
    to_diagonal: *const T,
    divisors: *mut T,
) {
    // SAFETY: the launcher's arguments describe valid CRS matrices of n rows.
    unsafe {
        let mut i = thread::index_x();
        while i < n as usize {
            if coarse.ld_nc(i) == 0 {
                let (mut a_ii, mut sum) = (T::ZERO, T::ZERO);
                let (mut strong, strong_end) = s.range(i);
                let (mut e, end) = a.range(i);
                while e < end {
                    let (j, v) = (a.column(e), a.value(e));
                    let is_strong = strong < strong_end && s.column(strong) == j;
                    strong += is_strong as usize;
                    if j as usize == i {
                        a_ii = v;
                        sum += v;
                    } else if !is_strong
                        && (coarse.ld_nc(j as usize) == 0 || p.find(i, numbers.ld_nc(j as usize)).is_none())
                    {
                        sum += v;
                    }
                    e += 1;
                }
                let (mut e, end) = l.range(i);
                while e < end {
                    sum += to_diagonal.ld_nc(e);
                    e += 1;
                }
                divisors.st(i, if sum == T::ZERO { a_ii } else { sum });
            }
            i += thread::stride();
        }
    }
}

/// The weights in the pattern of P: `w_ij = -(a_ij + sum_k l_ik abar_kj) / a~_ii` over the other k of row i
/// of L that have j in their row of B, from left to right. `l` has the values [`extended_shares()`] makes. 1
/// in coarse rows. [`LANES`] threads a row.
#[kernel(T = [f32, f64])]
pub unsafe fn extended_weights<T: Real>(
    n: u64,
    b: Rows<T>,
    l: Rows<T>,
    p: Rows<T>,
    diagonal: *const T,
    coarse: *const u32,
    divisors: *const T,
    values: *mut T,
) {
    // SAFETY: the launcher's arguments describe valid CRS matrices of n rows.
    unsafe {
        let mut i = thread::index_x() / LANES;
        while i < n as usize {
            let is_coarse = coarse.ld_nc(i) == 1;
            let (start, end) = p.range(i);
            let mut e = start + thread::index_x() % LANES;
            while e < end {
                let j = p.column(e);
                let mut sum = b.get(i, j);
                let (mut f, end) = l.range(i);
                while f < end {
                    let k = l.column(f) as usize;
                    if k != i {
                        let v = opposed(diagonal.ld_nc(k) < T::ZERO, b.get(k, j));
                        if v != T::ZERO {
                            sum += l.value(f) * v;
                        }
                    }
                    f += 1;
                }
                values.st(e, if is_coarse { T::ONE } else { -(sum / divisors.ld_nc(i)) });
                e += LANES;
            }
            i += thread::stride() / LANES;
        }
    }
}

/// `factor` of the largest `|w|` of row `i`.
#[inline(always)]
unsafe fn least<T: Real>(p: Rows<T>, i: usize, factor: T) -> T {
    // SAFETY: the caller's promise, a row of a valid matrix.
    unsafe {
        let mut largest = T::ZERO;
        let (mut e, end) = p.range(i);
        while e < end {
            let w = p.value(e).abs();
            largest = if w > largest { w } else { largest };
            e += 1;
        }
        factor * largest
    }
}

/// Row lengths of a truncated interpolation: the entries that are not below `factor` of their row's largest,
/// at most `max_entries`.
#[kernel(T = [f32, f64])]
pub unsafe fn truncated_lengths<T: Real>(n: u64, p: Rows<T>, max_entries: u32, factor: T, lengths: *mut u32) {
    // SAFETY: the launcher's arguments describe a valid CRS matrix of n rows.
    unsafe {
        let mut i = thread::index_x();
        while i < n as usize {
            let least = least(p, i, factor);
            let mut length = 0;
            let (mut e, end) = p.range(i);
            while e < end {
                length += (p.value(e).abs() >= least) as u32;
                e += 1;
            }
            lengths.st(i, if length < max_entries { length } else { max_entries });
            i += thread::stride();
        }
    }
}

/// The truncated interpolation whose row lengths [`truncated_lengths()`] counts: the largest `|w|`, the first
/// of equals, rescaled to the row's old sum (both sums from left to right) where the new one is not 0.
#[kernel(T = [f32, f64])]
pub unsafe fn truncated<T: Real>(n: u64, p: Rows<T>, row_ptr: *const u32, col_idx: *mut u32, values: *mut T) {
    // SAFETY: the launcher's arguments describe valid CRS matrices of n rows.
    unsafe {
        let mut i = thread::index_x();
        while i < n as usize {
            let (start, end) = p.range(i);
            let (mut to, to_end) = (row_ptr.ld_nc(i) as usize, row_ptr.ld_nc(i + 1) as usize);
            // The smallest that is kept, found by going down from the largest, and the entry behind it.
            let (mut cut, mut behind) = (T::from_f64(f64::INFINITY), start);
            for _ in to..to_end {
                let (mut next, mut at) = (-T::ONE, start);
                let mut e = start;
                while e < end {
                    let w = p.value(e).abs();
                    if w > next && (w < cut || w == cut && e >= behind) {
                        (next, at) = (w, e);
                    }
                    e += 1;
                }
                (cut, behind) = (next, at + 1);
            }
            let keeps = |e: usize| {
                let w = p.value(e).abs();
                w > cut || w == cut && e < behind
            };
            let (mut old, mut kept) = (T::ZERO, T::ZERO);
            let mut e = start;
            while e < end {
                let w = p.value(e);
                old += w;
                kept += if keeps(e) { w } else { T::ZERO };
                e += 1;
            }
            let scale = if kept == T::ZERO { T::ONE } else { old / kept };
            e = start;
            while e < end {
                if keeps(e) {
                    col_idx.st(to, p.column(e));
                    values.st(to, p.value(e) * scale);
                    to += 1;
                }
                e += 1;
            }
            i += thread::stride();
        }
    }
}

//! The interpolation of given vectors: on each aggregate their QR decomposition.

use arithmetic::orthonormal::{Panel, orthonormalise};
use cuda_std::{Real, kernel, memory::*, thread};

use super::sub_warp::Pattern;

/// `y_e = |x_e|`.
#[kernel(T = [f32, f64])]
pub unsafe fn magnitudes<T: Real>(n: u64, x: *const T, y: *mut T) {
    // SAFETY: the arrays have n elements.
    unsafe {
        let mut i = thread::index_x();
        while i < n as usize {
            y.st(i, x.ld_nc(i).abs());
            i += thread::stride();
        }
    }
}

/// `y_i = x[at_i]`.
#[kernel]
pub unsafe fn gather(n: u64, x: *const u32, at: *const u32, y: *mut u32) {
    // SAFETY: `at` and y have n elements, and x one for each number in `at`.
    unsafe {
        let mut i = thread::index_x();
        while i < n as usize {
            y.st(i, x.ld_nc(at.ld_nc(i) as usize));
            i += thread::stride();
        }
    }
}

/// Vector k of `vectors`, beside the others: row i of `q` has element i of each.
#[kernel(T = [f32, f64])]
pub unsafe fn put_vector<T: Real>(n: u64, vectors: u32, k: u32, x: *const T, q: *mut f64) {
    // SAFETY: x has n elements, and q a row for each.
    unsafe {
        let mut i = thread::index_x();
        while i < n as usize {
            q.st(i * vectors as usize + k as usize, x.ld_nc(i).to_f64());
            i += thread::stride();
        }
    }
}

/// The rows of Q and R that are an aggregate's.
struct OfAggregate {
    members: *const u32,
    vectors: usize,
    q: *mut f64,
    r: *mut f64,
}

impl Panel for OfAggregate {
    #[inline(always)]
    fn get(&self, i: usize, k: usize) -> f64 {
        // SAFETY: a member is an unknown, which has a row of Q.
        unsafe { self.q.ld(self.members.ld_nc(i) as usize * self.vectors + k) }
    }
    #[inline(always)]
    fn set(&mut self, i: usize, k: usize, value: f64) {
        // SAFETY: as above, and no other aggregate has that member.
        unsafe { self.q.st(self.members.ld_nc(i) as usize * self.vectors + k, value) }
    }
    #[inline(always)]
    fn get_r(&self, q: usize, k: usize) -> f64 {
        // SAFETY: R has as many rows and columns as there are vectors.
        unsafe { self.r.ld(q * self.vectors + k) }
    }
    #[inline(always)]
    fn set_r(&mut self, q: usize, k: usize, value: f64) {
        // SAFETY: as above.
        unsafe { self.r.st(q * self.vectors + k, value) }
    }
}

/// The vectors in `q`, decomposed on each aggregate, whose unknowns are the columns of its row of `members`;
/// `r` has a square matrix for each aggregate, `ranks` its columns.
#[kernel]
pub unsafe fn orthonormal(
    aggregates: u64,
    members: Pattern,
    vectors: u32,
    dependent: f64,
    q: *mut f64,
    r: *mut f64,
    ranks: *mut u32,
) {
    // SAFETY: each unknown is a member of one aggregate at most, and the arrays fit them.
    unsafe {
        let vectors = vectors as usize;
        let mut k = thread::index_x();
        while k < aggregates as usize {
            let (start, end) = members.range(k);
            let (members, r) = (members.col_idx.wrapping_add(start), r.wrapping_add(k * vectors * vectors));
            let mut panel = OfAggregate { members, vectors, q, r };
            ranks.st(k, orthonormalise(&mut panel, end - start, vectors, dependent) as u32);
            k += thread::stride();
        }
    }
}

/// The columns of Q that row i of the interpolation has, the first and the one behind the last: those of its
/// aggregate, which is the column of row i of `tentative`; none where that is empty.
#[inline(always)]
unsafe fn columns_of_row(i: usize, tentative: Pattern, first: *const u32) -> (u32, u32) {
    // SAFETY: `first` has a number for each aggregate, and one more.
    unsafe {
        let (start, end) = tentative.range(i);
        if start == end {
            return (0, 0);
        }
        let aggregate = tentative.col_idx.ld_nc(start) as usize;
        (first.ld_nc(aggregate), first.ld_nc(aggregate + 1))
    }
}

/// Row lengths of the interpolation: the elements of Q that are not 0 in T.
#[kernel(T = [f32, f64])]
pub unsafe fn orthonormal_lengths<T: Real>(
    n: u64,
    vectors: u32,
    tentative: Pattern,
    first: *const u32,
    q: *const f64,
    lengths: *mut u32,
) {
    // SAFETY: the arrays have n elements, q a row for each of them.
    unsafe {
        let mut i = thread::index_x();
        while i < n as usize {
            let (start, end) = columns_of_row(i, tentative, first);
            let mut length = 0;
            for k in 0..(end - start) as usize {
                length += (T::from_f64(q.ld_nc(i * vectors as usize + k)) != T::ZERO) as u32;
            }
            lengths.st(i, length);
            i += thread::stride();
        }
    }
}

/// The interpolation: row i has the elements of row i of Q that are not 0, the columns of an aggregate one
/// after another.
#[kernel(T = [f32, f64])]
pub unsafe fn orthonormal_rows<T: Real>(
    n: u64,
    vectors: u32,
    tentative: Pattern,
    first: *const u32,
    q: *const f64,
    row_ptr: *const u32,
    col_idx: *mut u32,
    values: *mut T,
) {
    // SAFETY: the arrays fit a matrix of n rows with these lengths.
    unsafe {
        let mut i = thread::index_x();
        while i < n as usize {
            let (start, end) = columns_of_row(i, tentative, first);
            let mut e = row_ptr.ld_nc(i) as usize;
            for k in 0..end - start {
                let value = T::from_f64(q.ld_nc(i * vectors as usize + k as usize));
                if value != T::ZERO {
                    col_idx.st(e, start + k);
                    values.st(e, value);
                    e += 1;
                }
            }
            i += thread::stride();
        }
    }
}

/// Vector k on the coarser level, from the factors R, and the aggregate of each coarse unknown.
#[kernel(T = [f32, f64])]
pub unsafe fn coarse_vector<T: Real>(
    aggregates: u64,
    vectors: u32,
    k: u32,
    first: *const u32,
    r: *const f64,
    x: *mut T,
    aggregate_of: *mut u32,
) {
    // SAFETY: x and `aggregate_of` have an element for each coarse unknown, r a matrix for each aggregate.
    unsafe {
        let vectors = vectors as usize;
        let mut aggregate = thread::index_x();
        while aggregate < aggregates as usize {
            let (start, end) = (first.ld_nc(aggregate) as usize, first.ld_nc(aggregate + 1) as usize);
            for q in 0..end - start {
                let value = r.ld_nc((aggregate * vectors + q) * vectors + k as usize);
                x.st(start + q, T::from_f64(value));
                aggregate_of.st(start + q, aggregate as u32);
            }
            aggregate += thread::stride();
        }
    }
}

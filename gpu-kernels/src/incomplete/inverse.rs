//! Sparse approximate inverses of the factors.

use cuda_std::{Real, kernel, memory::*, thread};

use super::search::find;
use crate::setup::sub_warp::{Pattern, SubWarp};

/// A lower triangle in the order of elimination; what is right of the diagonal is not looked at.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct LowerRows {
    /// Rows and columns, with the diagonal.
    pub pattern: Pattern,
    /// The values.
    pub values: *const f64,
    /// Whether the diagonal is 1, whatever is stored there.
    pub has_ones: u32,
}

// SAFETY: addresses of the device.
unsafe impl Send for LowerRows {}
// SAFETY: as above.
unsafe impl Sync for LowerRows {}

impl LowerRows {
    /// Where row e begins, and the place of its diagonal.
    ///
    /// # Safety
    /// The row is there, with its diagonal.
    #[inline(always)]
    unsafe fn range(&self, e: usize) -> (usize, usize) {
        // SAFETY: the caller's promise.
        unsafe {
            let row = self.pattern.range(e);
            (row.0, find(self.pattern, row, e as u32))
        }
    }
}

/// How many entries row `order[e]` of an inverse has: those of row e of the triangle.
#[kernel]
pub unsafe fn inverse_lengths(n: u64, triangle: LowerRows, order: *const u32, lengths: *mut u32) {
    // SAFETY: the launcher's triangle has n rows, and `order` names each once.
    unsafe {
        let mut e = thread::index_x();
        while e < n as usize {
            let (start, on_diagonal) = triangle.range(e);
            lengths.st(order.ld_nc(e) as usize, (on_diagonal + 1 - start) as u32);
            e += thread::stride();
        }
    }
}

/// The inverse N of a triangle L in the pattern of L, where `N L` is the identity: row and column e of it are
/// row and column `order[e]` of what is written. `row` has room for the triangle's entries. `left_over[e]` is
/// the sum of the squares of what row e of `N L` has outside of the pattern, each product by itself.
#[kernel(T = [f32, f64])]
pub unsafe fn inverse_rows<T: Real>(
    n: u64,
    log2_lanes: u32,
    triangle: LowerRows,
    order: *const u32,
    row: *mut f64,
    row_ptr: *const u32,
    columns: *mut u32,
    values: *mut T,
    left_over: *mut f64,
) {
    // SAFETY: the launcher's arrays are made for a triangle of n rows and its entries.
    unsafe {
        let LowerRows { pattern, values: entries, .. } = triangle;
        let sub_warp = SubWarp::of(log2_lanes);
        let lanes = sub_warp.lanes as usize;
        let mut e = sub_warp.first();
        while e < n as usize {
            let (start, on_diagonal) = triangle.range(e);
            let mut at = start + sub_warp.lane as usize;
            while at <= on_diagonal {
                row.st(at, 0.0);
                at += lanes;
            }
            sub_warp.sync();
            // From right to left: an entry is known when all of those right of it are, which take their part
            // of `N L` with them.
            let mut squares = 0.0;
            let mut k = on_diagonal + 1;
            while k > start {
                k -= 1;
                let column = pattern.col_idx.ld_nc(k) as usize;
                let (first, end) = triangle.range(column);
                let rest = if k == on_diagonal { 1.0 } else { -row.ld(k) };
                let value = if triangle.has_ones != 0 { rest } else { rest / entries.ld_nc(end) };
                let mut other = first + sub_warp.lane as usize;
                while other < end {
                    let product = value * entries.ld_nc(other);
                    let place = find(pattern, (start, k), pattern.col_idx.ld_nc(other));
                    if place < k {
                        row.st(place, row.ld(place) + product);
                    } else {
                        squares += product * product;
                    }
                    other += lanes;
                }
                sub_warp.sync();
                if sub_warp.lane == 0 {
                    row.st(k, value);
                }
            }
            sub_warp.sync();
            let first = row_ptr.ld_nc(order.ld_nc(e) as usize) as usize;
            let mut from = start + sub_warp.lane as usize;
            while from <= on_diagonal {
                let column = order.ld_nc(pattern.col_idx.ld_nc(from) as usize);
                // As many as are before it.
                let mut to = first;
                let mut other = start;
                while other <= on_diagonal {
                    to += (order.ld_nc(pattern.col_idx.ld_nc(other) as usize) < column) as usize;
                    other += 1;
                }
                columns.st(to, column);
                values.st(to, T::from_f64(row.ld(from)));
                from += lanes;
            }
            let squares = sub_warp.reduce(squares, |x, y| x + y);
            if sub_warp.lane == 0 {
                left_over.st(e, squares);
            }
            e += sub_warp.stride();
        }
    }
}

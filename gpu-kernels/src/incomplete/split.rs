//! The factors as two triangles.

use cuda_std::{Real, kernel, memory::*, thread};

use super::elimination::FactorRows;
use crate::setup::sub_warp::{Pattern, SubWarp};

/// Row lengths of L without its diagonal, and of U without its own, from its last row on.
#[kernel]
pub unsafe fn triangle_lengths(
    n: u64,
    pattern: Pattern,
    diagonal: *const u32,
    lower: *mut u32,
    upper: *mut u32,
) {
    // SAFETY: the launcher's factors have n rows, as many as there are elements.
    unsafe {
        let mut e = thread::index_x();
        while e < n as usize {
            let (start, end) = pattern.range(e);
            let on_diagonal = diagonal.ld_nc(e) as usize;
            lower.st(e, (on_diagonal - start) as u32);
            upper.st(n as usize - 1 - e, (end - on_diagonal - 1) as u32);
            e += thread::stride();
        }
    }
}

/// Where the entries of a triangle go.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct NewTriangle<T> {
    /// Where each row begins.
    pub row_ptr: *const u32,
    /// Receives the columns.
    pub col_idx: *mut u32,
    /// Receives the values.
    pub values: *mut T,
    /// Receives what the rows are multiplied by.
    pub diagonal: *mut T,
}

// SAFETY: addresses of the device.
unsafe impl<T> Send for NewTriangle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for NewTriangle<T> {}

/// L and U as two triangles, that of U with its last row first. `source[p]` is where the right-hand side of
/// unknown p of the second is, `target[p]` where its solution goes.
#[kernel(T = [f32, f64])]
pub unsafe fn triangles<T: Real>(
    n: u64,
    log2_lanes: u32,
    factors: FactorRows,
    order: *const u32,
    lower: NewTriangle<T>,
    upper: NewTriangle<T>,
    source: *mut u32,
    target: *mut u32,
) {
    // SAFETY: the launcher's arrays are made for factors of n rows.
    unsafe {
        let FactorRows { pattern, diagonal, values } = factors;
        let sub_warp = SubWarp::of(log2_lanes);
        let last = n as u32 - 1;
        let mut e = sub_warp.first();
        while e < n as usize {
            let (start, end) = pattern.range(e);
            let on_diagonal = diagonal.ld_nc(e) as usize;
            let p = last as usize - e;
            let (first_of_l, first_of_u) = (lower.row_ptr.ld_nc(e) as usize, upper.row_ptr.ld_nc(p) as usize);
            let mut at = start + sub_warp.lane as usize;
            while at < end {
                let (column, value) = (pattern.col_idx.ld_nc(at), T::from_f64(values.ld(at)));
                if at < on_diagonal {
                    lower.col_idx.st(first_of_l + at - start, column);
                    lower.values.st(first_of_l + at - start, value);
                } else if at > on_diagonal {
                    upper.col_idx.st(first_of_u + end - 1 - at, last - column);
                    upper.values.st(first_of_u + end - 1 - at, value);
                }
                at += sub_warp.lanes as usize;
            }
            if sub_warp.lane == 0 {
                lower.diagonal.st(e, T::ONE);
                upper.diagonal.st(p, T::from_f64(1.0 / values.ld(on_diagonal)));
                source.st(p, e as u32);
                target.st(p, order.ld_nc(e));
            }
            e += sub_warp.stride();
        }
    }
}

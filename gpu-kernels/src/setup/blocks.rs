//! Matrices of B x B blocks as B^2 matrices of one pattern, the planes: plane `k B + l` has the (k, l)
//! entries.

use arithmetic::blocks::{damped, inverse_or_diagonal, is_regular, norm};
use cuda_std::{Real, atomic, kernel, memory::*};

use super::sub_warp::{Pattern, SubWarp};

/// Most planes.
pub const MAX_PLANES: usize = 9;

/// The values of the planes; null beyond the last.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Planes<T> {
    /// One array a plane.
    pub values: [*mut T; MAX_PLANES],
}

// SAFETY: plain addresses of device memory; the kernels say who may use them when.
unsafe impl<T: Real> Send for Planes<T> {}
// SAFETY: as above.
unsafe impl<T: Real> Sync for Planes<T> {}

impl<T: Real> Planes<T> {
    /// Block `e`.
    ///
    /// # Safety
    /// The planes have an entry `e`.
    #[inline(always)]
    unsafe fn block<const B: usize>(self, e: usize) -> [[T; B]; B] {
        // SAFETY: the caller's promise.
        core::array::from_fn(|k| core::array::from_fn(|l| unsafe { self.values[k * B + l].ld(e) }))
    }
}

/// The norm matrix (Rosenberger and Haase 2017, section 9.3.1): the blocks' Frobenius norms, off the diagonal
/// with their sign turned.
#[kernel(T = [f32, f64])]
pub unsafe fn block_norms<T: Real>(
    n: u64,
    log2_lanes: u32,
    planes: u32,
    a: Pattern,
    values: Planes<T>,
    norms: *mut T,
) {
    // SAFETY: the launcher's arguments describe valid CRS matrices of n rows.
    unsafe {
        SubWarp::of(log2_lanes).for_each_entry(n, a, |i, e| {
            let norm = if planes == 4 {
                norm(values.block::<2>(e).into_iter().flatten())
            } else {
                norm(values.block::<3>(e).into_iter().flatten())
            };
            norms.st(e, if a.col_idx.ld_nc(e) == i as u32 { norm } else { -norm });
        });
    }
}

/// The inverses of the diagonal blocks, as [`inverse_or_diagonal`] has them: B^2 values a block row.
#[kernel(T = [f32, f64], B = [2, 3])]
pub unsafe fn invert_diagonal_blocks<T: Real, const B: usize>(
    n: u64,
    log2_lanes: u32,
    a: Pattern,
    values: Planes<T>,
    d: *mut T,
) {
    // SAFETY: the launcher's arguments describe valid CRS matrices of n rows.
    unsafe {
        SubWarp::of(log2_lanes).for_each_entry(n, a, |i, e| {
            if a.col_idx.ld_nc(e) == i as u32 {
                let inverse = inverse_or_diagonal(values.block::<B>(e));
                for k in 0..B {
                    for l in 0..B {
                        d.st((i * B + k) * B + l, inverse[k][l]);
                    }
                }
            }
        });
    }
}

/// Adds to `singular` the number of block rows without a block on the diagonal, or with one that is not
/// [regular](is_regular).
#[kernel(T = [f32, f64], B = [2, 3])]
pub unsafe fn count_singular_blocks<T: Real, const B: usize>(
    n: u64,
    log2_lanes: u32,
    a: Pattern,
    values: Planes<T>,
    singular: *mut u32,
) {
    let sub_warp = SubWarp::of(log2_lanes);
    let mut i = sub_warp.first();
    // SAFETY: the launcher's arguments describe valid CRS matrices of n rows; `singular` is one number.
    unsafe {
        while i < n as usize {
            let (start, end) = a.range(i);
            let mut is_invertible = false;
            let mut e = start + sub_warp.lane as usize;
            while e < end {
                if a.col_idx.ld_nc(e) == i as u32 {
                    is_invertible = is_regular(values.block::<B>(e));
                }
                e += sub_warp.lanes as usize;
            }
            if sub_warp.ballot(is_invertible) == 0 && sub_warp.lane == 0 {
                atomic::atomic_add_u32(singular, 1);
            }
            i += sub_warp.stride();
        }
    }
}

/// `S = I - omega D S` with the blocks D.
#[kernel(T = [f32, f64], B = [2, 3])]
pub unsafe fn damp_blocks<T: Real, const B: usize>(
    n: u64,
    log2_lanes: u32,
    s: Pattern,
    values: Planes<T>,
    d: *const T,
    omega: T,
) {
    // SAFETY: the launcher's arguments describe valid CRS matrices of n rows.
    unsafe {
        SubWarp::of(log2_lanes).for_each_entry(n, s, |i, e| {
            let d = crate::epilogue::diagonal_block::<T, B>(d, i);
            let damped = damped(d, values.block(e), omega, s.col_idx.ld_nc(e) == i as u32);
            for k in 0..B {
                for l in 0..B {
                    values.values[k * B + l].st(e, damped[k][l]);
                }
            }
        });
    }
}

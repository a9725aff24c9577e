//! Matrices of B x B blocks as B^2 matrices of one pattern, the planes: plane `k B + l` has the (k, l) entries.

use cuda_std::{Real, kernel, memory::*};

use super::team::{Pattern, Team};

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

/// A determinant below this share of the product of the rows' norms, in units of rounding, is taken for zero.
const SINGULAR: f64 = 64.0;

/// The adjugate of a block, its determinant, and the largest magnitude of that which counts as zero,
/// `64 eps prod_k sum_l |a_kl|`.
#[inline(always)]
fn adjugate<T: Real, const B: usize>(a: [[T; B]; B]) -> ([[T; B]; B], T, T) {
    let mut adjugate = [[T::ZERO; B]; B];
    let mut zero = T::from_f64(SINGULAR) * T::EPSILON;
    for k in 0..B {
        let mut sum = T::ZERO;
        for l in 0..B {
            sum += a[k][l].abs();
        }
        zero *= sum;
    }
    let mut determinant = T::ZERO;
    if B == 2 {
        adjugate[0][0] = a[B - 1][B - 1];
        adjugate[0][B - 1] = -a[0][B - 1];
        adjugate[B - 1][0] = -a[B - 1][0];
        adjugate[B - 1][B - 1] = a[0][0];
        determinant = a[0][0] * a[B - 1][B - 1] - a[0][B - 1] * a[B - 1][0];
    } else {
        for k in 0..B {
            for l in 0..B {
                // The cofactor of (l, k), rows and columns taken round.
                let (r, s) = ((l + 1) % B, (l + 2) % B);
                let (c, d) = ((k + 1) % B, (k + 2) % B);
                adjugate[k][l] = a[r][c] * a[s][d] - a[r][d] * a[s][c];
            }
        }
        for l in 0..B {
            determinant += a[0][l] * adjugate[l][0];
        }
    }
    (adjugate, determinant, zero)
}

/// Whether a block can be inverted: its determinant is not zero to rounding, and no NaN.
#[inline(always)]
pub fn is_regular<T: Real, const B: usize>(a: [[T; B]; B]) -> bool {
    let (_, determinant, zero) = adjugate(a);
    determinant.abs() > zero
}

/// The inverse of a block by its adjugate; of one that is not [regular](is_regular) the inverse of its diagonal, 0 where
/// that is 0.
#[inline(always)]
pub fn inverse_or_diagonal<T: Real, const B: usize>(a: [[T; B]; B]) -> [[T; B]; B] {
    let (mut inverse, determinant, zero) = adjugate(a);
    let regular = determinant.abs() > zero;
    for k in 0..B {
        for l in 0..B {
            let own = if k == l && a[k][k] != T::ZERO { T::ONE / a[k][k] } else { T::ZERO };
            inverse[k][l] = if regular { inverse[k][l] / determinant } else { own };
        }
    }
    inverse
}

/// The Frobenius norm of a block, squares added row by row.
#[inline(always)]
pub fn norm<T: Real>(block: impl Iterator<Item = T>) -> T {
    block.fold(T::ZERO, |sum, v| sum + v * v).sqrt()
}

/// The norm matrix (Rosenberger and Haase 2017, section 9.3.1): the blocks' Frobenius norms, off the diagonal with
/// their sign turned.
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
        Team::of(log2_lanes).for_each_entry(n, a, |i, e| {
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
        Team::of(log2_lanes).for_each_entry(n, a, |i, e| {
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
        Team::of(log2_lanes).for_each_entry(n, s, |i, e| {
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

/// One block of `I - omega D S`, on the diagonal or not.
#[inline(always)]
pub fn damped<T: Real, const B: usize>(
    d: [[T; B]; B],
    s: [[T; B]; B],
    omega: T,
    diagonal: bool,
) -> [[T; B]; B] {
    core::array::from_fn(|k| {
        core::array::from_fn(|l| {
            let product = (0..B).fold(T::ZERO, |sum, m| sum + d[k][m] * s[m][l]);
            (if diagonal && k == l { T::ONE } else { T::ZERO }) - omega * product
        })
    })
}

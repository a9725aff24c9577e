//! Reduced SELL-32-sigma for multigrid: a column and a rounded value in 32 bits, one entry of each row, its
//! pivot, apart.
//!
//! What the levels of a preconditioner are smoothed with, and their residuals computed with, need not be A,
//! only near it in energy. Entries beside the pivot, which in A is the diagonal's, keep 3 to 7 bits of their
//! significand, and their rounding errors are added to the pivot, so that row sums stay what they are: a
//! constant, and nearly so a smooth vector, is multiplied as if nothing were rounded. For a symmetric
//! M-matrix with row sums from 0 on, `x^T A x` is a sum of `-a_ij (x_i - x_j)^2` and of row sums times
//! `x_i^2`, so that rounding changes it by no more than it changes one entry: 0.4 % with 7 bits, 6 % with 3.
//! The matrix that takes a correction back to a finer level, and other matrices, have no such bound: where A
//! nearly maps to 0 what is no constant, as the bending of a thin beam, iterations may be lost.

use arithmetic::compression::Compression;
use cuda_std::{Real, kernel, memory::*};

use crate::epilogue::{Accumulate, Epilogue, Product, ProductDot, ProductScaled, Residual, Sweep, SweepNorm};
use crate::monitor::Guard;
use crate::spmv::packed::{Packed, gather};
use crate::spmv::sell::by_slices;

/// A x with the epilogue `e`, f32 numbers; `T` is f32. Positions as in
/// [`spmv_sell`](fn@super::sell::spmv_sell); row i's pivot is in column `pivots[i]`, or i where that is null.
#[kernel(T = [f32], E = [Product<T>, Accumulate<T>, ProductScaled<T>, Residual<T>, Sweep<T>, SweepNorm<T>, ProductDot<T>])]
pub unsafe fn spmv_compressed<T: Real, E: Epilogue<T>>(
    n_rows: u64,
    slice_ptr: *const u64,
    permutation: *const u32,
    compression: Compression,
    entries: *const u32,
    pivots: *const u32,
    pivot_values: *const T,
    x: *const T,
    e: E,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments describe a valid matrix.
    unsafe {
        if guard.stopped() {
            return;
        }
        by_slices(n_rows, slice_ptr, permutation, e, |row, start, width| {
            let pivot = if pivots.is_null() { row } else { pivots.ld_nc(row) as usize };
            let pivot_product = pivot_values.ld_nc(row) * x.ld_nc(pivot);
            gather(compression, entries, x, pivot, (start, width), pivot_product)
        });
    }
}

impl<T: Real> Packed<T> for Compression {
    const LOOKS_UP: bool = false;

    #[inline(always)]
    fn distance(self, entry: u32) -> i32 {
        self.decompress(entry).0
    }

    #[inline(always)]
    unsafe fn value(self, entry: u32) -> T {
        T::from_f64(self.decompress(entry).1 as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        for reach in [0, 1, 77, 32_767, 32_768, 100_000, 524_287] {
            let compression = Compression::reaching(reach).unwrap();
            for distance in [0, 1, -1, reach as i32, -(reach as i32)] {
                for value in [0.0, -1.0, 0.3, -7.7e30, 1e-38, f32::MIN_POSITIVE / 3.0, f32::MAX] {
                    let rounded = compression.round(value);
                    assert_eq!(
                        compression.decompress(compression.compress(distance, rounded)),
                        (distance, rounded)
                    );
                    let bound = if value.abs() < f32::MIN_POSITIVE { 0.5 } else { 0.0625 };
                    assert!((rounded - value).abs() <= bound * value.abs().max(f32::MIN_POSITIVE));
                }
            }
        }
        assert_eq!(Compression::reaching(524_288), None);
        assert_eq!(Compression::reaching(u32::MAX), None);
    }

    #[test]
    fn rounding_is_to_the_nearest() {
        let seven_bits = Compression::reaching(3).unwrap();
        let step = 2f32.powi(-7);
        for (value, rounded) in [(1.0, 1.0), (1.0 + 0.4 * step, 1.0), (1.0 + 0.6 * step, 1.0 + step)] {
            assert_eq!(seven_bits.round(value), rounded);
            assert_eq!(seven_bits.round(-value), -rounded);
        }
        assert!(seven_bits.round(f32::MAX).is_finite());
    }
}

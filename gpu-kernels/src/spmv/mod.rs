//! Sparse matrix-vector products, one file a format, each with every [`crate::epilogue`].

pub mod csr;
pub mod ell;
pub mod sell;

use cuda_std::{Real, memory::*};

use crate::unroll::unroll;

/// Entries loaded before the first is used: enough independent loads in flight to cover the latency of
/// device memory.
const BATCH: usize = 4;

/// `sum_j values[start + stride j] x[col_idx[start + stride j]]`, `j < count`, in order of `j`.
///
/// The matrix is read once and streamed past the caches; `x` is gathered through them.
#[inline(always)]
unsafe fn gather<T: Real>(
    col_idx: *const u32,
    values: *const T,
    x: *const T,
    start: usize,
    count: usize,
    stride: usize,
) -> T {
    // SAFETY: the kernels' arguments describe a valid matrix.
    unsafe {
        let mut sum = T::ZERO;
        let mut at = start;
        let mut left = count;
        while left >= BATCH {
            sum = batch::<T, BATCH>(col_idx, values, x, at, stride, sum);
            at += BATCH * stride;
            left -= BATCH;
        }
        match left {
            1 => batch::<T, 1>(col_idx, values, x, at, stride, sum),
            2 => batch::<T, 2>(col_idx, values, x, at, stride, sum),
            3 => batch::<T, 3>(col_idx, values, x, at, stride, sum),
            _ => sum,
        }
    }
}

/// `sum` plus `K` more products, all entries loaded before the first is used.
#[inline(always)]
unsafe fn batch<T: Real, const K: usize>(
    col_idx: *const u32,
    values: *const T,
    x: *const T,
    at: usize,
    stride: usize,
    sum: T,
) -> T {
    let mut columns = [0u32; K];
    let mut entries = [T::ZERO; K];
    let mut factors = [T::ZERO; K];
    let mut sum = sum;
    // SAFETY: as in `gather`.
    unsafe {
        unroll::<K>(|k| columns[k] = col_idx.ld_cs(at + k * stride));
        unroll::<K>(|k| entries[k] = values.ld_cs(at + k * stride));
        unroll::<K>(|k| factors[k] = x.ld_nc(columns[k] as usize));
    }
    unroll::<K>(|k| sum = entries[k].mul_add(factors[k], sum));
    sum
}

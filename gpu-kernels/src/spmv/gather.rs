//! The entries of a row times x, which all formats have in common.

use cuda_std::{Real, memory::*};

use super::indices::Indices;
use crate::unroll::unroll;

/// `sum_j values[i] x[column of i]` over the entries `i = start + stride j`, `j < count`, in order of `j`.
///
/// `BATCH` entries are asked for before the first is used, so that enough loads are in flight to cover the
/// latency of device memory. With `STREAMED` the matrix is the first to leave the caches, so that a Krylov
/// method's vectors are still there afterwards; not so where neighbouring threads share cache lines of it.
#[inline(always)]
pub(super) unsafe fn gather<T: Real, I: Indices, const BATCH: usize, const STREAMED: bool>(
    indices: I,
    values: *const T,
    x: *const T,
    start: usize,
    count: u32,
    stride: usize,
) -> T {
    let mut sum = T::ZERO;
    let mut at = start;
    let mut left = count;
    while left > 0 {
        let mut columns = [0u32; BATCH];
        let mut entries = [T::ZERO; BATCH];
        let mut factors = [T::ZERO; BATCH];
        let here = |k: usize| (k as u32) < left;
        // SAFETY: the kernels' arguments describe a valid matrix.
        unsafe {
            unroll::<BATCH>(|k| {
                if here(k) {
                    columns[k] = indices.column::<STREAMED>(at, k * stride);
                }
            });
            unroll::<BATCH>(|k| {
                if here(k) {
                    let i = at + k * stride;
                    entries[k] = if STREAMED { values.ld_cs(i) } else { values.ld_nc(i) };
                }
            });
            unroll::<BATCH>(|k| {
                if here(k) {
                    factors[k] = x.ld_nc(columns[k] as usize);
                }
            });
        }
        unroll::<BATCH>(|k| sum = entries[k].mul_add(factors[k], sum));
        at += BATCH * stride;
        left = left.saturating_sub(BATCH as u32);
    }
    sum
}

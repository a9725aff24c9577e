//! Matrices of B x B blocks: one thread a block row in reduced SELL, a group of lanes a block row in CRS.
//!
//! The values of the blocks' places (k, l) are B^2 arrays one after another, so that neighbouring lanes load
//! neighbouring values.

use cuda_std::{Real, kernel, memory::*};

use super::rows::{by_lanes, by_threads};
use super::sell::place;
use crate::epilogue::{
    Accumulate, BlockEpilogue, BlockProductScaled, BlockSweep, Product, ProductDot, ProductScaled, Residual,
    Sweep, SweepNorm,
};
use crate::monitor::Guard;
use crate::sizes::SLICE;

/// Blocks of a row in flight: as many loads as in [`super::sell`] take five entries. Loops over so few places
/// are unrolled by the compiler; `unroll` nested in itself takes it minutes.
const BATCH: usize = 2;

/// `sum_j A_j x(c_j)` over `count` blocks in steps of `stride` from `start` on; the arrays of values are
/// `plane` apart.
#[inline(always)]
unsafe fn gather<T: Real, const B: usize, const STREAMED: bool>(
    col_idx: *const u32,
    values: *const T,
    plane: usize,
    x: *const T,
    start: usize,
    count: u32,
    stride: usize,
) -> [T; B] {
    let mut sums = [T::ZERO; B];
    let mut at = start;
    let mut left = count;
    while left > 0 {
        let mut columns = [0u32; BATCH];
        let mut entries = [[[T::ZERO; B]; B]; BATCH];
        let mut factors = [[T::ZERO; B]; BATCH];
        let here = |j: usize| (j as u32) < left;
        // SAFETY: the kernels' arguments describe a valid matrix.
        unsafe {
            for j in 0..BATCH {
                if here(j) {
                    let i = at + j * stride;
                    columns[j] = if STREAMED { col_idx.ld_cs(i) } else { col_idx.ld_nc(i) };
                }
            }
            for j in 0..BATCH {
                if here(j) {
                    for kl in 0..B * B {
                        let i = at + j * stride + kl * plane;
                        entries[j][kl / B][kl % B] = if STREAMED { values.ld_cs(i) } else { values.ld_nc(i) };
                    }
                }
            }
            for j in 0..BATCH {
                if here(j) {
                    let first = columns[j] as usize * B;
                    if B == 2 {
                        // Vectors begin at whole cache lines.
                        let [even, odd] = x.ld_nc_x2(first);
                        (factors[j][0], factors[j][B - 1]) = (even, odd);
                    } else {
                        for l in 0..B {
                            factors[j][l] = x.ld_nc(first + l);
                        }
                    }
                }
            }
        }
        for j in 0..BATCH {
            for k in 0..B {
                for l in 0..B {
                    sums[k] = entries[j][k][l].mul_add(factors[j][l], sums[k]);
                }
            }
        }
        at += BATCH * stride;
        left = left.saturating_sub(BATCH as u32);
    }
    sums
}

/// A x with the epilogue `e`; as [`fn@super::sell::spmv_sell`] with blocks, value (k, l) of entry i at
/// `(k B + l) plane + i`.
#[kernel(
    T = [f32, f64],
    B = [2, 3],
    E = [
        Product<T>, Accumulate<T>, ProductScaled<T>, Residual<T>, Sweep<T>, SweepNorm<T>, ProductDot<T>,
        BlockProductScaled<T>, BlockSweep<T>
    ]
)]
pub unsafe fn spmv_block_sell<T: Real, const B: usize, E: BlockEpilogue<T, B>>(
    n_rows: u64,
    slice_ptr: *const u64,
    permutation: *const u32,
    col_idx: *const u32,
    values: *const T,
    plane: u64,
    x: *const T,
    e: E,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments describe a valid matrix.
    unsafe {
        if guard.stopped() {
            return;
        }
        let sums = by_threads(n_rows, |position| {
            let (row, start, width) = place(slice_ptr, permutation, position);
            let inputs = e.inputs(row);
            let products = gather::<T, B, true>(col_idx, values, plane as usize, x, start, width, SLICE);
            e.rows(row, inputs, products)
        });
        e.finish(sums);
    }
}

/// A x with the epilogue `e`, `2^log2_lanes` lanes a block row, 1 to 32; as
/// [`fn@super::csr::spmv_csr_vector`] with blocks.
#[kernel(
    T = [f32, f64],
    B = [2, 3],
    E = [
        Product<T>, Accumulate<T>, ProductScaled<T>, Residual<T>, Sweep<T>, SweepNorm<T>, ProductDot<T>,
        BlockProductScaled<T>, BlockSweep<T>
    ]
)]
pub unsafe fn spmv_block_csr<T: Real, const B: usize, E: BlockEpilogue<T, B>>(
    n_rows: u64,
    log2_lanes: u32,
    row_ptr: *const u32,
    col_idx: *const u32,
    values: *const T,
    plane: u64,
    x: *const T,
    e: E,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments describe a valid matrix.
    unsafe {
        if guard.stopped() {
            return;
        }
        let sums = by_lanes(
            n_rows,
            log2_lanes,
            |row| e.inputs(row),
            |row, lane, lanes| {
                let start = row_ptr.ld_nc(row) as usize + lane;
                let end = row_ptr.ld_nc(row + 1) as usize;
                let count = ((end + lanes - 1).saturating_sub(start) >> log2_lanes) as u32;
                gather::<T, B, false>(col_idx, values, plane as usize, x, start, count, lanes)
            },
            |row, inputs, products| e.rows(row, inputs, products),
        );
        e.finish(sums);
    }
}

//! Reduced SELL-32-sigma of matrices with few different values: a column and the number of a value in 32
//! bits, for the 96 of plain entries. The product has the same bits as with those.
//!
//! So are stencils, Laplacians of graphs, and circuits of equal parts. What an iteration of a Krylov method
//! reads of a matrix is most of what it reads at all.

use arithmetic::coding::Coding;
use cuda_std::{Real, kernel, memory::*};

use crate::epilogue::{Accumulate, Epilogue, Product, ProductDot, ProductScaled, Residual, Sweep, SweepNorm};
use crate::monitor::Guard;
use crate::sizes::SLICE;
use crate::spmv::{rows::by_threads, sell::place};
use crate::unroll::unroll;

/// Entries of a row in flight.
const BATCH: usize = 8;

/// A x with the epilogue `e`. Positions as in [`spmv_sell`](fn@super::sell::spmv_sell); `values` has each
/// value once.
#[kernel(T = [f64], E = [Product<T>, Accumulate<T>, ProductScaled<T>, Residual<T>, Sweep<T>, SweepNorm<T>, ProductDot<T>])]
pub unsafe fn spmv_coded<T: Real, E: Epilogue<T>>(
    n_rows: u64,
    slice_ptr: *const u64,
    permutation: *const u32,
    coding: Coding,
    entries: *const u32,
    values: *const T,
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
            e.row(row, inputs, gather(coding, entries, values, x, row, start, width))
        });
        e.finish(sums);
    }
}

/// The sum of a row's products, as [`super::gather`] has it.
#[inline(always)]
unsafe fn gather<T: Real>(
    coding: Coding,
    entries: *const u32,
    values: *const T,
    x: *const T,
    row: usize,
    start: usize,
    width: u32,
) -> T {
    let mut sum = T::ZERO;
    let mut at = start;
    let mut left = width;
    while left > 0 {
        let mut coded = [0u32; BATCH];
        let mut factors = [T::ZERO; BATCH];
        let here = |k: usize| (k as u32) < left;
        // SAFETY: the kernel's arguments describe a valid matrix.
        unsafe {
            unroll::<BATCH>(|k| {
                if here(k) {
                    coded[k] = entries.ld_cs(at + k * SLICE);
                }
            });
            unroll::<BATCH>(|k| {
                if here(k) {
                    let (distance, _) = coding.decode(coded[k]);
                    factors[k] = x.ld_nc(row.wrapping_add_signed(distance as isize));
                }
            });
            // Values are near: to have them before x is here would take registers from other warps.
            unroll::<BATCH>(|k| {
                if here(k) {
                    let (_, number) = coding.decode(coded[k]);
                    sum = values.ld_nc(number as usize).mul_add(factors[k], sum);
                }
            });
        }
        at += BATCH * SLICE;
        left = left.saturating_sub(BATCH as u32);
    }
    sum
}

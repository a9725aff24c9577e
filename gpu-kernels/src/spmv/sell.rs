//! Reduced SELL-C-sigma (Kreutzer, Hager, Wellein, Fehske, Bishop 2014), C = 32: one warp a slice.

use cuda_std::{Real, kernel, memory::*};

use crate::epilogue::{Accumulate, Epilogue, Product, ProductDot, ProductScaled, Residual, Sweep, SweepNorm};
use crate::monitor::Guard;
use crate::sizes::SLICE;
use crate::spmv::gather::gather;
use crate::spmv::indices::{Indices, Indices16, Indices32};
use crate::spmv::rows::by_threads;

/// Entries of a row in flight; more would take registers from other warps.
const BATCH: usize = 5;
/// The same with [short indices](Indices16), which shorter rows gain nothing by.
pub const SHORT_BATCH: usize = 8;

/// The row at a position of slice order, its first entry, and the width of its slice.
///
/// # Safety
/// The matrix has that position.
#[inline(always)]
pub(crate) unsafe fn place(
    slice_ptr: *const u64,
    permutation: *const u32,
    position: usize,
) -> (usize, usize, u32) {
    let slice = position / SLICE;
    // SAFETY: the caller's promise.
    unsafe {
        let start = slice_ptr.ld_nc(slice) as usize;
        let width = ((slice_ptr.ld_nc(slice + 1) as usize - start) / SLICE) as u32;
        let row = if permutation.is_null() { position } else { permutation.ld_nc(position) as usize };
        (row, start + position % SLICE, width)
    }
}

/// One thread a row of slices: A x with the epilogue `e`, where `product(row, first, width)` is what a row
/// with these entries comes to.
///
/// # Safety
/// The matrix and the epilogue's vectors have that many rows.
#[inline(always)]
pub(super) unsafe fn by_slices<T: Real, E: Epilogue<T>>(
    n_rows: u64,
    slice_ptr: *const u64,
    permutation: *const u32,
    e: E,
    product: impl Fn(usize, usize, u32) -> T,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let sums = by_threads(n_rows, |position| {
            let (row, start, width) = place(slice_ptr, permutation, position);
            let inputs = e.inputs(row);
            e.row(row, inputs, product(row, start, width))
        });
        e.finish(sums);
    }
}

/// A x with the epilogue `e`; position `p` of slice order is row `permutation[p]`, or `p` where that is null.
///
/// Entry `j` of position `p` is at `slice_ptr[p / 32] + 32 j + p % 32`.
#[kernel(T = [f32, f64], I = [Indices32, Indices16], E = [Product<T>, Accumulate<T>, ProductScaled<T>, Residual<T>, Sweep<T>, SweepNorm<T>, ProductDot<T>])]
pub unsafe fn spmv_sell<T: Real, I: Indices, E: Epilogue<T>>(
    n_rows: u64,
    slice_ptr: *const u64,
    permutation: *const u32,
    indices: I,
    values: *const T,
    x: *const T,
    e: E,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments describe a valid SELL matrix.
    unsafe {
        if guard.stopped() {
            return;
        }
        by_slices(n_rows, slice_ptr, permutation, e, |_, start, width| {
            if I::ARE_SHORT {
                gather::<T, I, SHORT_BATCH, true>(indices, values, x, start, width, SLICE)
            } else {
                gather::<T, I, BATCH, true>(indices, values, x, start, width, SLICE)
            }
        });
    }
}

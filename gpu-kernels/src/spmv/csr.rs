//! Compressed row storage: one thread a row, or a group of lanes a row.

use cuda_std::{Real, kernel, memory::*};

use crate::epilogue::{Accumulate, Epilogue, Product, ProductDot, ProductScaled, Residual, Sweep, SweepNorm};
use crate::monitor::Guard;
use crate::spmv::{
    gather::gather,
    indices::Indices32,
    rows::{by_lanes, by_threads},
};

/// A row pointer: 32 bits, or 64 where the matrix has more entries than those reach.
pub trait Offset: Copy + Send + Sync + 'static {
    /// Element `i` of an array of row pointers.
    ///
    /// # Safety
    /// `array` is valid at `i`.
    unsafe fn load(array: *const Self, i: usize) -> usize;
}

impl Offset for u32 {
    #[inline(always)]
    unsafe fn load(array: *const u32, i: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe { array.ld_nc(i) as usize }
    }
}

impl Offset for u64 {
    #[inline(always)]
    unsafe fn load(array: *const u64, i: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe { array.ld_nc(i) as usize }
    }
}

/// A thread that walks a row alone.
const SCALAR_BATCH: usize = 4;
/// A lane has few entries, and the other lanes of the warp are in flight beside it.
const VECTOR_BATCH: usize = 2;

/// A x with the epilogue `e`, one thread a row ("scalar"): for very short rows.
#[kernel(
    T = [f32, f64],
    O = [u32, u64],
    E = [Product<T>, Accumulate<T>, ProductScaled<T>, Residual<T>, Sweep<T>, SweepNorm<T>, ProductDot<T>]
)]
pub unsafe fn spmv_csr<T: Real, O: Offset, E: Epilogue<T>>(
    n_rows: u64,
    row_ptr: *const O,
    col_idx: *const u32,
    values: *const T,
    x: *const T,
    e: E,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments describe a valid CRS matrix.
    unsafe {
        if guard.stopped() {
            return;
        }
        let indices = Indices32 { columns: col_idx };
        let sums = by_threads(n_rows, |row| {
            let start = O::load(row_ptr, row);
            let count = (O::load(row_ptr, row + 1) - start) as u32;
            let inputs = e.inputs(row);
            let product = gather::<T, _, SCALAR_BATCH, false>(indices, values, x, start, count, 1);
            e.row(row, inputs, product)
        });
        e.finish(sums);
    }
}

/// A x with the epilogue `e`, `2^log2_lanes` neighbouring lanes a row, 2 to 32 ("vector", Bell and Garland
/// 2009).
#[kernel(
    T = [f32, f64],
    O = [u32, u64],
    E = [Product<T>, Accumulate<T>, ProductScaled<T>, Residual<T>, Sweep<T>, SweepNorm<T>, ProductDot<T>]
)]
pub unsafe fn spmv_csr_vector<T: Real, O: Offset, E: Epilogue<T>>(
    n_rows: u64,
    log2_lanes: u32,
    row_ptr: *const O,
    col_idx: *const u32,
    values: *const T,
    x: *const T,
    e: E,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments describe a valid CRS matrix.
    unsafe {
        if guard.stopped() {
            return;
        }
        let indices = Indices32 { columns: col_idx };
        let sums = by_lanes(
            n_rows,
            log2_lanes,
            |row| e.inputs(row),
            |row, lane, lanes| {
                let start = O::load(row_ptr, row) + lane;
                let end = O::load(row_ptr, row + 1);
                let count = (end + lanes - 1).saturating_sub(start) >> log2_lanes;
                [gather::<T, _, VECTOR_BATCH, false>(indices, values, x, start, count as u32, lanes)]
            },
            |row, inputs, [product]| e.row(row, inputs, product),
        );
        e.finish(sums);
    }
}

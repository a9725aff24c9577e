//! ELLPACK with one width for the whole matrix (what the papers call SELL-C-sigma): one thread a row.

use cuda_std::{Real, kernel};

use crate::epilogue::{Accumulate, Epilogue, Product, ProductDot, ProductScaled, Residual, Sweep, SweepNorm};
use crate::monitor::Guard;
use crate::spmv::{gather::gather, indices::Indices32, rows::by_threads};

/// Entries of a row in flight; more would take registers from other warps.
const BATCH: usize = 5;

/// A x with the epilogue `e`. Entry `j` of row `i` is at `i + stride j`, for `j < width`.
#[kernel(T = [f32, f64], E = [Product<T>, Accumulate<T>, ProductScaled<T>, Residual<T>, Sweep<T>, SweepNorm<T>, ProductDot<T>])]
pub unsafe fn spmv_ell<T: Real, E: Epilogue<T>>(
    n_rows: u64,
    width: u64,
    stride: u64,
    col_idx: *const u32,
    values: *const T,
    x: *const T,
    e: E,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments describe a valid ELLPACK matrix.
    unsafe {
        if guard.stopped() {
            return;
        }
        let indices = Indices32 { columns: col_idx };
        let sums = by_threads(n_rows, |row| {
            let inputs = e.inputs(row);
            let product = gather::<T, _, BATCH, true>(indices, values, x, row, width as u32, stride as usize);
            e.row(row, inputs, product)
        });
        e.finish(sums);
    }
}

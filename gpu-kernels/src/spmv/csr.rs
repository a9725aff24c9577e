//! Compressed row storage: one thread a row, or a group of lanes a row.

use cuda_std::{
    Real, kernel,
    memory::*,
    thread,
    warp::{self, FULL_MASK, WARP_SIZE},
};

use crate::epilogue::{Accumulate, Epilogue, Product, ProductDot, ProductScaled, Residual, Sweep, SweepNorm};
use crate::monitor::Guard;
use crate::spmv::gather;

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
        let mut sums = [T::ZERO; 2];
        let mut row = thread::index();
        while row < n_rows as usize {
            let start = O::load(row_ptr, row);
            let count = (O::load(row_ptr, row + 1) - start) as u32;
            let inputs = e.inputs(row);
            let product = gather::<T, SCALAR_BATCH, false>(col_idx, values, x, start, count, 1);
            let [first, second] = e.row(row, inputs, product);
            sums[0] += first;
            sums[1] += second;
            row += thread::stride();
        }
        e.finish(sums);
    }
}

/// A x with the epilogue `e`, `lanes` neighbouring threads a row ("vector", Bell and Garland 2009).
///
/// `2^log2_lanes` lanes, 2 to 32, share a row. Their partial sums are added as a binary tree.
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
        let lanes = 1 << log2_lanes;
        let lane = thread::thread_idx_x() & (lanes - 1);
        let rows_at_once = thread::stride() >> log2_lanes;
        let mut sums = [T::ZERO; 2];
        // The first row of the warp: its lanes leave the loop together, so that all take part in the shuffles.
        let mut base = thread::index() / WARP_SIZE as usize * (WARP_SIZE >> log2_lanes) as usize;
        let within = ((thread::thread_idx_x() % WARP_SIZE) >> log2_lanes) as usize;
        while base < n_rows as usize {
            let row = base + within;
            let mut product = T::ZERO;
            let writes = lane == 0 && row < n_rows as usize;
            // The lane that will need them asks for them now.
            let mut inputs = None;
            if writes {
                inputs = Some(e.inputs(row));
            }
            if row < n_rows as usize {
                let start = O::load(row_ptr, row) + lane as usize;
                let end = O::load(row_ptr, row + 1);
                let count = (end + lanes as usize - 1).saturating_sub(start) >> log2_lanes;
                product =
                    gather::<T, VECTOR_BATCH, false>(col_idx, values, x, start, count as u32, lanes as usize);
            }
            let mut delta = lanes / 2;
            while delta > 0 {
                product += warp::warp_shuffle_down(FULL_MASK, product, delta, WARP_SIZE);
                delta /= 2;
            }
            if let Some(inputs) = inputs {
                let [first, second] = e.row(row, inputs, product);
                sums[0] += first;
                sums[1] += second;
            }
            base += rows_at_once;
        }
        e.finish(sums);
    }
}

//! Products with several columns at once, which share the reading of the matrix: up to K of them in
//! registers, each with its own vectors, epilogue and guard. Every column gets the bits that its format's
//! kernel for one gives, but for the sums over the grid of another number of blocks.

use arithmetic::coding::Coding;
use arithmetic::compression::Compression;
use cuda_std::{
    Real, kernel,
    memory::*,
    thread,
    warp::{self, FULL_MASK, WARP_SIZE},
};

use crate::epilogue::{Accumulate, Epilogue, Product, ProductDot, ProductScaled, Residual, Sweep};
use crate::monitor::Guard;
use crate::sizes::SLICE;
use crate::spmv::coded::Coded;
use crate::spmv::indices::{Indices, Indices16, Indices32};
use crate::spmv::packed::Packed;
use crate::spmv::sell::place;
use crate::unroll::unroll;

/// Entries of a row in flight: each asks for a number of every column.
const BATCH: usize = 4;

/// A column.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Column<T, E> {
    /// What is multiplied; null where there is no such column.
    pub x: *const T,
    /// What becomes of the product.
    pub e: E,
    /// Stops it.
    pub guard: Guard,
}

// SAFETY: plain addresses; the kernels say who may use them when.
unsafe impl<T: Real, E: Epilogue<T>> Send for Column<T, E> {}
// SAFETY: as above.
unsafe impl<T: Real, E: Epilogue<T>> Sync for Column<T, E> {}

/// Which columns are there and go on.
///
/// # Safety
/// The guards are valid.
#[inline(always)]
unsafe fn running<T: Real, E: Epilogue<T>, const K: usize>(columns: &[Column<T, E>; K]) -> [bool; K] {
    let mut running = [false; K];
    // SAFETY: the caller's promise.
    unroll::<K>(|c| running[c] = !columns[c].x.is_null() && !unsafe { columns[c].guard.stopped() });
    running
}

/// What the epilogues of the running columns read of row `i`.
///
/// # Safety
/// As [`Epilogue::inputs`].
#[inline(always)]
unsafe fn inputs<T: Real, E: Epilogue<T>, const K: usize>(
    columns: &[Column<T, E>; K],
    running: [bool; K],
    i: usize,
) -> [Option<E::Inputs>; K] {
    let mut inputs = [None; K];
    // SAFETY: the caller's promise.
    unroll::<K>(|c| inputs[c] = running[c].then(|| unsafe { columns[c].e.inputs(i) }));
    inputs
}

/// Hands the products of row `i` to the epilogues, and adds to the columns' sums.
///
/// # Safety
/// As [`Epilogue::row`].
#[inline(always)]
unsafe fn rows<T: Real, E: Epilogue<T>, const K: usize>(
    columns: &[Column<T, E>; K],
    i: usize,
    inputs: [Option<E::Inputs>; K],
    products: [T; K],
    sums: &mut [[T; 2]; K],
) {
    unroll::<K>(|c| {
        if let Some(inputs) = inputs[c] {
            // SAFETY: the caller's promise.
            let [first, second] = unsafe { columns[c].e.row(i, inputs, products[c]) };
            sums[c][0] += first;
            sums[c][1] += second;
        }
    });
}

/// Reduces the sums of one column after the other.
///
/// # Safety
/// As [`Epilogue::finish`].
#[inline(always)]
unsafe fn finish<T: Real, E: Epilogue<T>, const K: usize>(
    columns: &[Column<T, E>; K],
    running: [bool; K],
    sums: [[T; 2]; K],
) {
    unroll::<K>(|c| {
        // All threads agree: what stops a column was written by an earlier kernel.
        if E::REDUCES && running[c] {
            // SAFETY: the caller's promise.
            unsafe { columns[c].e.finish(sums[c]) };
            // Before the next one uses the same shared memory.
            thread::sync_threads();
        }
    });
}

/// `sums_c += sum_j values_j x_c[columns_j]` for a batch of entries, of which the first `left` are there.
///
/// # Safety
/// The columns are within every x.
#[inline(always)]
unsafe fn add_products<T: Real, E: Epilogue<T>, const K: usize>(
    columns: &[Column<T, E>; K],
    running: [bool; K],
    at: [u32; BATCH],
    entries: [T; BATCH],
    left: u32,
    sums: &mut [T; K],
) {
    let mut factors = [[T::ZERO; BATCH]; K];
    unroll::<K>(|c| {
        if running[c] {
            unroll::<BATCH>(|k| {
                if (k as u32) < left {
                    // SAFETY: the caller's promise.
                    factors[c][k] = unsafe { columns[c].x.ld_nc(at[k] as usize) };
                }
            });
        }
    });
    unroll::<K>(|c| unroll::<BATCH>(|k| sums[c] = entries[k].mul_add(factors[c][k], sums[c])));
}

/// [`super::gather`] for every column.
///
/// # Safety
/// As there.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn gather<T: Real, I: Indices, E: Epilogue<T>, const K: usize, const STREAMED: bool>(
    indices: I,
    values: *const T,
    columns: &[Column<T, E>; K],
    running: [bool; K],
    start: usize,
    count: u32,
    stride: usize,
) -> [T; K] {
    let mut sums = [T::ZERO; K];
    let mut first = start;
    let mut left = count;
    while left > 0 {
        let mut at = [0; BATCH];
        let mut entries = [T::ZERO; BATCH];
        // SAFETY: the caller's promise.
        unsafe {
            unroll::<BATCH>(|k| {
                if (k as u32) < left {
                    let i = first + k * stride;
                    at[k] = indices.column::<STREAMED>(first, k * stride);
                    entries[k] = if STREAMED { values.ld_cs(i) } else { values.ld_nc(i) };
                }
            });
            add_products(columns, running, at, entries, left, &mut sums);
        }
        first += BATCH * stride;
        left = left.saturating_sub(BATCH as u32);
    }
    sums
}

/// [`super::packed::gather`] for every column, added to `sums`.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn gather_packed<T: Real, P: Packed<T>, E: Epilogue<T>, const K: usize>(
    packed: P,
    entries: *const u32,
    columns: &[Column<T, E>; K],
    running: [bool; K],
    origin: usize,
    (mut first, mut left): (usize, u32),
    sums: &mut [T; K],
) {
    // SAFETY: the caller's promise.
    let ask = |first: usize, left: u32| unsafe {
        let mut words = [0; BATCH];
        unroll::<BATCH>(|k| {
            if (k as u32) < left {
                words[k] = entries.ld_cs(first + k * SLICE);
            }
        });
        words
    };
    let mut next = ask(first, left);
    while left > 0 {
        let words = next;
        first += BATCH * SLICE;
        let behind = left.saturating_sub(BATCH as u32);
        // The next ones come from memory while these are multiplied.
        next = ask(first, behind);
        let (mut at, mut values) = ([0; BATCH], [T::ZERO; BATCH]);
        // SAFETY: the caller's promise.
        unsafe {
            unroll::<BATCH>(|k| {
                if (k as u32) < left {
                    at[k] = packed.column(words[k], origin) as u32;
                    values[k] = packed.value(words[k]);
                }
            });
            add_products(columns, running, at, values, left, sums);
        }
        left = behind;
    }
}

/// One thread a row of slices: the epilogues of what `products(row, first, width, running)` are.
///
/// # Safety
/// As [`super::sell::by_slices`], of every column.
#[inline(always)]
unsafe fn by_slices<T: Real, E: Epilogue<T>, const K: usize>(
    n_rows: u64,
    slice_ptr: *const u64,
    permutation: *const u32,
    columns: &[Column<T, E>; K],
    products: impl Fn(usize, usize, u32, [bool; K]) -> [T; K],
) {
    // SAFETY: the caller's promise.
    unsafe {
        let running = running(columns);
        let mut sums = [[T::ZERO; 2]; K];
        let mut position = thread::index_x();
        while position < n_rows as usize {
            let (row, start, width) = place(slice_ptr, permutation, position);
            let inputs = inputs(columns, running, row);
            rows(columns, row, inputs, products(row, start, width, running), &mut sums);
            position += thread::stride();
        }
        finish(columns, running, sums);
    }
}

/// [`fn@super::sell::spmv_sell`] for up to K columns.
#[kernel(T = [f32, f64], I = [Indices32, Indices16], K = [4, 8], E = [Product<T>, Accumulate<T>, ProductScaled<T>, Residual<T>, Sweep<T>, ProductDot<T>])]
pub unsafe fn spmv_sell_columns<T: Real, I: Indices, const K: usize, E: Epilogue<T>>(
    n_rows: u64,
    slice_ptr: *const u64,
    permutation: *const u32,
    indices: I,
    values: *const T,
    columns: [Column<T, E>; K],
) {
    // SAFETY: the launcher's arguments describe a valid SELL matrix.
    unsafe {
        by_slices(n_rows, slice_ptr, permutation, &columns, |_, start, width, running| {
            gather::<T, I, E, K, true>(indices, values, &columns, running, start, width, SLICE)
        });
    }
}

/// [`fn@super::csr::spmv_csr_vector`] for up to K columns, 1 to 32 lanes a row.
#[kernel(T = [f32, f64], K = [4, 8], E = [Product<T>, Accumulate<T>, ProductScaled<T>, Residual<T>, Sweep<T>, ProductDot<T>])]
pub unsafe fn spmv_csr_columns<T: Real, const K: usize, E: Epilogue<T>>(
    n_rows: u64,
    log2_lanes: u32,
    row_ptr: *const u32,
    col_idx: *const u32,
    values: *const T,
    columns: [Column<T, E>; K],
) {
    let lanes = 1 << log2_lanes;
    let lane = thread::thread_idx_x() & (lanes - 1);
    let within = ((thread::thread_idx_x() % WARP_SIZE) >> log2_lanes) as usize;
    // The first row of the warp: its lanes leave the loop together, so that all take part in the shuffles.
    let mut base = thread::index_x() / WARP_SIZE as usize * (WARP_SIZE >> log2_lanes) as usize;
    let mut sums = [[T::ZERO; 2]; K];
    // SAFETY: the launcher's arguments describe a valid CRS matrix; the lanes of a warp are together.
    unsafe {
        let running = running(&columns);
        while base < n_rows as usize {
            let i = base + within;
            let is_row = i < n_rows as usize;
            let mut parts = [T::ZERO; K];
            let mut asked = [None; K];
            if is_row {
                if lane == 0 {
                    asked = inputs(&columns, running, i);
                }
                let start = row_ptr.ld_nc(i) as usize + lane as usize;
                let end = row_ptr.ld_nc(i + 1) as usize;
                let count = ((end + lanes as usize - 1).saturating_sub(start) >> log2_lanes) as u32;
                parts = gather::<T, _, E, K, false>(
                    Indices32 { columns: col_idx },
                    values,
                    &columns,
                    running,
                    start,
                    count,
                    lanes as usize,
                );
            }
            let mut delta = lanes / 2;
            while delta > 0 {
                unroll::<K>(|c| parts[c] += warp::warp_shuffle_down(FULL_MASK, parts[c], delta, WARP_SIZE));
                delta /= 2;
            }
            rows(&columns, i, asked, parts, &mut sums);
            base += thread::stride() >> log2_lanes;
        }
        finish(&columns, running, sums);
    }
}

/// [`fn@super::coded::spmv_coded`] for up to K columns.
#[kernel(T = [f64], K = [4, 8], E = [Product<T>, Accumulate<T>, ProductScaled<T>, Residual<T>, Sweep<T>, ProductDot<T>])]
pub unsafe fn spmv_coded_columns<T: Real, const K: usize, E: Epilogue<T>>(
    n_rows: u64,
    slice_ptr: *const u64,
    permutation: *const u32,
    coding: Coding,
    entries: *const u32,
    values: *const T,
    columns: [Column<T, E>; K],
) {
    // SAFETY: the launcher's arguments describe a valid matrix.
    unsafe {
        by_slices(n_rows, slice_ptr, permutation, &columns, |row, start, width, running| {
            let mut products = [T::ZERO; K];
            let packed = Coded { coding, values };
            gather_packed(packed, entries, &columns, running, row, (start, width), &mut products);
            products
        });
    }
}

/// [`fn@super::compressed::spmv_compressed`] for up to K columns.
#[kernel(T = [f32], K = [4, 8], E = [Product<T>, Accumulate<T>, ProductScaled<T>, Residual<T>, Sweep<T>, ProductDot<T>])]
pub unsafe fn spmv_compressed_columns<T: Real, const K: usize, E: Epilogue<T>>(
    n_rows: u64,
    slice_ptr: *const u64,
    permutation: *const u32,
    compression: Compression,
    entries: *const u32,
    pivots: *const u32,
    pivot_values: *const T,
    columns: [Column<T, E>; K],
) {
    // SAFETY: the launcher's arguments describe a valid matrix.
    unsafe {
        by_slices(n_rows, slice_ptr, permutation, &columns, |row, start, width, running| {
            let pivot = if pivots.is_null() { row } else { pivots.ld_nc(row) as usize };
            let pivot_value = pivot_values.ld_nc(row);
            let mut products = [T::ZERO; K];
            unroll::<K>(|c| {
                if running[c] {
                    products[c] = pivot_value * columns[c].x.ld_nc(pivot);
                }
            });
            gather_packed(compression, entries, &columns, running, pivot, (start, width), &mut products);
            products
        });
    }
}

//! Products of matrices in slices with several columns: plain, coded and compressed.

use arithmetic::coding::Coding;
use arithmetic::compression::Compression;
use cuda_std::{Real, kernel, memory::*, thread};

use super::column::{Column, by_runs, finish, inputs, rows, running, vectors};
use super::gather::{InWords, Plain, gather};
use crate::epilogue::{Accumulate, Epilogue, Product, ProductDot, ProductScaled, Residual, Sweep};
use crate::sizes::{BLOCK, SLICE};
use crate::spmv::coded::Coded;
use crate::spmv::indices::{Indices, Indices16, Indices32};
use crate::spmv::sell::place;
use crate::unroll::unroll;

/// One thread a row of slices: the epilogues of what `products(row, first, width, vectors)` are.
///
/// # Safety
/// As [`crate::spmv::sell::by_slices`], of every column.
#[inline(always)]
unsafe fn by_slices<T: Real, E: Epilogue<T>, const K: usize>(
    n_rows: u64,
    slice_ptr: *const u64,
    permutation: *const u32,
    columns: &[Column<T, E>; K],
    products: impl Fn(usize, usize, u32, [*const T; K]) -> [T; K],
) {
    // SAFETY: the caller's promise.
    unsafe {
        let running = running(columns);
        let Some(vectors) = vectors(columns, running) else { return };
        let mut sums = [[T::ZERO; 2]; K];
        by_runs(n_rows, BLOCK as usize, |first, end| {
            let mut position = first + thread::thread_idx_x() as usize;
            while position < end {
                let (row, start, width) = place(slice_ptr, permutation, position);
                let inputs = inputs(columns, running, row);
                rows(columns, row, inputs, products(row, start, width, vectors), &mut sums);
                position += BLOCK as usize;
            }
        });
        finish(columns, running, sums);
    }
}

/// [`fn@crate::spmv::sell::spmv_sell`] for up to K columns.
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
        let entries = Plain::<I, T, true> { indices, values };
        by_slices(n_rows, slice_ptr, permutation, &columns, |_, start, width, vectors| {
            let mut products = [T::ZERO; K];
            gather(entries, vectors, (start, width, SLICE), &mut products);
            products
        });
    }
}

/// [`fn@crate::spmv::coded::spmv_coded`] for up to K columns.
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
        by_slices(n_rows, slice_ptr, permutation, &columns, |row, start, width, vectors| {
            let mut products = [T::ZERO; K];
            let entries = InWords { packed: Coded { coding, values }, words: entries, origin: row };
            gather(entries, vectors, (start, width, SLICE), &mut products);
            products
        });
    }
}

/// [`fn@crate::spmv::compressed::spmv_compressed`] for up to K columns.
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
        by_slices(n_rows, slice_ptr, permutation, &columns, |row, start, width, vectors| {
            let pivot = if pivots.is_null() { row } else { pivots.ld_nc(row) as usize };
            let pivot_value = pivot_values.ld_nc(row);
            let mut products = [T::ZERO; K];
            unroll::<K>(|c| products[c] = pivot_value * vectors[c].ld_nc(pivot));
            let entries = InWords { packed: compression, words: entries, origin: pivot };
            gather(entries, vectors, (start, width, SLICE), &mut products);
            products
        });
    }
}

//! Products of a matrix in CRS with several columns.

use cuda_std::{
    Real, kernel,
    memory::*,
    thread,
    warp::{self, FULL_MASK, WARP_SIZE},
};

use super::column::{Column, MOST, by_runs, finish, inputs, rows, running, vectors};
use super::gather::{Plain, gather};
use crate::epilogue::{Accumulate, Epilogue, Product, ProductDot, ProductScaled, Residual, Sweep};
use crate::sizes::BLOCK;
use crate::spmv::indices::Indices32;
use crate::unroll::unroll;

/// The sums over the lanes of a row, in the order of [`fn@crate::spmv::csr::spmv_csr_vector`]: `parts[0]` of
/// a lane becomes that of one column, in order of the lanes. Each step halves both the lanes that hold a
/// column and the columns that a lane holds, so that K sums take little more than K steps.
///
/// # Safety
/// All lanes of the warp take part; a row has K lanes or more.
#[inline(always)]
unsafe fn shared_out<T: Real, const K: usize>(mut parts: [T; K], lane: u32, lanes: u32) -> T {
    let (mut delta, mut held) = (lanes / 2, K);
    // SAFETY: the caller's promise.
    unsafe {
        unroll::<K>(|_| {
            held /= 2;
            if held > 0 {
                let is_behind = lane & delta != 0;
                unroll::<K>(|c| {
                    if c < held {
                        let (low, high) = (parts[c], parts[c + held]);
                        let (kept, given) = if is_behind { (high, low) } else { (low, high) };
                        parts[c] = kept + warp::warp_shuffle_xor(FULL_MASK, given, delta, WARP_SIZE);
                    }
                });
                delta /= 2;
            }
        });
        while delta > 0 {
            parts[0] += warp::warp_shuffle_xor(FULL_MASK, parts[0], delta, WARP_SIZE);
            delta /= 2;
        }
    }
    parts[0]
}

/// [`fn@crate::spmv::csr::spmv_csr_vector`] for up to K columns, up to 32 lanes a row, and [`MOST`] at least
/// where K is that.
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
    let within = (thread::thread_idx_x() >> log2_lanes) as usize;
    let at_once = (BLOCK >> log2_lanes) as usize;
    let mut sums = [[T::ZERO; 2]; K];
    // SAFETY: the launcher's arguments describe a valid CRS matrix; all threads of a block go through the
    // loops together, and take part in the shuffles.
    unsafe {
        let running = running(&columns);
        let Some(vectors) = vectors(&columns, running) else { return };
        let entries = Plain::<Indices32, T, false> { indices: Indices32 { columns: col_idx }, values };
        let parts = |i: usize, end: usize| {
            let mut parts = [T::ZERO; K];
            if i < end {
                let start = row_ptr.ld_nc(i) as usize + lane as usize;
                let behind = row_ptr.ld_nc(i + 1) as usize + lanes as usize - 1;
                let count = (behind.saturating_sub(start) >> log2_lanes) as u32;
                gather(entries, vectors, (start, count, lanes as usize), &mut parts);
            }
            parts
        };
        if K == MOST || lanes >= K as u32 {
            // Each column has lanes of its own, of which the first writes.
            let each = lanes / K as u32;
            let (mut column, mut writes, mut own) = (columns[0], false, [T::ZERO; 2]);
            let is_of = |c: usize| lane / each == c as u32;
            unroll::<K>(|c| {
                if is_of(c) {
                    (column, writes) = (columns[c], running[c] && lane & (each - 1) == 0);
                }
            });
            by_runs(n_rows, at_once, |mut base, end| {
                while base < end {
                    let i = base + within;
                    let inputs = (writes && i < end).then(|| column.e.inputs(i));
                    let product = shared_out(parts(i, end), lane, lanes);
                    if let Some(inputs) = inputs {
                        let [first, second] = column.e.row(i, inputs, product);
                        own = [own[0] + first, own[1] + second];
                    }
                    base += at_once;
                }
            });
            unroll::<K>(|c| {
                if is_of(c) {
                    sums[c] = own;
                }
            });
        } else {
            by_runs(n_rows, at_once, |mut base, end| {
                while base < end {
                    let i = base + within;
                    let mut parts = parts(i, end);
                    let mut delta = lanes / 2;
                    while delta > 0 {
                        unroll::<K>(|c| {
                            parts[c] += warp::warp_shuffle_down(FULL_MASK, parts[c], delta, WARP_SIZE);
                        });
                        delta /= 2;
                    }
                    if i < end && lane == 0 {
                        rows(&columns, i, inputs(&columns, running, i), parts, &mut sums);
                    }
                    base += at_once;
                }
            });
        }
        finish(&columns, running, sums);
    }
}

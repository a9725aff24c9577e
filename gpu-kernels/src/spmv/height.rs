//! The product in SELL with slices of other heights than a warp, to see what the height is worth.

use cuda_std::{kernel, memory::*};

use super::gather::gather;
use super::indices::Indices32;
use super::rows::by_threads;

/// Entries of a row in flight, as in [`spmv_sell`](super::sell::spmv_sell).
const BATCH: usize = 5;

/// `y = A x` in SELL-C-1: entry `j` of row `i` is at `slice_ptr[i / C] + C j + i % C`. Blocks may have any
/// number of threads.
#[kernel(C = [32, 64, 128])]
pub unsafe fn slices_of<const C: usize>(
    n_rows: u64,
    slice_ptr: *const u64,
    col_idx: *const u32,
    values: *const f64,
    x: *const f64,
    y: *mut f64,
) {
    by_threads(n_rows, |i| {
        // SAFETY: the launcher's arguments describe a valid matrix, and vectors of its sizes.
        unsafe {
            let start = slice_ptr.ld_nc(i / C) as usize;
            let width = ((slice_ptr.ld_nc(i / C + 1) as usize - start) / C) as u32;
            y.st(
                i,
                gather::<f64, _, BATCH, true>(
                    Indices32 { columns: col_idx },
                    values,
                    x,
                    start + i % C,
                    width,
                    C,
                ),
            );
        }
        [0.0; 2]
    });
}

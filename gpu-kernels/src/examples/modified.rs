//! Modified Gram-Schmidt in f32 with sums in f64, in either layout.

use cuda_std::{Real, Shared, kernel, memory::*, shared, thread, warp::WARP_SIZE};

use crate::reduce::{Add, block_reduce};
use crate::sizes::BLOCK;

const WARPS: usize = (BLOCK / WARP_SIZE) as usize;

/// How a matrix lies in an array: element (i, j) is at `i row + j column`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Rows: elements of a column.
    pub rows: u32,
    /// Columns.
    pub columns: u32,
    /// From a row to the next.
    pub row: u32,
    /// From a column to the next.
    pub column: u32,
}

impl Layout {
    /// Where element (i, j) is.
    #[inline(always)]
    pub fn at(&self, i: usize, j: usize) -> usize {
        i * self.row as usize + j * self.column as usize
    }
}

/// The product of columns j and k over this block, in f64; every thread has it.
#[inline(always)]
unsafe fn product(layout: Layout, j: usize, k: usize, v: *const f32, scratch: Shared<f64>) -> f64 {
    let mut sum = 0.0f64;
    let mut i = thread::thread_idx_x() as usize;
    // SAFETY: the caller's promise: all threads are here, and the columns exist.
    unsafe {
        while i < layout.rows as usize {
            sum += f64::from(v.ld(layout.at(i, j)) * v.ld(layout.at(i, k)));
            i += BLOCK as usize;
        }
        let [sum] = block_reduce::<f64, Add, 1>([sum], scratch);
        if thread::thread_idx_x() == 0 {
            scratch.set(WARPS, sum);
        }
        thread::sync_threads();
        scratch.get(WARPS)
    }
}

/// `v_k /= ||v_k||`, one block.
#[kernel]
pub unsafe fn modified_normalise(layout: Layout, k: u32, v: *mut f32) {
    let scratch = shared![f64; 9]; // WARPS + 1: those of the reduction, and its result
    let k = k as usize;
    // SAFETY: the launcher's array has the layout; every thread comes to all barriers.
    unsafe {
        let norm = Real::sqrt(product(layout, k, k, v, scratch));
        let mut i = thread::thread_idx_x() as usize;
        while i < layout.rows as usize {
            let at = layout.at(i, k);
            v.st(at, (f64::from(v.ld(at)) / norm) as f32);
            i += BLOCK as usize;
        }
    }
}

/// `v_j -= (v_k, v_j) v_k` for `j > k`, a block for each.
#[kernel]
pub unsafe fn modified_subtract(layout: Layout, k: u32, v: *mut f32) {
    let scratch = shared![f64; 9]; // WARPS + 1: those of the reduction, and its result
    let k = k as usize;
    let j = k + 1 + thread::block_idx_x() as usize;
    // SAFETY: the launcher's array has the layout and as many columns behind k as there are blocks; every
    // thread comes to all barriers.
    unsafe {
        let h = product(layout, k, j, v, scratch);
        let mut i = thread::thread_idx_x() as usize;
        while i < layout.rows as usize {
            let at = layout.at(i, j);
            v.st(at, (f64::from(v.ld(at)) - h * f64::from(v.ld(layout.at(i, k)))) as f32);
            i += BLOCK as usize;
        }
    }
}

/// Copies a matrix from one layout into another of the same shape.
#[kernel]
pub unsafe fn rearrange(from: Layout, to: Layout, x: *const f32, y: *mut f32) {
    let n = from.rows as usize * from.columns as usize;
    let mut at = thread::index_x();
    while at < n {
        let (i, j) = (at / from.columns as usize, at % from.columns as usize);
        // SAFETY: the launcher's arrays have the layouts.
        unsafe { y.st(to.at(i, j), x.ld_nc(from.at(i, j))) };
        at += thread::stride();
    }
}

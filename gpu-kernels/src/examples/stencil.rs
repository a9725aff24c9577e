//! The 5-point stencil on a grid in a frame of known values.

use arithmetic::stencil::Weights;
use cuda_std::{Real, kernel, memory::*, thread};

use crate::monitor::Monitor;
use crate::reduce::{Max, Reduction, grid_reduce};
use crate::sizes::BLOCK;
use crate::unroll::unroll;

/// Elements in front of a row's first point, of which the last belongs to the frame: a cache line, so that
/// rows are aligned to lines.
pub const MARGIN: usize = 16;
/// Most rows that a thread computes.
const MAX_ROWS: usize = 6;

/// A grid of `rows` times `columns` points, without its frame.
///
/// Point (i, j) is element `(i + 1) leading + MARGIN + j`; the frame is what i and j from -1 to `rows` and
/// `columns` add.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Points in a column.
    pub rows: u32,
    /// Points in a row.
    pub columns: u32,
    /// Elements from a row to the next.
    pub leading: u32,
}

/// Applies the stencil to this block's tiles of [`BLOCK`] columns and `R` rows; the largest change of this
/// thread's points.
///
/// A thread goes down a column: what is the neighbour of one point is the centre of the next, loaded once.
#[inline(always)]
unsafe fn tiles<const R: usize>(
    grid: Grid,
    weights: Weights,
    b: *const f64,
    u: *const f64,
    v: *mut f64,
) -> f64 {
    const { assert!(R <= MAX_ROWS) };
    let (rows, columns, leading) = (grid.rows as usize, grid.columns as usize, grid.leading as usize);
    let across = grid.columns.div_ceil(BLOCK);
    let tiles = across * grid.rows.div_ceil(R as u32);
    let mut change = 0.0;
    let mut tile = thread::block_idx_x();
    while tile < tiles {
        let j = (tile % across * BLOCK + thread::thread_idx_x()) as usize;
        let first = (tile / across) as usize * R;
        if j < columns {
            let at = |row: usize| row * leading + MARGIN + j;
            // SAFETY: the caller's promise; rows are counted with the frame, so that `first` is above the
            // first point.
            unsafe {
                let source = if b.is_null() { 0.0 } else { b.ld_nc(j) };
                let mut column = [0.0; MAX_ROWS + 2];
                let (mut west, mut east) = ([0.0; MAX_ROWS], [0.0; MAX_ROWS]);
                unroll::<{ MAX_ROWS + 2 }>(|k| {
                    if k < R + 2 && first + k < rows + 2 {
                        column[k] = u.ld_nc(at(first + k));
                    }
                });
                unroll::<R>(|k| {
                    if first + k < rows {
                        west[k] = u.ld_nc(at(first + k + 1) - 1);
                        east[k] = u.ld_nc(at(first + k + 1) + 1);
                    }
                });
                unroll::<R>(|k| {
                    if first + k < rows {
                        let neighbours = [east[k], west[k], column[k + 2], column[k]];
                        let new = weights.apply(column[k + 1], neighbours, source);
                        v.st(at(first + k + 1), new);
                        change = Real::abs(new - column[k + 1]).max_nan(change);
                    }
                });
            }
        }
        tile += thread::grid_dim_x();
    }
    change
}

/// `v = stencil(u)`, with the source `b_j` in column j, or none where the pointer is null. Frames stay as
/// they are.
#[kernel(R = [4, 6])]
pub unsafe fn stencil<const R: usize>(
    grid: Grid,
    weights: Weights,
    b: *const f64,
    u: *const f64,
    v: *mut f64,
) {
    // SAFETY: the launcher's arrays hold the grid and its frame, b a row.
    unsafe { tiles::<R>(grid, weights, b, u, v) };
}

/// [`stencil()`] without a source, as a loop over columns outside and rows inside has it: neighbouring
/// threads take neighbouring points of a column, `leading` elements apart.
#[kernel]
pub unsafe fn stencil_by_columns(grid: Grid, weights: Weights, u: *const f64, v: *mut f64) {
    let (rows, leading) = (grid.rows as usize, grid.leading as usize);
    let n = rows * grid.columns as usize;
    let mut point = thread::index_x();
    while point < n {
        let at = (point % rows + 1) * leading + MARGIN + point / rows;
        // SAFETY: the launcher's arrays hold the grid and its frame.
        unsafe {
            let neighbours = [u.ld_nc(at + 1), u.ld_nc(at - 1), u.ld_nc(at + leading), u.ld_nc(at - leading)];
            v.st(at, weights.apply(u.ld_nc(at), neighbours, 0.0));
        }
        point += thread::stride();
    }
}

/// [`stencil()`] that also observes `max |v - u|`.
#[kernel(R = [4, 6])]
pub unsafe fn stencil_max<const R: usize>(
    grid: Grid,
    weights: Weights,
    b: *const f64,
    u: *const f64,
    v: *mut f64,
    reduction: Reduction<f64>,
    monitor: Monitor,
) {
    // SAFETY: as for `stencil`; every thread comes to the reduction or returns here.
    unsafe {
        if monitor.guard.stopped() {
            return;
        }
        let change = tiles::<R>(grid, weights, b, u, v);
        grid_reduce::<f64, Max, 1>([change], reduction, |[change]| monitor.observe(change));
    }
}

//! The dense inverse of a small matrix, by Gauss and Jordan's method in tiles without pivoting: for symmetric
//! positive definite matrices, whose pivots are the squares of the diagonal of their Cholesky factor.
//!
//! Dense matrices are of `m` rows and columns, a multiple of [`TILE`], and row after row; from row n on they
//! are identities.

use cuda_std::{Real, kernel, memory::*, shared, thread, warp::WARP_SIZE};

use super::interpolate::Rows;
use crate::reduce::{Max, Reduction, grid_reduce};

/// Rows and columns of a tile; a block of threads has one for each of its elements.
pub const TILE: usize = 16;
const AREA: usize = 256;
/// The pivot's tile before and after a step of its inversion.
const BOTH: usize = 512;

/// Writes the entries of `a` into a dense matrix of zeros, a warp a row.
#[kernel(T = [f32, f64])]
pub unsafe fn dense_rows<T: Real>(n: u64, m: u64, a: Rows<T>, dense: *mut f64) {
    let (n, m) = (n as usize, m as usize);
    let lanes = WARP_SIZE as usize;
    let lane = thread::index_x() % lanes;
    let mut i = thread::index_x() / lanes;
    // SAFETY: the launcher's arguments describe a CRS matrix of n rows and columns, and a dense one.
    unsafe {
        while i < m {
            if i < n {
                let (start, end) = a.pattern.range(i);
                let mut e = start + lane;
                while e < end {
                    dense.st(i * m + a.pattern.col_idx.ld_nc(e) as usize, a.values.ld_nc(e).to_f64());
                    e += lanes;
                }
            } else if lane == 0 {
                dense.st(i * m + i, 1.0);
            }
            i += thread::stride() / lanes;
        }
    }
}

/// `out = [max |a_ij|, max |a_ij - a_ji|]` over the first n rows and columns.
#[kernel]
pub unsafe fn dense_symmetry(n: u64, m: u64, dense: *const f64, reduction: Reduction<f64>) {
    let (n, m) = (n as usize, m as usize);
    let mut maxima = [0.0; 2];
    let mut k = thread::index_x();
    // SAFETY: the launcher's arguments describe a dense matrix.
    unsafe {
        while k < n * n {
            let (i, j) = (k / n, k % n);
            let value = dense.ld_nc(i * m + j);
            maxima[0] = maxima[0].max_nan(value.abs());
            maxima[1] = maxima[1].max_nan((value - dense.ld_nc(j * m + i)).abs());
            k += thread::stride();
        }
        grid_reduce::<f64, Max, 2>(maxima, reduction, |_| ());
    }
}

/// Step `step` of the inversion, a block a tile, from one matrix to another; after all of them that is the
/// inverse. The tiles of the step's row and column of tiles become, with `D` the tile that both have,
///
/// ```text
/// D^-1,   D^-1 A_step,J,   -A_I,step D^-1,   and any other one   A_IJ - A_I,step D^-1 A_step,J
/// ```
///
/// `pivots[step]` receives the smallest pivot of D in the first n rows, NaN where one is that.
#[kernel]
pub unsafe fn gauss_jordan(n: u64, m: u64, step: u64, from: *const f64, to: *mut f64, pivots: *mut f64) {
    let pivot = shared![f64; BOTH];
    let left = shared![f64; AREA];
    let right = shared![f64; AREA];
    let (n, m, step) = (n as usize, m as usize, step as usize);
    let tiles = m / TILE;
    let block = thread::block_idx_x() as usize;
    let (tile_row, tile_column) = (block / tiles, block % tiles);
    let t = thread::thread_idx_x() as usize;
    let (i, j) = (t / TILE, t % TILE);
    // SAFETY: the launcher's arguments describe two dense matrices; the grid has a block of AREA threads for
    // each tile.
    unsafe {
        let element = |row: usize, column: usize| (row * TILE + i) * m + column * TILE + j;
        pivot.set(t, from.ld_nc(element(step, step)));
        left.set(t, from.ld_nc(element(tile_row, step)));
        right.set(t, from.ld_nc(element(step, tile_column)));
        let old = from.ld_nc(element(tile_row, tile_column));
        thread::sync_threads();

        let mut smallest = f64::INFINITY;
        let mut k = 0;
        while k < TILE {
            let (here, there) = (k % 2 * AREA, (k + 1) % 2 * AREA);
            let p = pivot.get(here + k * TILE + k);
            let (row_entry, column_entry) = (pivot.get(here + k * TILE + j), pivot.get(here + i * TILE + k));
            let new = match (i == k, j == k) {
                (true, true) => 1.0 / p,
                (true, false) => row_entry / p,
                (false, true) => -column_entry / p,
                (false, false) => pivot.get(here + t) - column_entry * (row_entry / p),
            };
            if step * TILE + k < n && (p < smallest || p.is_nan()) {
                smallest = p;
            }
            pivot.set(there + t, new);
            thread::sync_threads();
            k += 1;
        }

        // D^-1 A_step,J, or D^-1 itself.
        let mut scaled = pivot.get(t);
        if tile_column != step {
            scaled = 0.0;
            for l in 0..TILE {
                scaled += pivot.get(i * TILE + l) * right.get(l * TILE + j);
            }
        }
        thread::sync_threads();
        right.set(t, scaled);
        thread::sync_threads();
        let mut new = scaled;
        if tile_row != step {
            new = if tile_column == step { 0.0 } else { old };
            for l in 0..TILE {
                new -= left.get(i * TILE + l) * right.get(l * TILE + j);
            }
        }
        to.st(element(tile_row, tile_column), new);
        if t == 0 && tile_row == step && tile_column == step {
            pivots.st(step, smallest);
        }
    }
}

/// The first n rows and columns in CRS, every entry stored.
#[kernel(T = [f32, f64])]
pub unsafe fn dense_entries<T: Real>(
    n: u64,
    m: u64,
    dense: *const f64,
    row_ptr: *mut u32,
    col_idx: *mut u32,
    values: *mut T,
) {
    let (n, m) = (n as usize, m as usize);
    let mut k = thread::index_x();
    // SAFETY: the launcher's arguments describe a dense matrix, and a CRS matrix of n^2 entries.
    unsafe {
        while k <= n * n {
            if k.is_multiple_of(n) {
                row_ptr.st(k / n, k as u32);
            }
            if k < n * n {
                col_idx.st(k, (k % n) as u32);
                values.st(k, T::from_f64(dense.ld_nc(k / n * m + k % n)));
            }
            k += thread::stride();
        }
    }
}

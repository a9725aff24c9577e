//! Grids in a frame of known values, and the 5-point stencil on them.

use crate::parallel::*;
use arithmetic::stencil::Weights;
use cuda_std::Real;
use gpu_kernels::examples::stencil::{Grid, MARGIN, stencil, stencil_by_columns, stencil_max};
use gpu_kernels::{BLOCK, MAX_REDUCTION_BLOCKS};

use crate::backend::cpu::Cpu;
use crate::backend::gpu::{Gpu, Work};
use crate::backend::{Backend, Slot};
use crate::error::Result;

/// The mean of the four neighbours and the source: a step of Jacobi's iteration.
pub(super) const MEAN: Weights = Weights { centre: 0.0, side: 0.25 };

/// Points of a task of the CPU.
const CHUNK: usize = 8192;
/// From this many points on, a thread of a kernel computes 6 rows instead of 4: then loads limit the speed,
/// and with fewer points the number of threads does.
const MANY_POINTS: usize = 4_000_000;

/// A grid whose rows are aligned to cache lines.
pub(super) fn grid(rows: usize, columns: usize) -> Grid {
    let leading = (MARGIN + columns + 1).next_multiple_of(MARGIN);
    Grid { rows: rows as u32, columns: columns as u32, leading: leading as u32 }
}

/// Elements of a grid with its frame.
pub(super) fn len(grid: Grid) -> usize {
    (grid.rows as usize + 2) * grid.leading as usize
}

/// `u_ij = value(i, j)` for points and frame, of which i and j are counted from 0; what pads the rows is 0.
pub(super) fn fill(grid: Grid, value: impl Fn(usize, usize) -> f64 + Sync) -> Vec<f64> {
    let mut u = vec![0.0; len(grid)];
    u.par_chunks_mut(grid.leading as usize).enumerate().for_each(|(i, row)| {
        for (j, u) in row[MARGIN - 1..][..grid.columns as usize + 2].iter_mut().enumerate() {
            *u = value(i, j);
        }
    });
    u
}

/// The points of row `i`, counted from 0 without the frame.
pub(super) fn points(grid: Grid, u: &[f64], i: usize) -> &[f64] {
    &u[(i + 1) * grid.leading as usize + MARGIN..][..grid.columns as usize]
}

/// `max |v - u|` of two grids; NaN if any element is.
pub(super) fn difference(grid: Grid, u: &[f64], v: &[f64]) -> f64 {
    let row_change = |i| largest_change(points(grid, u, i), points(grid, v, i));
    (0..grid.rows as usize).into_par_iter().map(row_change).reduce(|| 0.0, Real::max_nan)
}

fn largest_change(u: &[f64], v: &[f64]) -> f64 {
    // Maxima side by side, which the compiler makes vectors of.
    const LANES: usize = 8;
    let mut lanes = [0.0f64; LANES];
    let (u_chunks, v_chunks) = (u.chunks_exact(LANES), v.chunks_exact(LANES));
    let rest = u_chunks.remainder().iter().zip(v_chunks.remainder());
    let rest = rest.fold(0.0, |max: f64, (u, v)| (v - u).abs().max_nan(max));
    for (u, v) in u_chunks.zip(v_chunks) {
        for l in 0..LANES {
            lanes[l] = (v[l] - u[l]).abs().max_nan(lanes[l]);
        }
    }
    lanes.into_iter().fold(rest, Real::max_nan)
}

/// The points of row `i` of `stencil(u)`; `b` has a source for each column.
fn apply_to_row(grid: Grid, weights: Weights, b: &[f64], u: &[f64], i: usize, v: &mut [f64]) {
    let (columns, leading) = (grid.columns as usize, grid.leading as usize);
    let row = |i: usize, first: usize| &u[i * leading + first..][..columns];
    let (north, centre, south) = (row(i, MARGIN), row(i + 1, MARGIN), row(i + 2, MARGIN));
    let (west, east) = (row(i + 1, MARGIN - 1), row(i + 1, MARGIN + 1));
    let (v, b) = (&mut v[..columns], &b[..columns]);
    for j in 0..columns {
        v[j] = weights.apply(centre[j], [east[j], west[j], south[j], north[j]], b[j]);
    }
}

/// `v = stencil(u)` by one thread of the host, whatever the backend.
pub(super) fn sequential(grid: Grid, weights: Weights, b: &[f64], u: &[f64], v: &mut [f64]) {
    let leading = grid.leading as usize;
    for (i, v) in v[leading..][..grid.rows as usize * leading].chunks_mut(leading).enumerate() {
        apply_to_row(grid, weights, b, u, i, &mut v[MARGIN..]);
    }
}

/// The 5-point stencil.
#[allow(clippy::too_many_arguments)]
pub(super) trait Stencil: Backend<f64> {
    /// `v = stencil(u)` with the source `b_j` in column j, or none. Frames stay as they are.
    fn stencil(
        &self,
        grid: Grid,
        weights: Weights,
        b: Option<&Self::Vector>,
        u: &Self::Vector,
        v: &mut Self::Vector,
    ) -> Result<()>;
    /// [`Stencil::stencil`] without a source, with the loop over rows inside: neighbouring threads take
    /// points that are a row apart, and so does a thread of the CPU from one point to the next.
    fn stencil_by_columns(
        &self,
        grid: Grid,
        weights: Weights,
        u: &Self::Vector,
        v: &mut Self::Vector,
    ) -> Result<()>;
    /// [`Stencil::stencil`] that also observes `max |v - u|`, and leaves it in `s[0]`.
    fn stencil_max(
        &self,
        grid: Grid,
        weights: Weights,
        b: Option<&Self::Vector>,
        u: &Self::Vector,
        v: &mut Self::Vector,
        s: &Self::Scalars,
        monitor: &Self::Monitor,
    ) -> Result<()>;
}

/// `after(i, points of row i of v)` for every row of `v = stencil(u)`; the largest of what it returns.
fn rows(
    grid: Grid,
    weights: Weights,
    b: Option<&Vec<f64>>,
    u: &[f64],
    v: &mut [f64],
    after: impl Fn(usize, &[f64]) -> f64 + Sync,
) -> f64 {
    let (columns, leading) = (grid.columns as usize, grid.leading as usize);
    let none = vec![0.0; if b.is_some() { 0 } else { columns }];
    let b = b.map_or(&none[..], |b| b);
    let row = |(i, v): (usize, &mut [f64])| {
        let v = &mut v[MARGIN..][..columns];
        apply_to_row(grid, weights, b, u, i, v);
        after(i, v)
    };
    let rows = v[leading..][..grid.rows as usize * leading].par_chunks_mut(leading).enumerate();
    rows.with_min_len(CHUNK.div_ceil(columns)).map(row).reduce(|| 0.0, Real::max_nan)
}

impl Stencil for Cpu {
    fn stencil(
        &self,
        grid: Grid,
        weights: Weights,
        b: Option<&Vec<f64>>,
        u: &Vec<f64>,
        v: &mut Vec<f64>,
    ) -> Result<()> {
        rows(grid, weights, b, u, v, |_, _| 0.0);
        Ok(())
    }
    fn stencil_by_columns(&self, grid: Grid, weights: Weights, u: &Vec<f64>, v: &mut Vec<f64>) -> Result<()> {
        let (rows, columns) = (grid.rows as usize, grid.columns as usize);
        let leading = grid.leading as usize;
        // A thread has some rows, in which it goes down one column after the other.
        let each = rows.div_ceil(rayon::current_num_threads());
        let parts = v[leading..][..rows * leading].par_chunks_mut(each * leading);
        parts.enumerate().for_each(|(part, v)| {
            for j in 0..columns {
                for (i, row) in v.chunks_mut(leading).enumerate() {
                    let at = (part * each + i + 1) * leading + MARGIN + j;
                    let neighbours = [u[at + 1], u[at - 1], u[at + leading], u[at - leading]];
                    row[MARGIN + j] = weights.apply(u[at], neighbours, 0.0);
                }
            }
        });
        Ok(())
    }
    fn stencil_max(
        &self,
        grid: Grid,
        weights: Weights,
        b: Option<&Vec<f64>>,
        u: &Vec<f64>,
        v: &mut Vec<f64>,
        s: &Self::Scalars,
        monitor: &Self::Monitor,
    ) -> Result<()> {
        let change = rows(grid, weights, b, u, v, |i, v| largest_change(points(grid, u, i), v));
        s.set(Slot(0), change);
        monitor.observe(change);
        Ok(())
    }
}

impl Stencil for Gpu {
    fn stencil(
        &self,
        grid: Grid,
        weights: Weights,
        b: Option<&Self::Vector>,
        u: &Self::Vector,
        v: &mut Self::Vector,
    ) -> Result<()> {
        let (b, u, v) = (b.map_or(std::ptr::null(), |b| b.ptr()), u.ptr(), v.ptr_mut());
        match rows_a_thread(grid) {
            // SAFETY: the arrays were made for this many elements.
            6 => unsafe { self.launch(work(grid, 6), &stencil::<6> { grid, weights, b, u, v }) },
            // SAFETY: the arrays were made for this many elements.
            _ => unsafe { self.launch(work(grid, 4), &stencil::<4> { grid, weights, b, u, v }) },
        }
    }
    fn stencil_by_columns(
        &self,
        grid: Grid,
        weights: Weights,
        u: &Self::Vector,
        v: &mut Self::Vector,
    ) -> Result<()> {
        let points = grid.rows as usize * grid.columns as usize;
        let kernel = stencil_by_columns { grid, weights, u: u.ptr(), v: v.ptr_mut() };
        // SAFETY: the arrays were made for this many elements.
        unsafe { self.launch(Work::on::<f64>(points, 2), &kernel) }
    }
    fn stencil_max(
        &self,
        grid: Grid,
        weights: Weights,
        b: Option<&Self::Vector>,
        u: &Self::Vector,
        v: &mut Self::Vector,
        s: &Self::Scalars,
        monitor: &Self::Monitor,
    ) -> Result<()> {
        let (b, u, v) = (b.map_or(std::ptr::null(), |b| b.ptr()), u.ptr(), v.ptr_mut());
        let (reduction, monitor) = (self.reduction(s, Slot(0)), monitor.argument());
        match rows_a_thread(grid) {
            6 => {
                let kernel = stencil_max::<6> { grid, weights, b, u, v, reduction, monitor };
                // More blocks than are resident: one that ends makes room, and none waits for a long one.
                // SAFETY: the arrays were made for this many elements.
                unsafe { self.launch(few_tiles(work(grid, 6)), &kernel) }
            }
            _ => {
                let kernel = stencil_max::<4> { grid, weights, b, u, v, reduction, monitor };
                // SAFETY: the arrays were made for this many elements.
                unsafe { self.launch_resident(work(grid, 4), &kernel) }
            }
        }
    }
}

/// The same with several tiles a block, which reduces once for them.
fn few_tiles(Work { threads, bytes }: Work) -> Work {
    const TILES: usize = 4;
    let blocks = threads.div_ceil(TILES * BLOCK as usize).min(MAX_REDUCTION_BLOCKS as usize);
    Work { threads: blocks * BLOCK as usize, bytes }
}

fn rows_a_thread(grid: Grid) -> usize {
    if grid.rows as usize * grid.columns as usize >= MANY_POINTS { 6 } else { 4 }
}

/// A block for each of the grid's tiles; every point is read and written.
fn work(grid: Grid, rows_a_thread: usize) -> Work {
    let (rows, columns) = (grid.rows as usize, grid.columns as usize);
    let tiles = rows.div_ceil(rows_a_thread) * columns.div_ceil(BLOCK as usize);
    Work::moving(tiles * BLOCK as usize, (2 * rows * columns * size_of::<f64>()) as u64)
}

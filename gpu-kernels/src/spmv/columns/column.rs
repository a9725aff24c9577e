//! The columns of a launch, and the rows of a block.

use cuda_std::{Real, thread};

use crate::epilogue::Epilogue;
use crate::monitor::Guard;
use crate::unroll::unroll;

/// Columns of one launch at most.
pub const MOST: usize = 8;
/// Up to so many take a kernel with fewer registers.
pub const FEW: usize = 4;

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
pub(super) unsafe fn running<T: Real, E: Epilogue<T>, const K: usize>(
    columns: &[Column<T, E>; K],
) -> [bool; K] {
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
pub(super) unsafe fn inputs<T: Real, E: Epilogue<T>, const K: usize>(
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
pub(super) unsafe fn rows<T: Real, E: Epilogue<T>, const K: usize>(
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
pub(super) unsafe fn finish<T: Real, E: Epilogue<T>, const K: usize>(
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

/// What is multiplied. For a column that is not there or has stopped that is the vector of one that goes on,
/// which is in the cache anyway: so no load of the loop over entries asks whether it is wanted, and none
/// waits for another. `None` where no column goes on.
#[inline(always)]
pub(super) fn vectors<T: Real, E: Epilogue<T>, const K: usize>(
    columns: &[Column<T, E>; K],
    running: [bool; K],
) -> Option<[*const T; K]> {
    let mut any = None;
    unroll::<K>(|c| any = if running[c] { Some(columns[c].x) } else { any });
    let any = any?;
    let mut vectors = [any; K];
    unroll::<K>(|c| vectors[c] = if running[c] { columns[c].x } else { any });
    Some(vectors)
}

/// Tiles of a run.
const RUN: u32 = 4;

/// Does `work(first, end)` for every run of rows that this block takes, of `at_once` rows a tile.
///
/// The tiles of a run follow each other: the neighbours of a row, in several columns, are in the
/// multiprocessor's cache when the next tile comes to them. Runs are short, so that what all blocks work on
/// at a time is together too, and in the device's cache. All blocks take about as many tiles.
#[inline(always)]
pub(super) fn by_runs(n_rows: u64, at_once: usize, mut work: impl FnMut(usize, usize)) {
    let (n_rows, grid) = (n_rows as usize, thread::grid_dim_x());
    let tiles = n_rows.div_ceil(at_once) as u32;
    let runs = tiles.div_ceil(grid * RUN) * grid;
    let mut run = thread::block_idx_x();
    while run < runs {
        // Those in front have a tile more where they do not come out even.
        let (each, more) = (tiles / runs, tiles % runs);
        let first = run * each + run.min(more);
        let behind = first + each + u32::from(run < more);
        work(first as usize * at_once, n_rows.min(behind as usize * at_once));
        run += grid;
    }
}

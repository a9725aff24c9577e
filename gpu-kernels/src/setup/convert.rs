//! From CRS to reduced SELL-32, and between number types.

use cuda_std::{
    Real, kernel,
    memory::*,
    shared, thread,
    warp::{self, FULL_MASK, WARP_SIZE},
};

use crate::monitor::Guard;
use crate::reduce::{Max, Reduction, grid_reduce};
use crate::sizes::{BLOCK, SLICE};
use crate::spmv::sell::place;
use crate::unroll::unroll;
use arithmetic::compression::{Compression, reach_of_row};

/// What the permutation holds where the last slice has no row.
const NO_ROW: u32 = u32::MAX;
/// Threads of the largest block, rows of the largest window that is sorted.
const MAX_WINDOW: usize = 1024;

/// Entries of a row that neighbouring lanes read at once: 32 bytes of columns, a sector of the caches.
const TILE: usize = 8;
/// Rows that a warp reads at once.
const ROWS: usize = SLICE / TILE;
/// Distance in shared memory between the entries of a tile's row: the warp's 8 entries of 4 rows fall into
/// different banks, and so do one entry of 32 rows.
const LEADING: usize = SLICE + ROWS;
/// Elements of the tiles of a block.
const TILES: usize = (BLOCK / WARP_SIZE) as usize * TILE * LEADING;

/// The widths of slices of 32 rows that stay in order: the length of each slice's longest row.
#[kernel]
pub unsafe fn slice_widths(n_rows: u64, row_ptr: *const u32, widths: *mut u32) {
    // SAFETY: the launcher's arguments describe a CRS matrix, and a width for each slice.
    unsafe {
        let lane = thread::index_x() % SLICE;
        let mut first = thread::index_x() - lane;
        while first < n_rows as usize {
            let row = first + lane;
            let mut width =
                if row < n_rows as usize { row_ptr.ld_nc(row + 1) - row_ptr.ld_nc(row) } else { 0 };
            let mut delta = WARP_SIZE / 2;
            while delta > 0 {
                width = width.max(warp::warp_shuffle_down(FULL_MASK, width, delta, WARP_SIZE));
                delta /= 2;
            }
            if lane == 0 {
                widths.st(first / SLICE, width);
            }
            first += thread::stride();
        }
    }
}

/// Sorts each window of rows by descending length, stably, and computes the widths of the slices then; a
/// window is a block, its threads a power of two.
///
/// `permutation` receives the row at each position, `NO_ROW` where the last slice is short. Bitonic (Batcher
/// 1968) by the length and, of equal ones, the row.
#[kernel]
pub unsafe fn sort_windows(n_rows: u64, row_ptr: *const u32, permutation: *mut u32, widths: *mut u32) {
    let keys = shared![u64; MAX_WINDOW];
    let n_rows = n_rows as usize;
    let window = thread::block_dim_x() as usize;
    let first = thread::block_idx_x() as usize * window;
    let t = thread::thread_idx_x() as usize;
    let position = first + t;
    // SAFETY: the launcher's arguments describe a CRS matrix and its slices; blocks have at most MAX_WINDOW
    // threads.
    unsafe {
        // Descending keys are ascending rows; where there is no row the key is smaller than any other.
        let (mut length, mut low) = (0, 0);
        if position < n_rows {
            length = row_ptr.ld_nc(position + 1) - row_ptr.ld_nc(position);
            low = u32::MAX - t as u32;
        }
        keys.set(t, (length as u64) << 32 | low as u64);
        let mut span = 2;
        while span <= window {
            let mut distance = span / 2;
            while distance > 0 {
                thread::sync_threads();
                let other = t ^ distance;
                if t < other {
                    let (mine, theirs) = (keys.get(t), keys.get(other));
                    if (mine < theirs) == (t & span == 0) {
                        keys.set(t, theirs);
                        keys.set(other, mine);
                    }
                }
                distance /= 2;
            }
            span *= 2;
        }
        thread::sync_threads();
        let key = keys.get(t);
        if position < n_rows {
            permutation.st(position, first as u32 + (u32::MAX - key as u32));
            if t.is_multiple_of(SLICE) {
                widths.st(position / SLICE, (key >> 32) as u32);
            }
        } else if position < n_rows.next_multiple_of(SLICE) {
            permutation.st(position, NO_ROW);
        }
    }
}

/// The entries of reduced SELL-32, values rounded to `S`, and its slice pointers; a warp a slice.
///
/// `starts` has the prefix sums of the widths, and `permutation` is null where rows stay in order. Padding is
/// the value 0 in the row's last column, in an empty row the diagonal's or the last one; without a row,
/// column 0.
///
/// A warp reads 8 entries of 4 rows at a time, so that it takes whole sectors, and turns them in shared
/// memory.
#[kernel(T = [f32, f64], S = [f32, f64])]
pub unsafe fn fill_sell<T: Real, S: Real>(
    n_rows: u64,
    n_cols: u64,
    row_ptr: *const u32,
    col_idx: *const u32,
    values: *const T,
    permutation: *const u32,
    starts: *const u32,
    slice_ptr: *mut u64,
    sell_columns: *mut u32,
    sell_values: *mut S,
) {
    let column_tiles = shared![u32; TILES];
    let value_tiles = shared![S; TILES];
    let lane = thread::thread_idx_x() as usize % SLICE;
    let tile = thread::thread_idx_x() as usize / SLICE * TILE * LEADING;
    let (row_of_lane, entry_of_lane) = (lane / TILE, lane % TILE);
    let n_rows = n_rows as usize;
    let n_slices = n_rows.div_ceil(SLICE);
    let mut slice = thread::index_x() / SLICE;
    // SAFETY: the launcher's arguments describe a CRS matrix and its slices.
    unsafe {
        while slice < n_slices {
            let position = slice * SLICE + lane;
            let (mut start, mut length, mut padding) = (0, 0, 0);
            if position < n_rows {
                let row = if permutation.is_null() { position } else { permutation.ld_nc(position) as usize };
                start = row_ptr.ld_nc(row);
                length = row_ptr.ld_nc(row + 1) - start;
                padding = match length {
                    0 => row.min((n_cols as usize).saturating_sub(1)) as u32,
                    _ => col_idx.ld_nc((start + length - 1) as usize),
                };
            }
            let (begin, end) = (starts.ld_nc(slice), starts.ld_nc(slice + 1));
            if lane == 0 {
                slice_ptr.st(slice, begin as u64 * SLICE as u64);
                if slice + 1 == n_slices {
                    slice_ptr.st(n_slices, end as u64 * SLICE as u64);
                }
            }
            let width = end - begin;
            let out = begin as usize * SLICE + lane;
            let mut done = 0;
            while done < width {
                let mut columns = [0; TILE];
                let mut entries = [T::ZERO; TILE];
                let entry = done + entry_of_lane as u32;
                unroll::<TILE>(|k| {
                    let row = (k * ROWS + row_of_lane) as u32;
                    let start = warp::warp_shuffle_idx(FULL_MASK, start, row, WARP_SIZE);
                    let length = warp::warp_shuffle_idx(FULL_MASK, length, row, WARP_SIZE);
                    if entry < length {
                        columns[k] = col_idx.ld_nc((start + entry) as usize);
                        entries[k] = values.ld_nc((start + entry) as usize);
                    }
                });
                // All lanes are done with the tile before this one.
                warp::sync_warp(FULL_MASK);
                unroll::<TILE>(|k| {
                    let at = tile + entry_of_lane * LEADING + k * ROWS + row_of_lane;
                    column_tiles.set(at, columns[k]);
                    value_tiles.set(at, S::from_f64(entries[k].to_f64()));
                });
                warp::sync_warp(FULL_MASK);
                unroll::<TILE>(|k| {
                    let entry = done + k as u32;
                    if entry < width {
                        let at = tile + k * LEADING + lane;
                        let column = column_tiles.get(at);
                        let to = out + entry as usize * SLICE;
                        sell_columns.st(to, if entry < length { column } else { padding });
                        sell_values.st(to, value_tiles.get(at));
                    }
                });
                done += TILE as u32;
            }
            slice += thread::stride() / SLICE;
        }
    }
}

/// [Column indices in 16 bits](crate::spmv::indices::Indices16) of reduced SELL-32, a warp a slice, and
/// `out = ` the largest distance found: where it has more bits, what was stored is of no use, and warps stop.
#[kernel]
pub unsafe fn shorten(
    n_rows: u64,
    slice_ptr: *const u64,
    columns: *const u32,
    bases: *mut u32,
    distances: *mut u32,
    reduction: Reduction<f64>,
) {
    let n_rows = n_rows as usize;
    let lane = thread::thread_idx_x() as usize % SLICE;
    let mut slice = thread::index_x() / SLICE;
    let mut farthest = 0;
    // SAFETY: the launcher's arguments describe a SELL matrix; the lanes of a warp are together.
    unsafe {
        while slice < n_rows.div_ceil(SLICE)
            && !warp::warp_vote_any(FULL_MASK, farthest > u32::from(u16::MAX))
        {
            let is_row = slice * SLICE + lane < n_rows;
            let (mut at, end) = (slice_ptr.ld_nc(slice) as usize, slice_ptr.ld_nc(slice + 1) as usize);
            while at < end {
                let column = if is_row { columns.ld_cs(at + lane) } else { u32::MAX };
                let mut base = column;
                let mut mask = WARP_SIZE / 2;
                while mask > 0 {
                    base = base.min(warp::warp_shuffle_xor(FULL_MASK, base, mask, WARP_SIZE));
                    mask /= 2;
                }
                let distance = if is_row { column - base } else { 0 };
                farthest = farthest.max(distance);
                let next = warp::warp_shuffle_down(FULL_MASK, distance, 1, WARP_SIZE);
                if lane.is_multiple_of(2) {
                    distances.st((at + lane) / 2, distance | next << 16);
                }
                if lane == 0 {
                    bases.st(at / SLICE, base);
                }
                at += SLICE;
            }
            slice += thread::stride() / SLICE;
        }
        grid_reduce::<f64, Max, 1>([farthest as f64], reduction, |_| ());
    }
}

/// Each row's pivot for [compressed](crate::spmv::compressed) entries, the first of its largest entries, and
/// `out = max |column - pivot|` over all entries. The pivot is the diagonal's where `pivots` is null.
#[kernel]
pub unsafe fn reach(
    n_rows: u64,
    slice_ptr: *const u64,
    permutation: *const u32,
    columns: *const u32,
    values: *const f32,
    pivots: *mut u32,
    reduction: Reduction<f64>,
) {
    let mut farthest = 0;
    let mut position = thread::index_x();
    // SAFETY: the launcher's arguments describe a SELL matrix, square where `pivots` is null.
    unsafe {
        while position < n_rows as usize {
            let (row, start, width) = place(slice_ptr, permutation, position);
            if width > 0 {
                // Columns ascend, and padding repeats the last.
                let (first, last) =
                    (columns.ld_nc(start), columns.ld_nc(start + (width as usize - 1) * SLICE));
                let mut pivot = row as u32;
                if !pivots.is_null() {
                    let mut largest = -1.0;
                    pivot = first;
                    for k in 0..width as usize {
                        let magnitude = values.ld_nc(start + k * SLICE).abs();
                        if magnitude > largest {
                            (largest, pivot) = (magnitude, columns.ld_nc(start + k * SLICE));
                        }
                    }
                    pivots.st(row, pivot);
                }
                let row_reach = reach_of_row(pivot, first, last);
                farthest = if row_reach > farthest { row_reach } else { farthest };
            } else if !pivots.is_null() {
                pivots.st(row, 0);
            }
            position += thread::stride();
        }
        grid_reduce::<f64, Max, 1>([farthest as f64], reduction, |_| ());
    }
}

/// From reduced SELL to [compressed](crate::spmv::compressed) entries, written over the columns; what
/// rounding loses of a row is added to its pivot, in f32 and in the order of its entries. `pivots` as
/// [`fn@reach`] has them.
#[kernel]
pub unsafe fn compress(
    n_rows: u64,
    slice_ptr: *const u64,
    permutation: *const u32,
    compression: Compression,
    columns: *mut u32,
    values: *const f32,
    pivots: *const u32,
    pivot_values: *mut f32,
) {
    let mut position = thread::index_x();
    // SAFETY: the launcher's arguments describe a SELL matrix, square where `pivots` is null.
    unsafe {
        while position < n_rows as usize {
            let (row, start, width) = place(slice_ptr, permutation, position);
            let pivot = if pivots.is_null() { row as i32 } else { pivots.ld_nc(row) as i32 };
            let (mut pivot_value, mut lost) = (0.0, 0.0);
            for k in 0..width as usize {
                let at = start + k * SLICE;
                let (column, value) = (columns.ld(at), values.ld_nc(at));
                let distance = column as i32 - pivot;
                let rounded = compression.round(value);
                // Padding is a zero in the last column, which may be the pivot's.
                if distance == 0 {
                    pivot_value += value;
                    columns.st(at, compression.compress(0, 0.0));
                } else {
                    lost += value - rounded;
                    columns.st(at, compression.compress(distance, rounded));
                }
            }
            pivot_values.st(row, pivot_value + lost);
            position += thread::stride();
        }
    }
}

/// `y = x`, rounded to `S`.
#[kernel(T = [f32, f64], S = [f32, f64], batched)]
pub unsafe fn round<T: Real, S: Real>(n: u64, x: *const T, y: *mut S, guard: Guard) {
    // SAFETY: the launcher's arguments are valid for n elements.
    unsafe {
        if guard.stopped() {
            return;
        }
        let mut i = thread::index_x();
        while i < n as usize {
            y.st(i, S::from_f64(x.ld(i).to_f64()));
            i += thread::stride();
        }
    }
}

/// `y = x`, rounded to `S`, and `z = omega d .* y`.
#[kernel(T = [f32, f64], S = [f32, f64], batched)]
pub unsafe fn round_scaled<T: Real, S: Real>(
    n: u64,
    x: *const T,
    omega: S,
    d: *const S,
    y: *mut S,
    z: *mut S,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments are valid for n elements.
    unsafe {
        if guard.stopped() {
            return;
        }
        let mut i = thread::index_x();
        while i < n as usize {
            let value = S::from_f64(x.ld(i).to_f64());
            y.st(i, value);
            z.st(i, omega * d.ld(i) * value);
            i += thread::stride();
        }
    }
}

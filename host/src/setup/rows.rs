//! Matrices a row at a time, in parallel.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::parallel::*;
use cuda_std::Real;

use crate::matrix::Csr;
use crate::pages::in_large_pages;

/// Rows of one task.
const CHUNK: usize = 512;

/// Tasks whose rows are collected before they are put together: so few that they stay in the caches, and
/// their memory, which the system would have to clear, is used again by the next ones.
const WAVE: usize = 64;

/// Rows from which the size of the whole is estimated.
const SAMPLES: usize = 1024;

/// What one task has made: where each of its rows ends, and their entries.
pub(super) struct Chunk<T> {
    pub ends: Vec<usize>,
    pub columns: Vec<u32>,
    pub values: Vec<T>,
}

impl<T> Chunk<T> {
    fn new() -> Self {
        Chunk { ends: vec![], columns: vec![], values: vec![] }
    }
}

/// Space to work in for each thread of the pool, made when the thread first asks for it.
struct Spaces<W, N> {
    by_thread: Vec<Mutex<Option<W>>>,
    new: N,
}

impl<W, N: Fn() -> W> Spaces<W, N> {
    fn new(new: N) -> Self {
        Spaces { by_thread: (0..rayon::current_num_threads()).map(|_| Mutex::new(None)).collect(), new }
    }

    /// Calls `f` with the space of this thread, as it was left.
    fn with<R>(&self, f: impl FnOnce(&mut W) -> R) -> R {
        let own = &self.by_thread[rayon::current_thread_index().unwrap_or(0)];
        // No other thread asks for it, and what a panic may have left behind is never seen.
        let mut space = own.lock().unwrap_or_else(PoisonError::into_inner);
        f(space.get_or_insert_with(&self.new))
    }
}

/// Builds a matrix in one pass: `append(w, i, columns, values)` appends the entries of row `i`, columns
/// ascending, to those of the rows in front of it; `w` is work space that `new` made, as the last call left
/// it.
pub(super) fn collect_rows<T: Real, W: Send>(
    n_rows: usize,
    n_cols: usize,
    new: impl Fn() -> W + Sync,
    append: impl Fn(&mut W, usize, &mut Vec<u32>, &mut Vec<T>) + Sync,
) -> Csr<T> {
    collect_runs(n_rows, n_cols, new, |space, rows, chunk| {
        append(space, rows.start, &mut chunk.columns, &mut chunk.values);
        chunk.ends.push(chunk.columns.len());
    })
}

/// The same where `append` may append several rows at once, the first of those that it is given, with where
/// each ends.
pub(super) fn collect_runs<T: Real, W: Send>(
    n_rows: usize,
    n_cols: usize,
    new: impl Fn() -> W + Sync,
    append: impl Fn(&mut W, Range<usize>, &mut Chunk<T>) + Sync,
) -> Csr<T> {
    let (mut col_idx, mut values) = with_room_for(n_rows, &new, &append);
    let spaces = Spaces::new(new);
    let mut chunks: Vec<Chunk<T>> = (0..WAVE.min(n_rows.div_ceil(CHUNK))).map(|_| Chunk::new()).collect();
    let mut row_ptr = in_large_pages(Vec::with_capacity(n_rows + 1));
    row_ptr.push(0);
    for first in (0..n_rows).step_by(WAVE * CHUNK) {
        chunks.par_iter_mut().enumerate().for_each(|(c, chunk)| {
            chunk.ends.clear();
            chunk.columns.clear();
            chunk.values.clear();
            let (start, end) = ((first + c * CHUNK).min(n_rows), (first + (c + 1) * CHUNK).min(n_rows));
            spaces.with(|space| {
                while start + chunk.ends.len() < end {
                    append(space, start + chunk.ends.len()..end, chunk);
                }
            });
        });
        let added: usize = chunks.iter().map(|chunk| chunk.columns.len()).sum();
        let mut end = col_idx.len();
        col_idx.reserve(added);
        values.reserve(added);
        let (mut columns_left, mut values_left) = (col_idx.spare_capacity_mut(), values.spare_capacity_mut());
        let mut pieces = Vec::with_capacity(chunks.len());
        for chunk in &chunks {
            row_ptr.extend(chunk.ends.iter().map(|row_end| end + row_end));
            end += chunk.columns.len();
            let (c, v);
            (c, columns_left) = columns_left.split_at_mut(chunk.columns.len());
            (v, values_left) = values_left.split_at_mut(chunk.columns.len());
            pieces.push((&chunk.columns[..], &chunk.values[..], c, v));
        }
        pieces.into_par_iter().for_each(|(columns, values, c, v)| {
            c.write_copy_of_slice(columns);
            v.write_copy_of_slice(values);
        });
        // SAFETY: the pieces, written in full, are `added` elements one after another.
        unsafe {
            col_idx.set_len(end);
            values.set_len(end);
        }
    }
    col_idx.shrink_to_fit();
    values.shrink_to_fit();
    Csr::from_valid_parts(n_rows, n_cols, row_ptr, col_idx, values)
}

/// Empty arrays with room for about what [`collect_rows`] will collect, judged by rows at equal distances:
/// arrays that grow are copied. A wrong guess costs address space or a copy.
fn with_room_for<T: Real, W: Send>(
    n_rows: usize,
    new: impl Fn() -> W + Sync,
    append: impl Fn(&mut W, Range<usize>, &mut Chunk<T>) + Sync,
) -> (Vec<u32>, Vec<T>) {
    if n_rows <= WAVE * CHUNK {
        return (Vec::new(), Vec::new());
    }
    let spaces = Spaces::new(new);
    let length = |k: usize| {
        let (mut chunk, row) = (Chunk::new(), k * (n_rows / SAMPLES));
        spaces.with(|space| append(space, row..row + 1, &mut chunk));
        chunk.columns.len()
    };
    let sampled: usize = (0..SAMPLES).into_par_iter().with_min_len(SAMPLES / 8).map(length).sum();
    let expected = (sampled as f64 / SAMPLES as f64 * n_rows as f64) as usize;
    // Pages that are never written are never there.
    (with_room(expected + expected / 8), with_room(expected + expected / 8))
}

/// An empty array with room for `capacity` elements, if the system has that.
fn with_room<E>(capacity: usize) -> Vec<E> {
    let mut array = Vec::new();
    // Without it the array grows as it is filled.
    let _ = array.try_reserve_exact(capacity);
    in_large_pages(array)
}

/// Calls `f(i, columns, values)` for every row, in parallel.
pub(super) fn for_each_row<T: Real>(a: &mut Csr<T>, f: impl Fn(usize, &[u32], &mut [T]) + Sync) {
    for_each_row_with(a, || (), |(), i, columns, values| f(i, columns, values));
}

/// [`for_each_row`] with space to work in, as [`collect_rows`] has it.
pub(super) fn for_each_row_with<T: Real, W: Send>(
    a: &mut Csr<T>,
    new: impl Fn() -> W + Sync,
    f: impl Fn(&mut W, usize, &[u32], &mut [T]) + Sync,
) {
    let spaces = Spaces::new(new);
    let n_rows = a.n_rows();
    let (row_ptr, col_idx, mut values_left) = a.parts_mut();
    let mut chunks = Vec::with_capacity(n_rows.div_ceil(CHUNK));
    for start in (0..n_rows).step_by(CHUNK) {
        let end = (start + CHUNK).min(n_rows);
        let values;
        (values, values_left) = values_left.split_at_mut(row_ptr[end] - row_ptr[start]);
        chunks.push((start..end, values));
    }
    chunks.into_par_iter().for_each(|(rows, values)| {
        let first = row_ptr[rows.start];
        spaces.with(|space| {
            for i in rows {
                let range = row_ptr[i]..row_ptr[i + 1];
                f(space, i, &col_idx[range.clone()], &mut values[range.start - first..range.end - first]);
            }
        });
    });
}

/// The place of `j` in `columns`, if it is there. `positions` has the place of each of `columns`, and
/// anything for other columns.
#[inline]
pub(super) fn find(columns: &[u32], positions: &[u32], j: u32) -> Option<usize> {
    let position = positions[j as usize] as usize;
    (columns.get(position) == Some(&j)).then_some(position)
}

/// The number of coarse unknowns in front of each unknown, and how many there are; `coarse` has 1 for coarse
/// unknowns.
pub(super) fn coarse_numbers(coarse: &[u32]) -> (Vec<u32>, usize) {
    let mut count = 0;
    let number = |&is_coarse| {
        count += is_coarse;
        count - is_coarse
    };
    let numbers = coarse.iter().map(number).collect();
    (numbers, count as usize)
}

//! Matrices a row at a time, in parallel.

use std::cell::RefCell;

use cuda_std::Real;
use rayon::prelude::*;

use crate::matrix::Csr;

/// Rows of one task.
const CHUNK: usize = 512;

/// Tasks whose rows are collected before they are put together: so few that they stay in the caches, and their memory,
/// which the system would have to clear, is used again by the next ones.
const WAVE: usize = 64;

/// What one task has made: where each of its rows ends, and their entries.
struct Chunk<T, W> {
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
    space: W,
}

/// Builds a matrix in one pass: `append(w, i, columns, values)` appends the entries of row `i`, columns ascending,
/// to those of the rows in front of it; `w` is space to work in, with what it was left with.
pub(super) fn collect_rows<T: Real, W: Default + Send>(
    n_rows: usize,
    n_cols: usize,
    append: impl Fn(&mut W, usize, &mut Vec<u32>, &mut Vec<T>) + Sync,
) -> Csr<T> {
    let new = || Chunk { ends: vec![], columns: vec![], values: vec![], space: W::default() };
    let mut chunks: Vec<Chunk<T, W>> = (0..WAVE.min(n_rows.div_ceil(CHUNK))).map(|_| new()).collect();
    let mut row_ptr = Vec::with_capacity(n_rows + 1);
    row_ptr.push(0);
    let (mut col_idx, mut values) = (Vec::new(), Vec::new());
    for first in (0..n_rows).step_by(WAVE * CHUNK) {
        chunks.par_iter_mut().enumerate().for_each(|(c, chunk)| {
            let Chunk { ends, columns, values, space } = chunk;
            ends.clear();
            columns.clear();
            values.clear();
            for i in (first + c * CHUNK).min(n_rows)..(first + (c + 1) * CHUNK).min(n_rows) {
                append(space, i, columns, values);
                ends.push(columns.len());
            }
        });
        let added: usize = chunks.iter().map(|chunk| chunk.columns.len()).sum();
        let mut end = col_idx.len();
        // Memory that grows is moved by the system, not copied.
        col_idx.reserve(added);
        values.reserve(added);
        let (mut columns_left, mut values_left) = (col_idx.spare_capacity_mut(), values.spare_capacity_mut());
        let mut pieces = Vec::with_capacity(chunks.len());
        for chunk in &chunks {
            row_ptr.extend(chunk.ends.iter().map(|of_row| end + of_row));
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

/// Calls `f(i, columns, values)` for every row, in parallel.
pub(super) fn for_each_row<T: Real>(a: &mut Csr<T>, f: impl Fn(usize, &[u32], &mut [T]) + Sync) {
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
        for i in rows {
            let range = row_ptr[i]..row_ptr[i + 1];
            f(i, &col_idx[range.clone()], &mut values[range.start - first..range.end - first]);
        }
    });
}

/// Calls `f` with a number for each of `n_cols` columns, for [`find`]: what others have left there.
pub(super) fn with_positions<R>(n_cols: usize, f: impl FnOnce(&mut [u32]) -> R) -> R {
    thread_local! {
        static POSITIONS: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    }
    POSITIONS.with_borrow_mut(|positions| {
        if positions.len() < n_cols {
            positions.resize(n_cols, 0);
        }
        f(positions)
    })
}

/// Where `columns` has `j`, if `positions` has the place of every one of `columns`, and anything for others.
#[inline]
pub(super) fn find(columns: &[u32], positions: &[u32], j: u32) -> Option<usize> {
    let position = positions[j as usize] as usize;
    (columns.get(position) == Some(&j)).then_some(position)
}

//! Matrices a row at a time, in parallel.

use std::cell::RefCell;

use cuda_std::Real;
use rayon::prelude::*;

use crate::matrix::Csr;

/// Rows of one task.
const CHUNK: usize = 512;

/// What one task has made: where each of its rows ends, and their entries.
struct Chunk<T> {
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
}

/// Builds a matrix in one pass: `append(w, i, columns, values)` appends the entries of row `i`, columns ascending,
/// to those of the rows in front of it; `w` is space to work in, with what it was left with.
pub(super) fn collect_rows<T: Real, W: Default>(
    n_rows: usize,
    n_cols: usize,
    append: impl Fn(&mut W, usize, &mut Vec<u32>, &mut Vec<T>) + Sync,
) -> Csr<T> {
    let chunk = |c: usize| {
        let rows = c * CHUNK..((c + 1) * CHUNK).min(n_rows);
        let mut w = W::default();
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        let end = |i| {
            append(&mut w, i, &mut columns, &mut values);
            columns.len()
        };
        let ends = rows.map(end).collect();
        Chunk { ends, columns, values }
    };
    let chunks: Vec<Chunk<T>> = (0..n_rows.div_ceil(CHUNK)).into_par_iter().map(chunk).collect();

    let mut row_ptr = Vec::with_capacity(n_rows + 1);
    row_ptr.push(0);
    let mut nnz = 0;
    for chunk in &chunks {
        row_ptr.extend(chunk.ends.iter().map(|end| nnz + end));
        nnz += chunk.columns.len();
    }
    let (mut col_idx, mut values) = (vec![0; nnz], vec![T::ZERO; nnz]);
    let (mut columns_left, mut values_left) = (&mut col_idx[..], &mut values[..]);
    let mut pieces = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        let (c, v);
        (c, columns_left) = columns_left.split_at_mut(chunk.columns.len());
        (v, values_left) = values_left.split_at_mut(chunk.columns.len());
        pieces.push((chunk, c, v));
    }
    pieces.into_par_iter().for_each(|(chunk, c, v)| {
        c.copy_from_slice(&chunk.columns);
        v.copy_from_slice(&chunk.values);
    });
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

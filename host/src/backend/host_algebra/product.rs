//! Sparse products and transposes: Gustavson's algorithm, a row of the result at a time, the pattern first.

use cuda_std::Real;
use rayon::prelude::*;

use super::strength::for_each_row;
use crate::matrix::Csr;

/// Rows of one task.
const CHUNK: usize = 512;
/// An empty slot of a hash table; no column has this number.
const EMPTY: u32 = u32::MAX;

/// A set of columns: a hash table with open addressing, sized for each row anew.
#[derive(Default)]
struct Columns {
    slots: Vec<u32>,
    found: Vec<u32>,
}

impl Columns {
    /// Empties it for at most `most` columns.
    fn clear(&mut self, most: usize) {
        self.slots.clear();
        self.slots.resize((2 * most).next_power_of_two(), EMPTY);
        self.found.clear();
    }

    fn insert(&mut self, column: u32) {
        let mask = self.slots.len() - 1;
        let mut slot = (column.wrapping_mul(0x9e37_79b1) >> 7) as usize & mask;
        while self.slots[slot] != column {
            if self.slots[slot] == EMPTY {
                self.slots[slot] = column;
                self.found.push(column);
                return;
            }
            slot = (slot + 1) & mask;
        }
    }
}

/// The pattern of `A B`, with values 0.
pub(super) fn pattern<T: Real>(a: &Csr<T>, b: &Csr<T>) -> Csr<T> {
    assert_eq!(a.n_cols(), b.n_rows());
    let n_rows = a.n_rows();
    let chunk = |columns: &mut Columns, c: usize| {
        let rows = c * CHUNK..((c + 1) * CHUNK).min(n_rows);
        let mut lengths = Vec::with_capacity(rows.len());
        let mut found = Vec::new();
        for i in rows {
            let (of_a, _) = a.row(i);
            let most: usize = of_a.iter().map(|&k| b.row_len(k as usize)).sum();
            columns.clear(most.min(b.n_cols()));
            for &k in of_a {
                b.row(k as usize).0.iter().for_each(|&j| columns.insert(j));
            }
            columns.found.sort_unstable();
            lengths.push(columns.found.len());
            found.extend_from_slice(&columns.found);
        }
        (lengths, found)
    };
    let chunks: Vec<(Vec<usize>, Vec<u32>)> =
        (0..n_rows.div_ceil(CHUNK)).into_par_iter().map_init(Columns::default, chunk).collect();
    let mut row_ptr = Vec::with_capacity(n_rows + 1);
    row_ptr.push(0);
    let mut nnz = 0;
    for length in chunks.iter().flat_map(|(lengths, _)| lengths) {
        nnz += length;
        row_ptr.push(nnz);
    }
    let mut col_idx = vec![0; nnz];
    let mut left = &mut col_idx[..];
    let mut pieces = Vec::with_capacity(chunks.len());
    for (_, found) in &chunks {
        let piece;
        (piece, left) = left.split_at_mut(found.len());
        pieces.push((piece, found));
    }
    pieces.into_par_iter().for_each(|(piece, found)| piece.copy_from_slice(found));
    Csr::from_valid_parts(n_rows, b.n_cols(), row_ptr, col_idx, vec![T::ZERO; nnz])
}

/// See [`crate::backend::Algebra::multiply_values`].
pub(super) fn values<T: Real>(a: &Csr<T>, b: &Csr<T>, c: &mut Csr<T>) {
    // Where each column of the present row of C is; what is left of other rows is never looked at.
    thread_local! {
        static POSITIONS: std::cell::RefCell<Vec<u32>> = const { std::cell::RefCell::new(Vec::new()) };
    }
    for_each_row(c, |i, columns, values| {
        POSITIONS.with_borrow_mut(|positions| {
            if positions.len() < b.n_cols() {
                positions.resize(b.n_cols(), 0);
            }
            for (k, &j) in columns.iter().enumerate() {
                positions[j as usize] = k as u32;
            }
            values.fill(T::ZERO);
            for (&k, &a_ik) in a.row(i).0.iter().zip(a.row(i).1) {
                for (&j, &b_kj) in b.row(k as usize).0.iter().zip(b.row(k as usize).1) {
                    values[positions[j as usize] as usize] += a_ik * b_kj;
                }
            }
        });
    });
}

/// See [`crate::backend::Algebra::transpose_values`].
pub(super) fn transpose_values<T: Real>(a: &Csr<T>, at: &mut Csr<T>) {
    for_each_row(at, |j, columns, values| {
        for (&i, v) in columns.iter().zip(values) {
            *v = a.get(i as usize, j).expect("the pattern is that of the transpose");
        }
    });
}

/// `y = A x`, sums from left to right.
pub(super) fn spmv<T: Real>(a: &Csr<T>, x: &[T], y: &mut [T]) {
    y.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(i, y)| {
        *y = a.row(i).0.iter().zip(a.row(i).1).map(|(&j, &v)| v * x[j as usize]).sum();
    });
}

/// The same pattern, values rounded to S.
pub(super) fn rounded<T: Real, S: Real>(a: &std::sync::Arc<Csr<T>>) -> std::sync::Arc<Csr<S>> {
    // The same type: nothing to copy.
    match (a as &dyn std::any::Any).downcast_ref::<std::sync::Arc<Csr<S>>>() {
        Some(same) => same.clone(),
        None => std::sync::Arc::new(a.cast::<S>()),
    }
}

/// `y = x`, rounded to S.
pub(super) fn cast<T: Real, S: Real>(x: &[T], y: &mut [S]) {
    y.par_iter_mut().with_min_len(1 << 14).zip(x).for_each(|(y, &x)| *y = S::from_f64(x.to_f64()));
}

//! Strength of connection, and numbers of rows.

use cuda_std::Real;
use rayon::prelude::*;

use crate::backend::algebra::{RowWeight, Strength};
use crate::matrix::Csr;

/// Rows of one task.
const CHUNK: usize = 1024;

/// Decides for one row which off-diagonal entries are strong.
struct Criterion<'a, T> {
    diagonal: &'a [T],
    strength: Strength,
}

impl<T: Real> Criterion<'_, T> {
    /// What [`Criterion::holds`] needs of row `i` as a whole: the threshold of `-s a_ij` in the classical case.
    fn row(&self, i: usize, columns: &[u32], values: &[T]) -> T {
        match self.strength {
            Strength::Symmetric { epsilon, .. } => T::from_f64(epsilon),
            Strength::Classical { theta } => {
                let mut largest = T::ZERO;
                for (&j, &v) in columns.iter().zip(values) {
                    let v = self.opposed(i, v);
                    if j as usize != i && v > largest {
                        largest = v;
                    }
                }
                T::from_f64(theta) * largest
            }
        }
    }

    /// `-s a_ij` with s the sign of the diagonal.
    fn opposed(&self, i: usize, v: T) -> T {
        if self.diagonal[i] < T::ZERO { v } else { -v }
    }

    fn holds(&self, i: usize, threshold: T, j: u32, v: T) -> bool {
        match self.strength {
            Strength::Symmetric { .. } => {
                v != T::ZERO && v * v >= threshold * (self.diagonal[i] * self.diagonal[j as usize]).abs()
            }
            Strength::Classical { .. } => {
                let v = self.opposed(i, v);
                v > T::ZERO && v >= threshold
            }
        }
    }
}

/// See [`crate::backend::Algebra::strength`].
pub(super) fn strong_entries<T: Real>(a: &Csr<T>, strength: Strength) -> Csr<T> {
    let diagonal = a.diagonal();
    let criterion = Criterion { diagonal: &diagonal, strength };
    let kept = |i: usize| {
        let (columns, values) = a.row(i);
        let threshold = criterion.row(i, columns, values);
        let criterion = &criterion;
        columns
            .iter()
            .copied()
            .zip(values.iter().copied())
            .filter(move |&(j, v)| j as usize == i || criterion.holds(i, threshold, j, v))
    };
    let lumped = matches!(strength, Strength::Symmetric { lumped: true, .. });
    let fill = |i: usize, columns: &mut [u32], values: &mut [T]| {
        for (k, (j, v)) in kept(i).enumerate() {
            columns[k] = j;
            values[k] = v;
        }
        if lumped {
            lump(a, i, columns, values);
        }
    };
    Csr::from_rows(a.n_rows(), a.n_cols(), |i| kept(i).count(), fill)
}

/// See [`crate::backend::Algebra::strength_values`].
pub(super) fn strong_values<T: Real>(a: &Csr<T>, lumped: bool, s: &mut Csr<T>) {
    for_each_row(s, |i, columns, values| {
        let mut entries = a.row(i).0.iter().zip(a.row(i).1);
        for (&j, v) in columns.iter().zip(values.iter_mut()) {
            *v = *entries.find(|&(&c, _)| c == j).expect("the pattern is part of a's").1;
        }
        if lumped {
            lump(a, i, columns, values);
        }
    });
}

/// Adds the entries of row `i` of `a` that are not among `columns` to the diagonal.
fn lump<T: Real>(a: &Csr<T>, i: usize, columns: &[u32], values: &mut [T]) {
    let Ok(diagonal) = columns.binary_search(&(i as u32)) else { return };
    let original = values[diagonal];
    let mut sum = original;
    let mut k = 0;
    for (&j, &v) in a.row(i).0.iter().zip(a.row(i).1) {
        if k < columns.len() && columns[k] == j {
            k += 1;
        } else {
            sum += v;
        }
    }
    if sum * original > T::ZERO {
        values[diagonal] = sum;
    }
}

/// See [`crate::backend::Algebra::row_weights`].
pub(super) fn row_weights<T: Real>(a: &Csr<T>, weight: RowWeight) -> Vec<T> {
    let of_row = |i: usize| {
        let mut diagonal = T::ZERO;
        let (mut absolute, mut square) = (T::ZERO, T::ZERO);
        for (&j, &v) in a.row(i).0.iter().zip(a.row(i).1) {
            if j as usize == i {
                diagonal = v;
            }
            absolute += v.abs();
            square += v * v;
        }
        match weight {
            RowWeight::InverseDiagonal => T::ONE / diagonal,
            RowWeight::InverseL1 if diagonal < T::ZERO => -T::ONE / absolute,
            RowWeight::InverseL1 => T::ONE / absolute,
            RowWeight::Spai0 => diagonal / square,
            RowWeight::GershgorinRadius => absolute / diagonal.abs(),
        }
    };
    (0..a.n_rows()).into_par_iter().with_min_len(CHUNK).map(of_row).collect()
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

//! Strength of connection, and numbers of rows.

use cuda_std::Real;
use rayon::prelude::*;

use super::rows::{collect_rows, for_each_row};
use crate::backend::algebra::{RowWeight, Strength};
use crate::matrix::Csr;

/// Rows of one task.
const CHUNK: usize = 1024;

/// See [`crate::backend::Algebra::strength`].
pub(super) fn strong_entries<T: Real>(a: &Csr<T>, strength: Strength) -> Csr<T> {
    let diagonal = a.diagonal();
    match strength {
        Strength::Symmetric { epsilon, lumped } => {
            let epsilon = T::from_f64(epsilon);
            let row = |_: &mut (), i: usize, columns: &mut Vec<u32>, values: &mut Vec<T>| {
                let mut sum = diagonal[i];
                let mut place = None;
                for (&j, &v) in a.row(i).0.iter().zip(a.row(i).1) {
                    let threshold = epsilon * (diagonal[i] * diagonal[j as usize]).abs();
                    if j as usize == i {
                        place = Some(values.len());
                    } else if !(v != T::ZERO && v * v >= threshold) {
                        sum += v;
                        continue;
                    }
                    columns.push(j);
                    values.push(v);
                }
                if lumped && let Some(place) = place {
                    values[place] = lump(diagonal[i], sum);
                }
            };
            collect_rows(a.n_rows(), a.n_cols(), row)
        }
        Strength::Classical { theta } => {
            let theta = T::from_f64(theta);
            let row = |_: &mut (), i: usize, columns: &mut Vec<u32>, values: &mut Vec<T>| {
                let entries = || a.row(i).0.iter().copied().zip(a.row(i).1.iter().copied());
                // -s a_ij with s the sign of the diagonal.
                let opposed = |v: T| if diagonal[i] < T::ZERO { v } else { -v };
                let mut largest = T::ZERO;
                for (j, v) in entries() {
                    if j as usize != i && opposed(v) > largest {
                        largest = opposed(v);
                    }
                }
                let threshold = theta * largest;
                for (j, v) in entries() {
                    if j as usize == i || (opposed(v) > T::ZERO && opposed(v) >= threshold) {
                        columns.push(j);
                        values.push(v);
                    }
                }
            };
            collect_rows(a.n_rows(), a.n_cols(), row)
        }
    }
}

/// See [`crate::backend::Algebra::strength_values`].
pub(super) fn strong_values<T: Real>(a: &Csr<T>, lumped: bool, s: &mut Csr<T>) {
    for_each_row(s, |i, columns, values| {
        let original = a.get(i, i).unwrap_or(T::ZERO);
        let mut sum = original;
        let mut place = 0;
        for (&j, &v) in a.row(i).0.iter().zip(a.row(i).1) {
            if columns.get(place) == Some(&j) {
                values[place] = v;
                place += 1;
            } else {
                sum += v;
            }
        }
        if lumped && let Ok(diagonal) = columns.binary_search(&(i as u32)) {
            values[diagonal] = lump(original, sum);
        }
    });
}

/// The diagonal entry to which weak entries were added, or the original where the sum vanishes or has another sign.
fn lump<T: Real>(original: T, sum: T) -> T {
    if sum * original > T::ZERO { sum } else { original }
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

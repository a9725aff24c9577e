//! Strength of connection, and numbers of rows.

use arithmetic::smoothing::Limits;
use cuda_std::Real;
use rayon::prelude::*;

use super::rows::{collect_rows, for_each_row};
use crate::backend::algebra::{RowWeight, Strength};
use crate::matrix::Csr;
use crate::vectors::in_widest_vectors;

/// Rows of one task.
const CHUNK: usize = 1024;

/// See [`crate::backend::Algebra::strength`].
pub(super) fn strong_entries<T: Real>(a: &Csr<T>, strength: Strength) -> Csr<T> {
    let diagonal = a.diagonal();
    match strength {
        Strength::Symmetric { epsilon, lumped } => {
            let epsilon = T::from_f64(epsilon);
            let row = |(): &mut (), i: usize, columns: &mut Vec<u32>, values: &mut Vec<T>| {
                strong_row(i, a.row(i), &diagonal, epsilon, lumped, columns, values)
            };
            collect_rows(a.n_rows(), a.n_cols(), || (), row)
        }
        Strength::Classical { theta } => {
            let theta = T::from_f64(theta);
            let row = |(): &mut (), i: usize, columns: &mut Vec<u32>, values: &mut Vec<T>| {
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
            collect_rows(a.n_rows(), a.n_cols(), || (), row)
        }
    }
}

in_widest_vectors! {
    /// Appends row `i` without its weak entries.
    fn strong_row<T: Real>(
        i: usize,
        row: (&[u32], &[T]),
        diagonal: &[T],
        epsilon: T,
        lumped: bool,
        columns: &mut Vec<u32>,
        values: &mut Vec<T>,
    ) {
        let start = values.len();
        let (of_row, entries) = row;
        columns.extend_from_slice(of_row);
        values.extend_from_slice(entries);
        let is_kept = |j: u32, v: T| {
            let threshold = epsilon * (diagonal[i] * diagonal[j as usize]).abs();
            (j as usize == i) | ((v != T::ZERO) & (v * v >= threshold))
        };
        // Most rows of most matrices.
        if of_row.iter().zip(entries).fold(true, |all, (&j, &v)| all & is_kept(j, v)) {
            return;
        }
        let (columns_left, values_left) = (&mut columns[start..], &mut values[start..]);
        let mut sum = diagonal[i];
        let (mut kept, mut place) = (0, None);
        for (&j, &v) in of_row.iter().zip(entries) {
            // Without a branch: which entries are strong cannot be predicted.
            (columns_left[kept], values_left[kept]) = (j, v);
            place = if j as usize == i { Some(start + kept) } else { place };
            let is_kept = is_kept(j, v);
            sum += [v, T::ZERO][is_kept as usize];
            kept += is_kept as usize;
        }
        columns.truncate(start + kept);
        values.truncate(start + kept);
        if lumped && let Some(place) = place {
            values[place] = lump(diagonal[i], sum);
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

/// See [`crate::backend::Algebra::noise`].
pub(super) fn noise<T: Real>(d: &[T], n: usize) -> Vec<T> {
    let block = d.len() / n.max(1);
    let of_row = |i: usize| arithmetic::noise::scaled_noise(i as u32, d[block * i + i % block]);
    (0..n).into_par_iter().with_min_len(CHUNK).map(of_row).collect()
}

/// See [`crate::backend::Algebra::limit`].
pub(super) fn limit<T: Real>(a: &Csr<T>, g: &[T], d: &[T], limits: Limits<T>) -> (Vec<T>, Vec<T>, usize) {
    let of_row = |i: usize| {
        let (columns, values) = a.row(i);
        let limited = limits.limited(d[i], g[i]);
        let couples = |(&j, &v): (&u32, &T)| limits.is_large(g[j as usize]) && limits.couples(d[i], v);
        // Hardly any g is large.
        if limits.large.is_finite() && columns.iter().zip(values).any(couples) {
            let larger =
                |most: T, &j: &u32| if d[j as usize].abs() > most { d[j as usize].abs() } else { most };
            if limits.is_small(limited, columns.iter().fold(T::ZERO, larger)) {
                return (d[i] / g[i], d[i] / g[i]);
            }
        }
        (limited, T::ZERO)
    };
    let rows = (0..a.n_rows()).into_par_iter().with_min_len(CHUNK);
    let (limited, outlying): (Vec<T>, Vec<T>) = rows.map(of_row).unzip();
    let count = outlying.iter().filter(|&&of_row| of_row != T::ZERO).count();
    (limited, outlying, count)
}

/// See [`crate::backend::Algebra::row_weights`].
pub(super) fn row_weights<T: Real>(a: &Csr<T>, weight: RowWeight) -> Vec<T> {
    // a_ii, sum_j |a_ij|, sum_j a_ij^2
    let sums = |i: usize| {
        let mut diagonal = T::ZERO;
        let (mut absolute, mut square) = (T::ZERO, T::ZERO);
        for (&j, &v) in a.row(i).0.iter().zip(a.row(i).1) {
            if j as usize == i {
                diagonal = v;
            }
            absolute += v.abs();
            square += v * v;
        }
        (diagonal, absolute, square)
    };
    let of_row = |i: usize| match weight {
        // Without a look at the other entries.
        RowWeight::InverseDiagonal => T::ONE / a.get(i, i).unwrap_or(T::ZERO),
        RowWeight::InverseL1 => {
            let (diagonal, absolute, _) = sums(i);
            if diagonal < T::ZERO { -T::ONE / absolute } else { T::ONE / absolute }
        }
        RowWeight::Spai0 => {
            let (diagonal, _, square) = sums(i);
            diagonal / square
        }
        RowWeight::GershgorinRadius => {
            let (diagonal, absolute, _) = sums(i);
            absolute / diagonal.abs()
        }
    };
    (0..a.n_rows()).into_par_iter().with_min_len(CHUNK).map(of_row).collect()
}

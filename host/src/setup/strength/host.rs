//! [`StrengthOfConnection`] on the CPU.

use std::sync::Arc;

use cuda_std::Real;

use super::{Strength, StrengthOfConnection};
use crate::backend::cpu::Cpu;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::rows::{collect_rows, for_each_row};
use crate::vectors::in_widest_vectors;

impl<T: Real> StrengthOfConnection<T> for Cpu {
    fn strength(&self, a: &Arc<Csr<T>>, strength: Strength) -> Result<Arc<Csr<T>>> {
        let diagonal = a.diagonal();
        let strong = match strength {
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
        };
        Ok(Arc::new(strong))
    }

    fn strength_values(&self, a: &Arc<Csr<T>>, lumped: bool, s: &mut Arc<Csr<T>>) -> Result<()> {
        for_each_row(Arc::make_mut(s), |i, columns, values| {
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
        Ok(())
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
        let (neighbours, entries) = row;
        columns.extend_from_slice(neighbours);
        values.extend_from_slice(entries);
        let is_kept = |j: u32, v: T| {
            let threshold = epsilon * (diagonal[i] * diagonal[j as usize]).abs();
            (j as usize == i) | ((v != T::ZERO) & (v * v >= threshold))
        };
        // Most rows of most matrices.
        if neighbours.iter().zip(entries).fold(true, |all, (&j, &v)| all & is_kept(j, v)) {
            return;
        }
        let (columns_left, values_left) = (&mut columns[start..], &mut values[start..]);
        let mut sum = diagonal[i];
        let (mut kept, mut place) = (0, None);
        for (&j, &v) in neighbours.iter().zip(entries) {
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

/// The diagonal entry to which weak entries were added, or the original where the sum vanishes or has another
/// sign.
fn lump<T: Real>(original: T, sum: T) -> T {
    if sum * original > T::ZERO { sum } else { original }
}

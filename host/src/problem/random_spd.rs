//! A random sparse symmetric positive definite matrix.

use super::random::{below, uniform};
use crate::matrix::Csr;
use rayon::prelude::*;

/// A random symmetric matrix of `n` rows with about `nnz_per_row` entries each, the diagonal included.
///
/// Pairs of different rows are drawn at random (the few drawn twice count once) and coupled by a value
/// uniform in [-1, 1). Then a_ii = sum_j |a_ij| + d_i with d_i uniform in [0.01, 0.11). The matrix is
/// strictly diagonally dominant with a positive diagonal, hence positive definite (Gershgorin). It is not an
/// M-matrix, because half of the couplings are positive.
pub fn random_spd(n: usize, nnz_per_row: usize, seed: u64) -> Csr<f64> {
    let pairs = if n < 2 { 0 } else { n as u64 * nnz_per_row.saturating_sub(1) as u64 / 2 };
    // Sorting by (row, column) sorts both halves of the matrix. A pair's value depends on the pair alone.
    let mut couplings: Vec<(u32, u32)> = (0..pairs)
        .into_par_iter()
        .flat_map_iter(|k| {
            let i = below(seed, 2 * k, n as u64) as u32;
            let j = below(seed, 2 * k + 1, n as u64 - 1) as u32;
            let j = if j < i { j } else { j + 1 };
            [(i, j), (j, i)]
        })
        .collect();
    couplings.par_sort_unstable();
    couplings.dedup();
    let first = |i: usize| couplings.partition_point(|&(row, _)| (row as usize) < i);
    let couplings_of = |i: usize| &couplings[first(i)..first(i + 1)];
    let (value_seed, shift_seed) = (!seed, seed.rotate_left(32) ^ 1);

    Csr::from_rows(
        n,
        n,
        |i| couplings_of(i).len() + 1,
        |i, columns, values| {
            let mut sum = 0.01 + 0.1 * uniform(shift_seed, i as u64);
            let couplings = couplings_of(i);
            let diagonal = couplings.partition_point(|&(_, j)| (j as usize) < i);
            for (k, &(_, j)) in couplings.iter().enumerate() {
                let (low, high) = (j.min(i as u32), j.max(i as u32));
                let value = 2.0 * uniform(value_seed, u64::from(high) << 32 | u64::from(low)) - 1.0;
                let k = k + usize::from(k >= diagonal);
                (columns[k], values[k]) = (j, value);
                sum += value.abs();
            }
            (columns[diagonal], values[diagonal]) = (i as u32, sum);
        },
    )
}

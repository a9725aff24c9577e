//! Matrices and comparisons that the tests of the set-up share.

use std::sync::Arc;

use cuda_std::Real;

use super::algebra::Algebra;
use super::strength::Strength;
use crate::backend::gpu::Gpu;
use crate::launch::sim::Sim;
use crate::matrix::Csr;
use crate::problem::random::{self, below, uniform};
use crate::problem::{Problem, generate};

pub type Dense = Vec<Vec<f64>>;

pub const CLASSICAL: Strength = Strength::Classical { theta: 0.25 };

pub fn symmetric(epsilon: f64, lumped: bool) -> Strength {
    Strength::Symmetric { epsilon, lumped }
}

/// `n_rows` rows of up to `most` entries in [-1, 1) in random columns, some rows empty.
pub fn random(n_rows: usize, n_cols: usize, most: u64, seed: u64) -> Csr<f64> {
    let entries = |i: usize| {
        let count = below(seed, i as u64, most + 1);
        let place = move |k| (i as u64) << 20 | k;
        let mut columns: Vec<u32> =
            (0..count).map(|k| below(seed + 1, place(k), n_cols as u64) as u32).collect();
        columns.sort_unstable();
        columns.dedup();
        columns.into_iter().map(move |j| (j, 2.0 * uniform(seed + 2, place(u64::from(j))) - 1.0))
    };
    Csr::from_rows(
        n_rows,
        n_cols,
        |i| entries(i).len(),
        |i, columns, values| {
            for (k, (j, v)) in entries(i).enumerate() {
                (columns[k], values[k]) = (j, v);
            }
        },
    )
}

/// A random unsymmetric matrix with a stored diagonal, a third of it negative.
pub fn with_diagonal(n: usize, most: u64, seed: u64) -> Csr<f64> {
    let mut dense = dense(&random(n, n, most, seed));
    for (i, row) in dense.iter_mut().enumerate() {
        row[i] = if i % 3 == 1 { -1.5 } else { 2.0 + uniform(seed, i as u64) };
    }
    sparse(&dense)
}

/// Matrices of all kinds, a few hundred rows.
pub fn samples() -> Vec<Arc<Csr<f64>>> {
    let problem = |problem| generate(&problem, 7).unwrap();
    let all = [
        with_diagonal(97, 9, 1),
        with_diagonal(61, 45, 2),
        problem(Problem::Poisson2d { n: 13 }),
        problem(Problem::Anisotropic { n: 9, epsilon: 0.01 }),
        problem(Problem::ConvectionDiffusion { n: 11, peclet: 10.0 }),
        problem(Problem::Tet { n: 5 }),
        problem(Problem::RandomSpd { n: 211, nnz_per_row: 7 }),
        Csr::identity(5),
        Csr::identity(1),
        Csr::identity(0),
    ];
    all.map(Arc::new).into()
}

pub fn dense(a: &Csr<f64>) -> Dense {
    (0..a.n_rows()).map(|i| (0..a.n_cols()).map(|j| a.get(i, j).unwrap_or(0.0)).collect()).collect()
}

/// The entries that are not 0.
pub fn sparse(a: &Dense) -> Csr<f64> {
    let entries = |i: usize| a[i].iter().enumerate().filter(|(_, v)| **v != 0.0);
    Csr::from_rows(
        a.len(),
        a.first().map_or(0, Vec::len),
        |i| entries(i).count(),
        |i, columns, values| {
            for (k, (j, v)) in entries(i).enumerate() {
                (columns[k], values[k]) = (j as u32, *v);
            }
        },
    )
}

pub fn assert_close(found: &Csr<f64>, expected: &Dense, tolerance: f64) {
    assert_eq!(found.n_rows(), expected.len());
    for (i, (found, expected)) in dense(found).iter().zip(expected).enumerate() {
        assert_eq!(found.len(), expected.len());
        for (j, (found, expected)) in found.iter().zip(expected).enumerate() {
            let error = (found - expected).abs();
            assert!(error <= tolerance * expected.abs().max(1.0), "({i}, {j}): {found}, not {expected}");
        }
    }
}

pub fn times(a: &Dense, b: &Dense) -> Dense {
    let columns = b.first().map_or(0, Vec::len);
    let entry = |row: &[f64], j: usize| row.iter().zip(b).map(|(v, row)| v * row[j]).sum();
    a.iter().map(|row| (0..columns).map(|j| entry(row, j)).collect()).collect()
}

/// Whether there is an edge between i and j in the graph of `s`, or of `st`.
pub fn edges(graphs: &[&Csr<f64>], n: usize) -> Vec<Vec<bool>> {
    let edge = |i: usize, j: usize| i != j && graphs.iter().any(|s| s.get(i, j).is_some());
    (0..n).map(|i| (0..n).map(|j| edge(i, j)).collect()).collect()
}

/// A simulated device that reports races and reads of memory never written.
pub fn strict() -> Gpu {
    Gpu::new(Arc::new(Sim::strict())).unwrap()
}

/// A problem with its values changed a little, so that sums round, and symmetric all the same.
fn rough(problem: &str) -> Csr<f64> {
    let mut a = generate(&problem.parse().unwrap(), 7).unwrap();
    let rows: Vec<usize> = (0..a.n_rows()).flat_map(|i| vec![i; a.row_len(i)]).collect();
    let columns = a.col_idx().to_vec();
    for ((v, i), j) in a.values_mut().iter_mut().zip(rows).zip(columns) {
        *v *= 1.0 + 0.4 * random::uniform(3, (i + j as usize) as u64);
    }
    a
}

/// No symmetry at all: a full row, isolated rows, both signs on and off the diagonal, zeros, equal values.
fn irregular<T: Real>(n: usize) -> Csr<T> {
    let columns = |i: usize| -> Vec<usize> {
        let is_stored = |j: usize| random::below(5, (i * n + j) as u64, 17) == 0 || i == 3;
        (0..n).filter(|&j| j == i || i % 11 != 5 && is_stored(j)).collect()
    };
    Csr::from_rows(
        n,
        n,
        |i| columns(i).len(),
        |i, to, values| {
            for (k, j) in columns(i).into_iter().enumerate() {
                let sign = if i % 3 == 0 { -1.0 } else { 1.0 };
                let off_diagonal = (random::below(9, (i * n + j) as u64, 9) as f64 - 4.0) / 3.0;
                to[k] = j as u32;
                values[k] =
                    T::from_f64(if j == i { sign * (0.3 + (i % 7) as f64 / 3.0) } else { off_diagonal });
            }
        },
    )
}

fn path<T: Real>(n: usize) -> Csr<T> {
    let first = |i: usize| i.saturating_sub(1);
    let last = |i: usize| (i + 1).min(n - 1);
    Csr::from_rows(
        n,
        n,
        |i| last(i) - first(i) + 1,
        |i, to, values| {
            for (k, j) in (first(i)..=last(i)).enumerate() {
                to[k] = j as u32;
                values[k] = T::from_f64(if i == j { 2.1 } else { -1.0 / (1.0 + (i + j) as f64 % 3.0) });
            }
        },
    )
}

/// Symmetric matrices with all of their diagonal stored.
pub fn symmetric_samples<T: Real>() -> Vec<Arc<Csr<T>>> {
    let fixed = [Csr::identity(1), Csr::identity(37), path(1), path(259)];
    let rough = ["poisson2d:13", "tet:5"].map(|problem| rough(problem).cast());
    fixed.into_iter().chain(rough).map(Arc::new).collect()
}

/// Those, matrices without symmetry, and all [`samples`].
pub fn all_samples<T: Real>() -> Vec<Arc<Csr<T>>> {
    let mut all = symmetric_samples();
    all.extend([203, 61].map(|n| Arc::new(irregular(n))));
    all.extend(samples().into_iter().map(|a| Arc::new(a.cast())));
    all
}

/// Fails unless pattern and bits of the values agree.
pub fn assert_same<T: Real>(found: &Csr<T>, expected: &Csr<T>, what: &str) {
    let bits = |a: &Csr<T>| -> Vec<u64> { a.values().iter().map(|v| v.to_f64().to_bits()).collect() };
    assert_eq!((found.n_rows(), found.n_cols()), (expected.n_rows(), expected.n_cols()), "{what}");
    assert_eq!(found.row_ptr(), expected.row_ptr(), "{what}");
    assert_eq!(found.col_idx(), expected.col_idx(), "{what}");
    assert_eq!(bits(found), bits(expected), "{what}");
}

/// The third part of [`SmoothingDiagonal`](super::diagonal::SmoothingDiagonal), made up: about every
/// fifth row is one of a sliver.
pub fn slivers_by_chance<T: Real>(n: usize) -> Vec<T> {
    (0..n as u64).map(|i| if random::below(11, i, 5) == 0 { T::from_f64(0.37) } else { T::ZERO }).collect()
}

/// Rows of the lengths that `length` gives, their columns scattered, values without pattern.
pub fn scattered<T: Real>(n_rows: usize, n_cols: usize, length: impl Fn(usize) -> usize) -> Csr<T> {
    let mut row_ptr = vec![0];
    let mut columns: Vec<u32> = Vec::new();
    for i in 0..n_rows {
        let length = length(i).min(n_cols);
        let mut row: Vec<u32> =
            (0..length).map(|k| ((i * 7919 + k * n_cols / length.max(1)) % n_cols) as u32).collect();
        row.sort_unstable();
        row.dedup();
        columns.extend(row);
        row_ptr.push(columns.len());
    }
    let value = |p: usize| T::from_f64(((p * 37 % 101) as f64 - 50.3) / 7.0);
    let values = (0..columns.len()).map(value).collect();
    Csr::new(n_rows, n_cols, row_ptr, columns, values).unwrap()
}

/// Fails unless the matrix on `b` is the expected one, to the last bit.
pub fn assert_agrees<T: Real, B: Algebra<T>>(b: &B, found: &B::Csr, expected: &Csr<T>, what: &str) {
    assert_same(&b.csr_to_host(found).unwrap(), expected, what);
}

//! The residual in f64 on the host: what every claim of a solver is checked with.

use crate::parallel::*;

use crate::matrix::Csr;

/// Rows whose sum is one number, so that the order of additions does not depend on the threads.
const CHUNK: usize = 4096;

/// `||v||_2`, added up from the first entry to the last.
pub(super) fn norm(v: &[f64]) -> f64 {
    // The sum of nothing is -0 in Rust.
    v.iter().fold(0.0, |sum, v| sum + v * v).sqrt()
}

/// `b_i - (A x)_i`.
fn entry(a: &Csr<f64>, x: &[f64], b: &[f64], i: usize) -> f64 {
    let (columns, values) = a.row(i);
    let product: f64 = columns.iter().zip(values).map(|(&c, &v)| v * x[c as usize]).sum();
    b[i] - product
}

/// `b - A x`.
pub(super) fn residual(a: &Csr<f64>, x: &[f64], b: &[f64]) -> Vec<f64> {
    (0..a.n_rows()).into_par_iter().with_min_len(CHUNK).map(|i| entry(a, x, b, i)).collect()
}

/// `||b - A x||_2`.
pub(super) fn residual_norm(a: &Csr<f64>, x: &[f64], b: &[f64]) -> f64 {
    let square = |i: usize| entry(a, x, b, i).powi(2);
    let chunk = |c: usize| (c * CHUNK..((c + 1) * CHUNK).min(a.n_rows())).map(square).sum();
    let squares: Vec<f64> = (0..a.n_rows().div_ceil(CHUNK)).into_par_iter().map(chunk).collect();
    squares.iter().fold(0.0, |sum, s| sum + s).sqrt()
}

/// A norm as a share of `||b||_2`; the norm itself where that is 0.
pub(super) fn relative(norm: f64, norm_b: f64) -> f64 {
    if norm_b == 0.0 { norm } else { norm / norm_b }
}

/// `||b - A x||_2 / ||b||_2` in f64, or `||b - A x||_2` where b = 0.
///
/// # Panics
/// Where `x` or `b` is shorter than the matrix.
pub fn relative_residual(a: &Csr<f64>, x: &[f64], b: &[f64]) -> f64 {
    relative(residual_norm(a, x, b), norm(b))
}

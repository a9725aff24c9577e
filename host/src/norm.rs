//! The 2-norm of a vector on the host.

use crate::parallel::*;

/// Elements whose squares are one number, so that the order of additions does not depend on the threads.
const CHUNK: usize = 4096;

/// `sum_i v_i^2`.
pub(crate) fn squares(v: &[f64]) -> f64 {
    // The sum of nothing is -0 in Rust.
    let chunks: Vec<f64> = v.par_chunks(CHUNK).map(|v| v.iter().fold(0.0, |sum, v| sum + v * v)).collect();
    chunks.iter().fold(0.0, |sum, chunk| sum + chunk)
}

/// `||v||_2`.
pub(crate) fn norm(v: &[f64]) -> f64 {
    squares(v).sqrt()
}

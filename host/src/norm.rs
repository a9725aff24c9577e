//! The 2-norm of a vector on the host.

use crate::matrix::backward_error::{larger, most_of_chunk};
use crate::parallel::*;
use crate::powers::{exponent, times};

/// Elements whose squares are one number, so that the order of additions does not depend on the threads.
const CHUNK: usize = 4096;

/// `sum_i v_i^2`.
pub(crate) fn squares(v: &[f64]) -> f64 {
    sum(v, |v| v)
}

fn sum(v: &[f64], of: impl Fn(f64) -> f64 + Sync) -> f64 {
    let chunks: Vec<f64> = v.par_chunks(CHUNK).map(|v| squares_of_chunk(v, &of)).collect();
    chunks.iter().fold(0.0, |sum, chunk| sum + chunk)
}

fn squares_of_chunk(v: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    v.iter().fold(0.0, |sum, &v| sum + of(v) * of(v))
}

/// `||v||_2`, also where squares vanish or overflow.
pub(crate) fn norm(v: &[f64]) -> f64 {
    norms(v).0
}

/// `||v||_2`, also where squares vanish or overflow, and `||v||_inf`, NaN where an element is.
pub(crate) fn norms(v: &[f64]) -> (f64, f64) {
    let of_chunk = |v: &[f64]| (squares_of_chunk(v, |v| v), most_of_chunk(v));
    let chunks: Vec<(f64, f64)> = v.par_chunks(CHUNK).map(of_chunk).collect();
    let both = |(sum, max), &(squares, most): &_| (sum + squares, larger(max, most));
    let (squares, max) = chunks.iter().fold((0.0, 0.0), both);
    let two = if holds(squares) { squares.sqrt() } else { of_extreme(max, |e| sum(v, |v| times(v, e))) };
    (two, max)
}

/// Whether a sum of squares has all of its digits.
pub(crate) fn holds(squares: f64) -> bool {
    /// Of what vanishes beside it no digit is seen.
    const LEAST: f64 = 1e-270;
    (LEAST..=f64::MAX).contains(&squares)
}

/// A norm by its largest magnitude and the sum of squares of numbers that were multiplied by `2^e`.
pub(crate) fn of_extreme(most: f64, squares_times: impl FnOnce(i32) -> f64) -> f64 {
    match most == 0.0 || !most.is_finite() {
        true => most,
        false => times(squares_times(-exponent(most)).sqrt(), exponent(most)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_may_vanish_or_overflow() {
        for size in [1e-320, 1e-200, 1.0, 1e200, 1e307] {
            let found = norm(&[3.0 * size, 0.0, -4.0 * size]);
            assert!((found / (5.0 * size) - 1.0).abs() < 1e-3, "{size:e}: {found:e}");
        }
        assert_eq!((norm(&[]), norm(&[0.0, -0.0])), (0.0, 0.0));
        assert_eq!(norm(&[1.0, f64::NEG_INFINITY]), f64::INFINITY);
        assert!(norm(&[1.0, f64::NAN]).is_nan());
    }
}

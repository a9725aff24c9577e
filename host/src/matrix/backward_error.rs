//! How good a solution is, whatever the condition of its matrix.

use crate::parallel::*;

use super::Csr;
use crate::powers::times;

/// Rows that a thread takes at least.
const CHUNK: usize = 4096;

/// The normwise backward error `||r|| / (||A|| ||x|| + ||b||)` with `r = b - A x`, in maximum norms (Rigal
/// and Gaches 1967): x solves a system exactly whose A and b differ from these by this share. 0 where all is
/// 0.
///
/// # Panics
/// Where `x` or `b` is shorter than the matrix.
pub fn backward_error(a: &Csr<f64>, x: &[f64], b: &[f64], r: &[f64]) -> f64 {
    let sum = |i: usize| a.row(i).1.iter().map(|v| v.abs()).sum::<f64>();
    let norm_a = (0..a.n_rows()).into_par_iter().with_min_len(CHUNK).map(sum).reduce(|| 0.0, f64::max);
    of_maxima(norm_a, most(&x[..a.n_cols()]), most(&b[..a.n_rows()]), most(r))
}

/// [`backward_error`] by all norms.
pub(crate) fn of_maxima(norm_a: f64, norm_x: f64, norm_b: f64, norm_r: f64) -> f64 {
    /// So much smaller no product of what f64 holds overflows but with what vanishes.
    const SMALLER: i32 = -600;
    let whole = norm_a * norm_x + norm_b;
    match norm_r {
        0.0 => 0.0,
        // What overflows would make any residual nothing.
        _ if whole == f64::INFINITY => {
            let part = times(norm_a.min(f64::MAX), SMALLER) * norm_x + times(norm_b, SMALLER);
            times(norm_r, SMALLER) / part
        }
        _ => norm_r / whole,
    }
}

/// The maximum norm, NaN where an element is.
pub(crate) fn most(v: &[f64]) -> f64 {
    v.par_chunks(CHUNK).map(most_of_chunk).reduce(|| 0.0, larger)
}

/// The same in several places at a time, as vector instructions do it. NaN is in no maximum, so it is counted
/// by itself.
pub(crate) fn most_of_chunk(chunk: &[f64]) -> f64 {
    const PLACES: usize = 8;
    let (mut most, mut has_nan) = ([0.0; PLACES], [false; PLACES]);
    let (whole, rest) = chunk.as_chunks::<PLACES>();
    let mut take = |place: usize, v: f64| {
        let v = v.abs();
        most[place] = if v > most[place] { v } else { most[place] };
        has_nan[place] |= v.is_nan();
    };
    whole.iter().for_each(|v| (0..PLACES).for_each(|place| take(place, v[place])));
    rest.iter().for_each(|&v| take(0, v));
    if has_nan.contains(&true) { f64::NAN } else { most.into_iter().fold(0.0, f64::max) }
}

/// The larger one; NaN, which `max` loses, where one is.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_share_of_a_and_b() {
        let a = Csr::from_triplets(2, 2, [(0, 0, 2.0), (0, 1, -3.0), (1, 1, 0.5)]).unwrap();
        let (x, b) = ([1.5, -2.0], [7.0, 1.0]);
        let r = [b[0] - (3.0 + 6.0), b[1] + 1.0];
        assert_eq!(backward_error(&a, &x, &b, &r), 2.0 / (5.0 * 2.0 + 7.0));
        assert_eq!(backward_error(&a, &[0.0; 2], &[0.0; 2], &[0.0; 2]), 0.0);
        assert!(backward_error(&a, &x, &b, &[f64::NAN, 1.0]).is_nan());
        let large = a.map_values(|v| v * 1e300);
        let error = backward_error(&large, &[1e20, 0.0], &[0.0; 2], &[1e304, 0.0]);
        assert!((error / 2e-17 - 1.0).abs() < 1e-12, "{error:e}");
    }
}

//! The residual in f64: what every claim of a solver is checked with.

use crate::parallel::*;

use crate::error::Result;
use crate::matrix::Csr;
use crate::matrix::backward_error::larger;
use crate::norm::{holds, norm, of_extreme};
use crate::powers::times;
use crate::solver::direct::doubled_residual;

/// Rows whose sum is one number, so that the order of additions does not depend on the threads.
const CHUNK: usize = 4096;

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

/// A system as its solutions are checked: all of it, or on each of several ranks its rows.
pub(super) trait Equation {
    /// `b - A x`.
    ///
    /// # Errors
    /// Those of ranks.
    fn residual(&self, x: &[f64], b: &[f64]) -> Result<Vec<f64>>;
    /// How large that is, of all rows.
    ///
    /// # Errors
    /// Those of ranks.
    fn norms(&self, x: &[f64], b: &[f64]) -> Result<Norms>;
    /// Takes the part in the null space out of x.
    ///
    /// # Errors
    /// Those of ranks.
    fn project(&self, x: &mut [f64]) -> Result<()>;
}

impl Equation for Csr<f64> {
    fn residual(&self, x: &[f64], b: &[f64]) -> Result<Vec<f64>> {
        Ok(residual(self, x, b))
    }
    fn norms(&self, x: &[f64], b: &[f64]) -> Result<Norms> {
        Ok(Norms::of(self, x, b))
    }
    /// Nothing is known of one.
    fn project(&self, _: &mut [f64]) -> Result<()> {
        Ok(())
    }
}

/// How large a residual is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Norms {
    /// `||b - A x||_2`.
    pub two: f64,
    /// `||b - A x||_inf`, NaN where an element is.
    pub max: f64,
}

impl Norms {
    /// Those of `b - A x`, in one pass over A.
    pub fn of(a: &Csr<f64>, x: &[f64], b: &[f64]) -> Norms {
        Norms::of_all(a, &[(x, b)])[0]
    }

    /// The same for each of several pairs of x and b.
    pub fn of_all(a: &Csr<f64>, systems: &[(&[f64], &[f64])]) -> Vec<Norms> {
        let all = systems.iter().zip(squares_and_max(a, systems, |r| r));
        let norms = |(&system, (squares, max)): (&_, _)| {
            let of_extreme = || of_extreme(max, |e| squares_and_max(a, &[system], |r| times(r, e))[0].0);
            Norms { two: if holds(squares) { squares.sqrt() } else { of_extreme() }, max }
        };
        all.map(norms).collect()
    }

    /// Whether some rows of `b - A x`, computed here, say the same of norms that come from elsewhere.
    pub fn hold_for_sample(&self, a: &Csr<f64>, x: &[f64], b: &[f64]) -> bool {
        let terms = |i: usize| a.row(i).0.iter().zip(a.row(i).1).map(|(&c, &v)| v * x[c as usize]);
        self.hold_for_rows(b, terms)
    }

    /// The same of the rows of which `terms` gives the `a_ij x_j`: none of a sample is larger but for
    /// rounding.
    pub fn hold_for_rows<I: Iterator<Item = f64>>(
        &self,
        b: &[f64],
        terms: impl Fn(usize) -> I + Sync,
    ) -> bool {
        /// Rows that are computed.
        const SAMPLE: usize = 1024;
        /// Of these a thread takes so many at least.
        const LEAST: usize = 64;
        /// An odd number, that of the golden ratio: multiples of it fall into no pattern of rows.
        const STRIDE: usize = 0x9E37_79B9_7F4A_7C15;
        let n = b.len();
        let holds = |k: usize| {
            let i = if n <= SAMPLE { k } else { k.wrapping_mul(STRIDE) % n };
            let add = |(count, sum, size), term: f64| (count + 1, sum + term, size + term.abs());
            let (count, sum, size) = terms(i).fold((2, 0.0, b[i].abs()), add);
            let rounding = f64::from(count) * f64::EPSILON * size;
            // Not for NaN.
            (b[i] - sum).abs() <= self.max + 2.0 * rounding
        };
        let found: Vec<bool> = (0..n.min(SAMPLE)).into_par_iter().with_min_len(LEAST).map(holds).collect();
        !found.contains(&false)
    }

    /// The same as if computed with twice the digits.
    pub fn in_twice_the_digits(a: &Csr<f64>, x: &[f64], b: &[f64]) -> Norms {
        let r = doubled_residual(a, x, b);
        Norms { two: norm(&r), max: r.iter().fold(0.0, |max, r| larger(max, r.abs())) }
    }

    /// Those of n elements that are known to have at least this 2-norm.
    pub fn at_least(self, two: f64, n: usize) -> Norms {
        Norms { two: self.two.max(two), max: larger(self.max, two / (n.max(1) as f64).sqrt()) }
    }
}

/// The sum of squares and the largest magnitude of what is made of the elements of `b - A x`, for each pair
/// of x and b. A chunk of rows is in the cache for all after the first.
fn squares_and_max(
    a: &Csr<f64>,
    systems: &[(&[f64], &[f64])],
    of: impl Fn(f64) -> f64 + Sync,
) -> Vec<(f64, f64)> {
    let chunk = |c: usize| {
        let rows = c * CHUNK..((c + 1) * CHUNK).min(a.n_rows());
        let of_system = |&(x, b): &(&[f64], &[f64])| {
            let elements = rows.clone().map(|i| of(entry(a, x, b, i)));
            elements.fold((0.0, 0.0), |(sum, max), r| (sum + r * r, larger(max, r.abs())))
        };
        systems.iter().map(of_system).collect::<Vec<(f64, f64)>>()
    };
    let chunks: Vec<_> = (0..a.n_rows().div_ceil(CHUNK)).into_par_iter().map(chunk).collect();
    let of_system = |k: usize| {
        let parts = chunks.iter().map(|chunk| chunk[k]);
        parts.fold((0.0, 0.0), |(sum, max), (square, most)| (sum + square, larger(max, most)))
    };
    (0..systems.len()).map(of_system).collect()
}

/// A norm as a share of `||b||_2`; the norm itself where that is 0.
pub(super) fn relative(norm: f64, norm_b: f64) -> f64 {
    match norm_b {
        0.0 => norm,
        // Squares that overflow say nothing of how large the residual is beside b.
        f64::INFINITY => f64::INFINITY,
        _ => norm / norm_b,
    }
}

/// `||b - A x||_2 / ||b||_2` in f64, or `||b - A x||_2` where b = 0.
///
/// # Panics
/// Where `x` or `b` is shorter than the matrix.
pub fn relative_residual(a: &Csr<f64>, x: &[f64], b: &[f64]) -> f64 {
    relative(Norms::of(a, x, b).two, norm(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::generate;

    #[test]
    fn norms_that_rows_contradict_do_not_hold() {
        // Fewer rows than a sample, and more.
        for problem in ["poisson2d:9", "poisson2d:60"] {
            let a = generate(&problem.parse().unwrap(), 1).unwrap();
            let x: Vec<f64> = (0..a.n_rows()).map(|i| 1.0 + (i % 5) as f64 * 0.3).collect();
            let b = vec![0.1; x.len()];
            let norms = Norms::of(&a, &x, &b);
            assert!(norms.hold_for_sample(&a, &x, &b));
            assert!(!Norms { max: 0.5 * norms.max, ..norms }.hold_for_sample(&a, &x, &b), "{problem}");
            assert!(!Norms { max: f64::NAN, ..norms }.hold_for_sample(&a, &x, &b));
            // All that is left is rounding.
            let b = a.mul_vec(&x);
            assert!(Norms { two: 0.0, max: 0.0 }.hold_for_sample(&a, &x, &b), "{problem}");
        }
    }
}

//! What was tried.

use super::{Method, Precond};

/// A way to solve that was left.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// The method.
    pub method: Method,
    /// The preconditioner.
    pub precond: Precond,
    /// Iterations done.
    pub iterations: u32,
    /// Seconds, set-up and all.
    pub seconds: f64,
    /// `||b - A x||_2 / ||b||_2` of what it left; `None` where it came to nothing.
    pub relative_residual: Option<f64>,
    /// Why it was left.
    pub why: String,
}

impl Attempt {
    /// A way that was left before anything was set up for it.
    pub(super) fn without_a_start(method: Method, precond: Precond, why: String) -> Attempt {
        Attempt { method, precond, iterations: 0, seconds: 0.0, relative_residual: None, why }
    }

    /// Iterations that it would take at the rate that it had; infinite where it had none.
    pub(super) fn iterations_in_all(&self, rtol: f64) -> f64 {
        match self.relative_residual {
            Some(left) if left < 1.0 => f64::from(self.iterations) * rtol.max(f64::EPSILON).ln() / left.ln(),
            _ => f64::INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_of_an_attempt_says_what_it_would_take() {
        let after = |relative_residual| Attempt {
            iterations: 30,
            relative_residual,
            ..Attempt::without_a_start(Method::Idr, Precond::Jacobi, "slow".into())
        };
        assert!((after(Some(1e-2)).iterations_in_all(1e-8) - 120.0).abs() < 1e-9);
        assert_eq!(after(Some(1.0)).iterations_in_all(1e-8), f64::INFINITY);
        assert_eq!(after(Some(f64::NAN)).iterations_in_all(1e-8), f64::INFINITY);
        assert_eq!(after(None).iterations_in_all(1e-8), f64::INFINITY);
    }
}

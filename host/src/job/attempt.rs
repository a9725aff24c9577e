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
}

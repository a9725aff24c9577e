//! Strength of connection: which entries of a matrix coarsening looks at.

use cuda_std::Real;

use super::matrix::Matrices;
use crate::error::Result;

mod device;
mod distributed;
mod host;
mod reference;
#[cfg(test)]
mod tests;

/// When the connection of unknown `i` to `j`, an off-diagonal entry, is strong. An entry 0 never is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Strength {
    /// `a_ij^2 >= epsilon |a_ii a_jj|` (Vanek, Mandel, Brezina 1996; Rosenberger and Haase 2017, equation
    /// 9.1).
    Symmetric {
        /// The threshold of the squares.
        epsilon: f64,
        /// Whether weak entries are added to the diagonal, so that row sums stay: the filtered matrix of
        /// smoothed aggregation. Where the diagonal would change its sign or vanish it is left as it is.
        lumped: bool,
    },
    /// `-s a_ij >= theta max_k(-s a_ik)` with `s` the sign of `a_ii` (Ruge and Stueben 1987).
    Classical {
        /// The share of the row's strongest connection.
        theta: f64,
    },
}

/// Strong entries.
pub trait StrengthOfConnection<T: Real>: Matrices<T> {
    /// The strong off-diagonal entries of the square matrix `a`, and its diagonal. Every diagonal entry must
    /// be stored and not be 0.
    fn strength(&self, a: &Self::Csr, strength: Strength) -> Result<Self::Csr>;

    /// The values of [`StrengthOfConnection::strength`] for new values of `a` and the pattern that `s` has.
    fn strength_values(&self, a: &Self::Csr, lumped: bool, s: &mut Self::Csr) -> Result<()>;
}

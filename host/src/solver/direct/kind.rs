//! Which factorisations there are, and which may serve a matrix.

use crate::matrix::Csr;
use crate::named::named;

named! {
    /// The factorisations.
    "factorisation" Kind {
        /// `L L^T` of a symmetric positive definite matrix.
        Cholesky = "cholesky",
        /// `L D L^T` of a symmetric matrix, with pivots of one and two rows chosen within blocks of columns.
        Ldlt = "ldlt",
        /// `L U` with partial pivoting, of any matrix.
        Lu = "lu",
        /// `L L^T` of the transpose of a matrix times itself, where LU grows without bounds.
        Normal = "normal",
    }
}

/// The factorisations that may serve a matrix, the cheapest first.
pub fn kinds(a: &Csr<f64>) -> Vec<Kind> {
    /// Entries may differ from their mirror images by rounding.
    const ROUNDING: f64 = 1e-14;
    if !a.is_symmetric(ROUNDING).is_symmetric() {
        return vec![Kind::Lu];
    }
    match a.diagonal().iter().all(|d| *d > 0.0) {
        true => vec![Kind::Cholesky, Kind::Ldlt, Kind::Lu],
        false => vec![Kind::Ldlt, Kind::Lu],
    }
}

/// Whether the diagonal has zeros.
pub fn has_zeros(a: &Csr<f64>) -> bool {
    a.diagonal().contains(&0.0)
}

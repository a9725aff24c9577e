//! [`Inverses`] on the host, and inverses that only the host computes.

use std::sync::Arc;

use cuda_std::Real;
use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, Side};

use super::Inverses;
use crate::backend::cpu::Cpu;
use crate::backend::reference::Reference;
use crate::matrix::Csr;

impl<T: Real> Inverses<T> for Cpu {}
impl<T: Real> Inverses<T> for Reference {}

/// Pivots and singular values below this share of the largest entry are taken for zero,
const SINGULAR: f64 = 1e-11;
/// and below this many units of rounding.
const ROUNDINGS: f64 = 32.0;

/// The dense inverse of `a` as a matrix in CRS, so that one product applies it; the pseudo-inverse where `a`
/// is singular. `usual` is the size of a diagonal entry of the problem that it approximates: compared with
/// it, all of `a` may be rounding, such as the 1 x 1 matrix that is left of a pure Neumann problem.
///
/// Symmetric positive definite matrices are inverted by Cholesky's method, other symmetric ones by their
/// eigenvalues, and the rest with an LU decomposition with partial pivoting, where singular by a singular
/// value decomposition.
pub fn inverse<T: Real>(a: &Csr<T>, usual: f64) -> Arc<Csr<T>> {
    let n = a.n_rows();
    // The transpose, so that rows of the inverse are columns of that.
    let mut dense = Mat::<f64>::zeros(n, n);
    for i in 0..n {
        for (&j, v) in a.row(i).0.iter().zip(a.row(i).1) {
            dense[(j as usize, i)] = v.to_f64();
        }
    }
    let largest = a.values().iter().fold(0.0, |most: f64, v| most.max(v.to_f64().abs()));
    let zero = negligible::<T>(largest, usual);
    let inverse = if n == 0 { dense } else { invert(&dense, zero) };
    let columns: Vec<u32> = (0..n).flat_map(|_| 0..n as u32).collect();
    let rows = (0..n).flat_map(|i| inverse.col(i).iter().copied());
    let values = rows.map(T::from_f64).collect();
    Arc::new(Csr::from_valid_parts(n, n, (0..=n).map(|i| i * n).collect(), columns, values))
}

/// What a pivot or a singular value must be above, where `largest` is the size of the largest entry.
pub fn negligible<T: Real>(largest: f64, usual: f64) -> f64 {
    SINGULAR.max(ROUNDINGS * T::EPSILON.to_f64()) * largest.max(usual)
}

fn invert(a: &Mat<f64>, zero: f64) -> Mat<f64> {
    let n = a.nrows();
    let symmetric = (0..n).all(|i| (0..i).all(|j| (a[(i, j)] - a[(j, i)]).abs() <= zero));
    if symmetric {
        if let Ok(factors) = a.llt(Side::Lower) {
            let smallest = (0..n).map(|i| factors.L()[(i, i)].powi(2)).fold(f64::INFINITY, f64::min);
            if smallest > zero {
                return factors.inverse();
            }
        }
        symmetric_pseudo_inverse(a, zero)
    } else {
        let factors = a.partial_piv_lu();
        let smallest = (0..n).map(|i| factors.U()[(i, i)].abs()).fold(f64::INFINITY, f64::min);
        if smallest > zero { factors.inverse() } else { pseudo_inverse(a, zero) }
    }
}

/// `U S^+ U^T`, eigenvalues up to `zero` taken for zero: in half the time of [`pseudo_inverse`].
fn symmetric_pseudo_inverse(a: &Mat<f64>, zero: f64) -> Mat<f64> {
    let n = a.nrows();
    let Ok(eigen) = a.self_adjoint_eigen(Side::Lower) else { return Mat::zeros(n, n) };
    let s = eigen.S().column_vector();
    let inverted = |k: usize| if s[k].abs() > zero { 1.0 / s[k] } else { 0.0 };
    let scaled = Mat::from_fn(n, n, |i, k| eigen.U()[(i, k)] * inverted(k));
    &scaled * eigen.U().transpose()
}

/// `V S^+ U^T`, singular values up to `zero` taken for zero.
pub(crate) fn pseudo_inverse(a: &Mat<f64>, zero: f64) -> Mat<f64> {
    let n = a.nrows();
    let Ok(svd) = a.svd() else { return Mat::zeros(n, n) };
    let s = svd.S().column_vector();
    let inverted = |k: usize| if s[k] > zero { 1.0 / s[k] } else { 0.0 };
    let scaled = Mat::from_fn(n, n, |i, k| svd.V()[(i, k)] * inverted(k));
    &scaled * svd.U().transpose()
}

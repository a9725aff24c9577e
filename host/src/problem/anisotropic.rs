//! Anisotropic diffusion along the axes of the unit square.

use super::by_row::whole;
use super::stencil::{Stencil, five_point};
use crate::matrix::Csr;

/// -(epsilon u_xx + u_yy) = f on the unit square, u = 0 around it: the five-point stencil times h^2
/// on the n^2 inner points. Point (i, j), at x = (i + 1) h and y = (j + 1) h, is unknown i n + j.
///
/// Where epsilon is small, point smoothers damp errors only along y, and multigrid must coarsen along y.
pub fn anisotropic(n: usize, epsilon: f64) -> Csr<f64> {
    whole(&stencil(n, epsilon))
}

/// Its rows.
pub(super) fn stencil(n: usize, epsilon: f64) -> Stencil {
    Stencil::new([1, n, n], &five_point(2.0 * epsilon + 2.0, -epsilon, -epsilon, -1.0, -1.0))
}

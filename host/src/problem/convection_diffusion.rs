//! Convection and diffusion on the unit square: a nonsymmetric M-matrix.

use super::by_row::whole;
use super::stencil::{Stencil, five_point};
use crate::matrix::Csr;

/// -Δu + v . ∇u = f on the unit square, u = 0 around it, with the constant velocity
/// v = peclet (2, 1) / sqrt(5): `peclet` is |v| L / D for L = D = 1.
///
/// Central differences for -Δ and upwind differences for v . ∇, times h^2, on the n^2 inner points of
/// a grid with h = 1 / (n + 1); point (i, j), at x = (i + 1) h and y = (j + 1) h, is unknown i n + j:
///
/// ```text
/// (4 + h (vx + vy)) u_ij - (1 + h vx) u_i-1,j - (1 + h vy) u_i,j-1 - u_i+1,j - u_i,j+1
/// ```
///
/// It is weakly diagonally dominant for every Péclet number, which must not be negative.
pub fn convection_diffusion(n: usize, peclet: f64) -> Csr<f64> {
    whole(&stencil(n, peclet))
}

/// Its rows.
pub(super) fn stencil(n: usize, peclet: f64) -> Stencil {
    let h = 1.0 / (n as f64 + 1.0);
    let (x, y) = (h * peclet * 2.0 / 5f64.sqrt(), h * peclet / 5f64.sqrt());
    Stencil::new([1, n, n], &five_point(4.0 + x + y, -1.0 - x, -1.0, -1.0 - y, -1.0))
}

//! Poisson's equation on the unit square and the unit cube.

use super::by_row::whole;
use super::stencil::{Stencil, five_point};
use crate::matrix::Csr;

/// -Δu = f on the unit square, u = 0 around it: the five-point stencil [-1 -1 4 -1 -1], which is
/// h^2 times -Δ, on the n^2 inner points of a grid with h = 1 / (n + 1). Point (i, j) is unknown
/// i n + j.
///
/// Its eigenvalues are 4 sin^2(p pi h / 2) + 4 sin^2(q pi h / 2) for p, q = 1..n.
pub fn poisson2d(n: usize) -> Csr<f64> {
    whole(&on_square(n))
}

/// Its rows.
pub(super) fn on_square(n: usize) -> Stencil {
    Stencil::new([1, n, n], &five_point(4.0, -1.0, -1.0, -1.0, -1.0))
}

/// -Δu = f on the unit cube, u = 0 around it: the seven-point stencil with 6 and -1, which is h^2
/// times -Δ, on the n^3 inner points. Point (i, j, k) is unknown (i n + j) n + k.
pub fn poisson3d(n: usize) -> Csr<f64> {
    whole(&on_cube(n))
}

/// Its rows.
pub(super) fn on_cube(n: usize) -> Stencil {
    let stencil = [
        ([-1, 0, 0], -1.0),
        ([0, -1, 0], -1.0),
        ([0, 0, -1], -1.0),
        ([0, 0, 0], 6.0),
        ([0, 0, 1], -1.0),
        ([0, 1, 0], -1.0),
        ([1, 0, 0], -1.0),
    ];
    Stencil::new([n, n, n], &stencil)
}

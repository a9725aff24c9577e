//! Linear elasticity: a bar that is clamped at one end.

use super::kuhn;
use crate::error::Result;
use crate::fem::{Elastic, FreeNodes, P1, Q1};
use crate::matrix::Csr;
use crate::named::named;

named! {
    /// What an elastic bar is made of.
    "elements" Elements {
        /// Six in each cube of nodes, linear.
        Tetrahedra = "tetrahedra",
        /// One in each cube of nodes, trilinear.
        Hexahedra = "hexahedra",
    }
}

/// Its length, in times of its width.
const LENGTH: usize = 4;
/// Young's modulus and Poisson's ratio.
const MATERIAL: (f64, f64) = (1.0, 0.3);

/// Nodes along each axis of a bar with `n` along an edge of its cross-section.
fn sizes(n: usize) -> [usize; 3] {
    [LENGTH * (n - 1) + 1, n, n]
}

/// The matrix of an elastic bar ([`P1::elasticity`]) of n x n nodes in its cross-section, and 4 (n - 1) + 1
/// along x.
///
/// - Nodes at unit spacing, moved by the jitter of [`tet`](super::tet()), which leaves faces uneven; each
///   cube is cut into six tetrahedra likewise, or is a hexahedron.
/// - E = 1, nu = 0.3.
/// - The nodes of the end x = 0 are clamped and removed. All other faces are free.
///
/// It has 12 (n - 1) n^2 rows of up to 45 entries, with hexahedra 81: rows 3i to 3i + 2 are the displacements
/// of free node i along x, y, z; z runs fastest. It is symmetric to the last bit and positive definite.
/// Multigrid needs its rigid motions, see [`elasticity_coordinates`]. `n` is at least 2.
///
/// # Errors
/// [`Error::Mesh`](crate::Error::Mesh) if the jitter leaves an element without volume, which is very
/// unlikely.
pub fn elasticity(n: usize, elements: Elements, seed: u64) -> Result<Csr<f64>> {
    let points = kuhn::points(sizes(n), seed);
    let material = Elastic::new(MATERIAL.0, MATERIAL.1)?;
    // The first n^2 nodes are those of the end.
    let free = FreeNodes::new(points.len(), |i| i < n * n);
    match elements {
        Elements::Tetrahedra => {
            P1::new(&points, &kuhn::tetrahedra(sizes(n)))?.elasticity(&free, |_| material)
        }
        Elements::Hexahedra => Q1::new(&points, &kuhn::hexahedra(sizes(n)))?.elasticity(&free, |_| material),
    }
}

/// The coordinates of the free nodes of [`elasticity`], an array for each axis.
pub fn elasticity_coordinates(n: usize, seed: u64) -> Vec<Vec<f64>> {
    let points = kuhn::points(sizes(n), seed);
    (0..3).map(|x| points[n * n..].iter().map(|p| p[x]).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Symmetry;
    use faer::{Mat, Side};

    #[test]
    fn is_symmetric_and_positive_definite_with_the_sizes_it_says() {
        for (n, elements, most) in [
            (2, Elements::Tetrahedra, 45),
            (3, Elements::Tetrahedra, 45),
            (2, Elements::Hexahedra, 81),
            (3, Elements::Hexahedra, 81),
        ] {
            let a = elasticity(n, elements, 5).unwrap();
            assert_eq!(a.n_rows(), 12 * (n - 1) * n * n);
            assert_eq!(a.n_rows(), 3 * elasticity_coordinates(n, 5)[0].len());
            assert_eq!(a.is_symmetric(0.0), Symmetry::Symmetric);
            assert!((0..a.n_rows()).all(|row| a.row_len(row) <= most && a.row_len(row).is_multiple_of(3)));
            let dense = Mat::from_fn(a.n_rows(), a.n_rows(), |i, j| a.get(i, j).unwrap_or(0.0));
            let eigenvalues = dense.self_adjoint_eigenvalues(Side::Lower).unwrap();
            assert!(eigenvalues[0] > 1e-5, "{}", eigenvalues[0]);
        }
        let of = |seed| elasticity(3, Elements::Tetrahedra, seed).unwrap();
        assert_ne!(of(5), of(6));
    }
}

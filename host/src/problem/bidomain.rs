//! The coupled 2x2 system of the bidomain equations on the box of `tet`.

use super::kuhn;
use crate::error::Result;
use crate::fem::{self, P1, transversely_isotropic};
use crate::matrix::Csr;

// The benchmark of S. A. Niederer et al., Philosophical Transactions of the Royal Society A 369, 2011.

/// Distance of the nodes before the jitter (mm).
const SPACING: f64 = 0.2;
/// Conductivities inside of the cells, along and across the fibres (mS/mm).
const SIGMA_I: [f64; 2] = [0.17, 0.019];
/// Conductivities outside of the cells.
const SIGMA_E: [f64; 2] = [0.62, 0.24];
/// The membrane's surface to volume ratio (1/mm).
const CHI: f64 = 140.0;
/// The membrane's capacity (uF/mm^2).
const C_M: f64 = 0.01;
/// Time step (ms).
const DT: f64 = 0.05;

/// The matrix of one implicit time step of the bidomain equations ([`fem::bidomain()`]) on a box of n^3
/// nodes.
///
/// - The jittered mesh of [`tet`](super::tet()) at a spacing of 0.2 mm, all its nodes kept, with its fibre
///   f = (1, 1, 0.5) normalised.
/// - sigma_i = 0.17 along and 0.019 across the fibre, sigma_e = 0.62 and 0.24 mS/mm.
/// - kappa = chi Cm / dt = 28 mS/mm^3 for chi = 140/mm, Cm = 0.01 uF/mm^2, dt = 0.05 ms.
/// - Natural conditions on all faces.
///
/// It has 2 n^3 rows of up to 30 entries, in mS: row 2i is phi_e and row 2i + 1 is v_m of node i, k fastest.
/// It is symmetric to the last bit and positive semidefinite. It is singular: phi_e is defined up to a
/// constant, and the null space is (1, 0, 1, 0, ..). A right-hand side is consistent if its entries 2i add up
/// to zero. `n` is at least 2.
///
/// # Errors
/// [`Error::Mesh`](crate::Error::Mesh) if the jitter leaves a tetrahedron without volume, which is very
/// unlikely.
pub fn bidomain(n: usize, seed: u64) -> Result<Csr<f64>> {
    let points: Vec<_> = kuhn::points([n; 3], seed).into_iter().map(|p| p.map(|x| SPACING * x)).collect();
    let tets = kuhn::tetrahedra([n; 3]);
    let space = P1::new(&points, &tets)?;
    let stiffness = |sigma_l, sigma_t| {
        let sigma = transversely_isotropic(kuhn::fibre(), sigma_l, sigma_t);
        space.stiffness(|_| sigma)
    };
    let k_i = stiffness(SIGMA_I[0], SIGMA_I[1]);
    let k_ie = stiffness(SIGMA_I[0] + SIGMA_E[0], SIGMA_I[1] + SIGMA_E[1]);
    fem::bidomain(&k_i, &k_ie, &space.mass(), CHI * C_M / DT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Symmetry;
    use faer::{Mat, Side};

    #[test]
    fn is_symmetric_with_the_sizes_it_says() {
        for n in [2, 3, 7] {
            let a = bidomain(n, 5).unwrap();
            assert_eq!(a.n_rows(), 2 * n * n * n);
            // Besides themselves, the nodes that lie apart by 001, 010, 011, 100, 101, 110 or 111, both ways.
            let m = n - 1;
            let pairs = 3 * m * n * n + 3 * m * m * n + m * m * m;
            assert_eq!(a.nnz(), 4 * (n * n * n + 2 * pairs));
            assert_eq!(a.is_symmetric(0.0), Symmetry::Symmetric);
        }
        assert_eq!(bidomain(4, 5).unwrap(), bidomain(4, 5).unwrap());
        assert_ne!(bidomain(4, 5).unwrap(), bidomain(4, 6).unwrap());
    }

    #[test]
    fn null_space_is_a_constant_phi_alone() {
        let a = bidomain(4, 3).unwrap();
        let dense = Mat::from_fn(a.n_rows(), a.n_rows(), |i, j| a.get(i, j).unwrap_or(0.0));
        let eigenvalues = dense.self_adjoint_eigenvalues(Side::Lower).unwrap();
        assert!(eigenvalues[0].abs() < 1e-14, "{}", eigenvalues[0]);
        assert!(eigenvalues[1] > 1e-3, "{}", eigenvalues[1]);
        let constant: Vec<f64> = (0..a.n_rows()).map(|row| 1.0 - (row % 2) as f64).collect();
        assert!(a.mul_vec(&constant).iter().all(|y| y.abs() < 1e-15));
    }

    #[test]
    fn voltage_is_weighted_as_the_spacing_and_the_time_step_say() {
        // phi = 0, v = 1: v^T (K_i + kappa M) v = kappa volume; the jitter moves the volume by a few percent.
        let n = 9;
        let a = bidomain(n, 3).unwrap();
        let v: Vec<f64> = (0..a.n_rows()).map(|row| (row % 2) as f64).collect();
        let energy: f64 = a.mul_vec(&v).iter().zip(&v).map(|(y, v)| y * v).sum();
        let expected = 28.0 * (0.2 * (n - 1) as f64).powi(3);
        assert!((energy / expected - 1.0).abs() < 0.05, "{energy}, not about {expected}");
        // v = 0, phi = x along the first axis: phi^T K_ie phi = volume e . sigma_ie e.
        let at = |row: usize| kuhn::position([row / (n * n), row / n % n, row % n], [n; 3], 3)[0] * SPACING;
        let phi: Vec<f64> = (0..a.n_rows()).map(|row| if row % 2 == 0 { at(row / 2) } else { 0.0 }).collect();
        let conducted: f64 = a.mul_vec(&phi).iter().zip(&phi).map(|(y, p)| y * p).sum();
        let sigma = 0.259 + (0.79 - 0.259) * 4.0 / 9.0;
        let ratio = conducted / energy / (sigma / 28.0);
        assert!((ratio - 1.0).abs() < 1e-12, "{ratio}");
    }
}

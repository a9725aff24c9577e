//! The matrices of P1 elements, gathered row by row.

use super::{FreeNodes, P1, Point, Vec3};
use crate::matrix::Csr;
use crate::parallel::*;

/// Number of the edge between two corners (0 to 5, of a triangle to 2). The diagonal is not used.
const EDGE: [[usize; 4]; 4] = [[0, 0, 1, 3], [0, 0, 2, 4], [1, 2, 0, 5], [3, 4, 5, 0]];
/// The corners of each edge; those of a triangle come first.
const CORNERS: [[usize; 2]; 6] = [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]];

impl<const C: usize> P1<'_, C> {
    /// The stiffness matrix of -div(sigma grad u) with natural boundary conditions (mS):
    ///
    /// ```text
    /// K_ij = sum_T |T| grad phi_i . sigma_T grad phi_j
    /// ```
    ///
    /// `conductivity(t)` is the symmetric tensor of cell `t` (mS/mm; of a triangle the part in its plane),
    /// see [`transversely_isotropic`](super::transversely_isotropic). Only its upper triangle is read. It is
    /// called once for a cell, from any thread.
    ///
    /// The matrix is symmetric to the last bit, and positive semidefinite where the conductivities are. Its
    /// rows add up to zero but for rounding, because each cell's diagonal entry is minus the sum of the
    /// others. Assembly takes another 48 bytes a cell.
    pub fn stiffness(&self, conductivity: impl Fn(usize) -> [[f64; 3]; 3] + Sync) -> Csr<f64> {
        let couplings = |t| {
            let sigma = conductivity(t);
            const { assert!(C < 8, "only elasticity has hexahedra") };
            let point = Point::new(self.cells[t].map(|node| self.points[node as usize]), 0);
            let (normals, scale) = (point.normals, point.scale());
            let mut couplings = [0.0; CORNERS.len()];
            for (coupling, [a, b]) in couplings.iter_mut().zip(CORNERS).take(C * (C - 1) / 2) {
                *coupling = scale * bilinear(&sigma, normals[a], normals[b]);
            }
            couplings
        };
        self.gather(&FreeNodes::all(self.n_nodes()), couplings, |couplings, c, _| {
            let mut row = std::array::from_fn(|b| [if b == c { 0.0 } else { couplings[EDGE[c][b]] }]);
            row[c] = [-row.iter().map(|[coupling]| coupling).sum::<f64>()];
            row
        })
    }

    /// The mass matrix (mm^3):
    ///
    /// ```text
    /// M_ij = integral of phi_i phi_j = sum_T |T| (1 + delta_ij) / 20
    /// ```
    ///
    /// and / 12 for triangles.
    ///
    /// It is symmetric to the last bit, and positive definite.
    pub fn mass(&self) -> Csr<f64> {
        const { assert!(C < 8, "only lumped masses of hexahedra are computed") };
        let coupling = |t| self.volume(t) / (C * (C + 1)) as f64;
        self.gather(&FreeNodes::all(self.n_nodes()), coupling, |&coupling, c, _| {
            std::array::from_fn(|b| [if b == c { 2.0 * coupling } else { coupling }])
        })
    }

    /// The row sums of the mass matrix, the integrals of phi_i: of the volume of the tetrahedra around each
    /// node a quarter, of the area of triangles a third (mm^3, mm^2).
    pub fn lumped_mass(&self) -> Vec<f64> {
        let shares = self.elements(|t| {
            let mut shares = [0.0; C];
            for point in self.integration(t) {
                let volume = point.volume();
                shares.iter_mut().zip(point.values).for_each(|(share, value)| *share += value * volume);
            }
            shares
        });
        let share = |i: usize, t: u32| shares[t as usize][self.corner(i, t)];
        let around = |i| self.around(i).iter().map(|&t| share(i, t)).sum();
        (0..self.n_nodes()).into_par_iter().map(around).collect()
    }

    /// Which corner of cell `t` node `i` is.
    fn corner(&self, i: usize, t: u32) -> usize {
        let corners = &self.cells[t as usize];
        corners.iter().position(|&node| node as usize == i).expect("a corner is node i")
    }

    /// `element` of each cell.
    pub(super) fn elements<E: Send>(&self, element: impl Fn(usize) -> E + Sync) -> Vec<E> {
        (0..self.cells.len()).into_par_iter().map(&element).collect()
    }

    /// The matrix with B unknowns for each free node, numbered node by node. Row k of node i is the sum of
    /// `row(element(t), c, k)` over the cells t around i. Node i is corner c of t, and `row` gives the
    /// couplings of that corner to the unknowns of each corner. Those of other nodes are left out.
    ///
    /// Entry (i, j) and its mirror image are sums over the same cells in the same order.
    pub(super) fn gather<E: Send + Sync, const B: usize>(
        &self,
        free: &FreeNodes,
        element: impl Fn(usize) -> E + Sync,
        row: impl Fn(&E, usize, usize) -> [[f64; B]; C] + Sync,
    ) -> Csr<f64> {
        let elements = self.elements(element);
        let n = B * free.len();
        let neighbours = |i| self.columns(i).iter().filter_map(|&j| free.number(j));
        Csr::from_rows(
            n,
            n,
            |r| B * neighbours(free.node(r / B)).count(),
            |r, columns, values| {
                let (i, k) = (free.node(r / B), r % B);
                for (columns, j) in columns.chunks_exact_mut(B).zip(neighbours(i)) {
                    columns.iter_mut().zip(B as u32 * j..).for_each(|(column, unknown)| *column = unknown);
                }
                for &t in self.around(i) {
                    let corners = self.cells[t as usize];
                    let c = self.corner(i, t);
                    for (&node, couplings) in corners.iter().zip(row(&elements[t as usize], c, k)) {
                        let Some(j) = free.number(node) else { continue };
                        let first = columns.binary_search(&(B as u32 * j));
                        let first = first.expect("the pattern holds all corners");
                        values[first..].iter_mut().zip(couplings).for_each(|(v, coupling)| *v += coupling);
                    }
                }
            },
        )
    }
}

/// a . sigma b
fn bilinear(sigma: &[[f64; 3]; 3], a: Vec3, b: Vec3) -> f64 {
    let mixed = |x: usize, y: usize| sigma[x][y] * (a[x] * b[y] + a[y] * b[x]);
    let straight = |x: usize| sigma[x][x] * (a[x] * b[x]);
    straight(0) + straight(1) + straight(2) + (mixed(0, 1) + mixed(0, 2) + mixed(1, 2))
}

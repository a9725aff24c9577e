//! Linear finite elements (P1) on tetrahedra, and the bidomain equations discretised with them.
//!
//! [`P1`] assembles stiffness and mass matrices. [`bidomain()`] couples them in the system of one time step
//! of the bidomain equations; its documentation has the derivation.
//!
//! Units: lengths in mm, time in ms, potentials in mV, conductivities in mS/mm, capacities in uF. Then
//! stiffness matrices are in mS, mass matrices in mm^3, currents in uA.

mod assemble;
mod bidomain;
mod conductivity;
mod element;
#[cfg(test)]
mod tests;

pub use bidomain::bidomain;
pub use conductivity::transversely_isotropic;
pub(crate) use element::Tetrahedron;
pub use element::{Vec3, cross, dot};

use crate::error::{Error, Result};
use rayon::prelude::*;

/// Nodes in one task of the search for neighbours.
const BLOCK: usize = 4096;

/// The space of the continuous functions that are linear on each tetrahedron of a mesh, with one unknown a
/// node.
///
/// It holds what all matrices of a mesh have in common: their pattern (node i is coupled to itself and to the
/// nodes that share a tetrahedron with it) and the tetrahedra around each node. One thread computes a row, as
/// the sum over the tetrahedra around its node in ascending order. So matrices have the same bits for any
/// number of threads.
///
/// It takes 170 bytes a node on a typical mesh, where a node has 24 tetrahedra and 14 neighbours.
#[derive(Debug)]
pub struct P1<'m> {
    points: &'m [[f64; 3]],
    tets: &'m [[u32; 4]],
    /// Where the tetrahedra around each node start in `around`; one more entry than nodes.
    around_ptr: Vec<usize>,
    around: Vec<u32>,
    row_ptr: Vec<usize>,
    col_idx: Vec<u32>,
}

impl<'m> P1<'m> {
    /// Prepares assembly on the tetrahedra `tets`. Each is given by its four corners, as indices of `points`
    /// (mm), in either orientation.
    ///
    /// # Errors
    /// [`Error::Mesh`] names, counted from 1, the first corner that is not among the points, tetrahedron that
    /// has a corner twice or no volume, or node without tetrahedra, whose row would be zero.
    pub fn new(points: &'m [[f64; 3]], tets: &'m [[u32; 4]]) -> Result<Self> {
        check(points, tets)?;
        let (around_ptr, around) = tetrahedra_around(points.len(), tets);
        if let Some(node) = around_ptr.windows(2).position(|w| w[0] == w[1]) {
            return Err(Error::Mesh(format!(
                "node {} belongs to no tetrahedron, and its row would be zero; remove it from the mesh",
                node + 1
            )));
        }
        let mut space = P1 { points, tets, around_ptr, around, row_ptr: Vec::new(), col_idx: Vec::new() };
        (space.row_ptr, space.col_idx) = space.pattern();
        Ok(space)
    }

    /// Number of nodes, and of rows of every matrix.
    pub fn n_nodes(&self) -> usize {
        self.points.len()
    }

    /// The tetrahedra around node `i`, ascending.
    fn around(&self, i: usize) -> &[u32] {
        &self.around[self.around_ptr[i]..self.around_ptr[i + 1]]
    }

    /// The columns of row `i`, ascending.
    fn columns(&self, i: usize) -> &[u32] {
        &self.col_idx[self.row_ptr[i]..self.row_ptr[i + 1]]
    }

    fn tetrahedron(&self, t: usize) -> Tetrahedron {
        Tetrahedron::new(self.tets[t].map(|node| self.points[node as usize]))
    }

    /// Row pointers and columns of the matrices. The columns of a row are the corners of the tetrahedra
    /// around its node.
    fn pattern(&self) -> (Vec<usize>, Vec<u32>) {
        let n = self.n_nodes();
        let blocks: Vec<(Vec<usize>, Vec<u32>)> = (0..n.div_ceil(BLOCK))
            .into_par_iter()
            .map(|b| {
                let nodes = b * BLOCK..((b + 1) * BLOCK).min(n);
                let (mut lengths, mut columns) = (Vec::with_capacity(nodes.len()), Vec::new());
                let mut row = Vec::new();
                for i in nodes {
                    row.clear();
                    row.extend(self.around(i).iter().flat_map(|&t| self.tets[t as usize]));
                    row.sort_unstable();
                    row.dedup();
                    lengths.push(row.len());
                    columns.extend_from_slice(&row);
                }
                (lengths, columns)
            })
            .collect();
        let mut row_ptr = vec![0];
        row_ptr.extend(blocks.iter().flat_map(|(lengths, _)| lengths).scan(0, |end, length| {
            *end += length;
            Some(*end)
        }));
        (row_ptr, blocks.into_iter().flat_map(|(_, columns)| columns).collect())
    }
}

/// Refuses corners that are not among the points or occur twice, and tetrahedra without volume.
fn check(points: &[[f64; 3]], tets: &[[u32; 4]]) -> Result<()> {
    let most = u32::MAX as usize;
    if points.len() > most || tets.len() > most {
        let (nodes, tets) = (points.len(), tets.len());
        return Err(Error::Mesh(format!("{nodes} nodes, {tets} tetrahedra: more than 32-bit indices reach")));
    }
    let fault = tets.par_iter().enumerate().with_min_len(BLOCK).find_map_first(|(t, corners)| {
        for (c, node) in corners.iter().enumerate() {
            let number = u64::from(*node) + 1;
            if *node as usize >= points.len() {
                return Some(format!("tetrahedron {}: there is no node {number} of {}", t + 1, points.len()));
            }
            if corners[..c].contains(node) {
                return Some(format!("tetrahedron {}: node {number} is two of its corners", t + 1));
            }
        }
        let det = Tetrahedron::new(corners.map(|node| points[node as usize])).det;
        // It must not be zero, infinite or NaN, nor so small that dividing by it overflows.
        (!det.is_normal())
            .then(|| format!("tetrahedron {}: its volume is {}; repair the mesh", t + 1, det / 6.0))
    });
    fault.map_or(Ok(()), |message| Err(Error::Mesh(message)))
}

/// The tetrahedra around each of `n` nodes in ascending order, by a counting sort.
fn tetrahedra_around(n: usize, tets: &[[u32; 4]]) -> (Vec<usize>, Vec<u32>) {
    // Until the scatter below, start[i + 1] is where the tetrahedra of node i start.
    let mut start = vec![0; n + 2];
    for &node in tets.as_flattened() {
        start[node as usize + 2] += 1;
    }
    for i in 2..start.len() {
        start[i] += start[i - 1];
    }
    let mut around = vec![0; 4 * tets.len()];
    for (t, corners) in tets.iter().enumerate() {
        for &node in corners {
            let k = &mut start[node as usize + 1];
            around[*k] = t as u32;
            *k += 1;
        }
    }
    start.pop();
    (start, around)
}

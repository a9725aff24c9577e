//! Finite elements of first order on tetrahedra, triangles and hexahedra, with the bidomain equations and
//! linear elasticity discretised with them.
//!
//! [`P1`] assembles stiffness and mass matrices of linear elements; those of [`Q1`] are trilinear.
//! [`bidomain()`] and [`potentials`] couple them in the system of one time step of the bidomain equations;
//! the documentation of the first has the derivation. [`P1::elasticity`] is the matrix of an elastic body.
//!
//! Units: lengths in mm, time in ms, potentials in mV, conductivities in mS/mm, capacities in uF. Then
//! stiffness matrices are in mS, mass matrices in mm^3, currents in uA. Forces in N and moduli in N/mm^2 go
//! with them.

mod assemble;
mod bidomain;
mod conductivity;
mod elasticity;
mod element;
mod free_nodes;
#[cfg(test)]
mod tests;

pub use bidomain::{bidomain, potentials};
pub use conductivity::transversely_isotropic;
pub use elasticity::{Elastic, face_shares};
pub(crate) use element::Point;
pub use element::{Vec3, cross, dot, signed_volume};
pub use free_nodes::FreeNodes;

use crate::error::{Error, Result};
use crate::parallel::*;

/// Nodes in one task of the search for neighbours.
const BLOCK: usize = 4096;

/// The space of the continuous functions that are linear on each cell of a mesh, with one unknown a node.
/// Cells are tetrahedra (C = 4 corners), or triangles in a plane of constant z (C = 3). On hexahedra
/// ([`Q1`]) the functions are trilinear, and integrals are sums over 2 x 2 x 2 points of Gauss.
///
/// It holds what all matrices of a mesh have in common: their pattern (node i is coupled to itself and to the
/// nodes that share a cell with it) and the cells around each node. One thread computes a row, as the sum
/// over the cells around its node in ascending order. So matrices have the same bits for any number of
/// threads.
///
/// It takes 170 bytes a node on a typical mesh of tetrahedra, where a node has 24 tetrahedra and 14
/// neighbours.
#[derive(Debug)]
pub struct P1<'m, const C: usize = 4> {
    points: &'m [[f64; 3]],
    cells: &'m [[u32; C]],
    /// Where the cells around each node start in `around`; one more entry than nodes.
    around_ptr: Vec<usize>,
    around: Vec<u32>,
    row_ptr: Vec<usize>,
    col_idx: Vec<u32>,
}

/// The space of trilinear functions on hexahedra, which need not be boxes. Their corners are in VTK's order:
/// round one face, then round the opposite one.
pub type Q1<'m> = P1<'m, 8>;

/// What cells of C corners are called, one and several.
const fn names<const C: usize>() -> [&'static str; 2] {
    match C {
        3 => ["triangle", "triangles"],
        4 => ["tetrahedron", "tetrahedra"],
        _ => ["hexahedron", "hexahedra"],
    }
}

impl<'m, const C: usize> P1<'m, C> {
    /// Prepares assembly on `cells`. Each is given by its corners, as indices of `points` (mm), in either
    /// orientation.
    ///
    /// # Errors
    /// [`Error::Mesh`] names, counted from 1, the first corner that is not among the points, cell that has a
    /// corner twice or no volume, triangle across planes of constant z, hexahedron that is folded, or node
    /// without cells, whose row would be zero.
    pub fn new(points: &'m [[f64; 3]], cells: &'m [[u32; C]]) -> Result<Self> {
        check(points, cells)?;
        let (around_ptr, around) = cells_around(points.len(), cells);
        if let Some(node) = around_ptr.windows(2).position(|w| w[0] == w[1]) {
            return Err(Error::Mesh(format!(
                "node {} belongs to no {}, and its row would be zero; remove it from the mesh",
                node + 1,
                names::<C>()[0]
            )));
        }
        let mut space = P1 { points, cells, around_ptr, around, row_ptr: Vec::new(), col_idx: Vec::new() };
        (space.row_ptr, space.col_idx) = space.pattern();
        Ok(space)
    }

    /// Number of nodes, and of rows of every matrix.
    pub fn n_nodes(&self) -> usize {
        self.points.len()
    }

    /// The cells around node `i`, ascending.
    fn around(&self, i: usize) -> &[u32] {
        &self.around[self.around_ptr[i]..self.around_ptr[i + 1]]
    }

    /// The columns of row `i`, ascending.
    fn columns(&self, i: usize) -> &[u32] {
        &self.col_idx[self.row_ptr[i]..self.row_ptr[i + 1]]
    }

    /// The points of integration of cell `t`.
    fn integration(&self, t: usize) -> impl Iterator<Item = Point<C>> {
        let corners = self.cells[t].map(|node| self.points[node as usize]);
        (0..Point::<C>::COUNT).map(move |q| Point::new(corners, q))
    }

    /// The volume of cell `t`.
    fn volume(&self, t: usize) -> f64 {
        self.integration(t).map(|point| point.volume()).sum()
    }

    /// Row pointers and columns of the matrices. The columns of a row are the corners of the cells around
    /// its node.
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
                    row.extend(self.around(i).iter().flat_map(|&t| self.cells[t as usize]));
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

/// Refuses corners that are not among the points or occur twice, and cells without volume.
fn check<const C: usize>(points: &[[f64; 3]], cells: &[[u32; C]]) -> Result<()> {
    let most = u32::MAX as usize;
    let [one, several] = names::<C>();
    if points.len() > most || cells.len() > most {
        let (nodes, cells) = (points.len(), cells.len());
        return Err(Error::Mesh(format!("{nodes} nodes, {cells} {several}: more than 32-bit indices reach")));
    }
    let fault = cells.par_iter().enumerate().with_min_len(BLOCK).find_map_first(|(t, corners)| {
        for (c, node) in corners.iter().enumerate() {
            let number = u64::from(*node) + 1;
            if *node as usize >= points.len() {
                return Some(format!("{one} {}: there is no node {number} of {}", t + 1, points.len()));
            }
            if corners[..c].contains(node) {
                return Some(format!("{one} {}: node {number} is two of its corners", t + 1));
            }
        }
        let corners = corners.map(|node| points[node as usize]);
        if C == 3 && corners.iter().any(|p| p[2] != corners[0][2]) {
            return Some(format!("{one} {}: it must lie in a plane of constant z", t + 1));
        }
        let dets = (0..Point::<C>::COUNT).map(|q| Point::oriented(corners, q).1);
        // They must not be zero, infinite or NaN, nor so small that dividing by them overflows.
        if let Some(wrong) = dets.clone().find(|det| !det.is_normal()) {
            let volume = Point::new(corners, 0).volume();
            return Some(format!(
                "{one} {}: its volume is {}; repair the mesh",
                t + 1,
                if C == 8 { wrong } else { volume }
            ));
        }
        let is_folded = dets.clone().any(|det| det < 0.0) && dets.clone().any(|det| det > 0.0);
        is_folded.then(|| {
            format!("{one} {}: it is folded, or its corners are not in VTK's order; repair the mesh", t + 1)
        })
    });
    fault.map_or(Ok(()), |message| Err(Error::Mesh(message)))
}

/// The cells around each of `n` nodes in ascending order, by a counting sort.
fn cells_around<const C: usize>(n: usize, cells: &[[u32; C]]) -> (Vec<usize>, Vec<u32>) {
    // Until the scatter below, start[i + 1] is where the cells of node i start.
    let mut start = vec![0; n + 2];
    for &node in cells.as_flattened() {
        start[node as usize + 2] += 1;
    }
    for i in 2..start.len() {
        start[i] += start[i - 1];
    }
    let mut around = vec![0; C * cells.len()];
    for (t, corners) in cells.iter().enumerate() {
        for &node in corners {
            let k = &mut start[node as usize + 1];
            around[*k] = t as u32;
            *k += 1;
        }
    }
    start.pop();
    (start, around)
}

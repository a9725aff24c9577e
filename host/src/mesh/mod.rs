//! Tetrahedral meshes: geometry, regions and fibres of a piece of tissue.
//!
//! A mesh has one unit of length throughout, which is mm wherever conductivities or time enter; files in
//! other units are [scaled](ReadOptions::scale) when they are read.

mod check;
mod components;
mod fibres;
mod locate;
mod read;
mod slab;
#[cfg(test)]
mod tests;

pub(crate) use check::RawMesh;
pub(crate) use read::sibling;
pub use read::{ReadOptions, ReadSummary, read, read_with_summary};

use crate::error::Result;

/// A mesh of linear tetrahedra that is fit for finite elements: every node belongs to a tetrahedron, every
/// tetrahedron has a positive volume.
#[derive(Debug, Clone, PartialEq)]
pub struct TetMesh {
    points: Vec<[f64; 3]>,
    tets: Vec<[u32; 4]>,
    regions: Option<Vec<i32>>,
    fibres: Option<Vec<[f64; 3]>>,
}

impl TetMesh {
    /// Checks and takes a mesh.
    ///
    /// - `points`: coordinates of the nodes, mm.
    /// - `tets`: four nodes each, counted from 0. Where the determinant |b - a, c - a, d - a| of every one is
    ///   negative the file's convention is the other one, and the last two nodes are swapped.
    /// - `regions`: a number for each tetrahedron.
    /// - `fibres`: the fibre direction of each tetrahedron, of any length but 0; kept as unit vectors.
    ///
    /// # Errors
    /// [`Error::Mesh`](crate::Error::Mesh), with elements and nodes counted from 1: no tetrahedra; a node out
    /// of range, with a coordinate that is not finite, or in no tetrahedron; a tetrahedron whose volume is at
    /// most 1e-12 h^3, h its longest edge; tetrahedra of both orientations; `regions` or `fibres` of another
    /// length than `tets`; a fibre that is zero or not finite.
    pub fn new(
        points: Vec<[f64; 3]>,
        tets: Vec<[u32; 4]>,
        regions: Option<Vec<i32>>,
        fibres: Option<Vec<[f64; 3]>>,
    ) -> Result<TetMesh> {
        let raw = RawMesh { points, tets, regions, fibres, ..RawMesh::default() };
        Ok(raw.check(false, false)?.0)
    }

    /// Coordinates of the nodes, mm.
    pub fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// The four nodes of each tetrahedron, counted from 0, positively oriented.
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.tets
    }

    /// The region of each tetrahedron.
    pub fn regions(&self) -> Option<&[i32]> {
        self.regions.as_deref()
    }

    /// The fibre direction of each tetrahedron, a unit vector.
    pub fn fibres(&self) -> Option<&[[f64; 3]]> {
        self.fibres.as_deref()
    }

    /// The volume of tetrahedron `t`, mm^3: |b - a, c - a, d - a| / 6.
    pub fn volume(&self, t: usize) -> f64 {
        signed_volume(&self.points, self.tets[t])
    }

    /// The mesh with all coordinates multiplied by `factor`, for instance 10 from cm to mm.
    ///
    /// # Panics
    /// When `factor` is not a positive finite number.
    pub fn scaled(mut self, factor: f64) -> TetMesh {
        assert!(factor > 0.0 && factor.is_finite(), "a mesh cannot be scaled by {factor}");
        for x in self.points.as_flattened_mut() {
            *x *= factor;
        }
        self
    }

    /// The smallest and the largest coordinates, mm.
    pub fn bounding_box(&self) -> [[f64; 3]; 2] {
        let mut bounds = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        for point in &self.points {
            for axis in 0..3 {
                bounds[0][axis] = bounds[0][axis].min(point[axis]);
                bounds[1][axis] = bounds[1][axis].max(point[axis]);
            }
        }
        bounds
    }
}

/// |b - a, c - a, d - a| / 6.
fn signed_volume(points: &[[f64; 3]], tet: [u32; 4]) -> f64 {
    let [a, b, c, d] = tet.map(|node| points[node as usize]);
    let edge = |p: [f64; 3]| [p[0] - a[0], p[1] - a[1], p[2] - a[2]];
    let (u, v, w) = (edge(b), edge(c), edge(d));
    (u[0] * (v[1] * w[2] - v[2] * w[1])
        + u[1] * (v[2] * w[0] - v[0] * w[2])
        + u[2] * (v[0] * w[1] - v[1] * w[0]))
        / 6.0
}

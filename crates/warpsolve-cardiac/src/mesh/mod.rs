//! Tetrahedral meshes: geometry, regions and fibres of a piece of tissue.
//!
//! Lengths are in mm. Files in other units are [scaled](ReadOptions::scale) when they are read.

mod check;
mod components;
mod fibres;
mod locate;
mod part;
mod read;
mod slab;
mod surface;
#[cfg(test)]
mod tests;

pub(crate) use check::RawMesh;
pub(crate) use part::Part;
pub use read::{ReadOptions, ReadSummary, read, read_with_summary};

/// A mesh of linear tetrahedra for finite elements. Every node belongs to a tetrahedron, and every
/// tetrahedron has a positive volume.
#[derive(Debug, Clone, PartialEq)]
pub struct TetMesh {
    points: Vec<[f64; 3]>,
    tets: Vec<[u32; 4]>,
    regions: Option<Vec<i32>>,
    fibres: Option<Vec<[f64; 3]>>,
    tagged_faces: Vec<TaggedFace>,
}

/// A triangle of a surface that has a number in the mesh's file, and that number.
pub type TaggedFace = ([u32; 3], i32);

impl TetMesh {
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

    /// The triangles of the file's surfaces that have a number: physical groups of Gmsh. Empty for other
    /// meshes.
    pub fn tagged_faces(&self) -> &[TaggedFace] {
        &self.tagged_faces
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

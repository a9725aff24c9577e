//! Meshes of tetrahedra, of triangles in a plane, or of hexahedra: geometry, regions and fibres of a piece of
//! tissue, or of an elastic body.
//!
//! Lengths are in mm. Files in other units are [scaled](ReadOptions::scale) when they are read.

mod check;
mod components;
mod face;
mod fibres;
mod locate;
mod part;
mod read;
mod slab;
mod surface;
#[cfg(test)]
mod tests;

pub(crate) use check::{ONLY_TETRAHEDRA, ONLY_TRIANGLES, Raw, RawMesh};
pub use face::Face;
pub(crate) use part::{Part, are_used, nodes_that};
pub use read::{AnyMesh, ReadOptions, ReadSummary, read, read_any, read_with_summary};

/// A mesh of linear tetrahedra (C = 4 corners), of triangles in a plane of constant z (C = 3), or of
/// hexahedra (C = 8, corners in VTK's order: round one face, then round the opposite one), for finite
/// elements. Every node belongs to a cell, and every cell has a positive volume: of a triangle its area.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh<const C: usize> {
    points: Vec<[f64; 3]>,
    cells: Vec<[u32; C]>,
    regions: Option<Vec<i32>>,
    fibres: Option<Vec<[f64; 3]>>,
    tagged_faces: Vec<TaggedFace>,
}

/// A mesh of tetrahedra.
pub type TetMesh = Mesh<4>;
/// A mesh of triangles in a plane.
pub type TriMesh = Mesh<3>;
/// A mesh of hexahedra.
pub type HexMesh = Mesh<8>;

/// A face of the cells that has a number in the mesh's file, and that number.
pub type TaggedFace = (Face, i32);

impl<const C: usize> Mesh<C> {
    /// What a cell is called.
    pub const CELL: &'static str = match C {
        3 => "triangle",
        4 => "tetrahedron",
        _ => "hexahedron",
    };
    /// What cells are called.
    pub const CELLS: &'static str = match C {
        3 => "triangles",
        4 => "tetrahedra",
        _ => "hexahedra",
    };
    /// Axes along which the mesh extends.
    pub const DIRECTIONS: usize = if C == 3 { 2 } else { 3 };
    /// The unit of their volume.
    pub const UNIT: &'static str = if C == 3 { "mm^2" } else { "mm^3" };

    /// Coordinates of the nodes, mm.
    pub fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// The nodes of each cell, counted from 0, positively oriented.
    pub fn cells(&self) -> &[[u32; C]] {
        &self.cells
    }

    /// The region of each cell.
    pub fn regions(&self) -> Option<&[i32]> {
        self.regions.as_deref()
    }

    /// The fibre direction of each cell, a unit vector.
    pub fn fibres(&self) -> Option<&[[f64; 3]]> {
        self.fibres.as_deref()
    }

    /// The faces of the cells that have a number in the file: physical groups of Gmsh, or in VTK the region
    /// of the line, triangle or quad that is there as a cell of its own. Empty for other meshes.
    pub fn tagged_faces(&self) -> &[TaggedFace] {
        &self.tagged_faces
    }

    /// The volume of cell `t` (mm^3): |b - a, c - a, d - a| / 6, of a hexahedron its integral. Of a triangle
    /// the area |b - a, c - a| / 2 (mm^2).
    pub fn volume(&self, t: usize) -> f64 {
        signed_volume(&self.points, self.cells[t])
    }

    /// The mesh without fibres, which an elastic body has no use for.
    pub fn without_fibres(self) -> Mesh<C> {
        Mesh { fibres: None, ..self }
    }

    /// The mesh with its nodes moved by `factor` times `by`, for a picture: cells may be inside out.
    pub fn moved(&self, factor: f64, by: &[[f64; 3]]) -> Mesh<C> {
        let moved = |(p, u): (&[f64; 3], &[f64; 3])| std::array::from_fn(|x| p[x] + factor * u[x]);
        Mesh { points: self.points.iter().zip(by).map(moved).collect(), ..self.clone() }
    }

    /// The mesh with all coordinates multiplied by `factor`, for instance 10 from cm to mm.
    ///
    /// # Panics
    /// When `factor` is not a positive finite number.
    pub fn scaled(mut self, factor: f64) -> Mesh<C> {
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

/// |b - a, c - a, d - a| / 6, of a hexahedron its integral, or |b - a, c - a| / 2 in the plane.
fn signed_volume<const C: usize>(points: &[[f64; 3]], cell: [u32; C]) -> f64 {
    if C == 8 {
        return warpsolve_host::fem::signed_volume(cell.map(|node| points[node as usize]));
    }
    let corner = |c: usize| points[cell[c] as usize];
    let edge = |c: usize| {
        let (a, p) = (corner(0), corner(c));
        [p[0] - a[0], p[1] - a[1], p[2] - a[2]]
    };
    let (u, v) = (edge(1), edge(2));
    if C == 3 {
        return (u[0] * v[1] - u[1] * v[0]) / 2.0;
    }
    let w = edge(3);
    (u[0] * (v[1] * w[2] - v[2] * w[1])
        + u[1] * (v[2] * w[0] - v[0] * w[2])
        + u[2] * (v[0] * w[1] - v[1] * w[0]))
        / 6.0
}

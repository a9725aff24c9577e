//! The boundary of a mesh.

use rayon::prelude::*;

use super::Mesh;
use super::face::{Face, faces_of};

impl<const C: usize> Mesh<C> {
    /// The faces that belong to only one cell, ordered by their nodes.
    pub fn boundary(&self) -> Vec<Face> {
        let sorted = |face: Face| {
            let mut key = [u32::MAX; 4];
            let nodes = face.as_ref();
            key[..nodes.len()].copy_from_slice(nodes);
            key.sort_unstable();
            (key, face)
        };
        let mut faces: Vec<_> = self.cells().par_iter().flat_map_iter(faces_of).map(sorted).collect();
        faces.par_sort_unstable();
        let outer = faces.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() == 1);
        outer.map(|same| same[0].1).collect()
    }

    /// What is seen of the mesh, as triangles: its boundary, whose quads are cut in two; of a mesh of
    /// triangles all of them. The normals (b - a) x (c - a) point outwards.
    pub fn surface(&self) -> Vec<[u32; 3]> {
        if C == 3 {
            return self.cells().iter().map(|cell| [cell[0], cell[1], cell[2]]).collect();
        }
        let triangles = |face: Face| match face {
            Face::Edge(_) => Vec::new(),
            Face::Triangle(nodes) => vec![nodes],
            Face::Quad([a, b, c, d]) => vec![[a, b, c], [a, c, d]],
        };
        self.boundary().into_iter().flat_map(triangles).collect()
    }
}

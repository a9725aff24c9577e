//! The surface of a mesh.

use rayon::prelude::*;

use super::Mesh;

impl<const C: usize> Mesh<C> {
    /// The faces that belong to only one tetrahedron, ordered by their nodes. The normals (b - a) x (c - a)
    /// point outwards. Of a mesh of triangles it is what is seen from above: all of them.
    pub fn surface(&self) -> Vec<[u32; 3]> {
        if C == 3 {
            return self.cells().iter().map(|cell| [cell[0], cell[1], cell[2]]).collect();
        }
        // With |b - a, c - a, d - a| > 0 the normals of these point outwards.
        let faces_of = |cell: &[u32; C]| {
            [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]].map(|face| face.map(|corner: usize| cell[corner]))
        };
        let sorted = |face: [u32; 3]| {
            let mut key = face;
            key.sort_unstable();
            (key, face)
        };
        let mut faces: Vec<_> = self.cells().par_iter().flat_map_iter(faces_of).map(sorted).collect();
        faces.par_sort_unstable();
        let outer = faces.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() == 1);
        outer.map(|same| same[0].1).collect()
    }

    /// The edges that belong to only one triangle, ordered by their nodes; none of a mesh of tetrahedra.
    pub fn rim(&self) -> Vec<[u32; 2]> {
        let edges_of =
            |cell: &[u32; C]| [[0, 1], [1, 2], [2, 0]].map(|edge| edge.map(|corner: usize| cell[corner]));
        let sorted = |[a, b]: [u32; 2]| ([a.min(b), a.max(b)], [a, b]);
        let triangles = if C == 3 { self.cells() } else { &[] };
        let mut edges: Vec<_> = triangles.par_iter().flat_map_iter(edges_of).map(sorted).collect();
        edges.par_sort_unstable();
        let outer = edges.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() == 1);
        outer.map(|same| same[0].1).collect()
    }
}

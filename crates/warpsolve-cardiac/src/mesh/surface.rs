//! The surface of a mesh.

use rayon::prelude::*;

use super::TetMesh;

impl TetMesh {
    /// The faces that belong to only one tetrahedron, ordered by their nodes. The normals (b - a) x (c - a)
    /// point outwards.
    pub fn surface(&self) -> Vec<[u32; 3]> {
        // With |b - a, c - a, d - a| > 0 the normals of these point outwards.
        let faces_of = |&[a, b, c, d]: &[u32; 4]| [[b, c, d], [a, d, c], [a, b, d], [a, c, b]];
        let sorted = |face: [u32; 3]| {
            let mut key = face;
            key.sort_unstable();
            (key, face)
        };
        let mut faces: Vec<_> = self.tets().par_iter().flat_map_iter(faces_of).map(sorted).collect();
        faces.par_sort_unstable();
        let outer = faces.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() == 1);
        outer.map(|same| same[0].1).collect()
    }
}

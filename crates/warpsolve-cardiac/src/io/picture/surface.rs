//! The surface of a mesh.

use rayon::prelude::*;

use crate::mesh::Mesh;
use warpsolve_host::fem::{Vec3, cross, dot};

/// Cosine of the largest angle between the normals of two faces over which light is smoothed. Others meet at
/// an edge.
const EDGE: f64 = 0.7;

/// The faces that belong to only one tetrahedron, with normals outwards.
pub(super) struct Surface {
    nodes: Vec<[u32; 3]>,
}

/// A face and its normals.
pub(super) struct Face {
    pub nodes: [u32; 3],
    /// The normal, outwards. Its length is twice the area.
    pub normal: Vec3,
    /// The sums of the normals of the faces around each corner, up to the next edge.
    pub corner_normals: [Vec3; 3],
}

impl Surface {
    pub fn of<const C: usize>(mesh: &Mesh<C>) -> Surface {
        Surface { nodes: mesh.surface() }
    }

    /// The faces, with normals computed from `points`.
    pub fn faces(&self, points: &[Vec3]) -> Vec<Face> {
        let normal = |face: &[u32; 3]| {
            let [a, b, c] = face.map(|node| points[node as usize]);
            let from_a = |p: Vec3| [p[0] - a[0], p[1] - a[1], p[2] - a[2]];
            cross(from_a(b), from_a(c))
        };
        let normals: Vec<Vec3> = self.nodes.par_iter().map(normal).collect();
        // (node, face), sorted so that the faces around a node follow each other.
        let mut around: Vec<(u32, u32)> = Vec::with_capacity(3 * self.nodes.len());
        for (number, face) in self.nodes.iter().enumerate() {
            around.extend(face.iter().map(|&node| (node, number as u32)));
        }
        around.par_sort_unstable();
        let corner_normal = |node: u32, own: Vec3| {
            let first = around.partition_point(|&(other, _)| other < node);
            let faces = around[first..].iter().take_while(|&&(other, _)| other == node);
            let normals = faces.map(|&(_, face)| normals[face as usize]);
            let smooth = |n: &Vec3| dot(*n, own) >= EDGE * (dot(*n, *n) * dot(own, own)).sqrt();
            normals.filter(smooth).fold([0.0; 3], |sum, n| std::array::from_fn(|x| sum[x] + n[x]))
        };
        let face = |(&nodes, &normal): (&[u32; 3], &Vec3)| Face {
            nodes,
            normal,
            corner_normals: nodes.map(|node| corner_normal(node, normal)),
        };
        self.nodes.par_iter().zip(&normals).map(face).collect()
    }
}

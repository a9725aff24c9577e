//! Finds the tetrahedron that a point is in.

use super::{TetMesh, signed_volume};

/// Points that are outside of a tetrahedron by this part of its size count as inside: rounding may move them
/// out.
const ROUNDING: f64 = 1e-9;

impl TetMesh {
    /// The tetrahedron that a point is in, the first of several, and the barycentric coordinates w there. A
    /// linear function with the values f_k at the nodes is `sum_k w_k f_k` at the point. `None` outside of
    /// the mesh.
    pub fn locate(&self, point: [f64; 3]) -> Option<(usize, [f64; 4])> {
        (0..self.tets.len()).find_map(|t| {
            let corners = self.tets[t].map(|node| self.points[node as usize]);
            let beyond = |axis: usize| {
                let coordinates = || corners.iter().map(|corner| corner[axis]);
                let (low, high) = (
                    coordinates().fold(f64::INFINITY, f64::min),
                    coordinates().fold(f64::NEG_INFINITY, f64::max),
                );
                let room = ROUNDING * (high - low);
                point[axis] < low - room || point[axis] > high + room
            };
            if (0..3).any(beyond) {
                return None;
            }
            let volume = self.volume(t);
            let weights = std::array::from_fn(|k| {
                let mut moved = corners;
                moved[k] = point;
                signed_volume(&moved, [0, 1, 2, 3]) / volume
            });
            weights.iter().all(|&weight| weight >= -ROUNDING).then_some((t, weights))
        })
    }
}

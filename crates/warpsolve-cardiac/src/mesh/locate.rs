//! Finds the cell that a point is in.

use super::{Mesh, signed_volume};

/// Points that are outside of a cell by this part of its size count as inside: rounding may move them
/// out.
const ROUNDING: f64 = 1e-9;

impl<const C: usize> Mesh<C> {
    /// The cell that a point is in, the first of several, and the barycentric coordinates w there. A
    /// linear function with the values f_k at the nodes is `sum_k w_k f_k` at the point. `None` outside of
    /// the mesh.
    pub fn locate(&self, point: [f64; 3]) -> Option<(usize, [f64; C])> {
        (0..self.cells.len()).find_map(|t| {
            let corners = self.cells[t].map(|node| self.points[node as usize]);
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
            let weights: [f64; C] = std::array::from_fn(|k| {
                let mut moved = corners;
                moved[k] = point;
                signed_volume::<C>(&moved, std::array::from_fn(|corner| corner as u32)) / volume
            });
            weights.iter().all(|&weight| weight >= -ROUNDING).then_some((t, weights))
        })
    }
}

//! Nodes along a space-filling curve.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::mesh::Mesh;

/// Bits of a coordinate: three fit into 64.
const BITS: u32 = 21;

/// The mesh's nodes in the order of the simulation; `None` for the order of the mesh.
pub(super) struct Order(Option<Vec<u32>>);

/// Where each of the mesh's nodes is in an order.
pub(super) struct Renumbering(Option<Vec<u32>>);

impl Renumbering {
    /// The cell with its nodes in this order.
    pub fn cell<const C: usize>(&self, cell: [u32; C]) -> [u32; C] {
        match &self.0 {
            None => cell,
            Some(places) => cell.map(|node| places[node as usize]),
        }
    }
}

impl Order {
    /// The order along the Morton curve, or that of the mesh.
    pub fn of<const C: usize>(mesh: &Mesh<C>, along_curve: bool) -> Self {
        Order(along_curve.then(|| morton(mesh.points(), mesh.bounding_box())))
    }

    /// The points in this order.
    pub fn points<'m, const C: usize>(&self, mesh: &'m Mesh<C>) -> Cow<'m, [[f64; 3]]> {
        match &self.0 {
            None => mesh.points().into(),
            Some(order) => order.iter().map(|&node| mesh.points()[node as usize]).collect(),
        }
    }

    /// The cells with the nodes in this order.
    pub fn cells<'m, const C: usize>(&self, mesh: &'m Mesh<C>) -> Cow<'m, [[u32; C]]> {
        match self.0 {
            None => mesh.cells().into(),
            Some(_) => {
                let renumbering = self.renumbering();
                mesh.cells().iter().map(|&cell| renumbering.cell(cell)).collect()
            }
        }
    }

    /// Where each of the mesh's nodes is in this order.
    pub fn renumbering(&self) -> Renumbering {
        Renumbering(self.0.as_ref().map(|order| {
            let mut places = vec![0; order.len()];
            order.iter().zip(0..).for_each(|(&node, place)| places[node as usize] = place);
            places
        }))
    }

    /// The mesh's node at a place of this order.
    pub fn node(&self, place: u32) -> u32 {
        self.0.as_ref().map_or(place, |order| order[place as usize])
    }

    /// Brings values from this order back to that of the mesh.
    pub fn undo(&self, values: Vec<f64>) -> Vec<f64> {
        let Some(order) = &self.0 else { return values };
        let mut in_mesh_order = vec![0.0; values.len()];
        for (&node, value) in order.iter().zip(values) {
            in_mesh_order[node as usize] = value;
        }
        in_mesh_order
    }
}

/// The indices of `points` in the order along the Morton curve (G. M. Morton 1966) of their bounding box.
/// Points in one cell of the finest grid keep their order.
fn morton(points: &[[f64; 3]], [low, high]: [[f64; 3]; 2]) -> Vec<u32> {
    let extent = (0..3).map(|x| high[x] - low[x]).fold(0.0, f64::max);
    let cells = f64::from((1u32 << BITS) - 1);
    // The cast rounds values out of range to the nearest number, and NaN, where all points are the same, to
    // 0.
    let key = |point: &[f64; 3]| {
        let cell = |x: usize| (cells * ((point[x] - low[x]) / extent)) as u32;
        (spread(cell(0)) << 2) | (spread(cell(1)) << 1) | spread(cell(2))
    };
    let mut order: Vec<(u64, u32)> =
        points.par_iter().enumerate().map(|(node, point)| (key(point), node as u32)).collect();
    order.par_sort_unstable();
    order.into_iter().map(|(_, node)| node).collect()
}

/// The bits of `x` with two zeros between each.
fn spread(x: u32) -> u64 {
    (0..BITS).fold(0, |spread, bit| spread | (u64::from(x >> bit & 1) << (3 * bit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubes_come_octant_by_octant() {
        // The nodes of a 4 x 4 x 4 grid in the order of x, y, z.
        let points: Vec<[f64; 3]> =
            (0..64).map(|m| [m / 16, m / 4 % 4, m % 4].map(|i| f64::from(i) / 3.0)).collect();
        let order = morton(&points, [[0.0; 3], [1.0; 3]]);
        let mut sorted = order.clone();
        sorted.sort();
        assert!(sorted.into_iter().eq(0..64));
        // By recursion: an octant's eight points, each half of every axis.
        for (k, eight) in order.chunks(8).enumerate() {
            let octant = [k >> 2 & 1, k >> 1 & 1, k & 1].map(|half| half == 1);
            for &node in eight {
                assert_eq!(points[node as usize].map(|x| x > 0.5), octant);
            }
        }
        assert_eq!(order[..8], [0, 1, 4, 5, 16, 17, 20, 21]);
    }
}

//! The mesh of `tet` and `bidomain`: a jittered box of nodes, each of its cubes cut into six tetrahedra.
//!
//! H. W. Kuhn: Some combinatorial lemmas in topology, IBM Journal of Research and Development 4, 1960.

use super::random::uniform;
use crate::fem::Vec3;
use rayon::prelude::*;

/// The direction of the fibres, (1, 1, 0.5) normalised.
pub(super) fn fibre() -> Vec3 {
    let norm = (1.0f64 + 1.0 + 0.25).sqrt();
    [1.0 / norm, 1.0 / norm, 0.5 / norm]
}

/// The position of node (i, j, k) of a box of n^3 nodes at unit spacing. Each coordinate is moved by a jitter
/// uniform in [-0.2, 0.2): number 3 node + axis of the random sequence of `seed`, with node = (i n + j) n +
/// k.
pub(super) fn position([i, j, k]: [usize; 3], n: usize, seed: u64) -> Vec3 {
    let node = ((i * n + j) * n + k) as u64;
    let jitter = |axis: u64| 0.4 * (uniform(seed, 3 * node + axis) - 0.5);
    [i as f64 + jitter(0), j as f64 + jitter(1), k as f64 + jitter(2)]
}

/// The six tetrahedra of a cube, one for each order of the axes. Each runs from the cube's node `corner`
/// along the axes in that order to the opposite node. `along` is the step from node to node along each axis.
pub(super) fn cut(corner: usize, along: [usize; 3]) -> [[usize; 4]; 6] {
    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    ORDERS.map(|order| {
        let mut corners = [corner; 4];
        for (c, axis) in order.into_iter().enumerate() {
            corners[c + 1] = corners[c] + along[axis];
        }
        corners
    })
}

/// The positions of the n^3 nodes, k fastest.
pub(crate) fn points(n: usize, seed: u64) -> Vec<Vec3> {
    (0..n * n * n)
        .into_par_iter()
        .map(|node| position([node / (n * n), node / n % n, node % n], n, seed))
        .collect()
}

/// The 6 (n - 1)^3 tetrahedra of the box of n^3 nodes.
pub(crate) fn tetrahedra(n: usize) -> Vec<[u32; 4]> {
    let m = n - 1;
    (0..m * m * m)
        .into_par_iter()
        .flat_map_iter(|cube| {
            let corner = (cube / (m * m) * n + cube / m % m) * n + cube % m;
            cut(corner, [n * n, n, 1]).map(|corners| corners.map(|node| node as u32))
        })
        .collect()
}

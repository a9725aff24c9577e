//! The mesh of `tet`, `bidomain` and `elasticity`: a jittered box of nodes, each of its cubes cut into six
//! tetrahedra, or taken as a hexahedron.
//!
//! H. W. Kuhn: Some combinatorial lemmas in topology, IBM Journal of Research and Development 4, 1960.

use super::random::uniform;
use crate::fem::Vec3;
use crate::parallel::*;

/// The direction of the fibres, (1, 1, 0.5) normalised.
pub(super) fn fibre() -> Vec3 {
    let norm = (1.0f64 + 1.0 + 0.25).sqrt();
    [1.0 / norm, 1.0 / norm, 0.5 / norm]
}

/// The position of node (i, j, k) of a box with n nodes along each axis, at unit spacing. Each coordinate is
/// moved by a jitter uniform in [-0.2, 0.2): number 3 node + axis of the random sequence of `seed`, with node
/// = (i n_y + j) n_z + k.
#[inline]
pub(super) fn position([i, j, k]: [usize; 3], n: [usize; 3], seed: u64) -> Vec3 {
    let node = ((i * n[1] + j) * n[2] + k) as u64;
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

/// The positions of the nodes, z fastest.
pub(crate) fn points(n: [usize; 3], seed: u64) -> Vec<Vec3> {
    let [nx, ny, nz] = n;
    (0..nx * ny * nz)
        .into_par_iter()
        .map(|node| position([node / (ny * nz), node / nz % ny, node % nz], n, seed))
        .collect()
}

/// The tetrahedra of the box, six for each of its cubes.
pub(crate) fn tetrahedra([nx, ny, nz]: [usize; 3]) -> Vec<[u32; 4]> {
    let [mx, my, mz] = [nx - 1, ny - 1, nz - 1];
    (0..mx * my * mz).into_par_iter().flat_map_collect(|cube| {
        let corner = (cube / (my * mz) * ny + cube / mz % my) * nz + cube % mz;
        cut(corner, [ny * nz, nz, 1]).map(|corners| corners.map(|node| node as u32))
    })
}

/// The hexahedra of the box, one for each of its cubes, corners in VTK's order.
pub(crate) fn hexahedra([nx, ny, nz]: [usize; 3]) -> Vec<[u32; 8]> {
    let [mx, my, mz] = [nx - 1, ny - 1, nz - 1];
    let (x, y, z) = (ny * nz, nz, 1);
    let cube = |cube: usize| {
        let corner = (cube / (my * mz) * ny + cube / mz % my) * nz + cube % mz;
        [0, x, x + y, y, z, x + z, x + y + z, y + z].map(|step| (corner + step) as u32)
    };
    (0..mx * my * mz).into_par_iter().map(cube).collect()
}

//! Boxes that are cut into cubes, and these into tetrahedra.

use super::TetMesh;
use warpsolve_host::error::{Error, Result};

/// The orders of the three axes, even permutations first.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 2], [2, 1, 0]];

impl TetMesh {
    /// The box [0, lengths] with fibres (1, 0, 0) and no regions.
    ///
    /// - `lengths` and `spacing` in mm. Each axis is cut into the fewest equal parts of at most `spacing`
    ///   (up to a rounding of 1e-9 of a part).
    /// - With n parts along the axes there are (n_x + 1) (n_y + 1) (n_z + 1) nodes; node (i, j, k) is number
    ///   (i (n_y + 1) + j) (n_z + 1) + k: z runs fastest.
    /// - Each cuboid is cut into six tetrahedra (Kuhn), one for each order of the axes. It runs along the
    ///   axes in that order from corner (0, 0, 0) to (1, 1, 1). Tetrahedra 6 c to 6 c + 5 belong to cuboid c,
    ///   in the order of the nodes.
    ///
    /// # Errors
    /// [`Error::Option`] when a length or the spacing is not a positive finite number, or for more nodes or
    /// tetrahedra than 32 bits count.
    pub fn slab(lengths: [f64; 3], spacing: f64) -> Result<TetMesh> {
        if let Some(wrong) = lengths.into_iter().chain([spacing]).find(|&x| !(x > 0.0 && x.is_finite())) {
            return Err(Error::Option(format!(
                "a slab's lengths and spacing must be positive numbers of mm, not {wrong}"
            )));
        }
        let parts = lengths.map(|length| (length / spacing - 1e-9).ceil().max(1.0));
        let nodes = parts.iter().map(|n| n + 1.0).product::<f64>();
        if 6.0 * nodes > u32::MAX as f64 {
            return Err(Error::Option(format!(
                "a slab of {parts:?} cuboids has more nodes or tetrahedra than 32 bits count; \
                 use a larger spacing than {spacing} mm"
            )));
        }
        let n = parts.map(|n| n as usize);
        let strides = [(n[1] + 1) * (n[2] + 1), n[2] + 1, 1];

        let mut points = Vec::with_capacity(nodes as usize);
        let mut tets = Vec::with_capacity(6 * n[0] * n[1] * n[2]);
        for i in 0..=n[0] {
            for j in 0..=n[1] {
                for k in 0..=n[2] {
                    let at = [i, j, k];
                    let corner = points.len();
                    points.push([0, 1, 2].map(|axis| at[axis] as f64 * lengths[axis] / parts[axis]));
                    if at[0] == n[0] || at[1] == n[1] || at[2] == n[2] {
                        continue;
                    }
                    tets.extend(ORDERS.iter().enumerate().map(|(order, axes)| {
                        let one = corner + strides[axes[0]];
                        let two = one + strides[axes[1]];
                        let three = two + strides[axes[2]];
                        // The path of an odd permutation gives the other orientation.
                        let tet =
                            if order < 3 { [corner, one, two, three] } else { [corner, one, three, two] };
                        tet.map(|node| node as u32)
                    }));
                }
            }
        }
        let fibres = vec![[1.0, 0.0, 0.0]; tets.len()];
        Ok(TetMesh { points, tets, regions: None, fibres: Some(fibres), tagged_faces: Vec::new() })
    }
}

//! Boxes that are cut into cuboids, and these into tetrahedra; rectangles that are cut into triangles.

use super::{HexMesh, Mesh, TetMesh, TriMesh};
use warpsolve_host::error::{Error, Result};
use warpsolve_host::number::plain;

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
        let parts = [0, 1, 2].map(|axis| axis_of(&[lengths[axis]], spacing));
        let [x, y, z] = parts;
        let (points, tets) = boxes([x?, y?, z?], spacing)?;
        let fibres = vec![[1.0, 0.0, 0.0]; tets.len()];
        Ok(Mesh { points, cells: tets, regions: None, fibres: Some(fibres), tagged_faces: Vec::new() })
    }

    /// The box of [`TetMesh::slab`] as region [`TetMesh::SLAB`], with a layer of this thickness (mm) on its
    /// top side, where z is largest, as region [`TetMesh::LAYER`].
    ///
    /// # Errors
    /// Those of [`TetMesh::slab`].
    pub fn slab_with_layer(lengths: [f64; 3], layer: f64, spacing: f64) -> Result<TetMesh> {
        let [x, y] = [0, 1].map(|axis| axis_of(&[lengths[axis]], spacing));
        let (points, tets) = boxes([x?, y?, axis_of(&[lengths[2], layer], spacing)?], spacing)?;
        let is_above = |tet: &[u32; 4]| tet.iter().any(|&node| points[node as usize][2] > lengths[2]);
        let region = |tet| if is_above(tet) { Self::LAYER } else { Self::SLAB };
        let regions = Some(tets.iter().map(region).collect());
        let fibres = Some(vec![[1.0, 0.0, 0.0]; tets.len()]);
        Ok(Mesh { points, cells: tets, regions, fibres, tagged_faces: Vec::new() })
    }
}

impl HexMesh {
    /// The box of [`TetMesh::slab`], whose cuboids are the cells, in the order of the nodes.
    ///
    /// # Errors
    /// Those of [`TetMesh::slab`].
    pub fn slab(lengths: [f64; 3], spacing: f64) -> Result<HexMesh> {
        let [x, y, z] = [0, 1, 2].map(|axis| axis_of(&[lengths[axis]], spacing));
        let mut cells = Vec::new();
        let points = grid([x?, y?, z?], spacing, |corner, [x, y, z]| {
            let steps = [0, x, x + y, y, z, x + z, x + y + z, y + z];
            cells.push(steps.map(|step| (corner + step) as u32));
        })?;
        let fibres = vec![[1.0, 0.0, 0.0]; cells.len()];
        Ok(Mesh { points, cells, regions: None, fibres: Some(fibres), tagged_faces: Vec::new() })
    }
}

impl TriMesh {
    /// The rectangle [0, lengths] in the plane z = 0 with fibres (1, 0, 0), no regions, and its axes cut as
    /// those of [`TetMesh::slab`]. Node (i, j) is number i (n_y + 1) + j; each rectangle is cut along the
    /// diagonal from (0, 0) to (1, 1). With a layer (mm) the rectangle is region [`Mesh::SLAB`], and a strip
    /// of that thickness along the side where y is largest is region [`Mesh::LAYER`].
    ///
    /// # Errors
    /// Those of [`TetMesh::slab`].
    pub fn sheet(lengths: [f64; 2], layer: Option<f64>, spacing: f64) -> Result<TriMesh> {
        let y: Vec<f64> = [lengths[1]].into_iter().chain(layer).collect();
        let (x, y) = (axis_of(&[lengths[0]], spacing)?, axis_of(&y, spacing)?);
        if 2.0 * (x.len() as f64) * (y.len() as f64) > u32::MAX as f64 {
            return Err(too_many(&[x.len() as f64 - 1.0, y.len() as f64 - 1.0], spacing));
        }
        let points: Vec<[f64; 3]> = x.iter().flat_map(|&x| y.iter().map(move |&y| [x, y, 0.0])).collect();
        let mut cells = Vec::with_capacity(2 * (x.len() - 1) * (y.len() - 1));
        for i in 0..x.len() - 1 {
            for j in 0..y.len() - 1 {
                let corner = |right: usize, up: usize| ((i + right) * y.len() + j + up) as u32;
                cells.push([corner(0, 0), corner(1, 0), corner(1, 1)]);
                cells.push([corner(0, 0), corner(1, 1), corner(0, 1)]);
            }
        }
        let is_above = |cell: &[u32; 3]| cell.iter().any(|&node| points[node as usize][1] > lengths[1]);
        let region = |cell| if is_above(cell) { Self::LAYER } else { Self::SLAB };
        let regions = layer.map(|_| cells.iter().map(region).collect());
        let fibres = Some(vec![[1.0, 0.0, 0.0]; cells.len()]);
        Ok(Mesh { points, cells, regions, fibres, tagged_faces: Vec::new() })
    }
}

impl<const C: usize> Mesh<C> {
    /// The region of a slab below a layer.
    pub const SLAB: i32 = 0;
    /// The region of the layer.
    pub const LAYER: i32 = 1;
}

/// The coordinates along an axis of pieces that follow each other, each cut into the fewest equal parts.
fn axis_of(pieces: &[f64], spacing: f64) -> Result<Vec<f64>> {
    if let Some(wrong) = pieces.iter().chain([&spacing]).find(|&&x| !(x > 0.0 && x.is_finite())) {
        return Err(Error::Option(format!(
            "a slab's lengths and spacing must be positive numbers of mm, not {wrong}"
        )));
    }
    let mut coordinates = vec![0.0];
    let mut start = 0.0;
    for length in pieces {
        let parts = (length / spacing - 1e-9).ceil().max(1.0);
        if parts > u32::MAX as f64 {
            return Err(too_many(&[parts], spacing));
        }
        coordinates.extend((1..=parts as u32).map(|k| start + f64::from(k) * length / parts));
        start += length;
    }
    Ok(coordinates)
}

fn too_many(parts: &[f64], spacing: f64) -> Error {
    Error::Option(format!(
        "a slab with {} parts along its sides has more nodes or cells than 32 bits count; use a larger spacing \
         than {} mm",
        parts.iter().map(|&n| plain(n)).collect::<Vec<_>>().join(" x "),
        plain(spacing)
    ))
}

/// The points and tetrahedra of a box with these coordinates along its axes.
#[allow(clippy::type_complexity)]
fn boxes(axes: [Vec<f64>; 3], spacing: f64) -> Result<(Vec<[f64; 3]>, Vec<[u32; 4]>)> {
    let mut tets = Vec::new();
    let points = grid(axes, spacing, |corner, strides| {
        tets.extend(ORDERS.iter().enumerate().map(|(order, axes)| {
            let one = corner + strides[axes[0]];
            let two = one + strides[axes[1]];
            let three = two + strides[axes[2]];
            // The path of an odd permutation gives the other orientation.
            let tet = if order < 3 { [corner, one, two, three] } else { [corner, one, three, two] };
            tet.map(|node| node as u32)
        }));
    })?;
    Ok((points, tets))
}

/// The points of a box with these coordinates along its axes. `cuboid` gets the first node of each cuboid,
/// and the steps to the next node along each axis.
fn grid(
    axes: [Vec<f64>; 3],
    spacing: f64,
    mut cuboid: impl FnMut(usize, [usize; 3]),
) -> Result<Vec<[f64; 3]>> {
    let n = axes.each_ref().map(|axis| axis.len() - 1);
    let nodes = axes.iter().map(|axis| axis.len() as f64).product::<f64>();
    if 6.0 * nodes > u32::MAX as f64 {
        return Err(too_many(&n.map(|n| n as f64), spacing));
    }
    let strides = [(n[1] + 1) * (n[2] + 1), n[2] + 1, 1];
    let mut points = Vec::with_capacity(nodes as usize);
    for i in 0..=n[0] {
        for j in 0..=n[1] {
            for k in 0..=n[2] {
                if i < n[0] && j < n[1] && k < n[2] {
                    cuboid(points.len(), strides);
                }
                points.push([axes[0][i], axes[1][j], axes[2][k]]);
            }
        }
    }
    Ok(points)
}

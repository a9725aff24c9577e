//! Faces of cells.

/// A face of a mesh's cells: of triangles an edge, of tetrahedra a triangle, of hexahedra a quad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Face {
    /// An edge.
    Edge([u32; 2]),
    /// A triangle.
    Triangle([u32; 3]),
    /// A quad, its corners in their order around it.
    Quad([u32; 4]),
}

impl AsRef<[u32]> for Face {
    /// The corners.
    fn as_ref(&self) -> &[u32] {
        match self {
            Face::Edge(nodes) => nodes,
            Face::Triangle(nodes) => nodes,
            Face::Quad(nodes) => nodes,
        }
    }
}

impl AsMut<[u32]> for Face {
    fn as_mut(&mut self) -> &mut [u32] {
        match self {
            Face::Edge(nodes) => nodes,
            Face::Triangle(nodes) => nodes,
            Face::Quad(nodes) => nodes,
        }
    }
}

/// The faces of a cell. If its volume is positive, the normals (b - a) x (c - a) of triangles and quads point
/// outwards.
pub(super) fn faces_of<const C: usize>(cell: &[u32; C]) -> Vec<Face> {
    let triangle = |face: [usize; 3]| Face::Triangle(face.map(|c| cell[c]));
    let quad = |face: [usize; 4]| Face::Quad(face.map(|c| cell[c]));
    match C {
        3 => [[0, 1], [1, 2], [2, 0]].map(|edge| Face::Edge(edge.map(|c: usize| cell[c]))).to_vec(),
        4 => [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]].map(triangle).to_vec(),
        _ => {
            let sides = [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]];
            sides.map(quad).to_vec()
        }
    }
}

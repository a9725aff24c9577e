//! The geometry of one triangle, tetrahedron or hexahedron.

/// A point, or a vector in space.
pub type Vec3 = [f64; 3];

/// A point of a cell at which integrals over the cell are evaluated, with what gradients and volumes are
/// computed from. The cell is a triangle in a plane of constant z (C = 3 corners), a tetrahedron (C = 4), or
/// a hexahedron (C = 8, corners in VTK's order).
///
/// The gradient of the function phi_c that is 1 at corner c and 0 at the others is n_c / det.
///
/// Of a simplex one point will do, because gradients are constant. With the edges e_1, e_2, e_3 from the
/// first corner and det = e_1 . (e_2 x e_3) = +-6 V, n_1 = e_2 x e_3 and so on, and n_0 = -(n_1 + n_2 + n_3).
/// A triangle of area V has e_3 = (0, 0, 1), det = +-2 V, and no n_3.
///
/// On a hexahedron phi_c is trilinear in coordinates xi in [-1, 1]^3, and the columns of J = dx / dxi take
/// the place of the edges: n_c = (J_2 x J_3) dphi_c/dxi_1 + .., det = det J. There are 2 x 2 x 2 points of
/// Gauss, each of weight 1.
pub(crate) struct Point<const C: usize> {
    /// n_0 to n_(C-1).
    pub(crate) normals: [Vec3; C],
    /// |det|
    pub(crate) det: f64,
    /// phi_0 to phi_(C-1) here.
    pub(crate) values: [f64; C],
}

/// The corners of a hexahedron in xi, in VTK's order.
const CORNERS: [Vec3; 8] = [
    [-1.0, -1.0, -1.0],
    [1.0, -1.0, -1.0],
    [1.0, 1.0, -1.0],
    [-1.0, 1.0, -1.0],
    [-1.0, -1.0, 1.0],
    [1.0, -1.0, 1.0],
    [1.0, 1.0, 1.0],
    [-1.0, 1.0, 1.0],
];
/// 1 / sqrt(3)
const GAUSS: f64 = 0.577_350_269_189_625_8;

impl<const C: usize> Point<C> {
    /// How many there are in a cell.
    pub(crate) const COUNT: usize = if C == 8 { 8 } else { 1 };
    /// |det| over the part of the cell's volume that belongs to this point; (C - 1)! for a simplex.
    const FACTORIAL: f64 = match C {
        3 => 2.0,
        4 => 6.0,
        _ => 1.0,
    };

    /// Point `q` of the cell of these corners, of either orientation.
    #[inline]
    pub(crate) fn new(corners: [Vec3; C], q: usize) -> Self {
        let (point, det) = Self::oriented(corners, q);
        Point { det: det.abs(), ..point }
    }

    /// The same, and det with its sign.
    #[inline]
    pub(crate) fn oriented(corners: [Vec3; C], q: usize) -> (Self, f64) {
        const { assert!(C == 3 || C == 4 || C == 8) };
        if C == 8 {
            Self::in_hexahedron(corners, CORNERS[q].map(|xi| GAUSS * xi))
        } else {
            Self::in_simplex(corners)
        }
    }

    /// Inlined, so that the corners stay in registers.
    #[inline(always)]
    fn in_simplex(corners: [Vec3; C]) -> (Self, f64) {
        let edge = |c: usize| match corners.get(c) {
            Some(p) => std::array::from_fn(|x| p[x] - corners[0][x]),
            None => [0.0, 0.0, 1.0],
        };
        let [e1, e2, e3] = [edge(1), edge(2), edge(3)];
        let outer = [cross(e2, e3), cross(e3, e1), cross(e1, e2)];
        let sum = |x: usize| outer[1..C - 1].iter().fold(outer[0][x], |sum, n| sum + n[x]);
        let n0 = std::array::from_fn(|x| -sum(x));
        let normals = std::array::from_fn(|c| if c == 0 { n0 } else { outer[c - 1] });
        let det = dot(e1, outer[0]);
        (Point { normals, det, values: [1.0 / C as f64; C] }, det)
    }

    fn in_hexahedron(corners: [Vec3; C], xi: Vec3) -> (Self, f64) {
        let factor = |c: usize, x: usize| 0.5 * (1.0 + CORNERS[c][x] * xi[x]);
        // d phi_c / d xi
        let slope = |c: usize| -> Vec3 {
            std::array::from_fn(|x| 0.5 * CORNERS[c][x] * factor(c, (x + 1) % 3) * factor(c, (x + 2) % 3))
        };
        let slopes: [Vec3; C] = std::array::from_fn(slope);
        let column = |x: usize| -> Vec3 {
            std::array::from_fn(|k| corners.iter().zip(&slopes).map(|(p, s)| p[k] * s[x]).sum())
        };
        let [j1, j2, j3] = [column(0), column(1), column(2)];
        let outer = [cross(j2, j3), cross(j3, j1), cross(j1, j2)];
        let normals = slopes
            .map(|s| std::array::from_fn(|k| outer[0][k] * s[0] + outer[1][k] * s[1] + outer[2][k] * s[2]));
        let values = std::array::from_fn(|c| factor(c, 0) * factor(c, 1) * factor(c, 2));
        let det = dot(j1, outer[0]);
        (Point { normals, det, values }, det)
    }

    /// V / det^2 with the volume V that belongs to this point: 1 / (6 |det|) for a tetrahedron, 1 / (2 |det|)
    /// for a triangle. Times n_a . n_b it is V grad phi_a . grad phi_b.
    #[inline]
    pub(crate) fn scale(&self) -> f64 {
        1.0 / (Self::FACTORIAL * self.det)
    }

    /// V
    #[inline]
    pub(crate) fn volume(&self) -> f64 {
        self.det / Self::FACTORIAL
    }
}

/// The volume of a tetrahedron or a hexahedron, or the area of a triangle in a plane of constant z, negative
/// where its orientation is the other one.
pub fn signed_volume<const C: usize>(corners: [Vec3; C]) -> f64 {
    let volume = |q| Point::oriented(corners, q).1 / Point::<C>::FACTORIAL;
    (0..Point::<C>::COUNT).map(volume).sum()
}

/// a . b
#[inline]
pub fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// a x b
#[inline]
pub fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

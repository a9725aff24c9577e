//! The geometry of one triangle or tetrahedron.

/// A point, or a vector in space.
pub type Vec3 = [f64; 3];

/// A simplex of C corners: a triangle in a plane of constant z (C = 3), or a tetrahedron (C = 4), with what
/// its gradients and its volume are computed from.
///
/// With the edges e_1, e_2, e_3 from the first corner and det = e_1 . (e_2 x e_3) = +-6 V, the gradient of
/// the linear function phi_c that is 1 at corner c and 0 at the others is n_c / det, where n_1 = e_2 x e_3
/// and so on, and n_0 = -(n_1 + n_2 + n_3). A triangle of area V has e_3 = (0, 0, 1), det = +-2 V, and no
/// n_3.
pub(crate) struct Simplex<const C: usize> {
    /// n_0 to n_(C-1).
    pub(crate) normals: [Vec3; C],
    /// |det|, six times the volume of a tetrahedron, twice that of a triangle.
    pub(crate) det: f64,
}

impl<const C: usize> Simplex<C> {
    /// |det| over the volume: (C - 1)!
    const FACTORIAL: f64 = if C == 3 { 2.0 } else { 6.0 };

    /// The simplex of its corners, of either orientation.
    pub(crate) fn new(corners: [Vec3; C]) -> Self {
        const { assert!(C == 3 || C == 4) };
        let edge = |c: usize| match corners.get(c) {
            Some(p) => std::array::from_fn(|x| p[x] - corners[0][x]),
            None => [0.0, 0.0, 1.0],
        };
        let [e1, e2, e3] = [edge(1), edge(2), edge(3)];
        let outer = [cross(e2, e3), cross(e3, e1), cross(e1, e2)];
        let sum = |x: usize| outer[1..C - 1].iter().fold(outer[0][x], |sum, n| sum + n[x]);
        let n0 = std::array::from_fn(|x| -sum(x));
        let normals = std::array::from_fn(|c| if c == 0 { n0 } else { outer[c - 1] });
        Simplex { normals, det: dot(e1, outer[0]).abs() }
    }

    /// V / det^2 = 1 / (6 |det|), for a triangle 1 / (2 |det|). Times n_a . n_b it is V grad phi_a . grad
    /// phi_b.
    pub(crate) fn scale(&self) -> f64 {
        1.0 / (Self::FACTORIAL * self.det)
    }

    /// V
    pub(crate) fn volume(&self) -> f64 {
        self.det / Self::FACTORIAL
    }
}

/// a . b
pub fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// a x b
pub fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

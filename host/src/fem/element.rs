//! The geometry of one tetrahedron.

/// A point, or a vector in space.
pub type Vec3 = [f64; 3];

/// A tetrahedron, with what its gradients and its volume are computed from.
///
/// With the edges e_1, e_2, e_3 from the first corner and det = e_1 . (e_2 x e_3) = +-6 V, the gradient of
/// the linear function phi_c that is 1 at corner c and 0 at the others is n_c / det, where n_1 = e_2 x e_3
/// and so on, and n_0 = -(n_1 + n_2 + n_3).
pub(crate) struct Tetrahedron {
    /// n_0 to n_3.
    pub(crate) normals: [Vec3; 4],
    /// |det|, six times the volume.
    pub(crate) det: f64,
}

impl Tetrahedron {
    /// The tetrahedron of four corners, of either orientation.
    pub(crate) fn new([origin, a, b, c]: [Vec3; 4]) -> Self {
        let [e1, e2, e3] = [a, b, c].map(|p| std::array::from_fn(|x| p[x] - origin[x]));
        let (n1, n2, n3) = (cross(e2, e3), cross(e3, e1), cross(e1, e2));
        let n0 = std::array::from_fn(|x| -(n1[x] + n2[x] + n3[x]));
        Tetrahedron { normals: [n0, n1, n2, n3], det: dot(e1, n1).abs() }
    }

    /// V / det^2 = 1 / (6 |det|). Times n_a . n_b it is V grad phi_a . grad phi_b.
    pub(crate) fn scale(&self) -> f64 {
        1.0 / (6.0 * self.det)
    }

    /// V
    pub(crate) fn volume(&self) -> f64 {
        self.det / 6.0
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

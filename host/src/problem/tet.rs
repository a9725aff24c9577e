//! Anisotropic diffusion on tetrahedra: the project's benchmark matrix.

use super::by_row::{ByRow, whole};
use super::kuhn::{cut, fibre, position};
use crate::fem::{Point, Vec3, dot};
use crate::matrix::Csr;

/// The position of a node among the 3 x 3 x 3 nodes around a row's own, which is number 13.
const CENTRE: usize = 13;

/// The P1 stiffness matrix of -div(S grad u) = f on a box of n^3 nodes, u = 0 on one face.
///
/// - Nodes (i, j, k) for i, j, k < n at unit spacing, each coordinate moved by a jitter uniform in
///   [-0.2, 0.2): number 3 node + axis of the [random sequence](super::random) of `seed`, with
///   node = (i n + j) n + k.
/// - Every cube is cut into six tetrahedra (Kuhn), one for each order of the axes. It runs along the axes in
///   that order from the cube's corner 000 to 111.
/// - S = 0.2 I + 0.8 f f^T with the fibre f = (1, 1, 0.5) normalised, as in heart muscle.
/// - Entry (a, b) is the sum over the tetrahedra with both of V grad phi_a . S grad phi_b.
/// - The nodes i = 0 are removed (Dirichlet); the others are unknowns in order, k fastest. Natural
///   conditions on the other five faces.
///
/// Very rarely the jitter turns a tetrahedron inside out. Its volume then counts as positive, and the matrix
/// stays positive definite.
///
/// It has (n - 1) n^2 rows of up to 15 entries, and is symmetric to the last bit: both mirror images sum the
/// same terms in the same order. `n` is at least 2.
pub fn tet(n: usize, seed: u64) -> Csr<f64> {
    whole(&Tet::new(n, seed))
}

/// Its rows.
pub(super) struct Tet {
    n: usize,
    seed: u64,
    fibre: Vec3,
    star: Vec<[usize; 4]>,
    neighbours: [usize; 15],
}

impl Tet {
    pub fn new(n: usize, seed: u64) -> Tet {
        Tet { n, seed, fibre: fibre(), star: star(), neighbours: neighbours() }
    }

    /// Where the node of a row is, counted from 1 along the first axis, whose first nodes are no unknowns.
    fn node_of(&self, row: usize) -> [usize; 3] {
        let n = self.n;
        [row / (n * n) + 1, row / n % n, row % n]
    }

    /// Whether the node at `place` around that `at` is in the box. Along an axis 0 is a step back and 2 a
    /// step forward.
    fn is_inside(&self, at: [usize; 3], place: usize) -> bool {
        let step = steps(place);
        (0..3).all(|axis| at[axis] + step[axis] >= 1 && at[axis] + step[axis] <= self.n)
    }

    /// The places of the unknowns around a node.
    fn unknowns(&self, at: [usize; 3]) -> impl Iterator<Item = usize> + '_ {
        let is_unknown = move |place: &usize| self.is_inside(at, *place) && at[0] + steps(*place)[0] >= 2;
        self.neighbours.iter().copied().filter(is_unknown)
    }
}

impl ByRow for Tet {
    fn n_rows(&self) -> usize {
        (self.n - 1) * self.n * self.n
    }

    fn length(&self, row: usize) -> usize {
        self.unknowns(self.node_of(row)).count()
    }

    fn fill(&self, row: usize, columns: &mut [u32], values: &mut [f64]) {
        let (n, at) = (self.n, self.node_of(row));
        let mut nodes = [[0.0; 3]; 27];
        for place in self.neighbours {
            if self.is_inside(at, place) {
                let step = steps(place);
                nodes[place] = position(std::array::from_fn(|x| at[x] + step[x] - 1), [n; 3], self.seed);
            }
        }
        let mut couplings = [0.0; 27];
        let is_there = |t: &&[usize; 4]| self.is_inside(at, t[0]) && self.is_inside(at, t[3]);
        for tetrahedron in self.star.iter().filter(is_there) {
            let element = couplings_in(tetrahedron, &nodes, self.fibre);
            for (&place, coupling) in tetrahedron.iter().zip(element) {
                couplings[place] += coupling;
            }
        }
        for (k, place) in self.unknowns(at).enumerate() {
            let step = steps(place);
            let column = ((at[0] + step[0] - 2) * n + at[1] + step[1] - 1) * n + at[2] + step[2] - 1;
            (columns[k], values[k]) = (column as u32, couplings[place]);
        }
    }
}

/// Steps from the node before the centre to `place`, along each axis.
fn steps(place: usize) -> [usize; 3] {
    [place / 9, place / 3 % 3, place % 3]
}

/// The 15 positions that share a tetrahedron with the centre, ascending. Their steps all go the same way.
fn neighbours() -> [usize; 15] {
    let mut places = (0..27).filter(|&place| {
        let step = steps(place);
        !(step.contains(&0) && step.contains(&2))
    });
    std::array::from_fn(|_| places.next().expect("1 + 7 + 7 of them"))
}

/// The 24 tetrahedra around the centre, ordered by their cubes, and in each by the order of the axes. Every
/// row adds them in this order. The first and the last corner of a tetrahedron span its cube.
fn star() -> Vec<[usize; 4]> {
    let cubes = [0, 1, 3, 4, 9, 10, 12, 13].into_iter();
    cubes.flat_map(|cube| cut(cube, [9, 3, 1])).filter(|corners| corners.contains(&CENTRE)).collect()
}

/// V grad phi_c . S grad phi_b of one tetrahedron for the centre c and each of its corners b.
fn couplings_in(corners: &[usize; 4], nodes: &[Vec3; 27], fibre: Vec3) -> [f64; 4] {
    let tetrahedron = Point::new(corners.map(|place| nodes[place]), 0);
    let (normals, scale) = (tetrahedron.normals, tetrahedron.scale());
    let along = normals.map(|n| dot(fibre, n));
    let c = corners.iter().position(|&place| place == CENTRE).expect("a tetrahedron of the star");
    std::array::from_fn(|b| {
        // Products of two numbers commute to the last bit, so the matrix is symmetric.
        scale * (0.2 * dot(normals[c], normals[b]) + 0.8 * (along[c] * along[b]))
    })
}

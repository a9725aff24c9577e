//! The matrices against exact integrals, dense algebra and manufactured solutions.

use super::*;
use crate::matrix::{Csr, Symmetry};
use crate::problem::kuhn;
use crate::problem::random::uniform;
use faer::{Mat, Side};
use std::f64::consts::PI;

mod convergence;
mod elasticity;

type Tensor = [[f64; 3]; 3];

/// A box of n^3 nodes with a jitter, its number of nodes, and the nodes on its surface.
fn jittered(n: usize) -> (Vec<Vec3>, Vec<[u32; 4]>) {
    (kuhn::points([n; 3], 11), kuhn::tetrahedra([n; 3]))
}

/// The unit cube, n nodes along an edge, bent inside while the faces stay planes.
fn bent_cube(n: usize) -> (Vec<Vec3>, Vec<[u32; 4]>) {
    let points = (0..n * n * n).map(|m| {
        let [x, y, z] = [m / (n * n), m / n % n, m % n].map(|i| i as f64 / (n - 1) as f64);
        let bend = |a: f64, b: f64| 0.05 * (PI * a).sin() * (2.0 * b + 0.4).cos();
        [x + bend(x, y), y + bend(y, z), z + bend(z, x)]
    });
    (points.collect(), kuhn::tetrahedra([n; 3]))
}

/// An oblique fibre, unit length.
const FIBRE: Vec3 = [2.0 / 7.0, -6.0 / 7.0, 3.0 / 7.0];

/// Another tensor for each tetrahedron, positive definite.
fn varying(t: usize) -> Tensor {
    let random = |k| uniform(5, (4 * t + k) as u64);
    let f = [random(0), random(1) - 0.5, 0.1];
    let norm = dot(f, f).sqrt();
    transversely_isotropic(f.map(|x| x / norm), 0.5 + random(2), 0.1 + 0.3 * random(3))
}

fn times(sigma: &Tensor, g: Vec3) -> Vec3 {
    std::array::from_fn(|x| dot(sigma[x], g))
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn dense(a: &Csr<f64>) -> Mat<f64> {
    Mat::from_fn(a.n_rows(), a.n_cols(), |i, j| a.get(i, j).unwrap_or(0.0))
}

fn volume(points: &[Vec3], corners: [u32; 4]) -> f64 {
    let m = Mat::from_fn(4, 4, |a, x| if x == 0 { 1.0 } else { points[corners[a] as usize][x - 1] });
    m.determinant().abs() / 6.0
}

#[test]
fn tensors_conduct_along_and_across_the_fibre() {
    let sigma = transversely_isotropic(FIBRE, 0.17, 0.019);
    let across = [[6.0, 2.0, 0.0], [-3.0, 0.0, 2.0]];
    for (g, conductivity) in [(FIBRE, 0.17), (across[0], 0.019), (across[1], 0.019)] {
        let flux = times(&sigma, g);
        assert!((0..3).all(|x| (flux[x] - conductivity * g[x]).abs() < 1e-15), "{flux:?}");
    }
    assert!((0..3).all(|x| (0..3).all(|y| sigma[x][y] == sigma[y][x])));
    assert_eq!(transversely_isotropic(FIBRE, 0.3, 0.3)[0], [0.3, 0.0, 0.0]);
}

#[test]
fn pattern_joins_the_nodes_that_share_a_tetrahedron() {
    let n = 5;
    let (points, mut tets) = jittered(n);
    // Neither the order of the tetrahedra nor that of their corners matters for the pattern.
    tets.reverse();
    tets.iter_mut().step_by(3).for_each(|corners| corners.swap(0, 2));
    let space = P1::new(&points, &tets).unwrap();
    for i in 0..points.len() {
        let sharing = tets.iter().enumerate().filter(|(_, corners)| corners.contains(&(i as u32)));
        let mut columns: Vec<u32> = sharing.clone().flat_map(|(_, &corners)| corners).collect();
        columns.sort();
        columns.dedup();
        assert_eq!(space.columns(i), columns);
        assert!(space.around(i).iter().map(|&t| t as usize).eq(sharing.map(|(t, _)| t)));
    }
}

#[test]
fn stiffness_is_the_sum_of_its_elements() {
    let (points, mut tets) = jittered(4);
    tets.iter_mut().step_by(2).for_each(|corners| corners.swap(1, 3));
    let mut expected = Mat::<f64>::zeros(64, 64);
    for (t, corners) in tets.iter().enumerate() {
        // phi_b(node a) = delta_ab: the columns of the inverse of [1 x y z].
        let m = Mat::from_fn(4, 4, |a, x| if x == 0 { 1.0 } else { points[corners[a] as usize][x - 1] });
        let inverse = faer::linalg::solvers::DenseSolveCore::inverse(&m.partial_piv_lu());
        let gradient = |b: usize| [inverse[(1, b)], inverse[(2, b)], inverse[(3, b)]];
        for a in 0..4 {
            for b in 0..4 {
                expected[(corners[a] as usize, corners[b] as usize)] +=
                    volume(&points, *corners) * dot(gradient(a), times(&varying(t), gradient(b)));
            }
        }
    }
    let k = P1::new(&points, &tets).unwrap().stiffness(varying);
    let difference = dense(&k) - expected;
    assert!(difference.norm_max() < 1e-13, "{}", difference.norm_max());
}

#[test]
fn stiffness_is_exact_on_linear_functions() {
    let n = 6;
    let (points, tets) = jittered(n);
    let sigma = transversely_isotropic(FIBRE, 0.62, 0.24);
    let k = P1::new(&points, &tets).unwrap().stiffness(|_| sigma);
    let gradient = [0.7, -1.3, 2.1];
    let u: Vec<f64> = points.iter().map(|&p| dot(gradient, p) + 0.4).collect();
    let product = k.mul_vec(&u);
    let inside = |m: &usize| [m / (n * n), m / n % n, m % n].iter().all(|&i| i > 0 && i < n - 1);
    assert!((0..n * n * n).filter(inside).all(|m| product[m].abs() < 1e-13));
    let total: f64 = tets.iter().map(|&corners| volume(&points, corners)).sum();
    let expected = total * dot(gradient, times(&sigma, gradient));
    assert!((inner(&u, &product) / expected - 1.0).abs() < 1e-13);
}

#[test]
fn mass_integrates_products_of_linear_functions() {
    let (points, tets) = jittered(5);
    let space = P1::new(&points, &tets).unwrap();
    let (m, lumped) = (space.mass(), space.lumped_mass());
    let total: f64 = tets.iter().map(|&corners| volume(&points, corners)).sum();
    let ones = vec![1.0; points.len()];
    assert!((inner(&ones, &m.mul_vec(&ones)) / total - 1.0).abs() < 1e-14);
    assert!((lumped.iter().sum::<f64>() / total - 1.0).abs() < 1e-14);
    for (sum, lumped) in m.mul_vec(&ones).iter().zip(&lumped) {
        assert!((sum - lumped).abs() < 1e-14);
    }
    // The rule of degree 2 with four points, A. H. Stroud: Approximate Calculation of Multiple Integrals
    // (1971), T3:2-1: weights V / 4 at the barycentric (a, b, b, b) and its permutations.
    let (a, b) = ((5.0 + 3.0 * 5f64.sqrt()) / 20.0, (5.0 - 5f64.sqrt()) / 20.0);
    let f = |p: Vec3| 0.3 + dot([1.0, -0.5, 0.25], p);
    let g = |p: Vec3| -0.8 + dot([0.1, 2.0, -0.7], p);
    let integral: f64 = tets
        .iter()
        .map(|corners| {
            let place = |c: usize| {
                let weight = |d: usize| if c == d { a } else { b };
                std::array::from_fn(|x| (0..4).map(|d| weight(d) * points[corners[d] as usize][x]).sum())
            };
            volume(&points, *corners) / 4.0 * (0..4).map(|c| f(place(c)) * g(place(c))).sum::<f64>()
        })
        .sum();
    let values = |f: &dyn Fn(Vec3) -> f64| points.iter().map(|&p| f(p)).collect::<Vec<_>>();
    let found = inner(&values(&f), &m.mul_vec(&values(&g)));
    assert!((found / integral - 1.0).abs() < 1e-13, "{found}, not {integral}");
}

#[test]
fn matrices_are_symmetric_bit_for_bit_and_rows_of_stiffness_vanish() {
    let (points, mut tets) = jittered(9);
    // Corners in any order, tetrahedra too.
    for (t, corners) in tets.iter_mut().enumerate() {
        corners.rotate_left(t % 4);
    }
    let order = crate::problem::random::permutation(tets.len() as u32, 3);
    let tets: Vec<_> = order.into_iter().map(|t| tets[t as usize]).collect();
    let space = P1::new(&points, &tets).unwrap();
    let k = space.stiffness(varying);
    assert_eq!(k.is_symmetric(0.0), Symmetry::Symmetric);
    assert_eq!(space.mass().is_symmetric(0.0), Symmetry::Symmetric);
    for i in 0..k.n_rows() {
        let values = k.row(i).1;
        let (sum, size): (f64, f64) = (values.iter().sum(), values.iter().map(|v| v.abs()).sum());
        assert!(sum.abs() < 1e-15 * size, "row {i}: {sum} of {size}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    // More nodes than one task takes.
    let (points, tets) = jittered(21);
    let matrices = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let space = P1::new(&points, &tets).unwrap();
            (space.stiffness(varying), space.mass(), space.lumped_mass())
        })
    };
    let one = matrices(1);
    assert!(one.0.n_rows() > 2 * BLOCK);
    for threads in [2, 5] {
        assert!(matrices(threads) == one, "{threads} threads");
    }
}

#[test]
fn unusable_meshes_are_explained() {
    let points = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]];
    let fault = |points: &[Vec3], tets: &[[u32; 4]]| P1::new(points, tets).unwrap_err().to_string();
    let sound = [0, 1, 2, 3];
    for (tets, expected) in [
        (vec![sound, [0, 1, 5, 3]], "tetrahedron 2: there is no node 6 of 5"),
        (vec![[0, u32::MAX, 5, 3]], "tetrahedron 1: there is no node 4294967296 of 5"),
        (vec![sound, sound, [4, 1, 2, 1]], "tetrahedron 3: node 2 is two of its corners"),
        (vec![sound, [0, 1, 2, 4]], "tetrahedron 2: its volume is 0; repair the mesh"),
        (vec![sound], "node 5 belongs to no tetrahedron"),
        (vec![], "node 1 belongs to no tetrahedron"),
    ] {
        let message = fault(&points, &tets);
        assert!(message.contains(expected), "{tets:?}: {message}");
    }
    for (value, expected) in [(f64::NAN, "NaN"), (1e200, "inf"), (1e-310, "0")] {
        let mut points = points[..4].to_vec();
        points[1][0] = value;
        points[2][1] *= value.abs();
        let message = fault(&points, &[sound]);
        assert!(message.contains(&format!("tetrahedron 1: its volume is {expected}")), "{message}");
    }
    assert_eq!(P1::<4>::new(&[], &[]).unwrap().mass().n_rows(), 0);
}

#[test]
fn bidomain_interleaves_its_parts() {
    let (points, tets) = jittered(3);
    let space = P1::new(&points, &tets).unwrap();
    let (k_i, k_e) = (space.stiffness(varying), space.stiffness(|t| varying(t + 1000)));
    let (m, kappa) = (space.mass(), 0.7);
    let k_ie = space.stiffness(|t| {
        let (i, e) = (varying(t), varying(t + 1000));
        std::array::from_fn(|x| std::array::from_fn(|y| i[x][y] + e[x][y]))
    });
    let a = bidomain(&k_i, &k_ie, &m, kappa).unwrap();
    assert_eq!((a.n_rows(), a.n_cols(), a.nnz()), (54, 54, 4 * m.nnz()));
    for i in 0..27 {
        for j in 0..27 {
            let block = [0, 1].map(|r| [0, 1].map(|c| a.get(2 * i + r, 2 * j + c)));
            let couples = |k: &Csr<f64>| k.get(i, j);
            let v_v = couples(&k_i).zip(couples(&m)).map(|(k, m)| k + kappa * m);
            assert_eq!(block, [[couples(&k_ie), couples(&k_i)], [couples(&k_i), v_v]]);
        }
    }
    assert_eq!(a.is_symmetric(0.0), Symmetry::Symmetric);

    // phi constant, v = 0, and nothing else.
    let constant: Vec<f64> = (0..54).map(|row| 1.0 - (row % 2) as f64).collect();
    assert!(a.mul_vec(&constant).iter().all(|y| y.abs() < 1e-14));
    let eigenvalues = dense(&a).self_adjoint_eigenvalues(Side::Lower).unwrap();
    assert!(eigenvalues[0].abs() < 1e-14 && eigenvalues[1] > 1e-3, "{eigenvalues:?}");

    // u^T A u = phi^T K_e phi + (phi + v)^T K_i (phi + v) + kappa v^T M v
    let random = |seed| (0..27).map(|i| uniform(seed, i) - 0.5).collect::<Vec<f64>>();
    let (phi, v) = (random(1), random(2));
    let u: Vec<f64> = phi.iter().zip(&v).flat_map(|(&phi, &v)| [phi, v]).collect();
    let sum: Vec<f64> = phi.iter().zip(&v).map(|(phi, v)| phi + v).collect();
    let energy = |a: &Csr<f64>, u: &[f64]| inner(u, &a.mul_vec(u));
    let expected = energy(&k_e, &phi) + energy(&k_i, &sum) + kappa * energy(&m, &v);
    assert!((energy(&a, &u) / expected - 1.0).abs() < 1e-13);
}

/// `a` on the nodes that belong to the first `tets`, in the numbers of all n nodes.
fn within(n: usize, points: &[[f64; 3]], tets: &[[u32; 4]], of: impl Fn(&P1) -> Csr<f64>) -> Csr<f64> {
    let mut nodes: Vec<u32> = tets.as_flattened().to_vec();
    nodes.sort_unstable();
    nodes.dedup();
    let own: Vec<[f64; 3]> = nodes.iter().map(|&node| points[node as usize]).collect();
    let number = |node: u32| nodes.binary_search(&node).unwrap() as u32;
    let tets: Vec<[u32; 4]> = tets.iter().map(|tet| tet.map(number)).collect();
    let a = of(&P1::new(&own, &tets).unwrap());
    let entries = (0..a.n_rows()).flat_map(|i| {
        let (columns, values) = a.row(i);
        columns.iter().zip(values).map(move |(&j, &v)| (i, j as usize, v)).collect::<Vec<_>>()
    });
    let global = |i: usize| nodes[i] as usize;
    Csr::from_triplets(n, n, entries.map(|(i, j, v)| (global(i), global(j), v))).unwrap()
}

#[test]
fn parts_may_have_patterns_of_their_own() {
    // Cells in the first half of the tetrahedra only.
    let (points, tets) = jittered(3);
    let cells = &tets[..tets.len() / 2];
    let k_i = within(27, &points, cells, |space| space.stiffness(varying));
    let m = within(27, &points, cells, |space| space.mass());
    let k_e = P1::new(&points, &tets).unwrap().stiffness(|t| varying(t + 1000));
    let add = |a: &Csr<f64>, b: &Csr<f64>, scale: f64| {
        let all = |a: &Csr<f64>, scale: f64| -> Vec<(usize, usize, f64)> {
            let row = |i: usize| a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &v)| (i, j as usize, v));
            (0..27).flat_map(row).map(|(i, j, v)| (i, j, scale * v)).collect()
        };
        Csr::from_triplets(27, 27, all(a, 1.0).into_iter().chain(all(b, scale))).unwrap()
    };
    let (k_ie, kappa) = (add(&k_e, &k_i, 1.0), 0.7);
    assert!(k_i.nnz() < k_ie.nnz());
    let bare: Vec<usize> = (0..27).filter(|&i| m.row_len(i) == 0).collect();
    assert!(!bare.is_empty());
    let a = bidomain(&k_i, &k_ie, &m, kappa).unwrap();
    assert_eq!((a.nnz(), a.is_symmetric(0.0)), (4 * k_ie.nnz(), Symmetry::Symmetric));
    for &i in &bare {
        let row = a.row(2 * i + 1);
        assert!(row.0.iter().zip(row.1).all(|(&j, &v)| (v != 0.0) == (j as usize == 2 * i + 1)));
    }
    let eigenvalues = dense(&a).self_adjoint_eigenvalues(Side::Lower).unwrap();
    assert!(eigenvalues[0].abs() < 1e-14 && eigenvalues[1] > 1e-4, "{eigenvalues:?}");

    // The potentials of the same: with a lumped mass their energy is that of phi = u_e, v = u_i - u_e, but
    // for u_i that are in no cell.
    let lumped = m.mul_vec(&[1.0; 27]);
    let c: Vec<f64> = lumped.iter().map(|m| kappa * m).collect();
    let b = potentials(&k_i, &k_e, &c).unwrap();
    assert_eq!(b.is_symmetric(0.0), Symmetry::Symmetric);
    assert!(b.mul_vec(&[1.0; 54]).iter().all(|y| y.abs() < 1e-13));
    let eigenvalues = dense(&b).self_adjoint_eigenvalues(Side::Lower).unwrap();
    assert!(eigenvalues[0].abs() < 1e-13 && eigenvalues[1] > 1e-4, "{eigenvalues:?}");
    let diagonal = Csr::new(27, 27, (0..=27).collect(), (0..27).collect(), lumped).unwrap();
    let a = bidomain(&k_i, &k_ie, &diagonal, kappa).unwrap();
    let mut u: Vec<f64> = (0..54).map(|i| uniform(3, i) - 0.5).collect();
    bare.iter().for_each(|&i| u[2 * i] = u[2 * i + 1]);
    let as_coupled: Vec<f64> = u.as_chunks::<2>().0.iter().flat_map(|[u_i, u_e]| [*u_e, u_i - u_e]).collect();
    let energy = |a: &Csr<f64>, u: &[f64]| inner(u, &a.mul_vec(u));
    assert!((energy(&a, &as_coupled) / energy(&b, &u) - 1.0).abs() < 1e-13);
}

#[test]
fn bidomain_refuses_parts_that_do_not_fit() {
    let (points, tets) = jittered(3);
    let m = P1::new(&points, &tets).unwrap().mass();
    let (few_points, few_tets) = jittered(2);
    let small = P1::new(&few_points, &few_tets).unwrap().mass();
    let message =
        |k_ie: &Csr<f64>, mass: &Csr<f64>, kappa| bidomain(&m, k_ie, mass, kappa).unwrap_err().to_string();
    assert!(message(&m, &small, 1.0).contains("the pattern of M (8 x 8"));
    let narrow = message(&Csr::identity(27), &m, 1.0);
    assert!(narrow.contains("is not within that of K_ie (27 x 27, 27)"), "{narrow}");
    assert!(potentials(&small, &m, &[1.0; 27]).is_err() && potentials(&m, &m, &[1.0; 26]).is_err());
    for kappa in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(message(&m, &m, kappa).contains(&format!("kappa = chi Cm / dt is {kappa};")));
    }
    let wide = Csr::new(1, 2, vec![0, 1], vec![0], vec![1.0]).unwrap();
    assert!(bidomain(&wide, &wide, &wide, 1.0).is_err());
}

#[test]
fn stiffness_of_triangles_is_exact_on_linear_functions() {
    // u = 2 x - 3 y on a square, moved inside: u^T K u = |square| grad u . sigma grad u.
    let side = 4u32;
    let points: Vec<[f64; 3]> = (0..=side)
        .flat_map(|i| (0..=side).map(move |j| (i, j)))
        .map(|(i, j)| {
            let inside = |k: u32| k > 0 && k < side;
            let moved =
                if inside(i) && inside(j) { 0.1 * (uniform(5, u64::from(7 * i + j)) - 0.5) } else { 0.0 };
            [f64::from(i) / 4.0 + moved, f64::from(j) / 4.0 - moved, 1.5]
        })
        .collect();
    let triangles: Vec<[u32; 3]> = (0..side)
        .flat_map(|i| (0..side).map(move |j| (side + 1) * i + j))
        .flat_map(|a| [[a, a + side + 1, a + side + 2], [a, a + side + 2, a + 1]])
        .collect();
    let space = P1::new(&points, &triangles).unwrap();
    let sigma = transversely_isotropic([0.6, 0.8, 0.0], 0.7, 0.2);
    let k = space.stiffness(|_| sigma);
    assert_eq!(k.is_symmetric(0.0), Symmetry::Symmetric);
    assert!(k.mul_vec(&[1.0; 25]).iter().all(|y| y.abs() < 1e-14));
    let u: Vec<f64> = points.iter().map(|p| 2.0 * p[0] - 3.0 * p[1]).collect();
    // f . grad u = -1.2, |grad u|^2 = 13.
    let expected = 0.2 * 13.0 + 0.5 * 1.44;
    let energy = inner(&u, &k.mul_vec(&u));
    assert!((energy / expected - 1.0).abs() < 1e-13, "{energy} {expected}");
    let mass = space.mass();
    assert!((inner(&[1.0; 25], &mass.mul_vec(&[1.0; 25])) - 1.0).abs() < 1e-13);
}

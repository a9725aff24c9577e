//! Elasticity against exact solutions, manufactured ones, and beam theory.

use super::*;
use crate::fem::Q1;
use crate::job::{Device, Precond, Solver};
use crate::precond::amg::NearNull;

/// Multigrid with the rigid motions of the free nodes, on the CPU.
fn solve(a: &Csr<f64>, b: &[f64], points: &[Vec3], free: &FreeNodes) -> Vec<f64> {
    let directions = a.n_rows() / free.len();
    let coordinates: Vec<Vec<f64>> =
        (0..directions).map(|x| (0..free.len()).map(|i| points[free.node(i)][x]).collect()).collect();
    let solver = Solver::builder()
        .rtol(1e-8)
        .preconditioner(Precond::Amg)
        .near_null(NearNull::rigid_motions(&coordinates).unwrap())
        .device(Device::cpu(2).unwrap());
    let solution = solver.solve(a, b).unwrap();
    assert!(solution.report.converged(), "{}", solution.report);
    solution.x
}

/// The unit square, n nodes along an edge, bent inside; each of its squares is two triangles.
fn bent_square(n: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let points = (0..n * n).map(|m| {
        let [x, y] = [m / n, m % n].map(|i| i as f64 / (n - 1) as f64);
        let bend = |a: f64, b: f64| 0.05 * (PI * a).sin() * (2.0 * b + 0.4).cos();
        [x + bend(x, y), y + bend(y, x), 0.0]
    });
    (points.collect(), halved_squares([n, n]))
}

/// Two triangles for each square of a grid of nodes, the last axis fastest.
fn halved_squares([nx, ny]: [usize; 2]) -> Vec<[u32; 3]> {
    let corners = (0..nx - 1).flat_map(|i| (0..ny - 1).map(move |j| i * ny + j));
    let halves = |c: usize| [[c, c + ny, c + ny + 1], [c, c + ny + 1, c + 1]];
    corners.flat_map(halves).map(|t| t.map(|node| node as u32)).collect()
}

fn steel() -> Elastic {
    Elastic::new(210.0, 0.3).unwrap()
}

/// u = g x + c
fn affine(g: &Tensor, points: &[Vec3]) -> Vec<Vec3> {
    points.iter().map(|&p| std::array::from_fn(|k| dot(g[k], p) + 0.3 * k as f64)).collect()
}

#[test]
fn constant_stress_needs_no_forces_inside() {
    let n = 5;
    let (points, tets) = jittered(n);
    let total = tets.iter().map(|&corners| volume(&points, corners)).sum();
    constant_stress(&points, &P1::new(&points, &tets).unwrap(), total);
    // Hexahedra have the volume of the points' box of uneven faces only in part: by its own functions.
    let hexahedra = kuhn::hexahedra([n; 3]);
    let space = Q1::new(&points, &hexahedra).unwrap();
    constant_stress(&points, &space, space.lumped_mass().iter().sum());
}

/// The patch test on a jittered box of 5^3 nodes, which has this volume.
fn constant_stress<const C: usize>(points: &[Vec3], space: &P1<C>, total: f64) {
    let n = 5;
    let a = space.elasticity(&FreeNodes::all(points.len()), |_| steel()).unwrap();
    assert_eq!(a.is_symmetric(0.0), Symmetry::Symmetric);
    let g = [[0.7, -1.3, 0.2], [0.4, 0.1, -0.6], [1.1, 0.5, -0.9]];
    let u = affine(&g, points);
    let force = a.mul_vec(u.as_flattened());
    let inside = |m: &usize| [m / (n * n), m / n % n, m % n].iter().all(|&i| i > 0 && i < n - 1);
    assert!((0..n * n * n).filter(inside).all(|m| force[3 * m..3 * m + 3].iter().all(|f| f.abs() < 1e-10)));
    // Energy: volume eps : sigma, with sigma computed as a matrix.
    let eps: Tensor = std::array::from_fn(|k| std::array::from_fn(|l| 0.5 * (g[k][l] + g[l][k])));
    let trace = eps[0][0] + eps[1][1] + eps[2][2];
    let sigma: Tensor = std::array::from_fn(|k| {
        std::array::from_fn(|l| {
            2.0 * steel().mu() * eps[k][l] + if k == l { steel().lambda() * trace } else { 0.0 }
        })
    });
    let energy = inner(u.as_flattened(), &force);
    let expected = total * (0..3).map(|k| dot(eps[k], sigma[k])).sum::<f64>();
    assert!((energy / expected - 1.0).abs() < 1e-12, "{energy}, not {expected}");
    // Von Mises by the components of sigma.
    let normal = |k: usize, l: usize| (sigma[k][k] - sigma[l][l]).powi(2);
    let shear = sigma[0][1].powi(2) + sigma[1][2].powi(2) + sigma[2][0].powi(2);
    let exact = (0.5 * (normal(0, 1) + normal(1, 2) + normal(2, 0)) + 3.0 * shear).sqrt();
    let cells = space.von_mises(&u, |_| steel()).unwrap();
    let nodes = space.at_nodes(&cells).unwrap();
    assert!(cells.iter().chain(&nodes).all(|s| (s / exact - 1.0).abs() < 1e-12), "{exact}");
}

#[test]
fn rigid_motions_need_no_force() {
    let (points, tets) = jittered(4);
    let a = P1::new(&points, &tets).unwrap().elasticity(&FreeNodes::all(64), |_| steel()).unwrap();
    let (flat, triangles) = bent_square(6);
    let space = P1::new(&flat, &triangles).unwrap();
    let plane = space.elasticity(&FreeNodes::all(36), |_| steel()).unwrap();
    assert_eq!(plane.is_symmetric(0.0), Symmetry::Symmetric);
    let cubes = kuhn::hexahedra([4; 3]);
    let trilinear = Q1::new(&points, &cubes).unwrap();
    let trilinear = trilinear.elasticity(&FreeNodes::all(64), |_| steel()).unwrap();
    assert_eq!(trilinear.is_symmetric(0.0), Symmetry::Symmetric);
    for (a, points, directions) in [(a, points.clone(), 3), (trilinear, points, 3), (plane, flat, 2)] {
        let x: Vec<Vec<f64>> = (0..directions).map(|x| points.iter().map(|p| p[x]).collect()).collect();
        let motions = NearNull::rigid_motions(&x).unwrap();
        for u in motions.vectors() {
            assert!(a.mul_vec(u).iter().all(|f| f.abs() < 1e-11));
        }
        // Nothing else is in the null space.
        let eigenvalues = dense(&a).self_adjoint_eigenvalues(Side::Lower).unwrap();
        let zeros = eigenvalues.iter().filter(|e| e.abs() < 1e-9).count();
        assert_eq!(zeros, motions.vectors().len());
    }
}

/// b = 16 x^2 (1 - x)^2 of each axis in a product: it vanishes on the surface with its gradient, so that
/// faces may be clamped or free. Value, gradient and second derivatives.
fn bump(p: Vec3, directions: usize) -> (f64, Tensor) {
    let factor = |x: f64| {
        let y = x * (1.0 - x);
        [16.0 * y * y, 32.0 * y * (1.0 - 2.0 * x), 32.0 * ((1.0 - 2.0 * x).powi(2) - 2.0 * y)]
    };
    let order = |axis: usize, x: usize, y: usize| usize::from(axis == x) + usize::from(axis == y);
    let derivative = |x: usize, y: usize| {
        if x >= directions || y >= directions {
            return 0.0;
        }
        (0..directions).map(|axis| factor(p[axis])[order(axis, x, y)]).product()
    };
    let value = (0..directions).map(|axis| factor(p[axis])[0]).product();
    (value, std::array::from_fn(|x| std::array::from_fn(|y| derivative(x, y))))
}

/// u = c b with a constant vector c: f = -(lambda + mu) grad div u - mu laplace u.
fn manufactured(c: Vec3, p: Vec3, directions: usize) -> (Vec3, Vec3) {
    let (value, second) = bump(p, directions);
    let (lambda, mu) = (steel().lambda(), steel().mu());
    let laplace: f64 = (0..3).map(|x| second[x][x]).sum();
    (c.map(|c| c * value), std::array::from_fn(|k| -(lambda + mu) * dot(second[k], c) - mu * c[k] * laplace))
}

/// The error of the solution with the nodes at x = 0 clamped, in the norm of M.
fn error(points: &[Vec3], a: &Csr<f64>, m: &Csr<f64>, free: &FreeNodes, directions: usize) -> f64 {
    let c = [0.8, -0.5, if directions == 3 { 1.1 } else { 0.0 }];
    let exact: Vec<(Vec3, Vec3)> = points.iter().map(|&p| manufactured(c, p, directions)).collect();
    let mut b = vec![0.0; a.n_rows()];
    for k in 0..directions {
        let f = m.mul_vec(&exact.iter().map(|(_, f)| f[k]).collect::<Vec<_>>());
        (0..free.len()).for_each(|i| b[directions * i + k] = f[free.node(i)]);
    }
    let u = solve(a, &b, points, free);
    let square = |k: usize| {
        let found: Vec<f64> = u.iter().skip(k).step_by(directions).copied().collect();
        let found = free.extend(&found, 0.0);
        let e: Vec<f64> = found.iter().zip(&exact).map(|(found, (u, _))| found - u[k]).collect();
        inner(&e, &m.mul_vec(&e))
    };
    (0..directions).map(square).sum::<f64>().sqrt()
}

#[test]
fn a_manufactured_solution_converges_with_second_order() {
    let errors = [9, 17, 33].map(|n| {
        let (points, tets) = bent_cube(n);
        let free = FreeNodes::new(points.len(), |i| points[i][0] == 0.0);
        assert_eq!(free.len(), (n - 1) * n * n);
        let space = P1::new(&points, &tets).unwrap();
        error(&points, &space.elasticity(&free, |_| steel()).unwrap(), &space.mass(), &free, 3)
    });
    let rates: Vec<f64> = errors.windows(2).map(|e| (e[0] / e[1]).log2()).collect();
    assert!(rates.iter().all(|&rate| rate > 1.8), "errors {errors:?}, rates {rates:?}");
}

#[test]
fn hexahedra_converge_with_second_order() {
    let errors = [5, 9, 17].map(|n| {
        let (points, _) = bent_cube(n);
        let free = FreeNodes::new(points.len(), |i| points[i][0] == 0.0);
        let hexahedra = kuhn::hexahedra([n; 3]);
        let space = Q1::new(&points, &hexahedra).unwrap();
        let a = space.elasticity(&free, |_| steel()).unwrap();
        error(&points, &a, &diagonal(space.lumped_mass()), &free, 3)
    });
    let rates: Vec<f64> = errors.windows(2).map(|e| (e[0] / e[1]).log2()).collect();
    assert!(rates.iter().all(|&rate| rate > 1.8), "errors {errors:?}, rates {rates:?}");
}

fn diagonal(values: Vec<f64>) -> Csr<f64> {
    let n = values.len();
    Csr::from_slices(n, n, &(0..=n).collect::<Vec<_>>(), &(0..n as u32).collect::<Vec<_>>(), &values).unwrap()
}

#[test]
fn plane_strain_converges_with_second_order() {
    let errors = [17, 33, 65].map(|n| {
        let (points, triangles) = bent_square(n);
        let free = FreeNodes::new(points.len(), |i| points[i][0] == 0.0);
        let space = P1::new(&points, &triangles).unwrap();
        error(&points, &space.elasticity(&free, |_| steel()).unwrap(), &space.mass(), &free, 2)
    });
    let rates: Vec<f64> = errors.windows(2).map(|e| (e[0] / e[1]).log2()).collect();
    assert!(rates.iter().all(|&rate| rate > 1.8), "errors {errors:?}, rates {rates:?}");
}

/// A steel beam of this many elements across its square section, clamped at x = 0: the mean deflection of the
/// other end under a unit force there, over that of beam theory, F L^3 / (3 E I) with the shear that
/// Timoshenko adds, F L / (5/6 G A).
fn deflection<const C: usize, const F: usize>(
    parts: usize,
    cells: fn([usize; 3]) -> Vec<[u32; C]>,
    faces_of: fn([u32; C]) -> Vec<[u32; F]>,
) -> f64 {
    let (beam, width) = (10.0, 1.0);
    let n = [10 * parts + 1, parts + 1, parts + 1];
    let at = |m: usize| [m / (n[1] * n[2]), m / n[2] % n[1], m % n[2]];
    let points: Vec<Vec3> = (0..n[0] * n[1] * n[2])
        .map(|m| std::array::from_fn(|x| at(m)[x] as f64 * width / parts as f64))
        .collect();
    let cells = cells(n);
    let free = FreeNodes::new(points.len(), |i| points[i][0] == 0.0);
    let a = P1::new(&points, &cells).unwrap().elasticity(&free, |_| steel()).unwrap();
    let is_end = |face: &[u32; F]| face.iter().all(|&node| points[node as usize][0] > beam - 1e-9);
    let end: Vec<[u32; F]> = cells.iter().flat_map(|&cell| faces_of(cell)).filter(is_end).collect();
    let shares = face_shares(&points, &end).unwrap();
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let b: Vec<f64> = free.restrict(&shares).into_iter().flat_map(|share| [0.0, 0.0, -share]).collect();
    let u = free.extend(solve(&a, &b, &points, &free).as_chunks::<3>().0, [0.0; 3]);
    let found = -inner(&shares, &u.iter().map(|u| u[2]).collect::<Vec<_>>());
    let bending = beam.powi(3) / (3.0 * steel().young() * width.powi(4) / 12.0);
    found / (bending + beam / (5.0 / 6.0 * steel().mu() * width * width))
}

/// Both kinds of elements are too stiff in bending: the deflection comes out too small, by a part that falls
/// with the square of the element's size. Hexahedra are less so.
#[test]
fn a_cantilever_in_space_bends_as_beam_theory_says() {
    let tetrahedra = [2, 4, 8].map(|parts| {
        let faces = |[a, b, c, d]: [u32; 4]| vec![[b, c, d], [a, c, d], [a, b, d], [a, b, c]];
        deflection(parts, kuhn::tetrahedra, faces)
    });
    let hexahedra = [2, 4, 8].map(|parts| {
        let faces = |[a, b, c, d, e, f, g, h]: [u32; 8]| vec![[b, c, g, f], [a, d, h, e]];
        deflection(parts, kuhn::hexahedra, faces)
    });
    println!("deflections over beam theory's: {tetrahedra:?}, {hexahedra:?}");
    for (ratios, least) in [(tetrahedra, 0.92), (hexahedra, 0.97)] {
        assert!(ratios[0] < ratios[1] && ratios[1] < ratios[2], "{ratios:?}");
        assert!((least..1.0).contains(&ratios[2]), "{ratios:?}");
        // The limit of the sequence, whose error is of second order.
        let limit = ratios[2] + (ratios[2] - ratios[1]) / 3.0;
        assert!((limit - 1.0).abs() < 0.03, "{limit}");
    }
    assert!(hexahedra[1] > tetrahedra[1]);
}

#[test]
fn a_force_is_shared_out_by_the_functions_of_a_face() {
    // A parallelogram belongs to its corners in equal parts, a trapezium does not.
    let points = [[0.0, 0.0, 0.0], [2.0, 0.0, 1.0], [2.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.0, 3.0, 0.0]];
    let shares = face_shares(&points, &[[0, 1, 2, 3]]).unwrap();
    assert!(shares[..4].iter().all(|share| (share - 0.25).abs() < 1e-15) && shares[4] == 0.0, "{shares:?}");
    let shares = face_shares(&points, &[[0, 1, 2, 4]]).unwrap();
    // Sides of 3 and 1: the integrals of the two functions along the bases are as (2 * 3 + 1) to (3 + 2).
    assert!((shares[0] - 7.0 / 24.0).abs() < 1e-15 && (shares[2] - 5.0 / 24.0).abs() < 1e-15, "{shares:?}");
}

#[test]
fn hexahedra_that_are_folded_are_refused() {
    let points = kuhn::points([2; 3], 1);
    let [cube] = kuhn::hexahedra([2; 3])[..] else { panic!("one cube") };
    let mut twisted = cube;
    twisted.swap(0, 1);
    let message = P1::new(&points, &[twisted]).unwrap_err().to_string();
    assert!(message.contains("hexahedron 1: it is folded"), "{message}");
    // The other orientation is as good.
    let mirrored = [cube[4], cube[5], cube[6], cube[7], cube[0], cube[1], cube[2], cube[3]];
    let of = |cube| P1::new(&points, &[cube]).unwrap().lumped_mass().iter().sum::<f64>();
    assert!((of(cube) / of(mirrored) - 1.0).abs() < 1e-14);
}

#[test]
fn what_is_no_material_is_refused() {
    for (young, poisson) in [(0.0, 0.3), (f64::NAN, 0.3), (1.0, 0.5), (1.0, -1.0), (f64::INFINITY, 0.0)] {
        assert!(Elastic::new(young, poisson).is_err());
    }
    let tilted = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]];
    let message = P1::new(&tilted, &[[0, 1, 2]]).unwrap_err().to_string();
    assert!(message.contains("plane of constant z"), "{message}");
    assert!(face_shares::<[u32; 3]>(&tilted, &[]).is_err());
}

#[test]
fn a_thin_sheet_is_pulled_by_hookes_law() {
    // Stress s along x alone: u_x = s x / E, u_y = -nu s y / E, and no force inside.
    let n = 5;
    let (points, triangles) = bent_square(n);
    let space = P1::new(&points, &triangles).unwrap();
    let (young, poisson, stress) = (700.0, 0.3, 21.0);
    let sheet = Elastic::new(young, poisson).unwrap().thin();
    let u: Vec<Vec3> =
        points.iter().map(|p| [stress * p[0] / young, -poisson * stress * p[1] / young, 0.0]).collect();
    let free = FreeNodes::all(points.len());
    let a = space.elasticity(&free, |_| sheet).unwrap();
    let in_plane: Vec<f64> = u.iter().flat_map(|u| [u[0], u[1]]).collect();
    let force = a.mul_vec(&in_plane);
    let [low, high] = [f64::min, f64::max]
        .map(|of| points.iter().fold(points[0], |b, p| [of(b[0], p[0]), of(b[1], p[1]), 0.0]));
    for (p, f) in points.iter().zip(force.as_chunks::<2>().0) {
        let is_inside = (0..2).all(|x| p[x] > low[x] + 1e-9 && p[x] < high[x] - 1e-9);
        assert!(!is_inside || f.iter().all(|f| f.abs() < 1e-10), "{p:?}: {f:?}");
    }
    for von_mises in space.von_mises(&u, |_| sheet).unwrap() {
        assert!((von_mises / stress - 1.0).abs() < 1e-12, "{von_mises}");
    }
}

//! The generators, against their definitions, closed-form eigenvalues and a dense factorisation.

use super::*;
use crate::matrix::{BlockCsr, Csr};
use faer::{Mat, Side};

fn dense(a: &Csr<f64>) -> Mat<f64> {
    Mat::from_fn(a.n_rows(), a.n_cols(), |i, j| a.get(i, j).unwrap_or(0.0))
}

fn assert_spd(a: &Csr<f64>) {
    assert_eq!(a.is_symmetric(0.0), crate::matrix::Symmetry::Symmetric);
    assert!(dense(a).llt(Side::Lower).is_ok(), "not positive definite");
}

/// The eigenvalues of a symmetric matrix, ascending.
fn eigenvalues(a: &Csr<f64>) -> Vec<f64> {
    dense(a).self_adjoint_eigenvalues(Side::Lower).unwrap()
}

#[test]
fn poisson_has_its_eigenvalues() {
    let sine =
        |n: usize, p: usize| 4.0 * (p as f64 * std::f64::consts::FRAC_PI_2 / (n as f64 + 1.0)).sin().powi(2);
    let check = |a: Csr<f64>, mut expected: Vec<f64>| {
        assert_spd(&a);
        expected.sort_by(f64::total_cmp);
        for (found, expected) in eigenvalues(&a).iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
        }
    };
    for n in [1, 2, 7] {
        let square = (1..=n).flat_map(|p| (1..=n).map(move |q| (p, q)));
        check(poisson2d(n), square.clone().map(|(p, q)| sine(n, p) + sine(n, q)).collect());
        let weighted = square.map(|(p, q)| 0.03 * sine(n, p) + sine(n, q)).collect();
        check(anisotropic(n, 0.03), weighted);
    }
    let n = 4;
    let cube = (0..n * n * n).map(|m| sine(n, m / 16 + 1) + sine(n, m / 4 % 4 + 1) + sine(n, m % 4 + 1));
    check(poisson3d(n), cube.collect());
}

#[test]
fn anisotropy_is_along_the_first_coordinate() {
    let a = anisotropic(5, 0.125);
    // Point (2, 3): unknown 13, neighbours (1, 3), (2, 2), (2, 4), (3, 3).
    assert_eq!(a.row(13), (&[8, 12, 13, 14, 18][..], &[-0.125, -1.0, 2.25, -1.0, -0.125][..]));
}

#[test]
fn convection_diffusion_is_an_upwind_m_matrix() {
    let (n, peclet) = (9, 50.0);
    let a = convection_diffusion(n, peclet);
    assert!(!a.is_symmetric(1e-6).is_symmetric());
    let (vx, vy) = (peclet * 2.0 / 5f64.sqrt(), peclet / 5f64.sqrt());
    // Upwind differences are exact for u = 1 + x + 2 y, whose Laplacian is 0: h^2 (vx + 2 vy) inside.
    let h = 0.1;
    let u: Vec<f64> = (0..n * n).map(|m| 1.0 + h * ((m / n + 1) as f64 + 2.0 * (m % n + 1) as f64)).collect();
    let product = a.mul_vec(&u);
    for i in 1..n - 1 {
        for j in 1..n - 1 {
            assert!((product[i * n + j] - h * h * (vx + 2.0 * vy)).abs() < 1e-12);
        }
    }
    // Weakly dominant, off-diagonal entries negative: an M-matrix.
    for i in 0..n * n {
        let (columns, values) = a.row(i);
        let sum: f64 = values.iter().sum();
        assert!(sum > -1e-12);
        assert!(columns.iter().zip(values).all(|(&j, &v)| (j as usize == i) == (v > 0.0)));
    }
    assert_eq!(convection_diffusion(7, 0.0), poisson2d(7));
}

#[test]
fn random_spd_is_what_it_says() {
    for (n, nnz_per_row) in [(1, 1), (2, 2), (3, 1), (57, 5), (101, 40)] {
        assert_spd(&random_spd(n, nnz_per_row, 3));
    }
    let a = random_spd(20_000, 8, 3);
    let mean = a.nnz() as f64 / 20_000.0;
    assert!((7.98..=8.0).contains(&mean), "{mean} entries a row");
    assert!(a.is_symmetric(0.0).is_symmetric());
    let positive = a.values().iter().filter(|&&v| v > 0.0).count() - 20_000;
    let share = positive as f64 / (a.nnz() - 20_000) as f64;
    assert!((0.48..0.52).contains(&share), "{share} of the couplings are positive");
    assert_ne!(a, random_spd(20_000, 8, 4));
}

#[test]
fn tet_has_the_published_sizes() {
    // (n - 1) n^2 rows; off the diagonal, the pairs of free nodes that lie apart by 001, 010, 011,
    // 100, 101, 110 or 111 in a box of m x n x n, both ways.
    let size = |n: usize| {
        let m = n - 1;
        let within_a_layer = 2 * m * n * m + m * m * m;
        let between_layers = (m - 1) * (n * n + 2 * n * m + m * m);
        (m * n * n, m * n * n + 2 * (within_a_layer + between_layers))
    };
    assert_eq!(size(96), (875_520, 12_914_298));
    assert_eq!(size(160), (4_070_400, 60_446_074));
    for n in [2, 3, 5, 12, 33] {
        let a = tet(n, 1);
        assert_eq!((a.n_rows(), a.nnz()), size(n), "n = {n}");
        assert!(a.is_symmetric(0.0).is_symmetric());
    }
}

#[test]
fn tet_is_positive_definite_and_sums_to_zero_away_from_the_fixed_face() {
    for n in [2, 3, 6] {
        assert_spd(&tet(n, 7));
    }
    let n = 9;
    let a = tet(n, 7);
    let sums = a.mul_vec(&vec![1.0; a.n_rows()]);
    let (fixed, free) = sums.split_at(n * n);
    assert!(free.iter().all(|s| s.abs() < 1e-13), "a constant is not in the kernel");
    assert!(fixed.iter().all(|s| s.abs() > 1e-3), "the fixed face does not hold its neighbours");
}

/// The matrix again, element by element with explicit gradients, on all nodes.
fn tet_by_elements(n: usize, seed: u64) -> Mat<f64> {
    let nodes: Vec<[f64; 3]> = (0..n * n * n)
        .map(|m| {
            let grid = [m / (n * n), m / n % n, m % n];
            std::array::from_fn(|x| grid[x] as f64 - 0.2 + 0.4 * random::uniform(seed, (3 * m + x) as u64))
        })
        .collect();
    let fibre = [2.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0];
    let conductivity = Mat::from_fn(3, 3, |x, y| 0.8 * fibre[x] * fibre[y] + if x == y { 0.2 } else { 0.0 });
    let mut stiffness = Mat::zeros(n * n * n, n * n * n);
    let strides = [n * n, n, 1];
    for cube in (0..n * n * n).filter(|m| m / (n * n) < n - 1 && m / n % n < n - 1 && m % n < n - 1) {
        for axes in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut corners = [cube; 4];
            for c in 0..3 {
                corners[c + 1] = corners[c] + strides[axes[c]];
            }
            // phi_b(node a) = delta_ab: the columns of the inverse of [1 x y z].
            let points = Mat::from_fn(4, 4, |a, x| if x == 0 { 1.0 } else { nodes[corners[a]][x - 1] });
            let inverse = faer::linalg::solvers::DenseSolveCore::inverse(&points.partial_piv_lu());
            let gradients = inverse.get(1.., ..);
            let volume = points.determinant().abs() / 6.0;
            let element = gradients.transpose() * &conductivity * gradients;
            for a in 0..4 {
                for b in 0..4 {
                    stiffness[(corners[a], corners[b])] += volume * element[(a, b)];
                }
            }
        }
    }
    stiffness
}

#[test]
fn tet_agrees_with_assembly_by_elements() {
    let n = 4;
    let (a, full) = (tet(n, 5), tet_by_elements(n, 5));
    for i in 0..a.n_rows() {
        for j in 0..a.n_rows() {
            let expected = full[(i + n * n, j + n * n)];
            let found = a.get(i, j).unwrap_or(0.0);
            assert!((found - expected).abs() < 1e-12, "({i}, {j}): {found}, not {expected}");
        }
    }
}

#[test]
fn tet_never_changes() {
    // The bits on which every published figure stands.
    let a = tet(5, 1);
    let hash = a.values().iter().fold(0u64, |h, v| random::number(h, v.to_bits()));
    assert_eq!(hash, 9680947401544792985);
}

#[test]
fn shuffling_keeps_the_blocks_of_nodes() {
    let problem: Problem = "bidomain:5".parse().unwrap();
    let a = generate(&problem, 1).unwrap();
    let b = shuffle(&a, problem.block(), 3).unwrap();
    let blocks = |a: &Csr<f64>| BlockCsr::from_csr(a, 2).unwrap();
    assert!(a != b && blocks(&a).blocks() == blocks(&b).blocks());
    let row_0 = random::permutation(125, 3).iter().position(|&node| node == 0).unwrap();
    for k in 0..2 {
        assert_eq!(b.get(2 * row_0 + k, 2 * row_0 + 1), a.get(k, 1));
    }
}

#[test]
fn shuffling_keeps_the_matrix() {
    let a = tet(8, 1);
    let b = shuffle(&a, 1, 3).unwrap();
    assert_ne!(a, b);
    assert_eq!(b, shuffle(&a, 1, 3).unwrap());
    let order = random::permutation(a.n_rows() as u32, 3);
    for (r, &i) in order.iter().enumerate().step_by(17) {
        let (columns, values) = b.row(r);
        assert_eq!(columns.len(), a.row_len(i as usize));
        for (&c, &v) in columns.iter().zip(values) {
            assert_eq!(a.get(i as usize, order[c as usize] as usize), Some(v));
        }
    }
}

#[test]
fn problems_are_read_as_they_print() {
    for (text, problem) in [
        ("tet:32", Problem::Tet { n: 32 }),
        ("poisson2d:100", Problem::Poisson2d { n: 100 }),
        ("poisson3d:64", Problem::Poisson3d { n: 64 }),
        ("anisotropic:100", Problem::Anisotropic { n: 100, epsilon: 0.01 }),
        ("anisotropic:100:1e-3", Problem::Anisotropic { n: 100, epsilon: 1e-3 }),
        ("convection-diffusion:64", Problem::ConvectionDiffusion { n: 64, peclet: 100.0 }),
        ("convection-diffusion:64:0", Problem::ConvectionDiffusion { n: 64, peclet: 0.0 }),
        ("random-spd:1000", Problem::RandomSpd { n: 1000, nnz_per_row: 8 }),
        ("random-spd:1000:21", Problem::RandomSpd { n: 1000, nnz_per_row: 21 }),
        ("bidomain:96", Problem::Bidomain { n: 96 }),
    ] {
        assert_eq!(text.parse::<Problem>().unwrap(), problem);
        assert_eq!(problem.to_string().parse::<Problem>().unwrap(), problem);
    }
}

#[test]
fn what_cannot_be_generated_is_explained() {
    for (text, expected) in [
        ("poison2d:10", "did you mean 'poisson2d'? the problems are tet:N, poisson2d:N"),
        ("quantum-chromodynamics:3", "unknown problem 'quantum-chromodynamics'; the problems are"),
        ("", "unknown problem ''; the problems are"),
        ("tet", "the size is missing; write tet:N"),
        ("tet:", "the size '' is not a whole number; write tet:N"),
        ("tet:-3", "the size '-3' is not a whole number"),
        ("tet:1", "problem 'tet:1': the size must be at least 2"),
        ("tet:0", "the size must be at least 2"),
        ("poisson2d:0", "the size must be at least 1"),
        ("bidomain:1", "the size must be at least 2"),
        ("bidomain:1291", "more rows than 32-bit indices reach"),
        ("tet:8:1", "too many fields; write tet:N"),
        ("anisotropic:8:1:1", "too many fields; write anisotropic:N[:EPSILON]"),
        ("anisotropic:8:0", "the parameter must be a positive number"),
        ("anisotropic:8:nan", "the parameter must be a positive number"),
        ("convection-diffusion:8:-1", "the parameter must be a number of at least 0"),
        ("random-spd:8:2.5", "the parameter must be a whole number of at least 1"),
        ("random-spd:8:9", "9 entries in a row of 8"),
        ("poisson2d:65536", "more rows than 32-bit indices reach (4294967295)"),
        ("tet:99999999999999999", "more rows than 32-bit indices reach"),
    ] {
        let message = text.parse::<Problem>().expect_err(text).to_string();
        assert!(message.contains(expected), "{text}: {message}");
    }
    let message = Problem::Poisson3d { n: 1000 }.check_size(16 << 30).unwrap_err().to_string();
    assert_eq!(
        message,
        "problem 'poisson3d:1000': 1000000000 rows take 85.7 GiB, and 16.0 GiB are free; use a smaller size"
    );
    assert!(free_memory() > 1 << 20);
    assert!(matches!(generate(&Problem::Tet { n: 0 }, 1), Err(Error::Option(_))));
}

#[test]
fn rows_are_those_of_the_whole() {
    for name in ["tet:5", "poisson2d:7", "poisson3d:4", "anisotropic:6:0.1", "convection-diffusion:5"] {
        let problem = name.parse().unwrap();
        let (a, rows) = (generate(&problem, 3).unwrap(), Rows::of(&problem, 3).unwrap());
        let n = a.n_rows();
        assert_eq!(rows.n_rows(), n, "{name}");
        for range in [0..n, 0..0, 3..n / 2, n / 2..n, n..n] {
            let part = rows.rows(range.clone()).unwrap();
            assert_eq!((part.n_rows(), part.n_cols()), (range.len(), n));
            let lengths: Vec<usize> = range.clone().map(|i| a.row_len(i)).collect();
            assert_eq!(rows.lengths(range.clone()), lengths, "{name} {range:?}");
            for (k, i) in range.enumerate() {
                let bits = |(columns, values): (&[u32], &[f64])| {
                    (columns.to_vec(), values.iter().map(|v| v.to_bits()).collect::<Vec<u64>>())
                };
                assert_eq!(bits(part.row(k)), bits(a.row(i)), "{name}: row {i}");
            }
        }
    }
    let refused = |name: &str| Rows::of(&name.parse().unwrap(), 1).err().unwrap().to_string();
    for name in ["random-spd:9", "bidomain:3", "elasticity:3"] {
        assert!(refused(name).contains("is made as a whole; tet, "), "{}", refused(name));
    }
}

use std::sync::atomic::AtomicBool;

use super::kind::kinds;
use super::*;
use crate::backend::cpu::Cpu;
use crate::job::{self, Device, Method, Options, Solution};
use crate::problem::generate;
use crate::problem::random::{below, permutation, uniform};
use crate::solver::Stop;

mod bound;
mod dissected;
mod full;
mod growth;
mod pivots;
mod singular;

/// Factors of this kind that take at most so many times as long as predicted.
fn factorised(a: &Csr<f64>, kind: Kind, excess: f64) -> Result<Option<Factorisation>> {
    let ordered = Ordered::of(a, &[kind])?;
    Factorisation::of(a, ordered, Effort { care: Care::Usual, excess }, &AtomicBool::new(false))
}

/// A random matrix with about `per_row` entries a row besides a hidden transversal, which is large.
fn random(n: usize, per_row: usize, seed: u64) -> Csr<f64> {
    let hidden = permutation(n as u32, seed);
    let entry = |k: usize| {
        let (i, j) = (k / per_row, below(seed, k as u64, n as u64) as usize);
        (i, j, uniform(seed + 1, k as u64) - 0.5)
    };
    let transversal = (0..n).map(|i| (i, hidden[i] as usize, 2.0 + uniform(seed, i as u64)));
    Csr::from_triplets(n, n, (0..n * per_row).map(entry).chain(transversal)).unwrap()
}

fn rhs(n: usize) -> Vec<f64> {
    (0..n).map(|i| uniform(9, i as u64) + 0.25).collect()
}

/// The diagonal scaled by `10^(+-size)` from both sides.
fn badly_scaled(a: &Csr<f64>, size: i32) -> Csr<f64> {
    let factor = |seed: u64, i: usize| 10f64.powi(below(seed, i as u64, 2 * size as u64 + 1) as i32 - size);
    let mut scaled = a.clone();
    let (row_ptr, columns, values) = scaled.parts_mut();
    for i in 0..row_ptr.len() - 1 {
        for k in row_ptr[i]..row_ptr[i + 1] {
            values[k] *= factor(1, i) * factor(2, columns[k] as usize);
        }
    }
    scaled
}

/// `A - shift I`.
fn shifted(a: &Csr<f64>, shift: f64) -> Csr<f64> {
    let row = |i: usize| a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &v)| (i, j as usize, v));
    let diagonal = (0..a.n_rows()).map(|i| (i, i, -shift));
    Csr::from_triplets(a.n_rows(), a.n_rows(), (0..a.n_rows()).flat_map(row).chain(diagonal)).unwrap()
}

fn predict(a: &Csr<f64>) -> Prediction {
    Ordered::of(a, &kinds(a)).unwrap().prediction()
}

fn problem(name: &str) -> Csr<f64> {
    generate(&name.parse().unwrap(), 1).unwrap()
}

fn solved(a: &Csr<f64>, b: &[f64], device: &Device) -> Solution {
    let options = Options { method: Some(Method::Direct), ..Options::default() };
    job::solve(a, b, &options, device).unwrap()
}

#[test]
fn every_kind_of_matrix_is_solved_everywhere() {
    let systems = [
        ("definite", problem("poisson2d:23"), Kind::Cholesky),
        ("definite, large", problem("tet:11"), Kind::Cholesky),
        ("negative definite", problem("poisson2d:17").map_values(|v: f64| -v), Kind::Ldlt),
        ("indefinite", shifted(&problem("poisson2d:23"), 1.03), Kind::Ldlt),
        ("indefinite, large", shifted(&problem("poisson3d:13"), 0.51), Kind::Ldlt),
        ("convection", problem("convection-diffusion:21:400"), Kind::Lu),
        ("zeros on the diagonal", random(211, 2, 3), Kind::Lu),
        ("dense blocks of columns", random(307, 6, 4), Kind::Lu),
        ("badly scaled", badly_scaled(&random(211, 3, 5), 15), Kind::Lu),
        ("one row", Csr::identity(1), Kind::Cholesky),
    ];
    for device in [Device::cpu(2).unwrap(), Device::simulator().unwrap()] {
        for (name, a, kind) in &systems {
            // The right-hand side of an x of one size, whatever the scaling.
            let b = a.mul_vec(&rhs(a.n_rows()));
            let Solution { x, report } = solved(a, &b, &device);
            assert!(report.converged(), "{name}: {report}");
            assert!(job::relative_residual(a, &x, &b) <= 1e-8, "{name}");
            assert!(report.outcome.iterations <= 4, "{name}: {report}");
            let info = report.factorisation.unwrap();
            assert_eq!((info.prediction.kind, info.null_space), (*kind, 0), "{name}");
        }
    }
}

/// Optimality conditions of a control problem, `[[M, 0, A], [0, c I, -I], [A, -I, 0]]`: a third of the
/// diagonal is zero. Scaled by powers of ten from both sides alike.
fn saddle_point(of: &str) -> Csr<f64> {
    let a = problem(of);
    let n = a.n_rows();
    let d = |i: usize| 10f64.powi(below(5, i as u64, 5) as i32 - 2);
    let row = |i: usize| a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &v)| (i, j as usize, v));
    let stiffness = (0..n).flat_map(row).flat_map(|(i, j, v)| [(i, 2 * n + j, v), (2 * n + i, j, v)]);
    let identity = (0..n).flat_map(|i| [(n + i, 2 * n + i, -1.0), (2 * n + i, n + i, -1.0)]);
    let masses = (0..n).flat_map(|i| [(i, i, uniform(3, i as u64) - 0.3), (n + i, n + i, 1e-3)]);
    let all = stiffness.chain(identity).chain(masses).map(|(i, j, v)| (i, j, v * d(i) * d(j)));
    Csr::from_triplets(3 * n, 3 * n, all).unwrap()
}

#[test]
fn saddle_points_are_factorised_with_pivots_of_two_rows() {
    let a = saddle_point("poisson2d:9");
    let b = a.mul_vec(&rhs(a.n_rows()));
    let mut factorisation = factorised(&a, Kind::Ldlt, f64::INFINITY).unwrap().unwrap();
    assert_eq!(factorisation.prediction.kind, Kind::Ldlt);
    let x = factorisation.solve(&b, &[], &[]);
    assert!(job::relative_residual(&a, &x, &b) <= 1e-10);
    assert_eq!([predict(&a), predict(&saddle_point("poisson3d:13"))].map(|p| p.kind), [Kind::Ldlt; 2]);
}

#[test]
fn the_factors_are_kept_for_other_right_hand_sides() {
    let a = random(150, 4, 8);
    let device = Device::cpu(1).unwrap();
    let mut solver = job::Solver::builder().method(Method::Direct).device(device).build(&a).unwrap();
    for scale in [1.0, -3.5] {
        let b: Vec<f64> = rhs(150).iter().map(|v| scale * v).collect();
        let Solution { x, report } = solver.solve(&b).unwrap();
        assert!(report.converged() && job::relative_residual(&a, &x, &b) <= 1e-8);
    }
    let twice = a.map_values(|v| 2.0 * v);
    solver.update_values(&twice).unwrap();
    let Solution { x, .. } = solver.solve(&rhs(150)).unwrap();
    assert!(job::relative_residual(&twice, &x, &rhs(150)) <= 1e-8);
}

/// A system without the entries of some columns, which are linear combinations of the others.
fn singular(n: usize, deficiency: usize, seed: u64) -> Csr<f64> {
    let a = random(n, 3, seed);
    let mut columns = a.transpose();
    let sums: Vec<Vec<(usize, f64)>> = (0..deficiency)
        .map(|k| {
            let of = |j: usize| columns.row(j).0.iter().zip(columns.row(j).1).map(|(&i, &v)| (i as usize, v));
            of(deficiency + k).chain(of(deficiency + 2 * k + 1)).collect()
        })
        .collect();
    let kept = (deficiency..n).flat_map(|j| {
        columns
            .row(j)
            .0
            .iter()
            .zip(columns.row(j).1)
            .map(move |(&i, &v)| (i as usize, j, v))
            .collect::<Vec<_>>()
    });
    let made = sums.iter().enumerate().flat_map(|(j, sum)| sum.iter().map(move |&(i, v)| (i, j, v)));
    columns = Csr::from_triplets(n, n, kept.chain(made)).unwrap();
    columns
}

#[test]
fn singular_systems_are_solved_where_they_can_be_and_proven_unsolvable_elsewhere() {
    let device = Device::cpu(1).unwrap();
    for deficiency in [1, 3, 7, 70] {
        let n = 120 + 3 * deficiency;
        let a = singular(n, deficiency, 31);
        let b = a.mul_vec(&rhs(n));
        let Solution { x, report } = solved(&a, &b, &device);
        assert!(report.converged(), "{deficiency}: {report}");
        assert!(job::relative_residual(&a, &x, &b) <= 1e-8);
        let report = solved(&a, &rhs(n), &device).report;
        let StopReason::NoSolution { least } = report.outcome.reason else { panic!("{report}") };
        assert_eq!(report.factorisation.unwrap().null_space, deficiency);
        // The solution is that of least squares, but for null spaces too large to be computed.
        let ratio = report.relative_residual * report.norm_b / least;
        assert!(ratio >= 0.999999 && (ratio < 1.000001 || deficiency > 64), "{ratio} {report:?}");
    }
}

#[test]
fn structurally_singular_systems_too() {
    // Rows 3 and 8 have entries in column 3 alone: b_8 = 1.5 b_3 has solutions.
    let mut entries: Vec<_> = (0..40).filter(|i| ![3, 8].contains(i)).map(|i| (i, i, 2.0)).collect();
    entries.extend((1..40).filter(|i| ![3, 8].contains(i)).map(|i| (i, i - 1, -0.5)));
    entries.extend([(3, 3, 1.0), (8, 3, 1.5)]);
    let a = Csr::from_triplets(40, 40, entries).unwrap();
    let device = Device::cpu(1).unwrap();
    let b = a.mul_vec(&rhs(40));
    let Solution { x, report } = solved(&a, &b, &device);
    assert!(report.converged() && job::relative_residual(&a, &x, &b) <= 1e-8, "{report}");
    let report = solved(&a, &[1.0; 40], &device).report;
    let StopReason::NoSolution { least } = report.outcome.reason else { panic!("{report}") };
    // u = (1.5, -1) / sqrt(3.25) on rows 3 and 8.
    assert!((least - 0.5 / 3.25f64.sqrt()).abs() < 1e-12, "{least}");
}

#[test]
fn predictions_are_counts() {
    // An arrow: no fill with the dense row last.
    let n = 50;
    let arrow = (0..n).flat_map(|i| [(i, i, 4.0), (0, i, 1.0), (i, 0, 1.0)]);
    let arrow = Csr::from_triplets(n, n, arrow).unwrap();
    let prediction = predict(&arrow);
    assert_eq!((prediction.kind, prediction.entries), (Kind::Cholesky, (2 * n - 1) as f64));
    let a = problem("convection-diffusion:15:40");
    let prediction = predict(&a);
    assert!(prediction.entries > a.nnz() as f64 && prediction.flops > prediction.entries, "{prediction:?}");
    assert!(prediction.check_memory().is_ok());
    let error = Prediction { bytes: 1e18, ..prediction }.check_memory().unwrap_err();
    assert!(error.to_string().contains("lu, "), "{error}");
    let zero = Stop { max_iterations: 0, ..Stop::default() };
    let options = Options { method: Some(Method::Direct), stop: zero, ..Options::default() };
    let report = job::solve(&a, &rhs(a.n_rows()), &options, &Device::cpu(1).unwrap()).unwrap().report;
    assert_eq!(report.outcome.reason, StopReason::IterationLimit);
}

#[test]
fn a_matrix_is_ordered_once() {
    let (a, outlook) = (Arc::new(saddle_point("poisson2d:9")), Outlook::default());
    assert!(outlook.take(&a).is_none());
    let prediction = outlook.prediction(&a).unwrap();
    assert_eq!((prediction, outlook.prediction(&a)), (predict(&a), Some(prediction)));
    // Another matrix, whatever its entries, is ordered by itself.
    assert!(outlook.take(&Arc::new(Csr::clone(&a))).is_none());
    assert!(outlook.take(&a).is_some() && outlook.take(&a).is_none());
}

#[test]
fn the_condition_is_estimated() {
    use faer::linalg::solvers::DenseSolveCore;
    let systems = [
        problem("poisson2d:9"),
        problem("convection-diffusion:9:400"),
        shifted(&problem("poisson2d:9"), 1.03),
        badly_scaled(&random(83, 3, 5), 6),
        random(200, 2, 7),
    ];
    for a in systems {
        let n = a.n_rows();
        let dense = faer::Mat::from_fn(n, n, |i, j| a.get(i, j).unwrap_or(0.0));
        let norm = |a: &faer::Mat<f64>| {
            (0..n).map(|j| (0..n).map(|i| a[(i, j)].abs()).sum::<f64>()).fold(0.0, f64::max)
        };
        let expected = norm(&dense) * norm(&dense.partial_piv_lu().inverse());
        let report = solved(&a, &rhs(n), &Device::Cpu(Cpu::new(1).unwrap())).report;
        let found = report.factorisation.unwrap().condition.unwrap();
        assert!(found <= 1.0001 * expected && 3.0 * found >= expected, "{found:e} {expected:e}");
    }
    // A singular matrix has none, and neither has one without rows more than 0.
    let a = Csr::from_triplets(2, 2, [(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0)]).unwrap();
    let report = solved(&a, &[2.0, 2.0], &Device::Cpu(Cpu::new(1).unwrap())).report;
    assert_eq!(report.factorisation.unwrap().condition, None);
}

/// `[[L, 1], [1^T, 0]]`, L the Laplacian of a path with weights and some far edges: blocks of columns for any
/// pivots would be as good as full, and the pivot row of all ones is large in the end.
#[test]
fn a_row_of_ones_fills_nothing() {
    let n = 4000;
    let far = (0..n).step_by(7).map(|i| (i, (i + 1 + below(6, i as u64, 40) as usize).min(n - 1)));
    let edges = (1..n).map(|i| (i - 1, i)).chain(far).filter(|(i, j)| i != j);
    let weight = |i: usize| 0.1 + 20.0 * uniform(8, i as u64);
    let laplacian = edges.flat_map(|(i, j)| {
        let w = weight(i + j);
        [(i, j, -w), (j, i, -w), (i, i, w), (j, j, w)]
    });
    let border = (0..n).flat_map(|i| [(i, n, 1.0), (n, i, 1.0)]);
    let a = Csr::from_triplets(n + 1, n + 1, laplacian.chain(border)).unwrap();
    // Not symmetric: that is for LU.
    let entries =
        (0..=n).flat_map(|i| a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &v)| (i, j as usize, v)));
    let skewed = Csr::from_triplets(n + 1, n + 1, entries.chain([(5, 3, 0.25)])).unwrap();
    for (a, kind) in [(a.clone(), Kind::Ldlt), (skewed, Kind::Lu)] {
        let b = a.mul_vec(&rhs(n + 1));
        let Solution { x, report } = solved(&a, &b, &Device::cpu(1).unwrap());
        assert!(report.converged() && job::relative_residual(&a, &x, &b) <= 1e-8, "{report}");
        let info = report.factorisation.unwrap();
        assert_eq!(info.prediction.kind, kind);
        assert!(info.entries.unwrap_or(0) < n * n / 8, "{report}");
    }
}

/// Rows whose scales differ so much that the rounding of x leaves more than b.
/// Blocks of random matrices on the diagonal, entries on one side of them, rows and columns in any order.
fn block_triangular(blocks: usize, size: usize) -> Csr<f64> {
    let n = blocks * size;
    let inside = random(size, 3, 8);
    let mut entries = Vec::new();
    for i in 0..n {
        let (first, (columns, values)) = (i - i % size, inside.row(i % size));
        entries.extend(columns.iter().zip(values).map(|(&j, &v)| (i, first + j as usize, v)));
        let beside =
            (2 * i..2 * i + 2).map(|k| (i, below(6, k as u64, n as u64) as usize, uniform(7, k as u64)));
        entries.extend(beside.filter(|(_, j, _)| *j < first).map(|(i, j, v)| (i, j, 0.1 * (v - 0.5))));
    }
    let (rows, columns) = (permutation(n as u32, 3), permutation(n as u32, 4));
    let permuted = entries.into_iter().map(|(i, j, v)| (rows[i] as usize, columns[j] as usize, v));
    Csr::from_triplets(n, n, permuted).unwrap()
}

#[test]
fn triangles_and_blocks_in_any_order_fill_nothing_beyond_their_blocks() {
    let triangle = block_triangular(3000, 1);
    let prediction = predict(&triangle);
    assert!(prediction.entries <= 1.01 * triangle.nnz() as f64, "{prediction:?} {}", triangle.nnz());
    for (a, size) in [(triangle, 1), (block_triangular(150, 20), 20)] {
        let x = rhs(a.n_rows());
        let b = a.mul_vec(&x);
        let Solution { x: found, report } = solved(&a, &b, &Device::cpu(1).unwrap());
        assert!(report.converged(), "{report}");
        let error = x.iter().zip(&found).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(error < 1e-9, "{error}");
        let entries = report.factorisation.unwrap().entries.unwrap();
        assert!(entries <= size * a.nnz(), "{entries} {}", a.nnz());
    }
}

#[test]
fn a_solution_to_rounding_is_one_whatever_it_leaves() {
    let a = badly_scaled(&problem("convection-diffusion:21:400"), 9);
    let report = solved(&a, &vec![1.0; a.n_rows()], &Device::cpu(1).unwrap()).report;
    assert!(matches!(report.outcome.reason, StopReason::AtRounding | StopReason::Converged), "{report}");
}

/// Nearly a null vector: x is large, and rounding of the products alone is more than was asked for. LU would
/// find the same x.
#[test]
fn what_is_rounding_of_products_is_measured_with_twice_the_digits() {
    let laplacian = problem("poisson2d:40");
    let n = laplacian.n_rows();
    let sums = laplacian.mul_vec(&vec![1.0; n]);
    let entries = (0..n).flat_map(|i| {
        laplacian.row(i).0.iter().zip(laplacian.row(i).1).map(move |(&j, &v)| (i, j as usize, v))
    });
    let diagonal = sums.iter().enumerate().map(|(i, sum)| (i, i, 1e-11 - sum));
    let a = Csr::from_triplets(n, n, entries.chain(diagonal)).unwrap();
    let b = vec![1.0; n];
    let Solution { x, report } = solved(&a, &b, &Device::cpu(1).unwrap());
    let in_f64 = job::relative_residual(&a, &x, &b);
    assert!(in_f64 > 1e-7, "a test that shows nothing: {in_f64}");
    let careful = vectors::norm(&doubled::residual(&a, &x, &b)) / vectors::norm(&b);
    assert!(report.converged() && (report.relative_residual - careful).abs() <= 1e-12 * careful, "{report}");
    assert_eq!(report.warnings, [job::Warning::InTwiceTheDigits { relative_residual: in_f64 }], "{report}");
    assert_eq!(report.factorisation.unwrap().prediction.kind, Kind::Cholesky);
}

/// Rows of scales by chance over 30 decades: equilibration by the largest entries leaves a matrix that is
/// singular in f64, means do not.
#[test]
fn rows_of_any_scale_make_no_matrix_singular() {
    let laplacian = problem("poisson2d:60");
    let n = laplacian.n_rows();
    let scale = |i: usize| 10f64.powf(30.0 * uniform(2, i as u64) - 15.0);
    let entries = (0..n).flat_map(|i| {
        laplacian.row(i).0.iter().zip(laplacian.row(i).1).map(move |(&j, &v)| (i, j as usize, scale(i) * v))
    });
    let a = Csr::from_triplets(n, n, entries).unwrap();
    let Solution { x, report } = solved(&a, &vec![1.0; n], &Device::cpu(1).unwrap());
    assert!(matches!(report.outcome.reason, StopReason::AtRounding | StopReason::Converged), "{report}");
    assert!(report.backward_error <= 16.0 * f64::EPSILON, "{report}");
    // What was found is handed over, however large its residual.
    assert!(x.iter().any(|x| *x != 0.0));
}

/// A row that is the sum of others: refinement finds a solution, which is not the only one.
#[test]
fn consistent_singular_systems_have_their_solution_of_least_norm() {
    let n = 300;
    let regular = random(n, 3, 5);
    let sum = |j: usize| (0..20).map(|i| regular.get(i, j).unwrap_or(0.0)).sum::<f64>();
    let rows = (0..n - 1)
        .flat_map(|i| regular.row(i).0.iter().zip(regular.row(i).1).map(move |(&j, &v)| (i, j as usize, v)));
    let last = (0..n).map(|j| (n - 1, j, sum(j))).filter(|entry| entry.2 != 0.0);
    let a = Csr::from_triplets(n, n, rows.chain(last)).unwrap();
    let b = a.mul_vec(&rhs(n));
    let Solution { x, report } = solved(&a, &b, &Device::cpu(1).unwrap());
    assert!(report.converged() && job::relative_residual(&a, &x, &b) <= 1e-8, "{report}");
    assert_eq!(report.warnings, [job::Warning::NotUnique { dimension: 1 }], "{report}");
    let dense = faer::Mat::from_fn(n, n, |i, j| a.get(i, j).unwrap_or(0.0));
    let svd = dense.svd().unwrap();
    let null = svd.V().col(n - 1);
    let along: f64 = x.iter().enumerate().map(|(i, x)| x * null[i]).sum();
    let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    assert!(along.abs() <= 1e-6 * norm, "{along:e} of {norm:e}");
}

/// `[[M, B^T], [B, 0]]` with M near 1. B has rings of four rows that add up to 0 but for small entries in
/// columns of all rings: the largest product of entries is within the rings.
fn rings(count: usize) -> Csr<f64> {
    let (rows, columns) = (4 * count, 5 * count);
    let ring = (0..rows).flat_map(|i| [(i, i, 1.0), (i / 4 * 4 + (i + 1) % 4, i, -1.0)]);
    let shared = (0..rows * count).map(|k| {
        let (row, column) = (k / count, rows + k % count);
        (row, column, 0.05 + 0.05 * uniform(8, k as u64))
    });
    let constraints = ring.chain(shared);
    let mirrored = constraints.flat_map(|(i, j, v)| [(columns + i, j, v), (j, columns + i, v)]);
    let masses = (0..columns).map(|j| (j, j, 1.0));
    let between = (0..count * count).map(|k| (rows + k / count, rows + k % count, 0.1));
    let n = columns + rows;
    Csr::from_triplets(n, n, mirrored.chain(masses).chain(between)).unwrap()
}

#[test]
fn pivots_that_vanish_in_a_regular_saddle_point_are_held() {
    for count in [6, 8, 10, 12] {
        let a = rings(count);
        let b = a.mul_vec(&rhs(a.n_rows()));
        let Solution { x, report } = solved(&a, &b, &Device::cpu(1).unwrap());
        assert!(report.converged() && job::relative_residual(&a, &x, &b) <= 1e-8, "{count}: {report}");
        let info = report.factorisation.unwrap();
        assert_eq!((info.prediction.kind, info.null_space), (Kind::Ldlt, 0), "{count}");
    }
}

/// No right-hand side at random is in the range of a singular matrix, whatever its factors are.
#[test]
fn a_right_hand_side_at_random_tells_regular_matrices_from_singular_ones() {
    for of in ["poisson2d:9", "poisson2d:14"] {
        let a = saddle_point(of);
        let n = a.n_rows();
        // The last row and column once more.
        let row = |i: usize| a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &v)| (i, j as usize, v));
        let copied = row(n - 1).flat_map(|(_, j, v)| [(n, j, v), (j, n, v)]);
        let singular = Csr::from_triplets(n + 1, n + 1, (0..n).flat_map(row).chain(copied)).unwrap();
        for (a, is_regular) in [(a.clone(), true), (singular, false)] {
            let mut factorisation = factorised(&a, Kind::Ldlt, f64::INFINITY).unwrap().unwrap();
            assert_eq!(reaches_any_rhs(&a, &mut factorisation, &mut |_, _| ()), is_regular, "{of}");
        }
    }
}

/// Factors of a matrix that differs in some entries of the diagonal.
#[test]
fn inaccurate_factors_of_a_symmetric_matrix_are_used_by_gmres_before_lu() {
    let a = Arc::new(shifted(&problem("poisson2d:23"), 1.03));
    let changes = (0..8).map(|k| (61 * k, 61 * k, 20.0));
    let row = |i: usize| a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &v)| (i, j as usize, v));
    let other =
        Csr::from_triplets(a.n_rows(), a.n_rows(), (0..a.n_rows()).flat_map(row).chain(changes)).unwrap();
    let mut direct = Direct::new(a.clone(), &Options::default().method_parameters()).unwrap();
    direct.factorisation = factorised(&other, Kind::Ldlt, f64::INFINITY).unwrap();
    let b = a.mul_vec(&rhs(a.n_rows()));
    let mut run = Refinement::new(&a, &b, vec![0.0; b.len()], 1e-10 * norm(&b));
    let reason = direct.refined(&mut run, 100, &mut |_, _| ()).unwrap();
    assert_eq!(reason, StopReason::Converged);
    assert!(job::relative_residual(&a, &run.x, &b) <= 1e-10);
    assert_eq!(direct.info().unwrap().prediction.kind, Kind::Ldlt, "{:?}", run.history);
}

//! Singular systems, and right-hand sides outside of their range.

use super::{devices, rhs};
use crate::job::{Method, Options, Permute, Precond, Scale, Solution, Solver, solve};
use crate::matrix::Csr;
use crate::norm::norm;
use crate::solver::StopReason;

/// The Laplacian of a chain with Neumann's condition: constants are its null space.
fn neumann(n: usize) -> Csr<f64> {
    let entries = (0..n).flat_map(|i| {
        let beside = [i.checked_sub(1), Some(i + 1).filter(|&j| j < n)];
        let beside: Vec<usize> = beside.into_iter().flatten().collect();
        let own = (i, i, beside.len() as f64);
        std::iter::once(own).chain(beside.into_iter().map(move |j| (i, j, -1.0)))
    });
    Csr::from_triplets(n, n, entries).unwrap()
}

#[test]
fn no_x_reaches_a_value_of_b_in_an_empty_row() {
    // Unknown 2 is in other rows, so that it is not set aside.
    let entries = [(0, 0, 2.0), (0, 1, 1.0), (1, 2, 0.0), (2, 1, 1.0), (3, 3, 1.0)];
    let a = Csr::from_triplets(4, 4, entries).unwrap();
    let options = Options { method: Some(Method::Gmres), precond: Some(Precond::None), ..Options::default() };
    for device in devices() {
        let reason = |b: &[f64]| solve(a.clone(), b, &options, &device).unwrap().report.outcome.reason;
        assert_eq!(reason(&[1.0, -3.0, 1.0, 1.0]), StopReason::NoSolution { least: 3.0 });
        assert!(!matches!(reason(&[1.0, 0.0, 1.0, 1.0]), StopReason::NoSolution { .. }));
        // Beyond the tolerance alone.
        assert!(!matches!(reason(&[1.0, 1e-9, 1.0, 1.0]), StopReason::NoSolution { .. }));
    }
}

/// Of a chain of an odd number of unknowns without a diagonal LU overflows, perturbed or not.
#[test]
fn a_structurally_singular_matrix_without_factors_has_a_verdict() {
    let n = 1001;
    let size = |k: usize| if k.is_multiple_of(2) { 1.0 } else { 1000.0 };
    let pairs = (0..n - 1).flat_map(|k| [(k, k + 1, size(k)), (k + 1, k, size(k))]);
    let a = Csr::from_triplets(n, n, pairs).unwrap();
    for device in devices() {
        let report = solve(&a, &vec![1.0; n], &Options::default(), &device).unwrap().report;
        let StopReason::NoSolution { least } = report.outcome.reason else { panic!("{report}") };
        // b in the direction of (1, 0, -1e-3, 0, 1e-6, ..).
        assert!((least - 1.0 / 1.001 * (1.0 - 1e-6f64).sqrt()).abs() < 1e-6, "{least}");
    }
}

#[test]
fn minres_keeps_the_solution_of_least_squares() {
    // D L D with the Laplacian L of a ring with chords: its null space is D^-1 1, which nobody looks for.
    let n = 24;
    let d = |i: usize| 1.0 + 0.5 * (i as f64).sin();
    let row = |i: usize| {
        let beside = [1, 5, n - 5, n - 1].map(|k| (i, (i + k) % n, -d(i) * d((i + k) % n)));
        std::iter::once((i, i, 4.0 * d(i) * d(i))).chain(beside)
    };
    let a = Csr::from_triplets(n, n, (0..n).flat_map(row)).unwrap();
    let b: Vec<f64> = (0..n).map(|i| (1.3 * i as f64).cos()).collect();
    for precond in [Precond::None, Precond::Jacobi] {
        // With v in the null space M^-1 v is left.
        let inverse_m = |i: usize| if precond == Precond::None { 1.0 } else { 4.0 * d(i) * d(i) };
        let product: f64 = b.iter().enumerate().map(|(i, b)| b / d(i)).sum();
        let square: f64 = (0..n).map(|i| inverse_m(i) / (d(i) * d(i))).sum();
        let left: Vec<f64> = (0..n).map(|i| product / square * inverse_m(i) / d(i)).collect();
        let expected = norm(&left) / norm(&b);
        for device in devices() {
            let options =
                Options { method: Some(Method::Minres), precond: Some(precond), ..Options::default() };
            let Solution { x, report } = solve(&a, &b, &options, &device).unwrap();
            let StopReason::LeastSquares { gradient } = report.outcome.reason else { panic!("{report}") };
            assert!(gradient <= 1e-6, "{gradient}");
            assert!((report.relative_residual / expected - 1.0).abs() < 1e-6, "{report}, not {expected}");
            assert!(norm(&x) < 1e3, "{report}");
        }
    }
}

#[test]
fn numbers_near_the_end_of_f64_prove_nothing_of_least_squares() {
    let a = crate::problem::generate(&"poisson2d:5".parse().unwrap(), 1).unwrap();
    for size in [1e-170, 1e170] {
        let a = a.map_values(|v| size * v);
        let options =
            Options { method: Some(Method::Minres), precond: Some(Precond::None), ..Options::default() };
        let report = solve(&a, &rhs(25), &options, &devices()[0]).unwrap().report;
        let is_claimed = matches!(report.outcome.reason, StopReason::LeastSquares { .. });
        assert!(!is_claimed, "{size:e}: {report}");
    }
}

#[test]
fn scalings_permutations_and_blocks_are_projected_too() {
    let n = 30;
    let a = neumann(n);
    let ways = [
        Options::default(),
        Options { scaling: Scale::Ruiz, ..Options::default() },
        Options { scaling: Scale::Matching, ..Options::default() },
        Options { permute: Permute::Matching, ..Options::default() },
        Options { block_size: 2, ..Options::default() },
    ];
    for options in ways {
        let way = format!("{} {} {}", options.scaling, options.permute, options.block_size);
        for device in devices() {
            let mut solver =
                Solver::builder().options(options.clone()).device(device.clone()).build(&a).unwrap();
            let Solution { x, report } = solver.solve(&rhs(n)).unwrap();
            assert!(report.converged() && report.projected, "{way}: {report}");
            assert!(x.iter().sum::<f64>().abs() < 1e-9 * norm(&x), "{way}");
            // Nothing is left of constants.
            let Solution { x, report } = solver.solve(&vec![1.0; n]).unwrap();
            let StopReason::NoSolution { least } = report.outcome.reason else { panic!("{way}: {report}") };
            assert!((least - (n as f64).sqrt()).abs() < 1e-9, "{way}: {least}");
            assert_eq!((x, report.relative_residual, report.projected), (vec![0.0; n], 1.0, false));
        }
    }
}

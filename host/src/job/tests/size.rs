//! Systems of extreme size.

use super::{norm, rhs};
use crate::error::Error;
use crate::job::{
    Device, Method, Options, Permute, Precision, Precond, Scale, Solution, Solver, relative_residual,
};
use crate::matrix::Csr;
use crate::problem::generate;
use crate::solver::{Stop, StopReason};

fn matrix(problem: &str) -> Csr<f64> {
    generate(&problem.parse().unwrap(), 1).unwrap()
}

fn times(v: &[f64], factor: f64) -> Vec<f64> {
    v.iter().map(|v| v * factor).collect()
}

fn builder(options: &Options) -> crate::job::Builder {
    Solver::builder().options(options.clone()).device(Device::cpu(1).unwrap())
}

/// A power of two: x has the same digits.
const HUGE: f64 = f64::from_bits((1023 + 660) << 52);

#[test]
fn a_right_hand_side_of_any_size_is_solved_as_one_of_ordinary_size() {
    let ways = [
        Options::default(),
        Options { precond: Some(Precond::Amg), ..Options::default() },
        Options { method: Some(Method::Gmres), ..Options::default() },
        Options { precision: Precision::F32, ..Options::default() },
        Options { scaling: Scale::Ruiz, ..Options::default() },
    ];
    let a = matrix("poisson2d:12");
    for options in ways {
        let b = times(&rhs(a.n_rows()), 1.0 / 64.0);
        let Solution { x, report } = builder(&options).solve(&a, &b).unwrap();
        assert!(report.converged(), "{report}");
        for size in [HUGE, 1.0 / HUGE] {
            let far = builder(&options).solve(&a, &times(&b, size)).unwrap();
            assert!(far.report.converged(), "{size:e} {}", far.report);
            assert_eq!(far.x, times(&x, size), "{size:e} {options:?}");
            assert_eq!(far.report.relative_residual, report.relative_residual);
            assert_eq!(far.report.backward_error, report.backward_error);
            assert_eq!(far.report.norm_b, report.norm_b * size);
            assert_eq!(far.report.outcome.threshold, report.outcome.threshold * size);
            assert_eq!(far.report.outcome.history, times(&report.outcome.history, size));
            assert_eq!(
                far.report.amg.map(|info| info.precision),
                report.amg.as_ref().map(|info| info.precision)
            );
        }
    }
}

#[test]
fn start_and_absolute_tolerance_are_those_of_the_given_system() {
    let a = matrix("poisson2d:12");
    let b = rhs(a.n_rows());
    for size in [HUGE, 1.0 / HUGE] {
        let b = times(&b, size);
        let stop = Stop { rtol: 0.0, atol: 1e-3 * size, ..Stop::default() };
        let options = Options { method: Some(Method::Cg), stop, ..Options::default() };
        let mut solver = builder(&options).build(&a).unwrap();
        let Solution { mut x, report } = solver.solve(&b).unwrap();
        assert!(report.converged() && report.outcome.iterations > 0, "{report}");
        assert_eq!(report.outcome.threshold, 1e-3 * size);
        assert!(relative_residual(&a, &x, &b) * norm(&times(&b, 1.0 / size)) <= 1e-3);
        assert_eq!(solver.solve_into(&b, &mut x).unwrap().outcome.iterations, 0);
        // One from which nothing leads to the solution.
        let mut x = vec![if size < 1.0 { 1.0 } else { 1e300 }; b.len()];
        assert!(solver.solve_into(&b, &mut x).unwrap().converged());
    }
}

#[test]
fn a_column_of_extreme_size_leaves_the_others_alone() {
    let a = matrix("poisson2d:12");
    let sizes = [1.0, HUGE, 1.0, 1.0 / HUGE];
    let b = sizes.map(|size| times(&rhs(a.n_rows()), size));
    for options in [Options::default(), Options { precond: Some(Precond::Amg), ..Options::default() }] {
        let solutions = builder(&options).solve_many(&a, &b).unwrap();
        for (solution, size) in solutions.iter().zip(sizes) {
            assert!(solution.report.converged(), "{}", solution.report);
            assert_eq!(solution.report.method, solutions[0].report.method);
            assert_eq!(solution.x, times(&solutions[0].x, size));
        }
    }
}

#[test]
fn matrices_of_extreme_size_are_solved_with_too() {
    let a = matrix("poisson2d:12");
    let ways = [
        Options::default(),
        Options { precond: Some(Precond::Amg), ..Options::default() },
        Options { method: Some(Method::Gmres), ..Options::default() },
        Options { precision: Precision::F32, ..Options::default() },
        Options { precision: Precision::F32, method: Some(Method::Direct), ..Options::default() },
        Options { permute: Permute::Matching, ..Options::default() },
    ];
    for options in ways {
        for (of_a, of_b) in
            [(1e-170, 1.0), (1e170, 1.0), (1e200, 1e200), (1e-50, 1.0), (1e50, 1.0), (-1e300, 1e100)]
        {
            let (a, b) = (a.map_values(|v| v * of_a), times(&rhs(a.n_rows()), of_b));
            let mut solver = builder(&options).build(&a).unwrap();
            for _ in 0..2 {
                let Solution { x, report } = solver.solve(&b).unwrap();
                let found = relative_residual(&a, &x, &b);
                assert!(report.converged() && found <= 1e-8, "{of_a:e} {of_b:e} {options:?}: {report}");
                assert!(report.backward_error <= 1e-8);
                solver.update_values(&a).unwrap();
            }
        }
    }
}

/// Of the smallest entries no digit is lost beside the largest.
#[test]
fn entries_of_all_sizes_keep_their_digits() {
    for [large, small] in [[1e200f64, 1.3e-200], [1e90, 2.7e-308]] {
        let a = Csr::from_triplets(2, 2, [(0, 0, large), (1, 1, small)]).unwrap();
        let b = [large, 3.0 * small.max(1e-200)];
        for options in [Options::default(), Options { method: Some(Method::Direct), ..Options::default() }] {
            let Solution { x, report } = builder(&options).solve(&a, &b).unwrap();
            assert!(report.converged(), "{report}");
            assert!((x[0] - 1.0).abs() < 1e-15, "{large:e} {small:e}: {report}");
            let found = builder(&options).solve(&a, &[1.0, 1.0 / 64.0]).unwrap();
            let right = 1.0 / 64.0 / small;
            let is_right = (found.x[1] / right - 1.0).abs() < 1e-7;
            assert!(!found.report.converged() || is_right, "{large:e} {small:e}: {}", found.report);
        }
    }
}

#[test]
fn a_solution_that_f64_does_not_hold_is_not_called_one() {
    let options = Options::default();
    let a = Csr::<f64>::identity(3).map_values(|v| v * 1e-200);
    let Solution { x, report } = builder(&options).solve(&a, &[1e200; 3]).unwrap();
    assert!(matches!(report.outcome.reason, StopReason::OutOfRange(_)) && x == [0.0; 3], "{report}");
    assert_eq!(report.relative_residual, 1.0);
    let a = a.map_values(|_| 1e200);
    for (b, held) in [(1e-200, false), (1e-119, false), (1e-100, true)] {
        let Solution { x, report } = builder(&options).solve(&a, &[b; 3]).unwrap();
        assert_eq!(report.converged(), held, "{b:e} {x:?}: {report}");
        assert!(held || report.to_string().contains("no digits left"), "{report}");
    }
}

#[test]
fn what_vanishes_in_f32_is_refused_by_name_and_nothing_is_proven_with_it() {
    let f32 = Options { precision: Precision::F32, ..Options::default() };
    let a = Csr::from_triplets(3, 3, [(0, 0, 1.0), (1, 1, 3e-60), (2, 2, 2.0), (2, 1, 1e-60)]).unwrap();
    let error = builder(&f32).solve(&a, &[1.0; 3]).err().unwrap();
    assert!(matches!(error, Error::Vanishes { line: "row", number: 2, .. }), "{error}");
    let error = builder(&f32).solve(a.transpose(), &[1.0; 3]).err().unwrap();
    assert!(matches!(error, Error::Vanishes { line: "row", number: 2, .. }), "{error}");
    let scaled = Options { scaling: Scale::Ruiz, ..f32.clone() };
    assert!(builder(&scaled).solve(&a, &[1.0; 3]).unwrap().report.converged());
    // In f32 this is singular.
    let a = Csr::from_triplets(2, 2, [(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0 + 1e-9)]).unwrap();
    let direct = Options { method: Some(Method::Direct), ..f32 };
    let report = builder(&direct).solve(&a, &[1.0, 2.0]).unwrap().report;
    let text = report.to_string();
    assert!(!text.contains("singular") && !text.contains("f64"), "{text}");
}

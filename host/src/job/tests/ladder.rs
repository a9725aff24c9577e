//! Systems of every difficulty, solved without options.

use std::sync::Arc;

use super::*;
use crate::analysis::Analysis;
use crate::job::climb::Ladder;
use crate::job::ladder::{ladder, place, reconsider};
use crate::job::look::{Look, Place};
use crate::job::rung::{Cost, Rung};
use crate::job::setup::Times;
use crate::matrix::Csr;
use crate::precond::schur::tests::stokes;
use crate::problem::random::{below, permutation};
use crate::solver::direct::Outlook;

type Entry = (usize, usize, f64);

pub(super) fn square(n: usize, entries: impl IntoIterator<Item = Entry>) -> Csr<f64> {
    Csr::from_triplets(n, n, entries).unwrap()
}

pub(super) fn entries(a: &Csr<f64>) -> impl Iterator<Item = Entry> {
    (0..a.n_rows()).flat_map(|i| a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &v)| (i, j as usize, v)))
}

pub(super) fn problem(name: String) -> Csr<f64> {
    generate(&name.parse().unwrap(), 1).unwrap()
}

/// Matrices of sizes drawn at random, each with a difficulty of its own.
fn families(seed: u64) -> Vec<(&'static str, Csr<f64>)> {
    let size = |index: u64| 8 + below(seed, index, 20) as usize;
    let laplace = problem(format!("poisson2d:{}", size(0)));
    let n = laplace.n_rows();
    let moved = permutation(n as u32, seed);
    let power = |k: usize| 10f64.powi(below(seed, 100 + k as u64, 31) as i32 - 15);
    let small = |k: usize| uniform(seed, k as u64) - 0.5;
    let arrow = 4 * size(1);
    let (constraints, twice) = (n / 3, 2 * size(2));
    vec![
        ("zeros on the diagonal", square(n, entries(&laplace).map(|(i, j, v)| (i, moved[j] as usize, v)))),
        ("badly scaled", square(n, entries(&laplace).map(|(i, j, v)| (i, j, v * power(i) * power(n + j))))),
        ("skew", square(twice, (1..twice).flat_map(|i| [(i, i - 1, 1.5), (i - 1, i, -1.5)]))),
        (
            "saddle point",
            square(
                n + constraints,
                entries(&laplace).chain((0..constraints).flat_map(|k| {
                    let v = 1.0 + small(k);
                    [(n + k, 3 * k, v), (3 * k, n + k, v), (n + k, 3 * k + 1, -v), (3 * k + 1, n + k, -v)]
                })),
            ),
        ),
        ("nearly singular", square(n, entries(&laplace).chain((0..n).map(|i| (i, i, -2e-7 * small(i)))))),
        ("disconnected", square(n + 5, entries(&laplace).chain((n..n + 5).map(|i| (i, i, 0.5 + small(i)))))),
        (
            "arrow",
            square(
                arrow,
                (0..arrow).flat_map(|i| [(i, i, 2.0 + small(i)), (0, i, small(2 * i)), (i, 0, 1.0)]),
            ),
        ),
        ("a dense row", square(n, entries(&laplace).chain((0..n).map(|j| (n / 2, j, small(j)))))),
        ("ones", square(n, entries(&laplace).map(|(i, j, _)| (i, j, 1.0)))),
        ("Helmholtz-like", square(n, entries(&laplace).chain((0..n).map(|i| (i, i, -1.37))))),
        ("negative definite", laplace.map_values(|v| -v)),
        ("convection", problem(format!("convection-diffusion:{}:900", size(3)))),
    ]
}

#[test]
fn every_family_is_solved_without_options() {
    for seed in 0..3 {
        for (name, a) in families(seed) {
            let b = a.mul_vec(&rhs(a.n_rows()));
            let solved = devices().map(|device| {
                let Solution { x, report } = solve(&a, &b, &Options::default(), &device).unwrap();
                assert!(report.converged(), "{name}, {seed}: {report}");
                assert!(relative_residual(&a, &x, &b) <= 1e-8, "{name}, {seed}");
                assert!(report.analysis.is_some());
                (report.method, report.precond, report.attempts.len())
            });
            assert_eq!(solved[0], solved[1], "{name}, {seed}");
        }
    }
}

#[test]
fn what_stagnates_is_left_for_a_factorisation() {
    let a = problem("poisson2d:24".into());
    let a = square(a.n_rows(), entries(&a).chain((0..a.n_rows()).map(|i| (i, i, -1.37))));
    for device in devices() {
        // A format is of iterations, which then come first.
        let stop = Stop { max_iterations: 120, ..Stop::default() };
        let options = Options { format: Some(crate::Format::Crs), stop, ..Options::default() };
        let report = solve(&a, &rhs(a.n_rows()), &options, &device).unwrap().report;
        assert_eq!((report.method, report.attempts.len()), (Method::Direct, 1), "{report}");
        let Attempt { method, precond, iterations, relative_residual, ref why, .. } = report.attempts[0];
        assert_eq!((method, precond), (Method::Gmres, Precond::Jacobi));
        assert!((1..=120).contains(&iterations) && !why.is_empty(), "{:?}", report.attempts);
        assert!(relative_residual.unwrap() > 1e-8);
    }
}

#[test]
fn a_large_negative_definite_matrix_takes_cg_and_multigrid() {
    let a = problem("poisson2d:110".into()).map_values(|v| -v);
    let device = Device::cpu(2).unwrap();
    let mut solver = Solver::builder().device(device.clone()).build(&a).unwrap();
    let b = rhs(a.n_rows());
    let Solution { x, report } = solver.solve(&b).unwrap();
    assert_eq!((report.method, report.precond), (Method::Cg, Precond::Amg), "{report}");
    assert!(report.converged() && relative_residual(&a, &x, &b) <= 1e-8);
    let twice = a.map_values(|v| 2.0 * v);
    solver.update_values(&twice).unwrap();
    assert!(relative_residual(&twice, &solver.solve(&b).unwrap().x, &b) <= 1e-8);
    let prospect = prospect(&a, &Options::default(), &device).unwrap();
    assert_eq!(prospect.rungs[1].to_string(), "cg + amg");
    assert_eq!((prospect.components, prospect.rungs.len()), (1, 4));
}

#[test]
fn a_proof_that_there_is_no_solution_ends_the_search() {
    let a = square(4, [(0, 0, 1.5), (1, 0, 0.5), (2, 2, 1.0), (3, 3, 2.0), (2, 3, 0.25)]);
    for device in devices() {
        let report = solve(&a, &[1.0; 4], &Options::default(), &device).unwrap().report;
        assert!(matches!(report.outcome.reason, StopReason::NoSolution { .. }), "{report}");
        let text = report.to_string();
        assert!(text.contains("rows 1, 2 have entries in column 1 alone"), "{text}");
        // b of some x.
        let solution = solve(&a, &a.mul_vec(&[1.0, 7.0, 2.0, 3.0]), &Options::default(), &device).unwrap();
        assert!(solution.report.converged());
        assert_eq!(solution.report.warnings, [Warning::NotUnique { dimension: 1 }]);
    }
}

/// Nodes of a graph without edges keep no method away from the others.
#[test]
fn unknowns_in_no_equation_are_left_out() {
    let connected = problem("poisson2d:110".into());
    let n = connected.n_rows();
    for sign in [1.0, -1.0] {
        // The last but one, and the last, which has a zero stored.
        let entries = (0..n).flat_map(|i| {
            connected.row(i).0.iter().zip(connected.row(i).1).map(move |(&j, &v)| (i, j as usize, sign * v))
        });
        let a = square(n + 2, entries.chain([(n + 1, n + 1, 0.0)]).collect::<Vec<_>>());
        let device = Device::cpu(2).unwrap();
        let mut solver = Solver::builder().device(device).build(&a).unwrap();
        let mut b = rhs(n + 2);
        (b[n], b[n + 1]) = (0.0, 0.0);
        let Solution { x, report } = solver.solve(&b).unwrap();
        assert_eq!((report.method, report.precond), (Method::Cg, Precond::Amg), "{report}");
        assert!(report.converged() && relative_residual(&a, &x, &b) <= 1e-8, "{report}");
        assert_eq!((x[n], x[n + 1]), (0.0, 0.0));
        assert!(report.warnings.contains(&Warning::Isolated { row: n + 1, count: 2 }), "{report}");
        // No x reaches those.
        b[n] = 3.0;
        let together = solver.solve_many(&[b.clone(), b.clone()]).unwrap();
        for Solution { x, report } in together {
            let StopReason::NoSolution { least } = report.outcome.reason else { panic!("{report}") };
            assert!((least - 3.0).abs() < 1e-12 && !report.converged());
            assert!((report.relative_residual - relative_residual(&a, &x, &b)).abs() < 1e-12, "{report}");
            assert!(report.backward_error > 1e-6, "{report}");
        }
        b[n] = 0.0;
        let twice = a.map_values(|v| 2.0 * v);
        solver.update_values(&twice).unwrap();
        assert!(relative_residual(&twice, &solver.solve(&b).unwrap().x, &b) <= 1e-8);
        assert!(solver.update_values(square(n + 2, vec![(0, 0, 1.0)])).is_err());
    }
    let nothing =
        solve(square(3, Vec::new()), &[1.0, 0.0, 0.0], &Options::default(), &Device::cpu(1).unwrap());
    assert!(matches!(nothing.unwrap().report.outcome.reason, StopReason::NoSolution { .. }));
}

#[test]
fn who_names_a_method_gets_it() {
    let a = problem("poisson2d:9".into());
    let device = Device::cpu(1).unwrap();
    for method in [Method::Cg, Method::Gmres, Method::Bicgstab] {
        let options = Options { method: Some(method), ..Options::default() };
        let report = solve(&a, &rhs(81), &options, &device).unwrap().report;
        assert_eq!((report.method, report.precond, report.attempts.len()), (method, Precond::Jacobi, 0));
        let prospect = prospect(&a, &options, &device).unwrap();
        assert_eq!((prospect.rungs.len(), &*prospect.rungs[0].reason), (1, "as asked"));
    }
    let wrong = solve(&a, &[1.0; 80], &Options::default(), &device);
    assert!(matches!(wrong, Err(Error::Dimension { .. })));
}

#[test]
fn what_cg_finds_indefinite_is_left_for_no_other_preconditioner_of_cg() {
    let a = problem("poisson2d:110".into());
    // Between the smallest eigenvalue, 0.0016, and what x = 1 shows.
    let a = square(a.n_rows(), entries(&a).chain((0..a.n_rows()).map(|i| (i, i, -0.02))));
    let b = a.mul_vec(&rhs(a.n_rows()));
    let device = Device::cpu(2).unwrap();
    let plan = prospect(&a, &Options::default(), &device).unwrap();
    assert_eq!(plan.rungs[0].method, Method::Cg, "a test that shows nothing");
    let Solution { x, report } = solve(&a, &b, &Options::default(), &device).unwrap();
    assert!(report.converged() && relative_residual(&a, &x, &b) <= 1e-8, "{report}");
    assert_eq!((report.method, report.attempts.len()), (Method::Direct, 1), "{report}");
}

#[test]
fn minres_goes_on_beyond_5000_iterations_where_nobody_named_a_limit() {
    let n = 6000;
    let value = |i: usize| if i.is_multiple_of(2) { -1.0 } else { 1.0 } * (1.0 + 1e3 * i as f64 / n as f64);
    let a = square(n, (0..n).map(|i| (i, i, value(i))));
    let options =
        Options { method: Some(Method::Minres), precond: Some(Precond::None), ..Options::default() };
    let device = Device::cpu(1).unwrap();
    let report = solve(&a, &rhs(n), &options, &device).unwrap().report;
    assert!(report.converged() && report.outcome.iterations > 5000, "{report}");
    let stop = Stop { max_iterations: 5000, ..Stop::default() };
    let report = solve(&a, &rhs(n), &Options { stop, ..options }, &device).unwrap().report;
    assert_eq!((report.outcome.reason, report.outcome.iterations), (StopReason::IterationLimit, 5000));
}

#[test]
fn a_graph_that_is_no_mesh_takes_the_diagonal_first() {
    let n = 12_000;
    let edges = || {
        let path = (1..n).map(|i| (i - 1, i));
        path.chain((0..3 * n).map(|k| (k / 3, below(2, k as u64, n as u64) as usize)))
    };
    let laplacian = edges()
        .filter(|(i, j)| i != j)
        .flat_map(|(i, j)| [(i, j, -1.0), (j, i, -1.0), (i, i, 1.0), (j, j, 1.0)]);
    let a = square(n, laplacian.chain([(0, 0, 1.0)]));
    let b = a.mul_vec(&rhs(n));
    let Solution { x, report } = solve(&a, &b, &Options::default(), &Device::cpu(2).unwrap()).unwrap();
    assert_eq!((report.method, report.precond, report.attempts.len()), (Method::Cg, Precond::Jacobi, 0));
    assert!(report.converged() && relative_residual(&a, &x, &b) <= 1e-8 && report.outcome.iterations < 100);
}

#[test]
fn stokes_in_space_is_met_with_a_preconditioner_of_its_blocks() {
    let (a, _) = stokes::<3>(13, 0.2, 0.0);
    let a = Arc::new(a);
    let rungs = ladder(&a, &Analysis::of(&a), &Options::default(), &Outlook::default(), None, None);
    let schur = rungs.iter().find(|rung| rung.precond == Precond::Schur).expect("a block of zeros");
    assert_eq!(schur.method, Method::Gmres);
    let b = a.mul_vec(&rhs(a.n_rows()));
    let options = schur.options(&Options::default());
    let report = solve(&*a, &b, &options, &Device::cpu(2).unwrap()).unwrap().report;
    assert!(report.converged() && report.outcome.iterations < 40, "{report}");
    // Larger ones are not even counted.
    let a = Arc::new(stokes::<3>(34, 0.2, 0.0).0);
    let rungs = ladder(&a, &Analysis::of(&a), &Options::default(), &Outlook::default(), None, None);
    assert_eq!(rungs.iter().find(|rung| !rung.is_simple()).unwrap().precond, Precond::Schur);
    assert!(rungs.iter().all(|rung| rung.method != Method::Direct || rung.cost.is_none()));
    // Nor when another way before them has been left.
    let schur = rungs.iter().position(|rung| rung.precond == Precond::Schur).unwrap();
    let mut left = rungs[schur..].to_vec();
    reconsider(&mut left, &a, &Outlook::default());
    assert_eq!(left, rungs[schur..]);
}

/// Entries of both signs beside a diagonal that is not dominant: nothing for multigrid.
#[test]
fn incomplete_factors_are_expected_to_take_what_a_piece_shows() {
    let mesh = problem("poisson3d:30".into());
    let sign = |i: usize, j: usize| if uniform(5, (30_000 * i + j) as u64) < 0.3 { -1.0 } else { 1.0 };
    let value = |(i, j, v): Entry| (i, j, if i == j { 0.6 * v } else { sign(i, j) * v });
    let a = Arc::new(square(mesh.n_rows(), entries(&mesh).map(value)));
    let rungs = ladder(&a, &Analysis::of(&a), &Options::default(), &Outlook::default(), None, None);
    let (factors, direct) = (&rungs[0], rungs.iter().find(|rung| rung.method == Method::Direct).unwrap());
    assert!(factors.precond == Precond::Ilu && factors.reason.contains("a piece"), "{rungs:?}");
    assert!(factors.seconds() < direct.seconds(), "{rungs:?}");
    let b = a.mul_vec(&rhs(a.n_rows()));
    let Solution { x, report } = solve(&*a, &b, &Options::default(), &Device::cpu(2).unwrap()).unwrap();
    assert!(behind_a_glance(&report) == 0 && relative_residual(&a, &x, &b) <= 1e-8, "{report}");
    assert_eq!(report.precond, Precond::Ilu);
}

/// Rows in another order: hardly any entry is on the diagonal.
#[test]
fn a_piece_of_permuted_rows_shows_what_incomplete_factors_take() {
    let mesh = problem("poisson3d:30".into());
    let n = mesh.n_rows();
    let place = |i: usize| (i * 7_919 + 13) % n;
    let upwind = |i: usize, j: usize| [0.7, 1.0, 1.3][(j <= i) as usize + (j < i) as usize];
    let value = |(i, j, v): Entry| (place(i), j, upwind(i, j) * v);
    let a = Arc::new(square(n, entries(&mesh).map(value)));
    let rungs = ladder(&a, &Analysis::of(&a), &Options::default(), &Outlook::default(), None, None);
    assert!(rungs[0].precond == Precond::Ilu && rungs[0].reason.contains("a piece"), "{rungs:?}");
    let b = a.mul_vec(&rhs(n));
    let Solution { x, report } = solve(&*a, &b, &Options::default(), &Device::cpu(2).unwrap()).unwrap();
    assert!(behind_a_glance(&report) == 0 && relative_residual(&a, &x, &b) <= 1e-8, "{report}");
    assert_eq!(report.precond, Precond::Ilu);
}

/// Flows through porous media: the first block is a mass matrix, whose entries are positive.
#[test]
fn a_block_that_is_near_its_diagonal_is_met_so_too() {
    let (stokes, velocities) = stokes::<3>(17, 0.1, 0.0);
    let mass =
        |(i, j, v): Entry| (i, j, if i.max(j) < velocities { v.abs() + 0.3 * f64::from(i == j) } else { v });
    let a = Arc::new(square(stokes.n_rows(), entries(&stokes).map(mass)));
    let rungs = ladder(&a, &Analysis::of(&a), &Options::default(), &Outlook::default(), None, None);
    let schur = rungs.iter().find(|rung| rung.precond == Precond::Schur).expect("a block of zeros");
    assert!(schur.reason.contains("near its diagonal"), "{schur:?}");
    let b = a.mul_vec(&rhs(a.n_rows()));
    let options = schur.options(&Options::default());
    let report = solve(&*a, &b, &options, &Device::cpu(2).unwrap()).unwrap().report;
    assert!(report.converged() && report.outcome.iterations < 40, "{report}");
}

/// A format or a number type is of iterations, but of any.
#[test]
fn with_a_format_or_in_f32_multigrid_comes_first_too() {
    let a = Arc::new(problem("poisson2d:102".into()));
    let format = Options { format: Some(crate::Format::Sell), ..Options::default() };
    for options in [format, Options { precision: Precision::F32, ..Options::default() }] {
        let rungs = ladder(&a, &Analysis::of(&a), &options, &Outlook::default(), None, None);
        let ways: Vec<_> = rungs.iter().map(|rung| (rung.method, rung.precond)).collect();
        let expected =
            [(Method::Cg, Precond::Amg), (Method::Cg, Precond::Jacobi), (Method::Direct, Precond::None)];
        assert_eq!(ways, expected);
    }
}

#[test]
fn a_factorisation_comes_before_ways_that_take_longer() {
    let rung = |method, seconds| {
        let cost = Some(Cost { seconds, bytes: 1e6 });
        let Options { amg, ilu, .. } = Options::default();
        let (precond, patience, reason) = (Precond::None, None, String::new());
        Rung { method, precond, block_size: 1, amg, ilu, patience, cost, reason }
    };
    let others = [rung(Method::Cg, 2.0), rung(Method::Gmres, 40.0), rung(Method::Minres, 20.0)];
    let at = |seconds| place(&rung(Method::Direct, seconds), &others);
    assert_eq!([1.0, 3.0, 30.0, 50.0].map(at), [0, 1, 1, 3]);
    let factors = Rung { precond: Precond::Ilu, ..rung(Method::Gmres, 2.0) };
    assert_eq!(place(&rung(Method::Direct, 2.5), &[factors]), 0);
    // What takes little is not left for last.
    let quick = [rung(Method::Cg, 2.0), rung(Method::Gmres, 3.0)];
    assert_eq!(place(&rung(Method::Direct, 5.0), &quick), 1);
    assert_eq!(place(&rung(Method::Direct, 50.0), &quick), 2);
}

#[test]
fn a_factorisation_that_would_take_too_long_is_left_for_another_way() {
    let (a, outlook) = (Arc::new(problem("convection-diffusion:60".into())), Outlook::default());
    let rungs = ladder(&a, &Analysis::of(&a), &Options::default(), &outlook, None, None);
    let direct = rungs.into_iter().find(|rung| rung.method == Method::Direct).unwrap();
    assert_eq!(direct.is_too_long(&a, &outlook), None);
    let uncounted = Rung { cost: None, ..direct.clone() };
    assert_eq!(uncounted.is_too_long(&a, &outlook), None);
    let long = Rung { cost: Some(Cost { seconds: 1e4, bytes: 1e9 }), ..direct };
    let why = long.is_too_long(&a, &outlook).unwrap();
    assert!(why.contains("1.0e4 s") && why.contains("--solver direct"), "{why}");
}

#[test]
fn a_factorisation_that_outgrew_its_prediction_is_taken_up_last() {
    let (device, options) = (Device::cpu(1).unwrap(), Options::default());
    let mut a = Arc::new(problem("convection-diffusion:20:400".into()));
    let mut look = Look::at(&mut a, Place::Device(&device), &options, &mut Times::default()).unwrap();
    let mut ladder = Ladder::of(&mut a, options, &mut look).unwrap();
    let mut next = |error: Option<Error>| {
        if let Some(error) = error {
            ladder.put_off(&error);
            ladder.leave(&a, Attempt::without_a_start(Method::Direct, Precond::None, error.to_string()));
        }
        let plan = ladder.plan(&a, device.target()).unwrap();
        (plan.method == Method::Direct, plan.is_bound, ladder.is_last())
    };
    assert_eq!(next(None), (true, true, false));
    assert_eq!(next(Some(Error::Outgrown { predicted: 0.1, most: 1.0 })), (false, true, false));
    assert_eq!(next(Some(Error::Matrix("another".into()))), (true, false, true));
}

#[test]
fn what_is_seen_to_be_indefinite_is_factorised_at_once() {
    let a = problem("poisson2d:110".into());
    let a = square(a.n_rows(), entries(&a).chain((0..a.n_rows()).map(|i| (i, i, -0.37))));
    let b = a.mul_vec(&rhs(a.n_rows()));
    for a in [a.clone(), a.map_values(|v| -v)] {
        let Solution { x, report } = solve(&a, &b, &Options::default(), &Device::cpu(2).unwrap()).unwrap();
        assert!(report.converged() && relative_residual(&a, &x, &b) <= 1e-8, "{report}");
        assert_eq!((report.method, report.attempts.len()), (Method::Direct, 0), "{report}");
    }
}

/// `D L D` with entries of D from 1e-7 to 1e8.
#[test]
fn what_rounding_leaves_of_bad_scaling_is_no_proof_that_there_is_no_solution() {
    let laplacian = problem("poisson2d:60".into());
    let d = |i: usize| 10f64.powf(15.0 * uniform(4, i as u64) - 7.0);
    let a = square(laplacian.n_rows(), entries(&laplacian).map(|(i, j, v)| (i, j, d(i) * v * d(j))));
    let report =
        solve(&a, &vec![1.0; a.n_rows()], &Options::default(), &Device::cpu(2).unwrap()).unwrap().report;
    assert_eq!(report.outcome.reason, StopReason::AtRounding, "{report}");
    assert!(report.backward_error <= 1e-15);
}

/// Upwind differences of a strong wind are nearly triangular in the order of the wind.
#[test]
fn a_flow_takes_incomplete_factors_before_multigrid() {
    let a = Arc::new(problem("convection-diffusion:110:20000".into()));
    let rungs = ladder(&a, &Analysis::of(&a), &Options::default(), &Outlook::default(), None, None);
    let names: Vec<String> = rungs.iter().take(2).map(ToString::to_string).collect();
    assert_eq!(names, ["gmres + ilu", "gmres + amg"], "{rungs:?}");
    let b = rhs(a.n_rows());
    let report = solve(&*a, &b, &Options::default(), &Device::cpu(2).unwrap()).unwrap().report;
    assert!(report.converged() && behind_a_glance(&report) == 0, "{report}");
}

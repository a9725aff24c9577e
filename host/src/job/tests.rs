//! Tests of the path of a solve.

use std::time::{Duration, Instant};

use super::verdict::is_worse_than_start;
use super::*;
use crate::backend::cpu::Cpu;
use crate::backend::gpu::Gpu;
use crate::error::Error;
use crate::precond::amg;
use crate::problem::generate;
use crate::problem::random::uniform;
use crate::solver::{Outcome, Stop, StopReason};

mod blocks;
mod components;
mod diagonal;
mod ladder;
mod many;
mod real;
mod reorder;
mod scaled;
mod singular;
mod size;
mod traffic;

#[test]
fn what_is_worse_than_zero_depends_on_the_method() {
    use StopReason::{Breakdown, Inaccurate, IndefiniteOperator, Interrupted, IterationLimit};
    let worse = |method, reason, x: f64, growth| is_worse_than_start(method, reason, x.is_finite(), growth);
    // GMRES minimises the residual; the others pass through larger ones.
    let inaccurate = Inaccurate { claimed: 0.5, found: 8e43 };
    for reason in [IterationLimit, Interrupted, inaccurate, Breakdown("")] {
        assert!(worse(Method::Gmres, reason, 1.0, 8e43));
        // What was cut short may have been on its way.
        let is_at_its_end = reason == inaccurate || reason == Breakdown("");
        assert_eq!(worse(Method::Gmres, reason, 1.0, 1.0 + 1e-9), is_at_its_end);
        assert_eq!(worse(Method::Cg, reason, 1.0, 8e43), is_at_its_end);
        assert_eq!(worse(Method::Bicgstab, reason, 1.0, 8e43), is_at_its_end);
        assert!(!worse(Method::Gmres, reason, 1.0, 1.0 + 1e-15));
    }
    assert!(worse(Method::Cg, IndefiniteOperator, 1.0, f64::NAN));
    assert!(worse(Method::Idr, StopReason::Stagnated, 1.0, 1.96));
    assert!(worse(Method::Bicgstab, IterationLimit, f64::INFINITY, f64::NAN));
}

#[test]
fn scales_beyond_f32_take_a_hierarchy_in_f64() {
    let a = crate::problem::generate(&"poisson2d:12".parse().unwrap(), 1).unwrap();
    let device = Device::Cpu(Cpu::new(1).unwrap());
    let options = Options { precond: Some(Precond::Amg), ..Options::default() };
    for (a_scale, b_scale, precision) in [
        (1.0, 1.0, "f32"),
        (1e60, 1.0, "f64"),
        (1e-60, 1.0, "f64"),
        // Divided by a power of two they are not.
        (1.0, 1e60, "f32"),
        (1.0, 1e-60, "f32"),
        (1e100, 1.0, "f64"),
        (1e-100, 1.0, "f32"),
    ] {
        let mut a = a.clone();
        a.values_mut().iter_mut().for_each(|v| *v *= a_scale);
        let b = vec![b_scale; a.n_rows()];
        let report = solve(&a, &b, &options, &device).unwrap().report;
        assert!(report.converged(), "{a_scale} {b_scale}: {:?}", report.outcome.reason);
        assert_eq!(report.amg.unwrap().precision, precision);
    }
}

fn devices() -> [Device; 2] {
    [Device::cpu(1).unwrap(), Device::simulator().unwrap()]
}

/// Fractions between -1 and 1.
fn rhs(n: usize) -> Vec<f64> {
    (0..n as u64).map(|i| 2.0 * uniform(5, i) - 1.0).collect()
}

/// The ways that were left but for a glance, which may be tried before any.
fn behind_a_glance(report: &Report) -> usize {
    let is_glance = |attempt: &&Attempt| matches!(attempt.precond, Precond::Jacobi | Precond::None);
    let glance = report.attempts.first().filter(is_glance).filter(|attempt| attempt.method != Method::Direct);
    report.attempts.len() - usize::from(glance.is_some())
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

#[test]
fn a_residual_that_drifted_is_started_again_from_until_the_true_one_is_small() {
    // In f32 no x has a true residual as small as that: only sums of corrections have.
    let rtol = 1e-10;
    for device in devices() {
        for (problem, method) in
            [("convection-diffusion:24:400", Method::Bicgstab), ("poisson2d:24", Method::Cg)]
        {
            let a = generate(&problem.parse().unwrap(), 1).unwrap();
            let b = rhs(a.n_rows());
            let stop = Stop { rtol, ..Stop::default() };
            let precision = Precision::F32;
            let options = Options { method: Some(method), precision, stop, ..Options::default() };
            let Solution { x, report } = solve(&a, &b, &options, &device).unwrap();
            assert!(report.converged() && report.refinements > 0, "{method}: {report:?}");
            assert!(relative_residual(&a, &x, &b) <= rtol, "{method}: {report:?}");
            assert_eq!(report.relative_residual, relative_residual(&a, &x, &b));
            let Outcome { iterations, history, .. } = &report.outcome;
            assert_eq!(history.len(), *iterations as usize + 1);
        }
    }
}

#[test]
fn what_a_restart_does_not_help_is_not_called_converged() {
    let a = generate(&"poisson2d:30".parse().unwrap(), 1).unwrap();
    let b = rhs(a.n_rows());
    let rtol = 1e-17;
    for device in devices() {
        let stop = Stop { rtol, ..Stop::default() };
        let options = Options { method: Some(Method::Cg), stop, ..Options::default() };
        let Solution { x, report } = solve(&a, &b, &options, &device).unwrap();
        let StopReason::Inaccurate { claimed, found } = report.outcome.reason else { panic!("{report:?}") };
        let asked = rtol * norm(&b);
        assert!(claimed <= asked && found > asked, "{claimed:e} {found:e} {asked:e}");
        assert!((relative_residual(&a, &x, &b) * norm(&b) - found).abs() <= 1e-12 * found);
        assert!((1..=10).contains(&report.refinements) && !report.converged());
        let (text, residual) = (report.to_string(), format!("{:.2e}", report.relative_residual));
        assert!(text.starts_with("NOT converged after ") && text.contains(&residual), "{text}");
    }
}

#[test]
fn where_no_restart_is_needed_there_is_none() {
    let a = generate(&"poisson2d:15".parse().unwrap(), 1).unwrap();
    for device in devices() {
        let report = solve(&a, &rhs(225), &Options::default(), &device).unwrap().report;
        assert_eq!((report.converged(), report.refinements), (true, 0));
    }
}

#[test]
fn a_cancelled_solve_gives_what_it_has() {
    let a = generate(&"poisson2d:31".parse().unwrap(), 1).unwrap();
    let b = rhs(a.n_rows());
    for device in devices() {
        for (method, precond) in [
            (Method::Cg, Precond::Jacobi),
            (Method::Bicgstab, Precond::None),
            (Method::Gmres, Precond::Jacobi),
            (Method::Minres, Precond::None),
            (Method::Idr, Precond::None),
            (Method::Jacobi, Precond::Jacobi),
            (Method::Amg, Precond::Amg),
        ] {
            for at in [0, 5] {
                let begin = Instant::now();
                let token = CancellationToken::new();
                let amg = amg::Params { coarse_rows: 20, ..amg::Params::default() };
                let stop = Stop { rtol: 1e-300, ..Stop::default() };
                let (method, precond) = (Some(method), Some(precond));
                let options = Options { method, precond, amg, stop, restart: 4, ..Options::default() };
                let cancel = token.clone();
                let solution = Solver::builder()
                    .options(options)
                    .device(device.clone())
                    .cancellation(token)
                    .on_progress(move |stage| match stage {
                        Stage::Iteration { iterations, .. } if iterations >= at => cancel.cancel(),
                        Stage::Solve if at == 0 => cancel.cancel(),
                        _ => {}
                    })
                    .solve(&a, &b);
                let Solution { x, report } = solution.unwrap();
                // So long the host waits for norms before it looks for faults: none must have been missing.
                assert!(begin.elapsed() < Duration::from_secs(2), "{method:?}");
                let Outcome { reason, iterations, history, .. } = &report.outcome;
                assert_eq!(*reason, StopReason::Interrupted, "{method:?}");
                assert!((at..at + 20).contains(iterations), "{method:?}: {iterations}");
                assert!(history.len() <= *iterations as usize + 1, "{method:?}");
                let (told, recomputed) = (report.relative_residual, relative_residual(&a, &x, &b));
                match device {
                    Device::Cpu(_) => assert_eq!(told, recomputed),
                    // It adds in another order.
                    Device::Gpu(_) => assert!((told / recomputed - 1.0).abs() < 1e-13, "{method:?}: {told}"),
                }
                let begun = report.relative_residual < 1.0 || method == Some(Method::Bicgstab);
                assert!(begun || at == 0, "{method:?}: {}", report.relative_residual);
            }
        }
    }
}

#[test]
fn a_factorisation_is_left_when_a_solve_is_cancelled() {
    let a = generate(&"poisson3d:12".parse().unwrap(), 1).unwrap();
    let token = CancellationToken::new();
    let cancel = token.clone();
    let solution = Solver::builder()
        .method(Method::Direct)
        .device(Device::cpu(2).unwrap())
        .cancellation(token)
        .on_progress(move |stage| {
            if let Stage::Factorisation { seconds, bytes } = stage {
                assert!(seconds > 0.0 && bytes > 0.0);
                cancel.cancel();
            }
        })
        .solve(&a, &rhs(a.n_rows()));
    let Solution { x, report } = solution.unwrap();
    assert_eq!(report.outcome.reason, StopReason::Interrupted);
    assert_eq!((x, report.relative_residual), (vec![0.0; a.n_rows()], 1.0));
}

#[test]
fn a_solver_keeps_what_it_has_set_up_and_starts_where_it_is_told() {
    let a = generate(&"poisson2d:23".parse().unwrap(), 1).unwrap();
    let n = a.n_rows();
    let (b, c) = (rhs(n), vec![1.5; n]);
    for device in devices() {
        for precond in [Precond::Jacobi, Precond::Amg] {
            let amg = amg::Params { coarse_rows: 40, ..amg::Params::default() };
            let options = Options { precond: Some(precond), amg, ..Options::default() };
            let mut solver =
                Solver::builder().options(options.clone()).device(device.clone()).build(&a).unwrap();
            // Every solve is that of a new solver, to the last bit.
            for rhs in [&b, &c, &b] {
                let fresh = solve(&a, rhs, &options, &device).unwrap();
                let again = solver.solve(rhs).unwrap();
                assert!(again.x == fresh.x && again.report.outcome == fresh.report.outcome);
            }
            let mut x = solver.solve(&b).unwrap().x;
            assert_eq!(solver.solve_into(&b, &mut x).unwrap().outcome.iterations, 0);
            let near: Vec<f64> = b.iter().map(|b| b * (1.0 + 1e-5)).collect();
            let report = solver.solve_into(&near, &mut x).unwrap();
            assert!(report.converged() && relative_residual(&a, &x, &near) <= 1e-8);
            let cold = solver.solve(&near).unwrap().report.outcome.iterations;
            assert!((1..cold).contains(&report.outcome.iterations), "{report:?}");
            // A bad vector changes nothing.
            let before = x.clone();
            assert!(matches!(solver.solve_into(&b[1..], &mut x), Err(Error::Dimension { .. })));
            assert!(matches!(
                solver.solve(&[vec![f64::NAN], b[1..].to_vec()].concat()),
                Err(Error::NotFinite { .. })
            ));
            assert_eq!(x, before);
        }
    }
}

#[test]
fn values_are_updated_as_if_the_solver_was_new() {
    let a = generate(&"poisson2d:17".parse().unwrap(), 1).unwrap();
    let b = rhs(a.n_rows());
    let mut other = a.clone();
    // A power of two: nothing is rounded, so that a new set-up finds the same strong entries.
    other.values_mut().iter_mut().for_each(|v| *v *= 4.0);
    for device in devices() {
        for (method, precond, reusable) in [
            (Method::Cg, Precond::Amg, true),
            (Method::Cg, Precond::Amg, false),
            (Method::Gmres, Precond::Jacobi, false),
            (Method::Jacobi, Precond::Jacobi, false),
        ] {
            let amg = amg::Params { coarse_rows: 40, ..amg::Params::default() };
            let stop = Stop { rtol: 1e-5, ..Stop::default() };
            let (method, precond) = (Some(method), Some(precond));
            let options = Options { method, precond, amg, stop, reusable, ..Options::default() };
            let mut solver =
                Solver::builder().options(options.clone()).device(device.clone()).build(&a).unwrap();
            solver.solve(&b).unwrap();
            solver.update_values(&other).unwrap();
            let updated = solver.solve(&b).unwrap();
            let fresh = solve(&other, &b, &options, &device).unwrap();
            let name = format!("{method:?} {precond:?} {reusable} {}", device.name());
            assert_eq!(updated.report.outcome, fresh.report.outcome, "{name}");
            assert!(updated.x == fresh.x, "{name}");
            assert!(relative_residual(&other, &updated.x, &b) <= 1e-5);
        }
        let mut solver = Solver::builder().device(device.clone()).build(&a).unwrap();
        let elsewhere = generate(&"poisson2d:22".parse().unwrap(), 1).unwrap();
        assert!(matches!(solver.update_values(&elsewhere), Err(Error::Matrix(_))));
        assert!(solver.solve(&b).unwrap().report.converged());
    }
}

#[test]
fn of_new_values_a_device_gets_no_pattern() {
    // Large enough to be looked at there.
    let a = generate(&"poisson3d:20".parse().unwrap(), 1).unwrap();
    let (b, nnz) = (rhs(a.n_rows()), a.nnz() as u64);
    let other = a.map_values(|v| 4.0 * v);
    let device = Device::Gpu(Gpu::simulated().unwrap());
    let uploaded = || device.counts().unwrap().uploaded_bytes;
    let stop = Stop { rtol: 1e-3, ..Stop::default() };
    let (method, precond) = (Some(Method::Cg), Some(Precond::Amg));
    let options = Options { method, precond, stop, reusable: true, ..Options::default() };
    let build = |a| Solver::builder().options(options.clone()).device(device.clone()).build(a).unwrap();
    let mut solver = build(&a);
    let first = uploaded();
    assert!((12 * nnz..20 * nnz).contains(&first), "{first} bytes for {nnz} entries");
    solver.update_values(&other).unwrap();
    let later = uploaded() - first;
    assert!((8 * nnz..9 * nnz).contains(&later), "{later} bytes for {nnz} entries");
    assert!(solver.solve(&b).unwrap().x == build(&other).solve(&b).unwrap().x);
}

#[test]
fn the_front_door_takes_a_matrix_and_a_right_hand_side() {
    let a = generate(&"tet:5".parse().unwrap(), 1).unwrap();
    let b = rhs(a.n_rows());
    let solution = crate::solve(&a, &b).unwrap();
    assert!(solution.report.converged() && relative_residual(&a, &solution.x, &b) <= 1e-8);
    let text = solution.report.to_string();
    assert!(text.starts_with("converged after ") && text.contains("method direct"), "{text}");
    assert!(matches!(crate::solve(&a, &b[1..]), Err(Error::Dimension { .. })));
}

#[test]
fn the_report_is_of_the_operators_that_ran() {
    let solve_on = |device: &Device, problem: &str, options: Options| {
        let a = generate(&problem.parse().unwrap(), 1).unwrap();
        let amg = amg::Params { coarse_rows: 100, ..amg::Params::default() };
        solve(&a, &rhs(a.n_rows()), &Options { amg, ..options }, device).unwrap().report
    };
    let [cpu, gpu] = devices();
    let amg = || Options { precond: Some(Precond::Amg), ..Options::default() };
    let blocks = || Options { block_size: 2, ..amg() };
    let crs = || Options { format: Some(crate::Format::Crs), ..Options::default() };
    for (device, problem, options, format, finest) in [
        (&cpu, "tet:12", crs(), "diagonal runs", ""),
        (&cpu, "random-spd:500", Options::default(), "crs", ""),
        (&cpu, "tet:12", amg(), "diagonal runs", "diagonal runs, bf16"),
        (&cpu, "bidomain:6", blocks(), "bcrs2", "bcrs2"),
        (&gpu, "tet:7", amg(), "sell", "sell"),
        (&gpu, "bidomain:6", blocks(), "bsell2", "bsell2"),
        (&gpu, "tet:7", crs(), "crs", ""),
    ] {
        let report = solve_on(device, problem, options);
        assert_eq!(report.format.format, format, "{problem}: {}", report.format.reason);
        assert!(!report.format.reason.is_empty() && report.device_bytes > report.format.bytes);
        let Some(info) = &report.amg else { continue };
        let level = &info.levels[0];
        assert_eq!(level.format.format, finest, "{problem}: {}", level.format.reason);
        assert_eq!(level.format.compressed, format == "sell", "{problem}");
        assert!(level.bytes > level.format.bytes && level.format.bytes >= level.format.traffic);
    }
}

//! Block CG on every backend, beside CG for each right-hand side.

use std::sync::Arc;

use super::*;
use crate::backend::cpu::Cpu;
use crate::backend::gpu::Gpu;
use crate::backend::reference::Reference;
use crate::job::{self, Method, Precond};
use crate::matrix::{AnyMatrix, Csr};
use crate::norm::norm;
use crate::precond::{Identity, Jacobi};
use crate::problem::generate;
use crate::problem::random::uniform;
use crate::solver::StopReason;
use crate::solver::cg::CgSteps;

/// Right-hand sides of numbers at random.
fn columns_at_random(n: usize, count: usize) -> Vec<Vec<f64>> {
    (0..count as u64).map(|c| (0..n as u64).map(|i| uniform(c + 1, i) - 0.4).collect()).collect()
}

/// Solves for these down to 1e-10 of their norms.
fn solve<B>(g: &B, a: &Arc<Csr<f64>>, b: &[Vec<f64>], is_scaled: bool) -> (Vec<Vec<f64>>, Vec<Outcome>)
where
    B: CgSteps<f64> + BlockCgSteps<f64> + OneColumn,
{
    let n = a.n_rows();
    let matrix = g.matrix(&Arc::new(AnyMatrix::Crs(a.clone()))).unwrap();
    let mut columns = Columns::new(g, b.len()).unwrap();
    columns.set_thresholds(b.iter().map(|b| 1e-10 * norm(b)).collect());
    let m: Box<dyn Preconditioner<f64, B>> = match is_scaled {
        true => Box::new(Jacobi::setup(g, a).unwrap()),
        false => Box::new(Identity),
    };
    let mut m = m.for_columns(&columns).unwrap().unwrap();
    let b = Memory::<f64>::vector(&columns, &b.concat()).unwrap();
    let mut x = Memory::<f64>::zeros(&columns, n).unwrap();
    let mut solver = BlockCg::new(&columns, n).unwrap();
    let found = solver.solve_columns(&columns, &matrix, &mut *m, &b, &mut x, 500, &mut |_, _| ()).unwrap();
    let x = Memory::<f64>::to_host(&columns, &x).unwrap();
    (x.chunks(n).map(<[f64]>::to_vec).collect(), found)
}

/// The same on every backend.
fn on_all(a: &Arc<Csr<f64>>, b: &[Vec<f64>], is_scaled: bool) -> [(Vec<Vec<f64>>, Vec<Outcome>); 3] {
    [
        solve(&Reference::new(), a, b, is_scaled),
        solve(&Cpu::new(2).unwrap(), a, b, is_scaled),
        solve(&Gpu::simulated().unwrap(), a, b, is_scaled),
    ]
}

fn relative_residual(a: &Csr<f64>, x: &[f64], b: &[f64]) -> f64 {
    let r: Vec<f64> = a.mul_vec(x).iter().zip(b).map(|(ax, b)| b - ax).collect();
    norm(&r) / norm(b)
}

fn matrix(problem: &str) -> Arc<Csr<f64>> {
    Arc::new(generate(&problem.parse().unwrap(), 1).unwrap())
}

#[test]
fn blocks_of_any_width_solve_on_every_backend() {
    let a = matrix("anisotropic:13");
    for (count, is_scaled) in [(1, false), (2, true), (4, false), (5, true), (8, false)] {
        let b = columns_at_random(a.n_rows(), count);
        let found = on_all(&a, &b, is_scaled);
        let iterations = |k: usize| found[k].1.iter().map(|o| o.iterations).collect::<Vec<_>>();
        for (k, (x, outcomes)) in found.iter().enumerate() {
            assert_eq!(outcomes.len(), count);
            for ((x, b), outcome) in x.iter().zip(&b).zip(outcomes) {
                assert_eq!(outcome.reason, StopReason::Converged, "{k}");
                let (last, first) = (outcome.history.last().unwrap(), outcome.history[0]);
                assert!(*last <= outcome.threshold && (first / norm(b) - 1.0).abs() < 1e-12);
                assert!(relative_residual(&a, x, b) < 1.1e-10, "{k}: {}", relative_residual(&a, x, b));
            }
            assert_eq!(iterations(k), iterations(0), "{k}");
        }
    }
}

/// Block Krylov spaces grow by `count` directions a step, and hold all of x when they are full.
#[test]
fn so_many_columns_need_so_many_times_fewer_steps() {
    let n = 48;
    let a = Arc::new(Csr::from_triplets(n, n, (0..n).map(|i| (i, i, 1.0 + i as f64))).unwrap());
    for (count, steps) in [(1, 36..60), (4, 10..15), (8, 5..9)] {
        for (_, outcomes) in on_all(&a, &columns_at_random(n, count), false) {
            let iterations = outcomes.iter().map(|outcome| outcome.iterations).max().unwrap();
            assert!(steps.contains(&iterations), "{count}: {iterations}");
        }
    }
}

#[test]
fn columns_may_depend_on_each_other() {
    let a = matrix("poisson2d:9");
    let [first, second] = columns_at_random(a.n_rows(), 2).try_into().unwrap();
    let of = |f: f64, g: f64| first.iter().zip(&second).map(|(a, b)| f * a + g * b).collect::<Vec<f64>>();
    let zero = of(0.0, 0.0);
    let b = [of(1.0, 0.0), zero, of(2.0, 0.0), of(0.0, 1.0), of(-3.0, 1e-4)];
    for (x, outcomes) in on_all(&a, &b, true) {
        assert!(outcomes.iter().all(|outcome| outcome.reason == StopReason::Converged), "{outcomes:?}");
        assert_eq!((norm(&x[1]), outcomes[1].iterations), (0.0, 0));
        for k in [0, 2, 3, 4] {
            assert!(relative_residual(&a, &x[k], &b[k]) < 2e-10, "{k}");
        }
        assert!(x[0].iter().zip(&x[2]).all(|(x, y)| (2.0 * x - y).abs() < 1e-12));
    }
}

#[test]
fn what_stops_one_column_stops_all() {
    let n = 30;
    let diagonal = |sign: f64| {
        let entries = (0..n).map(|i| (i, i, if i < 5 { 1.0 + i as f64 } else { sign * (1.0 + i as f64) }));
        Arc::new(Csr::from_triplets(n, n, entries).unwrap())
    };
    let b = columns_at_random(n, 3);
    for (_, outcomes) in on_all(&diagonal(-1.0), &b, false) {
        assert!(outcomes.iter().all(|o| o.reason == StopReason::IndefiniteOperator), "{outcomes:?}");
    }
    for (_, outcomes) in on_all(&diagonal(-1.0), &b, true) {
        assert!(outcomes.iter().all(|o| o.reason == StopReason::IndefinitePreconditioner), "{outcomes:?}");
    }
    let mut b = b;
    b[1][7] = f64::NAN;
    for (_, outcomes) in on_all(&diagonal(1.0), &b, false) {
        assert!(outcomes.iter().all(|o| o.reason == StopReason::NotFinite), "{outcomes:?}");
    }
}

/// Nearly dependent right-hand sides leave more than a block sees; what has not converged is solved for
/// alone.
#[test]
fn nearly_dependent_columns_are_solved_to_the_end() {
    let a = matrix("poisson2d:14");
    let b = columns_at_random(a.n_rows(), 4);
    let near = |size: f64| b[0].iter().zip(&b[1]).map(|(a, b)| a + size * b).collect::<Vec<f64>>();
    let b = [b[0].clone(), near(1e-6), near(1e-8), near(1e-12), b[2].clone(), near(-1.0)];
    for device in [job::Device::cpu(2).unwrap(), job::Device::simulator().unwrap()] {
        let options =
            job::Options { method: Some(Method::BlockCg), precond: Some(Precond::Amg), ..Default::default() };
        let mut solver =
            job::Solver::builder().device(device).options(options).rtol(1e-10).build(&*a).unwrap();
        for (solution, b) in solver.solve_many(&b).unwrap().iter().zip(&b) {
            assert!(solution.report.converged(), "{}", solution.report);
            assert!(relative_residual(&a, &solution.x, b) < 1e-10);
        }
    }
}

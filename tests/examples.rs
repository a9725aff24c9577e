//! The examples do what they say.

use warpsolve::Device;
use warpsolve::backend::{cpu::Cpu, gpu::Gpu};
use warpsolve::matrix::Csr;
use warpsolve::problem::{convection_diffusion, poisson2d};
use warpsolve::solver::{Stop, StopReason};

#[allow(dead_code)]
#[path = "../examples/custom_preconditioner.rs"]
mod custom_preconditioner;
#[allow(dead_code)]
#[path = "../examples/custom_solver.rs"]
mod custom_solver;
#[allow(dead_code)]
#[path = "../examples/solve.rs"]
mod solve;

/// `max_i |1 - (A x)_i|`.
fn residual(a: &Csr<f64>, x: &[f64]) -> f64 {
    a.mul_vec(x).iter().fold(0.0, |worst: f64, y| worst.max((1.0 - y).abs()))
}

#[test]
fn solve_solves() {
    let a = poisson2d(19);
    let solution = warpsolve::solve(&a, &vec![1.0; 361]).unwrap();
    assert!(solution.report.converged());
    assert!(residual(&a, &solution.x) < 1e-7, "{}", residual(&a, &solution.x));
    for device in [Device::cpu(2).unwrap(), Device::simulator().unwrap()] {
        let [first, second] = solve::twice(&a, device).unwrap();
        for report in [&first, &second] {
            assert!(report.converged() && report.relative_residual <= 1e-10, "{report}");
        }
        assert!((1..first.outcome.iterations).contains(&second.outcome.iterations), "{first} {second}");
    }
}

#[test]
fn two_sweeps_take_fewer_iterations_than_the_diagonal_and_solve_as_well() {
    let a = poisson2d(13);
    for (diagonal, sweeps, x) in [
        custom_preconditioner::compare(&Cpu::new(2).unwrap(), a.clone()).unwrap(),
        custom_preconditioner::compare(&Gpu::simulated().unwrap(), a.clone()).unwrap(),
    ] {
        assert!(sweeps.iterations < diagonal.iterations, "{} {}", sweeps.iterations, diagonal.iterations);
        assert!(sweeps.iterations > 3);
        assert!(residual(&a, &x) < 1e-7, "{}", residual(&a, &x));
    }
}

#[test]
fn the_minimal_residual_iteration_solves_an_unsymmetric_system_and_its_residual_never_grows() {
    let a = convection_diffusion(9, 5.0);
    assert!(!a.is_symmetric(1e-12).is_symmetric());
    let stop = Stop { rtol: 1e-7, ..Stop::default() };
    for (outcome, x) in [
        custom_solver::solve(&Cpu::new(2).unwrap(), a.clone(), &stop).unwrap(),
        custom_solver::solve(&Gpu::simulated().unwrap(), a.clone(), &stop).unwrap(),
    ] {
        assert_eq!(outcome.reason, StopReason::Converged);
        assert!(outcome.iterations > 20 && outcome.history.is_sorted_by(|a, b| a >= b), "{outcome:?}");
        assert!(residual(&a, &x) < 1e-6, "{}", residual(&a, &x));
    }
    let stop = Stop { max_iterations: 13, ..stop };
    let (outcome, _) = custom_solver::solve(&Gpu::simulated().unwrap(), a, &stop).unwrap();
    assert_eq!((outcome.reason, outcome.iterations), (StopReason::IterationLimit, 13));
}

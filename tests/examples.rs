//! The examples do what they say.

use warpsolve::backend::{cpu::Cpu, gpu::Gpu};
use warpsolve::job::Device;
use warpsolve::matrix::Csr;
use warpsolve::problem::poisson2d;

#[allow(dead_code)]
#[path = "../examples/custom_preconditioner.rs"]
mod custom_preconditioner;
#[allow(dead_code)]
#[path = "../examples/solve.rs"]
mod solve;

/// `max_i |1 - (A x)_i|`.
fn residual(a: &Csr<f64>, x: &[f64]) -> f64 {
    a.mul_vec(x).iter().fold(0.0, |worst: f64, y| worst.max((1.0 - y).abs()))
}

#[test]
fn solve_solves() {
    for device in [Device::Cpu(Cpu::new(2).unwrap()), Device::Gpu(Gpu::simulated().unwrap())] {
        let a = poisson2d(7);
        let (x, report) = solve::solve(a.clone(), &device).unwrap();
        assert!(report.converged());
        assert!(residual(&a, &x) < 1e-7, "{}", residual(&a, &x));
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

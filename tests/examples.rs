//! The examples do what they say.

use std::sync::Arc;
use warpsolve::Device;
use warpsolve::backend::gpu::{Arrangement, DeviceVector, Gpu};
use warpsolve::backend::{cpu::Cpu, prelude::*};
use warpsolve::matrix::{AnyMatrix, Csr, Ell};
use warpsolve::problem::{convection_diffusion, poisson2d};
use warpsolve::solver::{Stop, StopReason};

#[allow(dead_code)]
#[path = "../examples/custom_preconditioner.rs"]
mod custom_preconditioner;
#[allow(dead_code)]
#[path = "../examples/custom_solver.rs"]
mod custom_solver;
#[allow(dead_code)]
#[path = "../examples/native_cuda.rs"]
mod native_cuda;
#[allow(dead_code)]
#[path = "../examples/overlap.rs"]
mod overlap;
#[allow(dead_code)]
#[path = "../examples/solve.rs"]
mod solve;
#[allow(dead_code)]
#[path = "../examples/toolbox_vector.rs"]
mod toolbox_vector;

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
fn copies_and_products_of_a_stream_are_a_thread_of_the_trace() {
    let span = |part, stream, begin, end| overlap::Span { part, stream, begin, end };
    let trace = overlap::trace(&[span(0, 0, 0.0, 0.5), span(1, 3, 0.25, 1.0)]);
    let lines: Vec<&str> = trace.lines().collect();
    assert_eq!((lines[0], lines[3]), ("{\"traceEvents\":[", "]}"));
    assert_eq!(lines[1], r#"{"ph":"X","pid":1,"tid":1,"name":"copy to the device","ts":0,"dur":500},"#);
    assert_eq!(lines[2], r#"{"ph":"X","pid":1,"tid":4,"name":"products","ts":250,"dur":750}"#);
}

#[test]
fn a_vector_is_changed_and_read_in_place_by_ranges() {
    let (y, squares) = toolbox_vector::steps(&Gpu::simulated().unwrap()).unwrap();
    assert_eq!(y, toolbox_vector::expected());
    assert_eq!(squares, y.iter().map(|y| y * y).sum::<f64>(), "whole numbers, whatever their order");
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

/// tests/driver.rs runs it on a GPU. Its loop and what it says of a matrix are the same on the simulator.
#[test]
fn kept_ptx_is_that_of_its_source() {
    let source = include_bytes!("../examples/native_cuda/linear_operator.cu");
    let fnv = source.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    let ptx = include_str!("../examples/native_cuda/linear_operator.ptx");
    assert!(
        ptx.contains(&format!("linear_operator.cu, FNV-1a {fnv:016x}")),
        "run scripts/native_ptx.py: {fnv:016x}"
    );
}

#[test]
fn the_simulator_says_that_it_runs_no_cuda_code() {
    let gpu = Gpu::simulated().unwrap();
    let refused = native_cuda::NativeProduct::new(&gpu).err().unwrap().to_string();
    assert!(refused.contains("simulator") && refused.contains("use a GPU"), "{refused}");

    let a = poisson2d(9);
    let matrix = AnyMatrix::Ell(Ell::from_csr(&a).unwrap());
    let matrix = gpu.matrix(&Arc::new(matrix)).unwrap();
    let addresses = matrix.addresses().unwrap();
    let Arrangement::Ell { width: 5, stride } = addresses.arrangement else { panic!("{addresses:?}") };
    assert!(stride >= 81 && addresses.col_idx != addresses.values);
    let product =
        |u: &DeviceVector<f64>, v: &mut DeviceVector<f64>| gpu.multiply(&matrix, u, Then::Store { y: v });
    let (x, iterations) = native_cuda::cg(&gpu, 81, &[1.0; 81], (1e-9, 200), product).unwrap();
    assert!((5..81).contains(&iterations), "{iterations}");
    assert!(residual(&a, &x) < 1e-7, "{}", residual(&a, &x));
}

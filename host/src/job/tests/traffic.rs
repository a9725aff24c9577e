//! Bytes that iterations must move: what methods, preconditioners and matrices say, and what the launches
//! say.

use std::sync::Arc;

use crate::backend::gpu::Gpu;
use crate::job::{Device, Method, Options, Precision, Precond, solve};
use crate::launch::profile::Profiled;
use crate::launch::sim::Sim;
use crate::matrix::Format;
use crate::precond::amg::Params;
use crate::solver::{Stop, Takes};

/// Iterations that are counted.
const ITERATIONS: u32 = 6;

/// Bytes of [`ITERATIONS`] iterations: (those that the report says, those that the launches said they must
/// move), the difference of two runs.
fn bytes_of_iterations(problem: &str, options: &Options) -> (u64, u64) {
    let a = Arc::new(crate::problem::generate(&problem.parse().unwrap(), 1).unwrap());
    let b: Vec<f64> = (0..a.n_rows()).map(|i| (0.7 * i as f64).sin()).collect();
    let [first, second] = [ITERATIONS, 2 * ITERATIONS].map(|max_iterations| {
        let device = Arc::new(Profiled::new(Arc::new(Sim::new())));
        let on = Device::Gpu(Gpu::new(device.clone()).unwrap());
        let stop = Stop { rtol: 0.0, atol: 0.0, max_iterations };
        let options = Options { stop, ..options.clone() };
        let report = solve(&a, &b, &options, &on).unwrap().report;
        assert_eq!(report.outcome.iterations, max_iterations, "{:?}", report.outcome.reason);
        let profile = device.profile().unwrap();
        let launches = profile.kernels.iter().filter_map(|kernel| kernel.bytes).sum::<u64>();
        (report.bytes_moved, launches + profile.fills.bytes)
    });
    (second.0 - first.0, second.1 - first.1)
}

fn options(method: Method, precond: Precond) -> Options {
    let amg_precision = Some(Precision::F64);
    Options { method: Some(method), precond: Some(precond), restart: 6, amg_precision, ..Options::default() }
}

/// Every method and preconditioner whose iterations all move the same, and move what the launches say. Others
/// are below, and factors are on the host. Launches of incomplete factors do not say what a run of small
/// levels moves.
fn without_cycles() -> impl Iterator<Item = (Method, Precond)> {
    let preconditioners = |method: Method| match method.description().takes {
        Takes::Any => Precond::ALL.to_vec(),
        Takes::Only(precond) | Takes::Own(precond) => vec![precond],
    };
    Method::ALL
        .iter()
        .filter(|&&method| method != Method::Direct && !method.description().takes_parameter("restart"))
        .flat_map(move |&method| preconditioners(method).into_iter().map(move |precond| (method, precond)))
        .filter(|(_, precond)| !precond.description().has_hierarchy)
        .filter(|(_, precond)| ![Precond::Ilu, Precond::Schur, Precond::Direct].contains(precond))
}

#[test]
fn launches_say_the_same() {
    for (method, precond) in without_cycles() {
        for format in [Some(Format::Crs), Some(Format::Sell), None] {
            let options = Options { format, ..options(method, precond) };
            let (expected, said) = bytes_of_iterations("tet:5", &options);
            assert_eq!(said, expected, "{method} {precond} {format:?}");
        }
    }
    for precond in [Precond::None, Precond::Jacobi] {
        let options = Options { block_size: 2, ..options(Method::Cg, precond) };
        let (expected, said) = bytes_of_iterations("bidomain:4", &options);
        assert_eq!(said, expected, "blocks, {precond}");
    }
}

/// What is left out of a cycle of m iterations: its start and end, a product and 10 + m vectors, of which
/// which counts 2 m too many within the iterations.
#[test]
fn launches_of_gmres_say_the_same_but_for_a_cycles_ends() {
    let (expected, said) = bytes_of_iterations("tet:7", &options(Method::Gmres, Precond::Jacobi));
    let a = crate::problem::generate(&"tet:7".parse().unwrap(), 1).unwrap();
    let n = a.n_rows();
    // Column indices have 16 bits.
    let product = crate::matrix::spmv_bytes(a.nnz(), n, 8, 1) - 2 * a.nnz() as u64;
    let ends = product + ((10 + 6 - 2 * 6) * n * 8) as u64;
    assert_eq!(said, expected + ends);
}

/// Of multigrid a vector or two on the finest level are counted in two passes that are one.
#[test]
fn launches_of_multigrid_say_nearly_the_same() {
    for (problem, block_size, method) in
        [("tet:7", 1, Method::Cg), ("tet:7", 1, Method::Amg), ("bidomain:6", 2, Method::Cg)]
    {
        let amg = Params { coarse_rows: 50, ..Params::default() };
        let options = Options { block_size, amg, ..options(method, Precond::Amg) };
        let (expected, said) = bytes_of_iterations(problem, &options);
        assert!(expected.abs_diff(said) < expected / 50, "{problem} {method}: {said}, not {expected}");
    }
}

//! Several unknowns a node, on a device: the matrix is copied there once, in CRS, and made into blocks there.

use std::sync::Arc;

use super::rhs;
use crate::backend::gpu::Gpu;
use crate::job::{Device, Method, Options, Precision, Precond, Solution, solve};
use crate::launch::Counts;
use crate::launch::sim::Sim;
use crate::matrix::{Csr, Format, Target, choose_blocks};
use crate::precond::{SingularBlocks, amg};
use crate::problem::generate;
use crate::solver::Stop;

const PROBLEMS: [(&str, usize); 2] = [("bidomain:5", 2), ("elasticity:4", 3)];

fn problem(name: &str) -> Arc<Csr<f64>> {
    Arc::new(generate(&name.parse().unwrap(), 1).unwrap())
}

/// A solve of the problem on a simulator of its own, and all that was asked of that.
fn solved(a: &Arc<Csr<f64>>, options: &Options) -> (Solution, Counts) {
    let gpu = Gpu::new(Arc::new(Sim::checked())).unwrap();
    let before = gpu.device().counters().snapshot();
    let solution = solve(a, &rhs(a.n_rows()), options, &Device::Gpu(gpu.clone())).unwrap();
    (solution, gpu.device().counters().snapshot().since(&before))
}

fn options(precond: Precond, block_size: usize) -> Options {
    let amg = amg::Params { coarse_rows: 20, ..amg::Params::default() };
    let stop = Stop { max_iterations: 5, ..Stop::default() };
    Options { method: Some(Method::Cg), precond: Some(precond), block_size, amg, stop, ..Options::default() }
}

#[test]
fn what_the_device_makes_solves_as_what_the_host_makes() {
    for (name, block) in PROBLEMS {
        let a = problem(name);
        let choice = choose_blocks(&*a, block, Target::Gpu).unwrap();
        assert_eq!(choice.format, Format::BlockSell(block));
        for precond in [Precond::None, Precond::Jacobi, Precond::JacobiSweeps, Precond::Ilu, Precond::Amg] {
            // In f32 what differs is how values come to the device, which it takes no factors to see.
            let in_f32 = matches!(precond, Precond::Jacobi | Precond::Amg).then_some(Precision::F32);
            for precision in [Precision::F64].into_iter().chain(in_f32) {
                let there = Options { precision, ..options(precond, block) };
                let here =
                    Options { format: Some(choice.format), sigma: Some(choice.sigma), ..there.clone() };
                let (Solution { x, report }, _) = solved(&a, &there);
                let (expected, _) = solved(&a, &here);
                let what = format!("{name}, {precond} in {precision}");
                assert_eq!(report.outcome.history, expected.report.outcome.history, "{what}");
                assert_eq!(x, expected.x, "{what}");
                assert_eq!(report.format.reason, choice.reason, "{what}");
                assert_eq!(report.format.padding, expected.report.format.padding, "{what}");
            }
        }
    }
}

#[test]
fn the_matrix_is_copied_once() {
    for (name, block) in PROBLEMS {
        let a = problem(name);
        let (n, nnz) = (a.n_rows() as u64, a.nnz() as u64);
        for precond in [Precond::None, Precond::Jacobi, Precond::JacobiSweeps, Precond::Amg] {
            for (precision, number) in [(Precision::F64, 8), (Precision::F32, 4)] {
                let options = Options { precision, ..options(precond, block) };
                let (Solution { report, .. }, counts) = solved(&a, &options);
                // The host's row pointers have 64 bits.
                let crs = nnz * (number + 4) + 8 * (n + 1);
                // b, and what x is kept out of; each refinement copies a residual.
                let basis = u64::from(report.projected) * block as u64;
                let vectors = number * n * (1 + basis + u64::from(report.refinements));
                let coarsest = match report.amg {
                    Some(hierarchy) => hierarchy.levels.last().unwrap().bytes,
                    None => 0,
                };
                let (most, found) = (crs + vectors + coarsest + 1000, counts.uploaded_bytes);
                assert!(found >= crs && found <= most, "{name}, {precond}: {found} bytes, {crs} of CRS");
            }
        }
    }
}

/// The host computes the pseudo-inverse of a block that a device finds singular.
#[test]
fn singular_blocks_are_the_hosts() {
    let a = Csr::from_rows(
        8,
        8,
        |_| 2,
        |i, columns, values| {
            let first = i / 2 * 2;
            columns.copy_from_slice(&[first as u32, first as u32 + 1]);
            // Of the third block both rows are the same.
            let row = if first == 4 { [1.0, 2.0] } else { [[3.0, 1.0], [1.0, 2.5]][i % 2] };
            values.copy_from_slice(&row);
        },
    );
    let a = Arc::new(a);
    let refused = Options { method: Some(Method::Gmres), ..options(Precond::Jacobi, 2) };
    let taken = Options { singular_blocks: SingularBlocks::PseudoInverse, ..refused.clone() };
    let b: Vec<f64> = rhs(8).into_iter().enumerate().map(|(i, v)| if i / 2 == 2 { 1.0 } else { v }).collect();
    let device = Device::simulator().unwrap();
    assert!(solve(&a, &b, &refused, &device).is_err());
    let found = solve(&a, &b, &taken, &device).unwrap();
    assert!(found.report.converged(), "{:?}", found.report.outcome.reason);
    let format = Some(Format::BlockSell(2));
    assert_eq!(found.x, solve(&a, &b, &Options { format, ..taken }, &device).unwrap().x);
}

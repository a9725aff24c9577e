//! Reads or generates a matrix, solves `A x = 1` on the best device there is, and checks the answer.
//!
//! ```text
//! cargo run --release --example solve                 # a generated system
//! cargo run --release --example solve -- A.mtx.gz
//! ```

use std::path::Path;
use std::sync::Arc;

use warpsolve::backend::cpu::Cpu;
use warpsolve::io::matrix::read_matrix;
use warpsolve::job::{self, Device, Options, Report};
use warpsolve::matrix::Csr;
use warpsolve::problem;

// ANCHOR: solve
fn main() -> warpsolve::Result<()> {
    let a = match std::env::args_os().nth(1) {
        Some(path) => read_matrix(Path::new(&path), &mut |_, _| {})?.0,
        None => problem::generate(&"tet:24".parse()?, 1)?,
    };
    let device = match warpsolve::open_gpu(0) {
        Ok(gpu) => Device::Gpu(gpu),
        Err(reason) => {
            println!("{reason}");
            Device::Cpu(Cpu::new(0)?)
        }
    };
    let (x, report) = solve(a, &device)?;
    println!("{} on {}: {} iterations", report.method, report.device, report.outcome.iterations);
    println!("||b - A x|| / ||b|| = {:.2e}", report.relative_residual);
    println!(
        "x is between {:.3e} and {:.3e}",
        x.iter().fold(f64::MAX, |m, &v| m.min(v)),
        x.iter().fold(f64::MIN, |m, &v| m.max(v))
    );
    Ok(())
}

/// Solves `A x = 1` with what suits the matrix: method, preconditioner and format are chosen.
pub fn solve(a: Csr<f64>, device: &Device) -> warpsolve::Result<(Vec<f64>, Report)> {
    let b = vec![1.0; a.n_rows()];
    job::solve(&Arc::new(a), &b, &Options::default(), device, &mut |_stage, _progress| {})
}
// ANCHOR_END: solve

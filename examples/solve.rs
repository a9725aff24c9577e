//! Reads or generates a matrix, solves `A x = 1` on the best device there is, and checks the answer.
//!
//! ```text
//! cargo run --release --example solve                 # a generated system
//! cargo run --release --example solve -- A.mtx.gz
//! ```

use std::path::Path;

use warpsolve::io::matrix::read_matrix;
use warpsolve::{Amg, Csr, Device, Report, Solution, Solver, problem};

// ANCHOR: solve
fn main() -> warpsolve::Result<()> {
    let a = match std::env::args_os().nth(1) {
        Some(path) => read_matrix(Path::new(&path), &mut |_, _| {})?.0,
        None => problem::generate(&"tet:24".parse()?, 1)?,
    };
    let b = vec![1.0; a.n_rows()];

    // Method, preconditioner, format and device are chosen.
    let Solution { x, report } = warpsolve::solve(&a, &b)?;
    println!("{report}");
    println!("the largest x is {:.3e}", x.iter().copied().fold(f64::MIN, f64::max));

    let reports = twice(&a, Device::auto()?)?;
    println!("with multigrid: {} iterations", reports[0].outcome.iterations);
    println!("from there with another b: {} more", reports[1].outcome.iterations);
    Ok(())
}

/// Solves two systems with one matrix, the second from the solution of the first.
pub fn twice(a: &Csr<f64>, device: Device) -> warpsolve::Result<[Report; 2]> {
    let mut solver = Solver::builder().rtol(1e-10).preconditioner(Amg::default()).device(device).build(a)?;
    let Solution { mut x, report: first } = solver.solve(&vec![1.0; a.n_rows()])?;
    let second = solver.solve_into(&vec![1.01; a.n_rows()], &mut x)?;
    Ok([first, second])
}
// ANCHOR_END: solve

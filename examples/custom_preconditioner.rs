//! A preconditioner of one's own: a fixed number of weighted Jacobi sweeps, on every backend.
//!
//! It is written in the primitives of [`Backend`], so the same few lines run on the CPU, in the simulator
//! and on a GPU, and the iteration allocates nothing and waits for nothing.

use std::sync::Arc;
use warpsolve::backend::Then;
use warpsolve::solver::cg::CgSteps;

use warpsolve::backend::{Backend, cpu::Cpu, gpu::Gpu};
use warpsolve::matrix::{AnyMatrix, Csr};
use warpsolve::precond::{Jacobi, Preconditioner};
use warpsolve::solver::{Cg, IterativeSolver, Outcome, Stop};
use warpsolve::{Result, problem};

// ANCHOR: setup
/// `z_0 = 0`, `z_{k+1} = z_k + omega D^-1 (r - A z_k)`, and `M r = z_sweeps`.
///
/// `M` is symmetric with A, and positive definite where the sweeps converge, so CG may use it.
pub struct JacobiSweeps<'a, B: Backend<f64>> {
    a: &'a B::Matrix,
    inverse_diagonal: B::Vector,
    omega: f64,
    sweeps: usize,
    other: B::Vector,
}

impl<'a, B: Backend<f64>> JacobiSweeps<'a, B> {
    /// Prepares `sweeps` sweeps (one at least) with the matrix where the backend has it, `a`.
    pub fn setup(
        backend: &B,
        matrix: &Csr<f64>,
        a: &'a B::Matrix,
        omega: f64,
        sweeps: usize,
    ) -> Result<Self> {
        let inverse: Vec<f64> = matrix.diagonal().iter().map(|d| 1.0 / d).collect();
        Ok(JacobiSweeps {
            a,
            inverse_diagonal: backend.vector(&inverse)?,
            omega,
            sweeps,
            other: backend.zeros(matrix.n_rows())?,
        })
    }
}
// ANCHOR_END: setup

// ANCHOR: apply
impl<B: Backend<f64>> Preconditioner<f64, B> for JacobiSweeps<'_, B> {
    fn apply(&mut self, backend: &B, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        let (d, other) = (&self.inverse_diagonal, &mut self.other);
        // The sweeps go back and forth between two vectors; the first is chosen so that the last is z.
        let (mut from, mut to) = if self.sweeps % 2 == 1 { (z, other) } else { (other, z) };
        backend.scale_rows(self.omega, d, r, from)?; // the sweep from zero
        for _ in 1..self.sweeps {
            backend.multiply(self.a, from, Then::Sweep { omega: self.omega, d, b: r, y: to })?;
            std::mem::swap(&mut from, &mut to);
        }
        Ok(())
    }
}
// ANCHOR_END: apply

// ANCHOR: compare
/// CG on `A x = 1`, preconditioned by the diagonal and by two sweeps. Returns both outcomes and the second x.
pub fn compare<B: CgSteps<f64>>(backend: &B, matrix: Csr<f64>) -> Result<(Outcome, Outcome, Vec<f64>)> {
    let n = matrix.n_rows();
    let matrix = Arc::new(matrix);
    let a = backend.matrix(&Arc::new(AnyMatrix::Crs(matrix.clone())))?;
    let b = backend.vector(&vec![1.0; n])?;
    let stop = Stop { rtol: 1e-9, ..Stop::default() };
    let solve = |m: &mut dyn Preconditioner<f64, B>| {
        let mut x = backend.zeros(n)?;
        let outcome = Cg::new(backend, n, m)?.solve(backend, &a, m, &b, &mut x, &stop, &mut |_, _| {})?;
        Ok((outcome, backend.to_host(&x)?))
    };
    let (diagonal, _) = solve(&mut Jacobi::setup(backend, &matrix)?)?;
    let (sweeps, x) = solve(&mut JacobiSweeps::setup(backend, &matrix, &a, 0.8, 2)?)?;
    Ok((diagonal, sweeps, x))
}
// ANCHOR_END: compare

fn main() -> Result<()> {
    let show = |name: &str, (diagonal, sweeps, _): (Outcome, Outcome, Vec<f64>)| {
        println!(
            "{name}: {} iterations with the diagonal, {} with two sweeps",
            diagonal.iterations, sweeps.iterations
        );
    };
    show("CPU, 60 x 60", compare(&Cpu::new(0)?, problem::poisson2d(60))?);
    show("simulator, 12 x 12", compare(&Gpu::simulated()?, problem::poisson2d(12))?);
    if let Ok(gpu) = warpsolve::open_gpu(0) {
        show("GPU, 600 x 600", compare(&gpu, problem::poisson2d(600))?);
    }
    Ok(())
}

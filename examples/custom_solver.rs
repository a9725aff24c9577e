//! A solver of one's own: the minimal residual iteration (Saad 2003, algorithm 5.3), on every backend.
//!
//! It converges for every matrix whose symmetric part is positive definite, symmetric or not; slowly, as it
//! looks for each step in the direction of the residual alone.

use std::sync::Arc;
use warpsolve::backend::Then;

use warpsolve::backend::{Backend, Coef, Slot, cpu::Cpu, gpu::Gpu, status};
use warpsolve::matrix::{AnyMatrix, Csr};
use warpsolve::precond::{Identity, Preconditioner};
use warpsolve::solver::{IterativeSolver, OnProgress, Outcome, Stop, StopReason};
use warpsolve::{Result, problem};

// ANCHOR: workspace
/// `(A r, r)`; the slot after it receives `(A r, A r)`.
const AR_R: Slot = Slot(0);
const AR_AR: Slot = Slot(1);
const NORM2: Slot = Slot(2);

/// `alpha = (A r, r) / (A r, A r)`, `x += alpha r`, `r -= alpha A r`, with its workspace of 2 vectors.
pub struct MinimalResidual<B: Backend<f64>> {
    r: B::Vector,
    ar: B::Vector,
    scalars: B::Scalars,
}

impl<B: Backend<f64>> MinimalResidual<B> {
    /// A workspace for `n` unknowns.
    pub fn new(backend: &B, n: usize) -> Result<Self> {
        Ok(MinimalResidual { r: backend.zeros(n)?, ar: backend.zeros(n)?, scalars: backend.scalars(3)? })
    }
}
// ANCHOR_END: workspace

/// Iterations that are queued before the host looks how far the device is.
const LEAD: u32 = 8;

// ANCHOR: solve
impl<B: Backend<f64>> IterativeSolver<f64, B> for MinimalResidual<B> {
    fn solve(
        &mut self,
        backend: &B,
        a: &B::Matrix,
        _m: &mut dyn Preconditioner<f64, B>,
        b: &B::Vector,
        x: &mut B::Vector,
        stop: &Stop,
        on_progress: OnProgress,
    ) -> Result<Outcome> {
        let (r, ar, s) = (&mut self.r, &mut self.ar, &self.scalars);
        backend.dot(b, b, s, NORM2)?;
        let threshold = (stop.rtol * backend.read(s, NORM2)?.sqrt()).max(stop.atol);
        let monitor = backend.monitor(stop.max_iterations, threshold)?;
        // Whatever is queued through g does nothing once the monitor has stopped.
        let g = &backend.guarded(&monitor);
        g.multiply(a, x, Then::Residual { b, r })?;
        g.dot(r, r, s, NORM2)?;
        g.observe(s, NORM2, &monitor)?;
        for k in 1u32.. {
            g.multiply(a, r, Then::Dot { w: r, y: ar, s, out: AR_R })?;
            let alpha = Coef::ratio(AR_R, AR_AR);
            g.axpby(s, alpha, r, Coef::ONE, x)?;
            g.axpby(s, alpha.negated(), ar, Coef::ONE, r)?;
            g.dot(r, r, s, NORM2)?;
            g.observe(s, NORM2, &monitor)?;
            let progress = backend.wait(&monitor, (k + 1).saturating_sub(LEAD))?;
            on_progress.observe(progress.observed.saturating_sub(1), progress.norm);
            if !progress.running() {
                break;
            }
        }
        let history = backend.history(&monitor)?;
        let reason = match backend.wait(&monitor, 0)?.status {
            status::CONVERGED => StopReason::Converged,
            status::NOT_FINITE => StopReason::NotFinite,
            status::BREAKDOWN => StopReason::Breakdown("(A r, A r) is 0"),
            _ => StopReason::IterationLimit,
        };
        Ok(Outcome { reason, iterations: history.len().saturating_sub(1) as u32, history, threshold })
    }
}
// ANCHOR_END: solve

// ANCHOR: call
/// Solves `A x = 1`.
pub fn solve<B: Backend<f64>>(backend: &B, matrix: Csr<f64>, stop: &Stop) -> Result<(Outcome, Vec<f64>)> {
    let n = matrix.n_rows();
    let a = backend.matrix(&Arc::new(AnyMatrix::Crs(Arc::new(matrix))))?;
    let (b, mut x) = (backend.vector(&vec![1.0; n])?, backend.zeros(n)?);
    let mut solver = MinimalResidual::new(backend, n)?;
    let outcome = solver.solve(backend, &a, &mut Identity, &b, &mut x, stop, &mut |_, _| {})?;
    Ok((outcome, backend.to_host(&x)?))
}
// ANCHOR_END: call

fn main() -> Result<()> {
    let stop = Stop { rtol: 1e-6, ..Stop::default() };
    let show = |name: &str, (outcome, _): (Outcome, Vec<f64>)| {
        println!("{name}: {} after {} iterations", outcome.reason, outcome.iterations);
    };
    show("CPU, 30 x 30", solve(&Cpu::new(0)?, problem::convection_diffusion(30, 5.0), &stop)?);
    show("simulator, 12 x 12", solve(&Gpu::simulated()?, problem::convection_diffusion(12, 5.0), &stop)?);
    if let Ok(gpu) = warpsolve::open_gpu(0) {
        show("GPU, 60 x 60", solve(&gpu, problem::convection_diffusion(60, 5.0), &stop)?);
    }
    Ok(())
}

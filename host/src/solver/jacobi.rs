//! Weighted Jacobi as a solver (Rosenberger and Haase 2017, equation 2).

use cuda_std::Real;

use super::iterative::{IterativeSolver, OnProgress};
use super::outcome::{Outcome, Stop};
use super::run::Run;
use crate::backend::{Backend, Slot, Then};
use crate::error::Result;
use crate::matrix::Csr;
use crate::precond::{Jacobi, Preconditioner};

/// `x_{k+1} = x_k + omega D^-1 (b - A x_k)`, with its workspace of 2 vectors. Any preconditioner is ignored.
pub struct JacobiIteration<T: Real, B: Backend<T>> {
    omega: T,
    diagonal: Jacobi<B::Vector>,
    other: B::Vector,
    scalars: B::Scalars,
}

impl<T: Real, B: Backend<T>> JacobiIteration<T, B> {
    /// Vectors of length n in the workspace.
    pub const VECTORS: usize = 2;

    /// Inverts the diagonal of `a`. [`crate::Error::Diagonal`] names the first row where that fails.
    pub fn new(backend: &B, a: &Csr<T>, omega: f64) -> Result<Self> {
        Ok(JacobiIteration {
            omega: T::from_f64(omega),
            diagonal: Jacobi::setup(backend, a)?,
            other: backend.zeros(a.n_rows())?,
            scalars: backend.scalars(1)?,
        })
    }
}

impl<T: Real, B: Backend<T>> IterativeSolver<T, B> for JacobiIteration<T, B> {
    fn solve(
        &mut self,
        backend: &B,
        a: &B::Matrix,
        _m: &mut dyn Preconditioner<T, B>,
        b: &B::Vector,
        x: &mut B::Vector,
        stop: &Stop,
        on_progress: OnProgress,
    ) -> Result<Outcome> {
        let mut run = Run::<T, B>::new(backend, b, stop, on_progress)?;
        let (d, s, other) = (self.diagonal.inverse_diagonal(), &self.scalars, &mut self.other);
        run.iterate(2, |g, monitor, k| {
            // The sweep from x_k observes the residual norm of x_k.
            let (from, to) = if k % 2 == 0 { (&*x, &mut *other) } else { (&*other, &mut *x) };
            let (omega, out) = (self.omega, Slot(0));
            g.multiply(a, from, Then::SweepNorm { omega, d, b, y: to, s, out, monitor })
        })?;
        let outcome = run.outcome(|| Ok("none"))?;
        if outcome.iterations % 2 == 1 {
            backend.copy(&self.other, x)?;
        }
        Ok(outcome)
    }
}

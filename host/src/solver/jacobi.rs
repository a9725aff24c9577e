//! Weighted Jacobi as a solver (Rosenberger and Haase 2017, equation 2), of a diagonal or of blocks on it.

use cuda_std::Real;

use super::description::{Description, Parameter, Parameters, Takes};
use super::iterative::{IterativeSolver, OnProgress, Parts};
use super::on_host::OnHost;
use super::outcome::{Outcome, Stop};
use super::richardson::Richardson;
use super::run::Run;
use crate::backend::{Backend, Slot, Then};
use crate::error::Result;
use crate::matrix::Csr;
use crate::precond::{BlockJacobi, Jacobi, Precond, Preconditioner};

pub(super) const DESCRIPTION: Description = Description {
    parameters: &[Parameter { name: "omega", doc: "the weight, between 0 and 2" }],
    takes: Takes::Own(Precond::Jacobi),
    descends: true,
    title_parameters: |parameters| format!(", weight {}", parameters.omega),
    ..Description::new("jacobi", "Jacobi", |parameters, _| match parameters.block_size {
        1 => 2,
        block_size => 2 + block_size,
    })
};

pub(super) fn make<T: Real, B: Backend<T> + 'static>(
    backend: &B,
    a: &dyn OnHost<T>,
    _: &dyn Preconditioner<T, B>,
    parameters: &Parameters,
) -> Result<Box<dyn IterativeSolver<T, B>>> {
    let &Parameters { omega, block_size, singular_blocks, .. } = parameters;
    if block_size == 1 {
        return Ok(Box::new(JacobiIteration::new(backend, &a.csr(), omega)?));
    }
    let iteration = Richardson::new(backend, a.n_rows())?;
    let m = BlockJacobi::setup(backend, &a.csr(), block_size, singular_blocks)?.weighted(omega);
    Ok(Box::new(OfBlocks { iteration, m }))
}

/// `x_{k+1} = x_k + omega D^-1 (b - A x_k)`, with its workspace of 2 vectors. Any preconditioner is ignored.
pub struct JacobiIteration<T: Real, B: Backend<T>> {
    omega: T,
    diagonal: Jacobi<B::Vector>,
    other: B::Vector,
    scalars: B::Scalars,
}

impl<T: Real, B: Backend<T>> JacobiIteration<T, B> {
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
    /// One pass: the product has x and y, and b and the diagonal are read.
    fn traffic(&self, iterations: u32, parts: &Parts) -> u64 {
        u64::from(iterations) * (parts.product + 2 * parts.vector)
    }
}

/// The same with D the blocks on the diagonal.
struct OfBlocks<T: Real, B: Backend<T>> {
    iteration: Richardson<T, B>,
    m: BlockJacobi<T, B::Vector>,
}

impl<T: Real, B: Backend<T>> IterativeSolver<T, B> for OfBlocks<T, B> {
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
        self.iteration.solve(backend, a, &mut self.m, b, x, stop, on_progress)
    }

    fn traffic(&self, iterations: u32, parts: &Parts) -> u64 {
        let m = Preconditioner::<T, B>::traffic(&self.m, parts.vector);
        self.iteration.traffic(iterations, &Parts { m, ..*parts })
    }
}

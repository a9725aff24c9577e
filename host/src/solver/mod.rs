//! Iterative methods, one file each, written over [`Backend`].
//!
//! Every method has a workspace, allocated once, and a loop of primitives that allocates nothing and waits
//! for nothing: the decision to stop is taken where the vectors are, and the host, which may be some
//! iterations ahead, learns of it later (see [`Backend::guarded`]).

use std::fmt;

use cuda_std::Real;

use crate::backend::{Backend, Progress, status};
use crate::error::Result;
use crate::precond::{Preconditioner, Shape};

mod bicgstab;
mod cg;
mod gmres;
mod jacobi;
mod richardson;

pub use bicgstab::Bicgstab;
pub use cg::Cg;
pub use gmres::{Gmres, MAX_RESTART};
pub use jacobi::JacobiIteration;
pub use richardson::Richardson;

/// Iterations that the host may queue before it looks whether the first of them has stopped.
const LEAD: u32 = 8;
/// Iterations that are queued one by one before a period is recorded: to make a recording ready takes about as long as
/// to queue so many (on an H200, 0.4 ms in a solve with multigrid).
/// A multiple of every period.
const RECORD_FROM: u32 = 16;
/// The same where a preconditioner's many kernels make an iteration long.
const LEAD_OF_LONG: u32 = 2;

/// A method's own residual drifts from the true one by rounding; where the true one misses the tolerance by
/// more than this factor, the solve has not converged.
pub const TOLERABLE_MISS: f64 = 10.0;

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Converged when `||b - A x||_2 <= max(rtol ||b||_2, atol)`.
    pub rtol: f64,
    /// The absolute part of that.
    pub atol: f64,
    /// Most iterations.
    pub max_iterations: u32,
}

impl Default for Stop {
    fn default() -> Self {
        Stop { rtol: 1e-8, atol: 0.0, max_iterations: 5000 }
    }
}

/// Why a solver stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The residual norm is small enough.
    Converged,
    /// The iteration limit is reached.
    IterationLimit,
    /// A scalar that the method divides by vanished; the text says which.
    Breakdown(&'static str),
    /// A residual norm is NaN or infinite.
    NotFinite,
    /// The method's own residual norm is small enough, but that of its solution, recomputed, is far from it.
    Inaccurate,
    /// CG met `(p, A p) <= 0`: A is not positive definite; it may be singular.
    IndefiniteOperator,
    /// CG met `(r, M r) <= 0`: the preconditioner is not positive definite.
    IndefinitePreconditioner,
}

impl StopReason {
    /// The name in reports, without the breakdown's details.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::Converged => "converged",
            StopReason::IterationLimit => "iteration_limit",
            StopReason::Breakdown(_) => "breakdown",
            StopReason::NotFinite => "not_finite",
            StopReason::Inaccurate => "inaccurate",
            StopReason::IndefiniteOperator => "indefinite_operator",
            StopReason::IndefinitePreconditioner => "indefinite_preconditioner",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            StopReason::Converged => "converged",
            StopReason::IterationLimit => "iteration limit reached",
            StopReason::Breakdown(which) => return write!(f, "breakdown: {which}"),
            StopReason::NotFinite => "the residual became NaN or infinite",
            StopReason::Inaccurate => {
                "the method's own residual is small enough, but not that of its solution"
            }
            StopReason::IndefiniteOperator => {
                "the matrix is not positive definite, but indefinite or singular (p, A p <= 0); \
                 use --solver gmres or bicgstab"
            }
            StopReason::IndefinitePreconditioner => {
                "the preconditioner is not positive definite (r, M r <= 0); \
                 use --precond none, or --solver gmres or bicgstab"
            }
        })
    }
}

/// What a solver did. The solution is in the vector it was given.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Why it stopped.
    pub reason: StopReason,
    /// Iterations done.
    pub iterations: u32,
    /// `||r_k||_2` for k = 0, 1, ... as the method knows it; the true residual may differ by rounding.
    pub history: Vec<f64>,
    /// What the norms were compared with.
    pub threshold: f64,
}

/// Called with the iterations done and the newest residual norm, every now and then.
pub type OnProgress<'a> = &'a mut dyn FnMut(u32, f64);

/// A method with its workspace.
pub trait Solver<T: Real, B: Backend<T>> {
    /// Solves `A x = b` starting from the given `x`.
    #[allow(clippy::too_many_arguments)]
    fn solve(
        &mut self,
        backend: &B,
        a: &B::Matrix,
        m: &mut dyn Preconditioner<T, B>,
        b: &B::Vector,
        x: &mut B::Vector,
        stop: &Stop,
        on_progress: OnProgress,
    ) -> Result<Outcome>;
}

/// A running iteration: its monitor, its guarded backend, and where the host stands.
pub(crate) struct Run<'a, T: Real, B: Backend<T>> {
    backend: B,
    monitor: B::Monitor,
    threshold: f64,
    lead: u32,
    on_progress: OnProgress<'a>,
}

impl<'a, T: Real, B: Backend<T>> Run<'a, T, B> {
    /// Computes the threshold from `||b||` (with one scalar, slot 0 of a fresh array) and makes the monitor.
    fn new(backend: &B, b: &B::Vector, stop: &Stop, on_progress: OnProgress<'a>) -> Result<Self> {
        let s = backend.scalars(1)?;
        backend.dot(b, b, &s, crate::backend::Slot(0))?;
        let norm_b = backend.read(&s, crate::backend::Slot(0))?.to_f64().sqrt();
        // Residuals are computed in T: below this no norm of theirs can mean anything.
        let threshold = (stop.rtol * norm_b).max(stop.atol);
        Self::bounded(backend, stop.max_iterations, threshold, on_progress)
    }

    /// An iteration that stops at a norm of at most `threshold`, or after `limit` iterations.
    pub(crate) fn bounded(
        backend: &B,
        limit: u32,
        threshold: f64,
        on_progress: OnProgress<'a>,
    ) -> Result<Self> {
        let monitor = backend.monitor(limit, threshold)?;
        Ok(Run { backend: backend.guarded(&monitor), monitor, threshold, lead: LEAD, on_progress })
    }

    /// Looks earlier whether the iteration has stopped if `m` is more than a diagonal.
    fn preconditioned_by(mut self, m: &dyn Preconditioner<T, B>) -> Self {
        if let Shape::General = m.shape() {
            self.lead = LEAD_OF_LONG;
        }
        self
    }

    /// Queues `iteration(g, monitor, k)` for k = 0, 1, ... until the iteration has stopped; g is guarded by the
    /// monitor.
    ///
    /// From `period` on, iteration `k + period` queues what iteration k does. So, in an iteration that lasts, one period is
    /// recorded, where the backend can do that, and replayed. What is queued beyond the stop, by up to `lead` iterations and a
    /// period, does nothing.
    pub(crate) fn iterate(
        &mut self,
        period: u32,
        mut iteration: impl FnMut(&B, &B::Monitor, u32) -> Result<()>,
    ) -> Result<()> {
        let mut recording = None;
        let mut k = 0;
        while self.goes_on(k)? {
            if k == RECORD_FROM {
                let mut one_period = |g: &B| (k..k + period).try_for_each(|k| iteration(g, &self.monitor, k));
                recording = self.backend.record(&mut one_period)?;
            }
            if let Some(recording) = &recording {
                // SAFETY: recording refuses to allocate, so all that `iteration` used was there before; it is borrowed
                // by it, or belongs to `self`, and is still there.
                unsafe { self.backend.replay(recording)? };
                k += period;
            } else {
                iteration(&self.backend, &self.monitor, k)?;
                k += 1;
            }
        }
        Ok(())
    }

    /// Whether to queue iteration `k` (from 0): waits until the norm of iteration `k - lead` is known.
    fn goes_on(&mut self, k: u32) -> Result<bool> {
        self.known((k + 1).saturating_sub(self.lead))
    }

    /// Waits until `observed` norms are known; false when the iteration has stopped.
    fn known(&mut self, observed: u32) -> Result<bool> {
        let progress = self.backend.wait(&self.monitor, observed)?;
        if progress.observed > 0 {
            (self.on_progress)(progress.observed - 1, progress.norm);
        }
        Ok(progress.running())
    }

    /// What came of it. `diagnose` names the cause of a breakdown.
    pub(crate) fn outcome(self, diagnose: impl FnOnce() -> Result<&'static str>) -> Result<Outcome> {
        let history = self.backend.history(&self.monitor)?;
        let Progress { status, .. } = self.backend.wait(&self.monitor, 0)?;
        let reason = match status {
            status::CONVERGED => StopReason::Converged,
            status::NOT_FINITE => StopReason::NotFinite,
            status::INDEFINITE_OPERATOR => StopReason::IndefiniteOperator,
            status::INDEFINITE_PRECONDITIONER => StopReason::IndefinitePreconditioner,
            status::BREAKDOWN => StopReason::Breakdown(diagnose()?),
            _ => StopReason::IterationLimit,
        };
        let iterations = (history.len() as u32).saturating_sub(1);
        Ok(Outcome { reason, iterations, history, threshold: self.threshold })
    }
}

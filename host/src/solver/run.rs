//! A running iteration, and how far the host is ahead of it.

use std::ops::Range;

use cuda_std::Real;

use super::iterative::OnProgress;
use super::outcome::{Outcome, Stop, StopReason};
use crate::backend::{Backend, Columns, Slot, status};
use crate::error::Result;
use crate::precond::{Preconditioner, Shape};

/// Iterations that the host may queue before it looks whether the first of them has stopped.
const LEAD: u32 = 8;
/// Iterations that are queued one by one before a period is recorded: to make a recording ready takes about
/// as long as to queue so many (on an H200, 0.4 ms in a solve with multigrid).
const RECORD_FROM: u32 = 16;
/// The same where an iteration is long, as many kernels of a preconditioner make it.
const LEAD_OF_LONG: u32 = 2;

/// What a block breaks down by.
const NOT_FINITE: &str = "a coefficient is not finite";

/// A running iteration: its monitor, its guarded backend, and where the host stands.
pub(crate) struct Run<'a, T: Real, B: Backend<T>> {
    pub(crate) backend: B,
    pub(crate) monitor: B::Monitor,
    pub(super) threshold: f64,
    lead: u32,
    on_progress: OnProgress<'a>,
    is_cancelled: bool,
}

impl<'a, T: Real, B: Backend<T>> Run<'a, T, B> {
    /// Computes the threshold from `||b||` (with one scalar, slot 0 of a fresh array) and makes the monitor.
    pub(super) fn new(backend: &B, b: &B::Vector, stop: &Stop, on_progress: OnProgress<'a>) -> Result<Self> {
        // Whoever knows ||b|| gives the threshold itself.
        if stop.rtol == 0.0 {
            return Self::bounded(backend, stop.max_iterations, stop.atol, on_progress);
        }
        let s = backend.scalars(1)?;
        backend.dot(b, b, &s, Slot(0))?;
        let norm_b = backend.read(&s, Slot(0))?.to_f64().sqrt();
        // Residuals are computed in T: below this no norm of theirs can mean anything.
        let threshold = stop.threshold(norm_b);
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
        let backend = backend.guarded(&monitor);
        Ok(Run { backend, monitor, threshold, lead: LEAD, on_progress, is_cancelled: false })
    }

    /// Looks earlier whether the iteration has stopped if `m` is more than a diagonal.
    pub(super) fn preconditioned_by(mut self, m: &dyn Preconditioner<T, B>) -> Self {
        if let Shape::General = m.shape() {
            self = self.of_long_iterations();
        }
        self
    }

    /// Looks earlier whether the iteration has stopped.
    pub(super) fn of_long_iterations(mut self) -> Self {
        self.lead = LEAD_OF_LONG;
        self
    }

    /// Queues `iteration(g, monitor, k)` for k = 0, 1, ... until the iteration has stopped; g is guarded by
    /// the monitor.
    ///
    /// From `period` on, iteration `k + period` queues what iteration k does. So, in an iteration that lasts,
    /// one period is recorded, where the backend can do that, and replayed. What is queued beyond the stop,
    /// by up to `lead` iterations and a period, does nothing.
    pub(crate) fn iterate(
        &mut self,
        period: u32,
        iteration: impl FnMut(&B, &B::Monitor, u32) -> Result<()>,
    ) -> Result<()> {
        self.stretch(0, 0..u32::MAX, period, iteration)
    }

    /// The same for these k alone, after `before` iterations that were counted otherwise.
    pub(super) fn stretch(
        &mut self,
        before: u32,
        steps: Range<u32>,
        period: u32,
        mut iteration: impl FnMut(&B, &B::Monitor, u32) -> Result<()>,
    ) -> Result<()> {
        let mut recording = None;
        let Range { start: mut k, end } = steps;
        let record_from = RECORD_FROM.max(period).max(k);
        while k < end && self.goes_on(before + k)? {
            if recording.is_none() && k == record_from {
                let mut one_period = |g: &B| (k..k + period).try_for_each(|k| iteration(g, &self.monitor, k));
                recording = self.backend.record(&mut one_period)?;
            }
            match &recording {
                Some(recording) if k + period <= end => {
                    // SAFETY: recording refuses to allocate, so all that `iteration` used was there before;
                    // it is borrowed by it, or belongs to `self`, and is still there.
                    unsafe { self.backend.replay(recording)? };
                    k += period;
                }
                _ => {
                    iteration(&self.backend, &self.monitor, k)?;
                    k += 1;
                }
            }
        }
        Ok(())
    }

    /// Whether to queue iteration `k` (from 0): waits until the norm of iteration `k - lead` is known.
    pub(crate) fn goes_on(&mut self, k: u32) -> Result<bool> {
        self.known((k + 1).saturating_sub(self.lead))
    }

    /// Waits until `observed` norms are known; false when the iteration has stopped, or is to.
    pub(crate) fn known(&mut self, observed: u32) -> Result<bool> {
        // After that none may come.
        let observed = if self.is_cancelled { 0 } else { observed };
        let progress = self.backend.wait(&self.monitor, observed)?;
        if progress.observed > 0 {
            self.on_progress.observe(progress.observed - 1, progress.norm);
        }
        self.is_cancelled |= progress.running() && self.on_progress.is_cancelled();
        Ok(progress.running() && !self.is_cancelled)
    }

    /// What came of each column, watched by a monitor of its own, where this run stops all of them.
    pub(super) fn outcomes_of(self, columns: &Columns<B>, monitors: &[B::Monitor]) -> Result<Vec<Outcome>> {
        let whole = self.backend.wait(&self.monitor, 0)?.status;
        let each = columns.backends.iter().zip(monitors).zip(columns.thresholds());
        let one = |((backend, monitor), &threshold): ((&B, &B::Monitor), &f64)| {
            let own = backend.wait(monitor, 0)?.status;
            let status = if own == status::RUNNING { whole } else { own };
            outcome((backend.history(monitor)?, status), threshold, self.is_cancelled, || Ok(NOT_FINITE))
        };
        each.map(one).collect()
    }

    /// What came of it. `diagnose` names the cause of a breakdown.
    pub(crate) fn outcome(self, diagnose: impl FnOnce() -> Result<&'static str>) -> Result<Outcome> {
        let seen = seen(&self.backend, &self.monitor)?;
        outcome(seen, self.threshold, self.is_cancelled, diagnose)
    }
}

impl<T: Real, B: Backend<T>> Run<'_, T, Columns<B>> {
    /// What came of each column.
    pub(super) fn outcomes(self, diagnose: impl Fn() -> Result<&'static str>) -> Result<Vec<Outcome>> {
        let each = self.backend.backends.iter().zip(&self.monitor).zip(self.backend.thresholds());
        let one = |((backend, monitor), factor): ((&B, &B::Monitor), &f64)| {
            outcome(seen(backend, monitor)?, factor * self.threshold, self.is_cancelled, &diagnose)
        };
        each.map(one).collect()
    }
}

/// What a monitor has seen: the norms, and why it stopped.
fn seen<T: Real, B: Backend<T>>(backend: &B, monitor: &B::Monitor) -> Result<(Vec<f64>, u32)> {
    let history = backend.history(monitor)?;
    Ok((history, backend.wait(monitor, 0)?.status))
}

/// What became of an iteration with these norms, which stopped for this reason.
fn outcome(
    (history, status): (Vec<f64>, u32),
    threshold: f64,
    is_cancelled: bool,
    diagnose: impl FnOnce() -> Result<&'static str>,
) -> Result<Outcome> {
    let reason = match status {
        status::CONVERGED => StopReason::Converged,
        status::NOT_FINITE => StopReason::NotFinite,
        status::INDEFINITE_OPERATOR => StopReason::IndefiniteOperator,
        status::INDEFINITE_PRECONDITIONER => StopReason::IndefinitePreconditioner,
        status::BREAKDOWN => StopReason::Breakdown(diagnose()?),
        status::RUNNING if is_cancelled => StopReason::Interrupted,
        _ => StopReason::IterationLimit,
    };
    let iterations = (history.len() as u32).saturating_sub(1);
    Ok(Outcome { reason, iterations, history, threshold })
}

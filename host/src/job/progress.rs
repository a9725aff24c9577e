//! Reports of progress while a solve runs, and how it is stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::judge::Judge;
use crate::solver::{Observer, Outcome, Stop, StopReason};

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Stage {
    /// Checks, choices, the format, the preconditioner.
    SetUp,
    /// A factorisation begins, which is predicted to take so long, and can be cancelled.
    Factorisation {
        /// Seconds on two cores, in order of magnitude.
        seconds: f64,
        /// Bytes of the factors, at most.
        bytes: f64,
    },
    /// Matrix and vectors go to where they are used.
    Upload,
    /// The solver starts.
    Solve,
    /// The solver has done so many iterations. Not every iteration is reported.
    Iteration {
        /// How many.
        iterations: u32,
        /// The newest residual norm that is known.
        norm: f64,
        /// The norm of the right-hand side.
        norm_b: f64,
        /// The norm at which the solver has converged.
        threshold: f64,
    },
}

/// Stops a solve from another thread or from a signal handler; clones belong together.
///
/// A solve that is cancelled ends after the iterations it has queued, 8 at most, with the solution so far and
/// [`StopReason::Interrupted`](crate::solver::StopReason::Interrupted). A factorisation is left at once, with
/// the best solution of the ways that were tried before it; its threads end when it is done. Other set-ups,
/// and copies, are not cut short.
#[derive(Debug, Clone, Default)]
pub struct CancellationToken(Arc<AtomicBool>);

impl CancellationToken {
    /// One that nobody has cancelled.
    pub fn new() -> Self {
        Self::default()
    }
    /// Asks whoever holds a clone to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    /// Whether somebody has.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
    /// The flag itself: a signal handler that sets it cancels.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

/// Whom a solve tells what it does, and who may stop it.
#[derive(Default)]
pub(super) struct Watch {
    pub on_progress: Option<Box<dyn FnMut(Stage) + Send>>,
    pub cancellation: CancellationToken,
    /// Who may leave an attempt early.
    pub judge: Option<Judge>,
}

impl Watch {
    /// Whether an attempt is to be left.
    pub fn gives_up(&self) -> bool {
        self.judge.as_ref().is_some_and(Judge::gives_up)
    }
    pub fn tell(&mut self, stage: Stage) {
        if let Some(on_progress) = &mut self.on_progress {
            on_progress(stage);
        }
    }
}

/// The iterations of one solve, which may take a solver several runs.
pub(super) struct Iterations<'a> {
    pub watch: &'a mut Watch,
    /// Done before this run.
    pub before: u32,
    pub norm_b: f64,
    pub threshold: f64,
}

impl Iterations<'_> {
    /// When a run down to `threshold` stops: what was done before counts towards the iterations `asked` for.
    pub fn stop(&self, asked: &Stop, threshold: f64) -> Stop {
        let max_iterations = asked.max_iterations.saturating_sub(self.before);
        Stop { rtol: 0.0, atol: threshold, max_iterations }
    }

    /// What came of a run: where nobody has cancelled it, it is the judge who has interrupted it.
    pub fn judged(&self, mut outcome: Outcome) -> Outcome {
        if outcome.reason == StopReason::Interrupted && !self.watch.cancellation.is_cancelled() {
            outcome.reason = StopReason::Stagnated;
        }
        outcome
    }
}

impl Observer for Iterations<'_> {
    fn observe(&mut self, iterations: u32, norm: f64) {
        let Iterations { before, norm_b, threshold, .. } = *self;
        let iterations = before + iterations;
        self.watch.tell(Stage::Iteration { iterations, norm, norm_b, threshold });
        if let Some(judge) = &mut self.watch.judge {
            judge.observe(iterations, norm, threshold);
        }
    }
    fn is_cancelled(&self) -> bool {
        self.watch.cancellation.is_cancelled() || self.watch.gives_up()
    }
}

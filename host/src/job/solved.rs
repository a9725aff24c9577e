//! A right-hand side, and what came of a solve with it.

use super::ranks::Info;
use super::reorder::Reordered;
use super::report::Report;
use super::residual::Norms;
use super::{Method, Precision};
use crate::backend::Storage;
use crate::launch::Counts;
use crate::precond::{amg, ilu};
use crate::solver::{Outcome, Stop, StopReason, direct};

/// A solution and how it was found.
#[derive(Debug, Clone)]
pub struct Solution {
    /// The solution.
    pub x: Vec<f64>,
    /// What was done.
    pub report: Report,
}

/// What is solved for.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub b: &'a [f64],
    /// Where to start from; `None` for 0.
    pub start: Option<&'a [f64]>,
    /// The absolute tolerance.
    pub atol: f64,
}

impl Asked<'_> {
    /// When a solution is good enough, by what is asked of all but for the absolute tolerance.
    pub fn stop(&self, of_all: Stop) -> Stop {
        Stop { atol: self.atol, ..of_all }
    }
}

/// A right-hand side, in the range of a singular matrix.
pub(super) struct Rhs<'a> {
    pub b: &'a [f64],
    /// `||b||_2`.
    pub norm: f64,
    /// `||b||_inf`.
    pub max: f64,
    /// The norm of a residual that is small enough.
    pub threshold: f64,
    /// Where to start from; `None` for 0.
    pub start: Option<&'a [f64]>,
}

/// What came of a solve.
pub(super) struct Solved {
    pub x: Vec<f64>,
    pub outcome: Outcome,
    /// `b - A x`, in f64.
    pub residual: Norms,
    /// How often the solver was started again from the true residual.
    pub refinements: u32,
    pub seconds: f64,
    /// What the device was asked for in these seconds.
    pub counts: Option<Counts>,
    /// Bytes held.
    pub bytes: u64,
    /// Bytes that the iterations had to move.
    pub bytes_moved: u64,
    /// How the matrix was stored.
    pub format: Storage,
    /// The numbering that the device made to solve in.
    pub reordered: Option<Reordered>,
    /// The hierarchy, where there is one.
    pub hierarchy: Option<amg::Info>,
    /// The incomplete factorisation, where the preconditioner is one.
    pub ilu: Option<ilu::Info>,
    /// The factorisation, where the method or the preconditioner is one.
    pub factorisation: Option<direct::Info>,
    /// The ranks, where there are several.
    pub ranks: Option<Info>,
}

impl Solved {
    /// Whether the method failed as it does with a hierarchy of too little accuracy. A stationary one
    /// corrects that by itself.
    pub fn is_inexact(&self, method: Method, precision: Precision) -> bool {
        let could_be_better = precision == Precision::F64 && !method.description().is_stationary();
        let failed = matches!(
            self.outcome.reason,
            StopReason::IndefinitePreconditioner | StopReason::Breakdown(_) | StopReason::NotFinite
        );
        // Recurrences that rounding has taken over may leave an x of which they know nothing.
        could_be_better && (failed || !self.residual.two.is_finite())
    }
}

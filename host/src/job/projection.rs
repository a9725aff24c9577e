//! The part of a right-hand side that is outside of the range of a singular symmetric matrix, and taken out.

use std::borrow::Cow;

use super::report::{Report, Warning};
use crate::precond::NullSpace;
use crate::solver::{Stop, StopReason};

/// What was taken out, where that was more than rounding.
pub(super) struct Projection {
    /// Of the null space.
    pub dimension: usize,
    /// Whether every unknown may have a part in that.
    pub every_unknown: bool,
    /// The 2-norms of the right-hand side and of what was taken out.
    pub norms: (f64, f64),
    /// Whether nothing is left.
    pub is_all: bool,
}

impl Projection {
    /// Projects `b` onto the range of a matrix with this null space.
    pub fn of(null_space: Option<&NullSpace>, b: &mut Cow<[f64]>) -> Option<Projection> {
        let null_space = null_space?;
        let norms = null_space.project(b.to_mut());
        Projection {
            dimension: null_space.dimension(),
            every_unknown: null_space.has_every_unknown(),
            norms,
            is_all: b.iter().all(|v| *v == 0.0),
        }
        .beyond_rounding()
    }

    pub fn beyond_rounding(self) -> Option<Projection> {
        const ROUNDING: f64 = 1e-10;
        let (norm, removed) = self.norms;
        (removed > ROUNDING * norm).then_some(self)
    }

    /// Where to start from; where nothing is left to be solved for, 0 is the solution.
    pub fn start<'a>(made: Option<&Projection>, start: Option<&'a [f64]>) -> Option<&'a [f64]> {
        start.filter(|_| made.is_none_or(|projection| !projection.is_all))
    }

    pub fn warning(&self) -> Warning {
        let &Projection { dimension, every_unknown, norms: (norm, removed), is_all } = self;
        let share = if is_all { 1.0 } else { (removed / norm).min(1.0 - f64::EPSILON) };
        Warning::Projected { dimension, every_unknown, share }
    }

    /// Lets the report on the rest tell of it; where nothing was left to be solved for, of the right-hand
    /// side that was given, which no x comes near.
    pub fn tell(&self, report: &mut Report, stop: Stop) {
        report.projected = !self.is_all;
        let (norm, removed) = self.norms;
        if self.is_all && report.converged() {
            report.outcome.threshold = stop.threshold(norm);
            report.outcome.reason = match removed <= report.outcome.threshold {
                true => StopReason::Converged,
                false => StopReason::NoSolution { least: removed },
            };
            (report.norm_b, report.relative_residual, report.backward_error) = (norm, 1.0, 1.0);
        }
    }
}

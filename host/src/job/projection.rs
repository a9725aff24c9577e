//! The part of a right-hand side that is outside of the range of a singular symmetric matrix, and taken out.

use super::report::{Report, Warning};
use crate::precond::NullSpace;
use crate::solver::StopReason;

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
    /// Projects `b` onto the range.
    pub fn of(null_space: &NullSpace, b: &mut [f64]) -> Option<Projection> {
        let norms = null_space.project(b);
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

    pub fn warning(&self) -> Warning {
        let &Projection { dimension, every_unknown, norms: (norm, removed), is_all } = self;
        let share = if is_all { 1.0 } else { (removed / norm).min(1.0 - f64::EPSILON) };
        Warning::Projected { dimension, every_unknown, share }
    }

    /// Lets the report on the rest tell of it; where nothing was left to be solved for, of the right-hand
    /// side that was given, which no x comes near.
    pub fn tell(&self, report: &mut Report, threshold: impl Fn(f64) -> f64) {
        report.projected = !self.is_all;
        let (norm, removed) = self.norms;
        if self.is_all && report.converged() {
            report.outcome.threshold = threshold(norm);
            report.outcome.reason = match removed <= report.outcome.threshold {
                true => StopReason::Converged,
                false => StopReason::NoSolution { least: removed },
            };
            (report.norm_b, report.relative_residual, report.backward_error) = (norm, 1.0, 1.0);
        }
    }
}

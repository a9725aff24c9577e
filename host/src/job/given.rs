//! A solve of the system that was given as a scaled and permuted one.

use std::borrow::Cow;

use super::projection::Projection;
use super::report::Report;
use super::residual::{relative, residual};
use super::scaled::ScaledSystem;
use super::size::Size;
use super::solved::{Asked, Solution};
use super::solver::Solver;
use crate::error::Result;
use crate::matrix::backward_error;
use crate::matrix::backward_error::most;
use crate::norm::norm;
use crate::solver::StopReason;

impl Solver {
    /// Solves the system that was given, whatever it is solved as.
    pub(super) fn solve_given(&mut self, start: Option<&[f64]>, b: &[f64]) -> Result<Solution> {
        self.check("right-hand side", b)?;
        start.map_or(Ok(()), |x| self.check("start", x))?;
        let Some(scaled) = self.scaled.clone() else { return self.solve_numbered(self.asked(start, b)) };
        let size = Size::of(most(b), 0, self.plan.options.precision);
        let asked = Asked { b, start, atol: scaled.stop.atol };
        size.solve(&*scaled.given, asked, |asked| self.solve_scaled(&scaled, asked))
    }

    /// The same for vectors in the given numbering.
    fn solve_numbered(&mut self, asked: Asked) -> Result<Solution> {
        let Some(numbering) = self.numbering.clone() else { return self.solve_from(asked) };
        let (start, b) = (asked.start.map(|x| numbering.vector(x)), numbering.vector(asked.b));
        let Solution { x, report } = self.solve_from(Asked { b: &b, start: start.as_deref(), ..asked })?;
        Ok(Solution { x: numbering.given(&x), report })
    }

    /// The same of a system that is solved as a scaled and permuted one.
    fn solve_scaled(&mut self, scaled: &ScaledSystem, asked: Asked) -> Result<Solution> {
        /// Times at most that what is left is solved for.
        const MOST: u32 = 10;
        /// What a time leaves at most for there to be another.
        const CLEAR: f64 = 0.5;
        let stop = asked.stop(scaled.stop);
        let mut b = Cow::Borrowed(asked.b);
        let projection = Projection::of(scaled.null_space.as_ref(), &mut b);
        let start = Projection::start(projection.as_ref(), asked.start);
        let threshold = stop.threshold(norm(&b));
        let mut x = start.map_or_else(|| vec![0.0; b.len()], <[f64]>::to_vec);
        let mut r = residual(&scaled.given, &x, &b);
        let mut all: Option<Report> = None;
        for _ in 0..MOST {
            // S y = P R r,  x = x + C y
            let rhs = if norm(&r) > threshold { scaled.rhs(&r) } else { vec![0.0; r.len()] };
            let Solution { x: y, report } = self.solve_numbered(self.asked(None, &rhs))?;
            let d = y.iter().zip(&scaled.scales.columns).map(|(y, c)| y * c);
            let mut next: Vec<f64> = x.iter().zip(d).map(|(x, d)| x + d).collect();
            if let Some(space) = &scaled.null_space {
                space.project(&mut next);
            }
            let rest = residual(&scaled.given, &next, &b);
            let (before, after) = (norm(&r), norm(&rest));
            // NaN is no progress.
            if after < before {
                (x, r) = (next, rest);
            }
            let goes_on = report.converged() && after > threshold && after <= CLEAR * before;
            all = Some(match all {
                None => report,
                Some(all) => all.continued(report),
            });
            if !goes_on {
                break;
            }
        }
        let mut report = all.expect("there is one time at least");
        scaled.tell(&mut report, &x, &b, &r, threshold);
        if let Some(projection) = projection {
            report.warnings.push(projection.warning());
            projection.tell(&mut report, stop);
        }
        Ok(Solution { x, report })
    }
}

impl ScaledSystem {
    /// Lets the report tell of the given system.
    fn tell(&self, report: &mut Report, x: &[f64], b: &[f64], r: &[f64], threshold: f64) {
        /// Units of rounding.
        const UNITS: f64 = 16.0;
        let (norm_b, found) = (norm(b), norm(r));
        report.backward_error = backward_error(&self.given, x, b, r);
        (report.norm_b, report.projected, report.scaled) = (norm_b, false, Some(self.info));
        report.relative_residual = relative(found, norm_b);
        let claimed = report.outcome.history.last().copied().unwrap_or(f64::NAN);
        report.outcome.threshold = threshold;
        report.outcome.reason = match report.outcome.reason {
            _ if found <= threshold => StopReason::Converged,
            StopReason::Converged if report.backward_error <= UNITS * f64::EPSILON => StopReason::AtRounding,
            StopReason::Converged => StopReason::Inaccurate { claimed, found },
            // It was said of S, whose residual is that of A times P R.
            StopReason::NoSolution { least } if least > threshold * self.largest_row() => {
                StopReason::NoSolution { least: least / self.largest_row() }
            }
            StopReason::NoSolution { .. } => StopReason::Stagnated,
            reason => reason,
        };
    }
}

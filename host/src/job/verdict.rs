//! What is said in the end of what a method has left.

use super::Method;
use super::reach::out_of_reach;
use super::report::Warning;
use super::residual::{Norms, relative};
use super::solved::{Rhs, Solved};
use super::solver::Solver;
use crate::analysis::Analysis;
use crate::matrix::backward_error::{most, of_maxima};
use crate::precond::NullSpace;
use crate::solver::StopReason;

impl Solver {
    /// Whether a factorisation has refined x until nothing but its rounding is left, and b - A x, computed in
    /// f64, is larger than asked by the rounding of that.
    fn is_rounding(&self, rhs: &Rhs, solved: &Solved) -> bool {
        /// Units of rounding.
        const UNITS: f64 = 16.0;
        let error = || of_maxima(self.plan.norm, most(&solved.x), rhs.max, solved.residual.max);
        self.plan.method.description().is_on_host
            && matches!(solved.outcome.reason, StopReason::Inaccurate { .. })
            && error() <= UNITS * f64::EPSILON
    }

    /// Measures what a factorisation has left but for rounding with the digits that it was refined with:
    /// `b - A x` in f64 may be more than was asked for by rounding of its products alone.
    fn measure_with_care(&self, rhs: &Rhs, solved: &mut Solved) -> Option<Warning> {
        let careful = Norms::in_twice_the_digits(&self.plan.a, &solved.x, rhs.b);
        let is_met = careful.two <= rhs.threshold;
        if !is_met {
            solved.outcome.reason = StopReason::AtRounding;
            return None;
        }
        let in_f64 = std::mem::replace(&mut solved.residual, careful);
        solved.outcome.reason = StopReason::Converged;
        Some(Warning::InTwiceTheDigits { relative_residual: relative(in_f64.two, rhs.norm) })
    }

    /// What becomes of a solution that is none: why there may not be one, and the start again where that is
    /// better.
    pub(super) fn settle(&self, rhs: &Rhs, solved: &mut Solved) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.is_rounding(rhs, solved) {
            warnings.extend(self.measure_with_care(rhs, solved));
        }
        let reason = solved.outcome.reason;
        if reason == StopReason::AtRounding {
            // b - A x in f64 may be 0 where x is so large that its rounding hides the rest.
            let doubled = solved.outcome.history.last().copied().unwrap_or_default();
            solved.residual = solved.residual.at_least(doubled, solved.x.len());
        }
        let null_space = solved.factorisation.map_or(0, |info| info.null_space);
        warnings.extend((null_space > 0).then_some(Warning::NotUnique { dimension: null_space }));
        // What is left at the limit of f64 is the best that there is, however large its residual.
        if matches!(reason, StopReason::Converged | StopReason::AtRounding) {
            let is_said = null_space > 0 || self.plan.null_space.is_some();
            let is_open = !is_said && self.ladder.analysis().is_some_and(Analysis::maps_constants_to_zero);
            warnings.extend(is_open.then_some(Warning::NotUnique { dimension: 1 }));
            return warnings;
        }
        let a = &self.plan.a;
        if reason != StopReason::Interrupted {
            if self.ladder.is_last() {
                prove(solved, out_of_reach(a, rhs.b), rhs);
            }
            let analysis = self.ladder.analysis();
            let deficiency = analysis.and_then(|analysis| analysis.structure.deficiency.as_ref());
            warnings.extend(deficiency.map(|deficiency| Warning::Singular(deficiency.to_string())));
            warnings.extend(NullSpace::why_singular(a, rhs.b).map(Warning::Singular));
        }
        let start_norm = match rhs.start {
            None => rhs.norm,
            Some(x) => Norms::of(a, x, rhs.b).two,
        };
        let (reason, growth) = (solved.outcome.reason, relative(solved.residual.two, start_norm));
        let is_finite = solved.x.iter().all(|v| v.is_finite());
        if is_worse_than_start(self.plan.method, reason, is_finite, growth) {
            warnings.push(Warning::WorseThanStart {
                relative_residual: relative(solved.residual.two, rhs.norm),
                from_zero: rhs.start.is_none(),
            });
            solved.outcome.reason = reason_of_loss(self.plan.method, reason, growth);
            match rhs.start {
                None => solved.x.fill(0.0),
                Some(x) => solved.x.copy_from_slice(x),
            }
            solved.residual = Norms::of(a, &solved.x, rhs.b);
        }
        warnings
    }
}

/// Lets a solve end with the proof that no x reaches a part of b with this norm, where nothing better is
/// known.
pub(super) fn prove(solved: &mut Solved, out_of_reach: f64, rhs: &Rhs) {
    let reason = &mut solved.outcome.reason;
    let is_better = matches!(reason, StopReason::NoSolution { .. } | StopReason::LeastSquares { .. });
    if out_of_reach > rhs.threshold && !is_better {
        *reason = StopReason::NoSolution { least: out_of_reach };
    }
}

const LOST: &str = "rounding errors outgrew the solution";

/// Why a method stopped that left something worse than its start, with a residual norm that is `growth` times
/// that of the start.
pub(super) fn reason_of_loss(method: Method, reason: StopReason, growth: f64) -> StopReason {
    let method = method.description();
    match reason {
        StopReason::Interrupted => reason,
        _ if method.is_stationary() && !method.is_on_host => StopReason::Diverged,
        StopReason::IterationLimit | StopReason::Stagnated if !growth.is_finite() => StopReason::NotFinite,
        StopReason::IterationLimit | StopReason::Inaccurate { .. } => StopReason::Breakdown(LOST),
        _ => reason,
    }
}

/// Whether the start is better than the x that a method left that did not converge, be it finite or not, with
/// a residual norm that is `growth` times that of the start. A method cut short may be on its way through
/// large residuals, but not GMRES, which minimises them, nor a stationary iteration: that diverges. Any other
/// is at its end.
pub(super) fn is_worse_than_start(method: Method, reason: StopReason, is_finite: bool, growth: f64) -> bool {
    /// More than rounding, and than a few sweeps that begin with a growing residual.
    const WORSE: f64 = 2.0;
    const ROUNDING: f64 = 1e-10;
    let cut_short = matches!(reason, StopReason::IterationLimit | StopReason::Interrupted);
    let limit = if cut_short { WORSE } else { 1.0 + ROUNDING };
    // NaN is worse.
    let grew = growth.is_nan() || growth > limit;
    let worse = grew && (method.description().descends || !cut_short);
    worse || !is_finite
}

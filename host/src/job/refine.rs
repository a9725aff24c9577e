//! A solve that is started again from its true residual.

use super::progress::{Iterations, Watch};
use super::residual::Equation;
use super::solved::{Rhs, Solved};
use super::{Options, Precision};
use crate::error::Result;
use crate::solver::{Outcome, StopReason};

/// What can be started again.
pub(super) trait Refined {
    /// What is solved.
    fn equation(&self) -> &dyn Equation;
    /// How.
    fn options(&self) -> &Options;
    /// Whether somebody has cancelled the solve.
    ///
    /// # Errors
    /// Those of ranks.
    fn is_cancelled(&self, watch: &Watch) -> Result<bool> {
        Ok(watch.cancellation.is_cancelled())
    }
    /// One run of the solver from `start`, or from 0, down to a residual norm of `threshold`: what x is then,
    /// on the host, without its part in the null space.
    fn run(
        &mut self,
        b: &[f64],
        start: Option<&[f64]>,
        threshold: f64,
        observer: &mut Iterations,
    ) -> Result<(Vec<f64>, Outcome)>;
}

/// Starts the solver again where it has converged by its own measure and `||b - A x||` is still too
/// large: iterative refinement (Higham 2002, chapter 12), `A d = b - A x`, `x += d`, with residual and x
/// in f64 on the host. It goes on while it helps clearly.
///
/// A method's own residual drifts from the true one by rounding; one that starts from the true residual
/// does not carry that along.
pub(super) fn refine(
    system: &mut dyn Refined,
    rhs: &Rhs,
    solved: &mut Solved,
    watch: &mut Watch,
) -> Result<()> {
    /// Times at most.
    const MOST: u32 = 10;
    /// What a clear reduction of the residual leaves of it at most.
    const CLEAR: f64 = 0.5;
    /// Below what was asked, so that rounding does not call for another refinement.
    const AIM: f64 = 0.9;
    // More than that one run in T cannot take off.
    let least_share = match system.options().precision {
        Precision::F64 => f64::EPSILON.sqrt(),
        Precision::F32 => f64::from(f32::EPSILON).sqrt(),
    };
    let threshold = solved.outcome.threshold;
    let claimed = solved.outcome.history.last().copied().unwrap_or(f64::NAN);
    let max_iterations = system.options().stop.max_iterations;
    loop {
        let found = solved.residual.two;
        let claims = matches!(solved.outcome.reason, StopReason::Converged | StopReason::Inaccurate { .. });
        if !claims {
            return Ok(());
        }
        if found <= threshold {
            solved.outcome.reason = StopReason::Converged;
            return Ok(());
        }
        solved.outcome.reason = StopReason::Inaccurate { claimed, found };
        let before = solved.outcome.iterations;
        let gives_up = solved.refinements == MOST || before >= max_iterations || !found.is_finite();
        if gives_up || system.is_cancelled(watch)? {
            return Ok(());
        }

        // A d = b - A x,  x = x + d
        let r = system.equation().residual(&solved.x, rhs.b)?;
        let mut observer = Iterations { watch, before, norm_b: rhs.norm, threshold };
        let aim = (AIM * threshold).max(least_share * found);
        let (d, run) = system.run(&r, None, aim, &mut observer)?;
        let mut x: Vec<f64> = solved.x.iter().zip(&d).map(|(x, d)| x + d).collect();
        system.equation().project(&mut x)?;
        let norms = system.equation().norms(&x, rhs.b)?;
        if norms.two < found {
            (solved.x, solved.residual) = (x, norms);
        }

        solved.refinements += 1;
        solved.outcome.iterations += run.iterations;
        // The run begins where the last one ended, with the true norm.
        solved.outcome.history.pop();
        solved.outcome.history.extend(run.history);
        let is_clear = norms.two <= CLEAR * found;
        match run.reason {
            StopReason::IterationLimit
            | StopReason::Interrupted
            | StopReason::Stagnated
            | StopReason::LeastSquares { .. }
                if solved.residual.two > threshold =>
            {
                solved.outcome.reason = run.reason;
            }
            _ if !is_clear && solved.residual.two > threshold => {
                let found = solved.residual.two;
                solved.outcome.reason = StopReason::Inaccurate { claimed, found };
                return Ok(());
            }
            _ => {}
        }
    }
}

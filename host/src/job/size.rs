//! Systems of extreme size, which are solved at an ordinary one. Norms are roots of sums of squares, which
//! f64 holds up to 1e308, and what is computed in f32 ends at 1e38. Powers of two round nothing.

use std::borrow::Cow;
use std::sync::Arc;

use super::options::Precision;
use super::report::Report;
use super::residual::{Equation, relative};
use super::solved::{Asked, Solution};
use crate::error::Result;
use crate::matrix::{Csr, Survey};
use crate::parallel::*;
use crate::powers::{exponent, times};
use crate::solver::StopReason;

/// Powers of two up to which a matrix is left as it is, and a right-hand side: so that f32, where it is
/// computed with, has room for squares and for the decrease of a residual.
struct Room {
    matrix: i32,
    rhs: i32,
}

impl Room {
    const fn of(precision: Precision) -> Room {
        match precision {
            Precision::F64 => Room { matrix: 256, rhs: 49 },
            Precision::F32 => Room { matrix: 30, rhs: 16 },
        }
    }
}

/// By what a matrix is divided: 2 to this power. A small one is brought near 1, a large one no further than
/// necessary, since others of its entries may be small, nor so far that these lose digits.
pub(super) fn of_matrix(survey: &Survey, precision: Precision) -> i32 {
    let Room { matrix: room, .. } = Room::of(precision);
    let (norm, least) = (survey.norm.min(f64::MAX), survey.magnitudes.least);
    if norm == 0.0 {
        return 0;
    }
    match exponent(norm) {
        e if e > room => (e - room).min(exponent(least) - f64::MIN_EXP + 1).max(0),
        e if e < -room => e,
        _ => 0,
    }
}

/// The matrix divided by `2^e`.
pub(super) fn divided(a: &Csr<f64>, e: i32) -> Arc<Csr<f64>> {
    Arc::new(a.map_values(|v| times(v, -e)))
}

/// `A x = b` is solved as `A' x' = b'` with `A = 2^m A'`, `b = 2^k b'` and `x = 2^(k - m) x'`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    /// k
    rhs: i32,
    /// k - m
    x: i32,
}

impl Size {
    /// For a right-hand side with this largest magnitude, and a matrix that was divided by `2^matrix`.
    pub fn of(most: f64, matrix: i32, precision: Precision) -> Size {
        let e = if most == 0.0 { 0 } else { exponent(most) };
        let rhs = if e.abs() > Room::of(precision).rhs { e } else { 0 };
        Size { rhs, x: rhs - matrix }
    }

    fn is_ordinary(self) -> bool {
        self == Size { rhs: 0, x: 0 }
    }

    /// b'.
    pub fn rhs(self, b: &[f64]) -> Cow<'_, [f64]> {
        if self.rhs == 0 { b.into() } else { product(b, -self.rhs).into() }
    }

    /// An absolute tolerance, of b'.
    pub fn atol(self, atol: f64) -> f64 {
        times(atol, -self.rhs)
    }

    /// x' of a start; `None` for one that is no nearer to the solution than 0 by far.
    fn start(self, system: &dyn Equation, b: &[f64], x: &[f64]) -> Result<Option<Vec<f64>>> {
        /// More than that no iteration takes off.
        const FAR: f64 = 1e15;
        let x = product(x, -self.x);
        let [left, all] = [system.norms(&x, b)?.two, system.norms(&vec![0.0; x.len()], b)?.two];
        // NaN is far.
        Ok((left <= FAR * all).then_some(x))
    }

    /// Solves by `solve`, which gets the system at ordinary size: A', of which norms are asked for, and b'.
    ///
    /// # Errors
    /// Those of `solve`, and of ranks.
    pub fn solve(
        self,
        system: &dyn Equation,
        asked: Asked,
        solve: impl FnOnce(Asked) -> Result<Solution>,
    ) -> Result<Solution> {
        if self.is_ordinary() {
            return solve(asked);
        }
        let b = self.rhs(asked.b);
        let start = asked.start.map(|x| self.start(system, &b, x)).transpose()?.flatten();
        let mut solution = solve(Asked { b: &b, start: start.as_deref(), atol: self.atol(asked.atol) })?;
        self.give_back(system, &b, &mut solution)?;
        Ok(solution)
    }

    /// Makes the solution of the system at ordinary size, with b', that of the given one.
    ///
    /// # Errors
    /// Those of ranks.
    pub fn give_back(self, system: &dyn Equation, b: &[f64], solution: &mut Solution) -> Result<()> {
        let Solution { x, report } = solution;
        if self.is_ordinary() {
            return Ok(());
        }
        let given = product(x, self.x);
        let lost: Vec<f64> = x.iter().zip(&given).map(|(x, given)| x - times(*given, -self.x)).collect();
        *x = given;
        let zeros = vec![0.0; x.len()];
        let lost = system.norms(&lost, &zeros)?;
        if !lost.max.is_finite() || x.iter().any(|x| !x.is_finite()) {
            x.fill(0.0);
            report.outcome.reason = StopReason::OutOfRange(OVERFLOWS);
            (report.relative_residual, report.backward_error) = (1.0, 1.0);
        } else if lost.max > 0.0 {
            report.relative_residual += relative(lost.two, report.norm_b);
            let lost_of_b = relative(lost.max, system.norms(&zeros, b)?.max);
            report.backward_error = (report.backward_error + lost_of_b).min(1.0);
            let is_met = report.relative_residual * report.norm_b <= report.outcome.threshold;
            if report.converged() && !is_met {
                report.outcome.reason = StopReason::OutOfRange(VANISHES);
            }
        }
        multiply(report, self.rhs);
        Ok(())
    }
}

const OVERFLOWS: &str =
    "x is larger than any number of f64; divide b by a number, and x has the same divisor";
const VANISHES: &str = "x is so small that f64 has no digits left for it; multiply b by a number, and x has the same \
                        factor";

fn product(v: &[f64], e: i32) -> Vec<f64> {
    /// Elements that are worth a thread.
    const LEAST: usize = 1 << 14;
    v.par_iter().with_min_len(LEAST).map(|v| times(*v, e)).collect()
}

/// Multiplies what is said of b and of residuals by `2^e`.
fn multiply(report: &mut Report, e: i32) {
    let outcome = &mut report.outcome;
    outcome
        .history
        .iter_mut()
        .chain([&mut outcome.threshold, &mut report.norm_b])
        .for_each(|v| *v = times(*v, e));
    match &mut outcome.reason {
        StopReason::Inaccurate { claimed, found } => {
            (*claimed, *found) = (times(*claimed, e), times(*found, e));
        }
        StopReason::NoSolution { least } => *least = times(*least, e),
        _ => {}
    }
}

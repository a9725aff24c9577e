//! One matrix and several right-hand sides.

use std::borrow::Cow;
use std::time::Instant;

use super::climb::is_conclusive;
use super::projection::Projection;
use super::size::Size;
use super::solved::{Asked, Rhs, Solution, Solved};
use super::solver::Solver;
use crate::error::Result;
use crate::solver::Stop;

/// Right-hand sides that are solved for at once, at most. With 8 a matrix is an eighth of its bytes for each,
/// and the vectors are most of what an iteration moves.
const AT_ONCE: usize = 8;

impl Solver {
    /// [`Solver::solve`] for each of the right-hand sides: independent systems, each of which stops by
    /// itself, after as many iterations as alone. Conjugate gradients, without a preconditioner, with
    /// Jacobi's or with multigrid, go on for up to 8 of them at once, and read matrix and hierarchy once for
    /// all. Other methods solve for one after the other, with what was set up once.
    ///
    /// # Errors
    /// As [`Solver::solve`].
    pub fn solve_many(&mut self, b: &[impl AsRef<[f64]>]) -> Result<Vec<Solution>> {
        let b: Vec<&[f64]> = b.iter().map(AsRef::as_ref).collect();
        b.iter().try_for_each(|b| self.check("right-hand side", b))?;
        if self.scaled.is_some() {
            let device = self.device.clone();
            return device.run(|| b.iter().map(|b| self.solve_given(None, b)).collect());
        }
        let Some(numbering) = self.numbering.clone() else {
            return self.device.clone().run(|| self.solve_all(&b));
        };
        let b: Vec<Vec<f64>> = b.iter().map(|b| numbering.vector(b)).collect();
        let b: Vec<&[f64]> = b.iter().map(Vec::as_slice).collect();
        let mut solutions = self.device.clone().run(|| self.solve_all(&b))?;
        solutions.iter_mut().for_each(|solution| solution.x = numbering.given(&solution.x));
        Ok(solutions)
    }

    fn solve_all(&mut self, b: &[&[f64]]) -> Result<Vec<Solution>> {
        // Where nobody has chosen, the first finds the way.
        let alone = if self.ladder.is_last() { 0 } else { b.len().min(1) };
        let (first, others) = b.split_at(alone);
        let mut solutions =
            first.iter().map(|b| self.solve_from(self.asked(None, b))).collect::<Result<Vec<_>>>()?;
        for group in others.chunks(AT_ONCE) {
            let together = if group.len() > 1 { self.solve_together(group)? } else { None };
            match together {
                Some(found) => solutions.extend(found),
                None => group
                    .iter()
                    .try_for_each(|b| self.solve_from(self.asked(None, b)).map(|s| solutions.push(s)))?,
            }
        }
        Ok(solutions)
    }

    /// Solves for all of these at once; `None` where that cannot be done. A right-hand side that would be
    /// tried in another way is solved for alone once more.
    fn solve_together(&mut self, group: &[&[f64]]) -> Result<Option<Vec<Solution>>> {
        let begin = Instant::now();
        if self.ladder.isolated.is_some() {
            return Ok(None);
        }
        let sizes: Vec<Size> = group.iter().map(|b| self.size(b)).collect();
        let mut projections = Vec::new();
        let mut ready: Vec<Cow<[f64]>> = Vec::new();
        for (b, size) in group.iter().zip(&sizes) {
            let mut b = size.rhs(b);
            if self.ladder.is_negated {
                b.to_mut().iter_mut().for_each(|v| *v = -*v);
            }
            projections.push(Projection::of(self.plan.null_space.as_ref(), &mut b));
            ready.push(b);
        }
        let stop = self.plan.options.stop;
        let asked = ready.iter().zip(&sizes).map(|(b, size)| {
            let atol = size.atol(stop.atol);
            Asked { b, start: None, atol }
        });
        let rhs: Vec<Rhs> = asked.map(|asked| self.rhs(asked)).collect();
        self.times.setup += begin.elapsed().as_secs_f64();
        self.watch.judge = None;
        if self.prepared.is_none() {
            self.prepare_any()?;
        }
        let Some(prepared) = &mut self.prepared else { return Ok(None) };
        let Some(all) = prepared.solve_columns(&rhs, &mut self.watch, &mut self.times)? else {
            return Ok(None);
        };
        let mut solutions = Vec::new();
        let columns = all.into_iter().zip(&rhs).zip(projections).zip(group.iter().zip(sizes));
        for (((mut solved, rhs), projection), (b, size)) in columns {
            let is_last = self.ladder.is_last() || is_conclusive(solved.outcome.reason);
            if self.is_inexact(&solved) || !is_last {
                solutions.push(self.solve_again(&solved, b)?);
                continue;
            }
            let mut warnings = self.plan.warnings.clone();
            warnings.extend(projection.as_ref().map(Projection::warning));
            warnings.extend(self.settle(rhs, &mut solved));
            let mut report = self.report(rhs, warnings, &solved);
            if let Some(projection) = projection {
                projection.tell(&mut report, Stop { atol: size.atol(stop.atol), ..stop });
            }
            (report.columns, report.analysis) = (group.len(), self.ladder.told());
            let mut solution = Solution { x: solved.x, report };
            size.give_back(&*self.plan.a, rhs.b, &mut solution)?;
            solutions.push(solution);
        }
        Ok(Some(solutions))
    }

    /// Solves alone what has not come to an end together with others.
    fn solve_again(&mut self, left: &Solved, b: &[f64]) -> Result<Solution> {
        self.times.setup += left.seconds;
        self.solve_from(self.asked(None, b))
    }
}

//! The front door: a solver for one matrix, which keeps what it has set up.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use super::Device;
use super::account::About;
use super::attempt::Attempt;
use super::climb::{Ladder, is_conclusive};
use super::isolated::{self, Isolated};
use super::judge::Judge;
use super::look::{Copied, Look, Place};
use super::plan::Plan;
use super::prepare::prepare;
use super::progress::Watch;
use super::projection::Projection;
use super::ranks::Ranks;
use super::reorder::Numbering;
use super::report::{Report, Warning};
use super::run::Prepared;
use super::scaled::ScaledSystem;
use super::setup::Times;
use super::size::Size;
use super::solved::{Asked, Rhs, Solution, Solved};
use crate::error::{Error, Result};
use crate::matrix::backward_error::most;
use crate::matrix::{IntoCsr, backward_error, check};
use crate::norm::norms;
use crate::setup::KnownPattern;
use crate::solver::{Method, Stop, StopReason};

/// Solves `A x = b` for one A and any number of b.
///
/// Matrix, preconditioner and workspaces are made once, on the device, and kept between calls. A solver can
/// be moved to another thread.
///
/// ```
/// use warpsolve_host::job::{Device, Solver};
/// use warpsolve_host::matrix::Csr;
/// use warpsolve_host::precond::amg;
///
/// # fn main() -> warpsolve_host::Result<()> {
/// let a = Csr::from_triplets(2, 2, [(0, 0, 4.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 4.0)])?;
/// let mut solver = Solver::builder()
///     .rtol(1e-10)
///     .preconditioner(amg::Params::default())
///     .device(Device::cpu(1)?)
///     .build(&a)?;
/// let solution = solver.solve(&[3.0, 3.0])?;
/// assert!(solution.report.converged());
///
/// // The next system is near: x is where the solver starts from, and then the solution.
/// let mut x = solution.x;
/// let report = solver.solve_into(&[3.1, 3.0], &mut x)?;
/// assert!(report.relative_residual <= 1e-10);
/// # Ok(())
/// # }
/// ```
pub struct Solver {
    pub(super) device: Device,
    pub(super) ranks: Option<Arc<Ranks>>,
    pub(super) ladder: Ladder,
    pub(super) plan: Plan,
    /// What is solved instead of the given system, where that was asked for.
    pub(super) scaled: Option<Arc<ScaledSystem>>,
    /// The numbering that is solved in, where it is not the given one.
    pub(super) numbering: Option<Arc<Numbering>>,
    /// The matrix of the plan is what is solved with divided by 2 to this power.
    pub(super) divided: i32,
    /// The matrix of the plan on the device, where it was looked at there, until something is set up with
    /// it.
    pub(super) copy: Copied,
    /// Its pattern there.
    pub(super) pattern: Option<KnownPattern>,
    pub(super) prepared: Option<Box<dyn Prepared>>,
    /// Whether f32 turned out to be too little for the hierarchy.
    pub(super) needs_f64: bool,
    pub(super) watch: Watch,
    /// Seconds that are in no report yet.
    pub(super) times: Times,
}

impl Solver {
    /// Where it solves.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Solves from `x = 0`. The solution comes back also where the solver did not converge, which the report
    /// says; where a method that failed left something worse, or not finite, it is 0 again.
    ///
    /// Where neither method nor preconditioner was chosen, what suits the matrix is tried, one way after the
    /// other; what worked is kept for the next right-hand side.
    ///
    /// Where the solver has converged by its own measure but `b - A x`, recomputed in f64, misses the
    /// tolerance, it is started again from there, as long as that helps; what still misses is
    /// [`StopReason::Inaccurate`].
    ///
    /// Where a hierarchy is applied in f32 without having been asked for, and the method fails as it does
    /// with a preconditioner of too little accuracy, the system is solved once more with one in f64, which is
    /// kept.
    ///
    /// # Errors
    /// [`Error::Dimension`] and [`Error::NotFinite`] for a `b` that is too short or too long, or not finite;
    /// [`Error::Device`] where the device fails.
    pub fn solve(&mut self, b: &[f64]) -> Result<Solution> {
        self.device.clone().run(|| self.solve_given(None, b))
    }

    /// Solves from the given `x`, which becomes the solution. After an error it is what it was.
    ///
    /// # Errors
    /// As [`Solver::solve`], of `x` too.
    pub fn solve_into(&mut self, b: &[f64], x: &mut [f64]) -> Result<Report> {
        let Solution { x: solution, report } = self.device.clone().run(|| self.solve_given(Some(x), b))?;
        x.copy_from_slice(&solution);
        Ok(report)
    }

    /// Takes another matrix of the same pattern. With [`reusable`](super::Builder::reusable) a hierarchy
    /// keeps its aggregates or coarse unknowns and computes its numbers anew, and the preconditioner `direct`
    /// keeps its factors; otherwise preconditioners are set up from the beginning.
    ///
    /// # Errors
    /// [`Error::Matrix`] for another pattern, and as [`Builder::build`](super::Builder::build); then the
    /// solver is what it was, but for errors of the device.
    pub fn update_values(&mut self, a: impl IntoCsr) -> Result<()> {
        let start = Instant::now();
        let given = Arc::new(a.into_csr()?);
        let scaled = self.scaled.as_ref().map(|scaled| Arc::new(scaled.with(given.clone())));
        let sizes = |a: &crate::matrix::Csr<f64>| (a.n_rows(), a.n_cols());
        let a = match &scaled {
            Some(scaled) if sizes(&given) == sizes(&self.plan.a) => scaled.matrix(&given),
            _ => given,
        };
        let a = match &self.numbering {
            Some(numbering) => numbering.matrix(&a)?,
            None => a,
        };
        let a = match &self.ladder.isolated {
            Some(isolated) => Arc::new(isolated.of_other_values(&a)?),
            None => a,
        };
        let other = || Error::Matrix("the pattern is another one; only values can be updated".into());
        let a = Arc::new(a.in_pattern_of(&self.plan.a).ok_or_else(other)?);
        self.device.clone().run(|| {
            let mut a = if self.ladder.is_negated { Arc::new(a.map_values(|v| -v)) } else { a };
            let (options, mut times) = (self.plan.options.clone(), Times::default());
            let here = match (&self.pattern, &self.ranks) {
                (Some(pattern), _) if self.plan.keeps_pattern() => Place::Again(&self.device, pattern),
                (_, None) => Place::Device(&self.device),
                // The devices of ranks are not asked where rank 0 solves alone.
                (_, Some(_)) if self.plan.method.description().is_on_host => Place::Host,
                (_, Some(ranks)) => Place::Ranks(&self.device, ranks),
            };
            let Look { survey, copy, divided, .. } = Look::at(&mut a, here, &options, &mut times)?;
            let mut plan = Plan::new(a, options, &survey, survey.is_mirrored, self.device.target())?;
            plan.hierarchy_in_f32 &= !self.needs_f64;
            self.times.upload += times.upload;
            self.times.setup += start.elapsed().as_secs_f64() - times.upload;
            let same = plan.is_like(&self.plan);
            (self.scaled, self.plan, self.divided, self.copy) = (scaled, plan, divided, copy);
            match self.prepared.take() {
                Some(mut prepared) if same => {
                    prepared.update(self.plan.clone(), self.copy.take(), &mut self.times)?;
                    self.prepared = Some(prepared);
                    Ok(())
                }
                _ => self.prepare(),
            }
        })
    }
}

impl Solver {
    pub(super) fn prepare(&mut self) -> Result<()> {
        self.pattern = self.copy.pattern();
        let Solver { device, ranks, plan, watch, times, copy, .. } = self;
        self.prepared = Some(prepare(plan.clone(), copy.take(), device, ranks.as_ref(), watch, times)?);
        Ok(())
    }

    /// Sets up what there is not yet, and solves.
    fn attempt(&mut self, rhs: &Rhs) -> Result<Solved> {
        loop {
            match &mut self.prepared {
                Some(prepared) => return prepared.solve(rhs, &mut self.watch, &mut self.times),
                None => self.prepare()?,
            }
        }
    }

    /// [`Solver::prepare`], or that of the next way for which it can be done.
    pub(super) fn prepare_any(&mut self) -> Result<()> {
        loop {
            let start = Instant::now();
            match self.prepare() {
                Err(error) if self.ladder.has_another() => self.climb_after(start, error)?,
                done => return done.map_err(|error| self.ladder.explained(error)),
            }
        }
    }

    /// Leaves the way tried since `start`, which came to nothing, for the next.
    fn climb_after(&mut self, start: Instant, error: Error) -> Result<()> {
        self.ladder.put_off(&error);
        self.climb(start, None, error.to_string())
    }

    /// Leaves the way tried since `start` for the next.
    fn climb(&mut self, start: Instant, report: Option<&Report>, why: String) -> Result<()> {
        let Times { setup, warm_up, upload, .. } = std::mem::take(&mut self.times);
        let unreported = start.elapsed().as_secs_f64() + setup + warm_up + upload;
        let thinking = Instant::now();
        self.ladder.leave(
            &self.plan.a,
            Attempt {
                method: self.plan.method,
                precond: self.plan.precond,
                iterations: report.map_or(0, |report| report.outcome.iterations),
                seconds: report.map_or(unreported, Report::seconds),
                relative_residual: report.map(|report| report.relative_residual),
                why,
            },
        );
        (self.prepared, self.needs_f64) = (None, false);
        let plan = self.ladder.plan(&self.plan.a, self.device.target())?;
        // To think of other ways takes time too, which is the next one's.
        self.times.setup += thinking.elapsed().as_secs_f64();
        let before = std::mem::replace(&mut self.plan, plan);
        if self.numbering.is_some() {
            // Those name rows in the numbering that was given.
            self.plan.warnings = before.warnings;
        }
        Ok(())
    }

    /// With the absolute tolerance of the plan.
    pub(super) fn asked<'a>(&self, start: Option<&'a [f64]>, b: &'a [f64]) -> Asked<'a> {
        Asked { b, start, atol: self.plan.options.stop.atol }
    }

    /// The size of a right-hand side of the plan's system.
    pub(super) fn size(&self, b: &[f64]) -> Size {
        Size::of(most(b), self.divided, self.plan.options.precision)
    }

    /// Solves at ordinary size, with what the matrix was made to.
    pub(super) fn solve_from(&mut self, asked: Asked) -> Result<Solution> {
        let negated: Option<Vec<f64>> = self.ladder.is_negated.then(|| asked.b.iter().map(|v| -v).collect());
        let asked = Asked { b: negated.as_deref().unwrap_or(asked.b), ..asked };
        let (size, a) = (self.size(asked.b), self.plan.a.clone());
        size.solve(&*a, asked, |asked| self.try_ways(asked))
    }

    /// Tries one way after the other until one is conclusive or the last. Each begins from the best x so far.
    fn try_ways(&mut self, asked: Asked) -> Result<Solution> {
        let mut b = Cow::Borrowed(asked.b);
        let isolated = self.ladder.isolated.as_ref();
        let out_of_reach = isolated.map_or(0.0, |isolated| isolated.take_out(b.to_mut()));
        let mut best: Option<Solution> = None;
        // Of the way that the loop ends with, which is not left.
        let mut last_seconds = 0.0;
        loop {
            let begin = Instant::now();
            let start = best.as_ref().map(|best| best.x.as_slice()).or(asked.start);
            self.watch.judge = self.judge();
            let solved = self.solve_once(Asked { b: &b, start, ..asked });
            let is_better = |solution: &Solution| {
                let residual = solution.report.relative_residual;
                best.as_ref().is_none_or(|best| residual <= best.report.relative_residual)
            };
            match solved {
                Ok(solution) => {
                    let reason = solution.report.outcome.reason;
                    if !self.ladder.is_last() {
                        self.ladder.learn(&self.plan.a, reason);
                    }
                    let is_end = is_conclusive(reason) || self.ladder.is_last();
                    if is_end {
                        last_seconds = solution.report.seconds();
                    } else {
                        self.climb(begin, Some(&solution.report), reason.to_string())?;
                    }
                    // A proof is the answer, whatever another way has left.
                    let is_proof = is_conclusive(reason) && reason != StopReason::Interrupted;
                    if is_proof || is_better(&solution) {
                        best = Some(solution);
                    }
                    if is_end {
                        break;
                    }
                }
                Err(_) if self.ladder.is_last() && best.is_some() => {
                    last_seconds = begin.elapsed().as_secs_f64();
                    break;
                }
                Err(error) if self.ladder.has_another() => self.climb_after(begin, error)?,
                Err(error) => return Err(self.ladder.explained(error)),
            }
        }
        let mut solution = best.expect("the loop ends with one");
        solution.report.attempts = std::mem::take(&mut self.ladder.left);
        // The best may be of a way that was left.
        let left: f64 = solution.report.attempts.iter().map(|attempt| attempt.seconds).sum();
        let others = left + last_seconds - solution.report.seconds();
        solution.report.setup_seconds += others.max(0.0);
        solution.report.analysis = self.ladder.told();
        if out_of_reach > 0.0 {
            let system = (&*self.plan.a, &solution.x[..], asked.b);
            let stop = asked.stop(self.plan.options.stop);
            isolated::tell(&mut solution.report, system, out_of_reach, stop);
        }
        Ok(solution)
    }

    /// Who decides how long the way that is tried now may iterate: where there is another after it, or where
    /// nobody has named a limit.
    fn judge(&self) -> Option<Judge> {
        match self.ladder.patience().filter(|_| !self.ladder.is_last()) {
            Some(patience) if self.ladder.is_glance() => {
                Some(Judge::at_a_glance(patience, self.plan.method == Method::Minres))
            }
            Some(patience) if self.plan.method == Method::Cg => Some(Judge::of_cg(patience)),
            Some(patience) => Some(Judge::new(patience)),
            None if self.plan.options.stop.max_iterations == Stop::BY_RATE => {
                Some(Judge::of_the_last(Stop::BY_RATE))
            }
            None => None,
        }
    }

    /// Solves the way that is tried now.
    fn solve_once(&mut self, asked: Asked) -> Result<Solution> {
        let begin = Instant::now();
        let mut warnings = self.plan.warnings.clone();
        let mut b = Cow::Borrowed(asked.b);
        let projection = Projection::of(self.plan.null_space.as_ref(), &mut b);
        warnings.extend(projection.as_ref().map(Projection::warning));
        let start = Projection::start(projection.as_ref(), asked.start);
        let rhs = self.rhs(Asked { b: &b, start, ..asked });
        self.times.setup += begin.elapsed().as_secs_f64();

        let mut solved = self.attempt(&rhs)?;
        if self.is_inexact(&solved) {
            if self.plan.options.amg_precision.is_some() {
                warnings.push(Warning::HierarchyInF32);
            } else {
                warnings.push(self.attempt_in_f64(&rhs, &mut solved));
            }
        }
        warnings.extend(self.settle(&rhs, &mut solved));
        let mut report = self.report(&rhs, warnings, &solved);
        if let Some(projection) = projection {
            projection.tell(&mut report, asked.stop(self.plan.options.stop));
        }
        Ok(Solution { x: solved.x, report })
    }

    /// A right-hand side in the range of the matrix.
    pub(super) fn rhs<'a>(&self, asked: Asked<'a>) -> Rhs<'a> {
        let (norm, max) = norms(asked.b);
        let threshold = asked.stop(self.plan.options.stop).threshold(norm);
        Rhs { b: asked.b, norm, max, threshold, start: asked.start }
    }

    pub(super) fn check(&self, what: &'static str, v: &[f64]) -> Result<()> {
        check::check_vector(what, v, self.plan.a.n_rows())
    }

    /// Lets the hierarchy be applied in f64 from now on.
    fn use_f64(&mut self) {
        (self.plan.hierarchy_in_f32, self.needs_f64, self.prepared) = (false, true, None);
    }

    /// Whether the method failed as it does with a hierarchy of too little accuracy. A stationary one
    /// corrects that by itself.
    pub(super) fn is_inexact(&self, solved: &Solved) -> bool {
        let Plan { hierarchy_in_f32, method, ref options, .. } = self.plan;
        hierarchy_in_f32 && solved.is_inexact(method, options.precision)
    }

    /// Solves once more with a hierarchy in f64. Where even that fails nothing changes.
    fn attempt_in_f64(&mut self, rhs: &Rhs, solved: &mut Solved) -> Warning {
        let (iterations, reason) = (solved.outcome.iterations, solved.outcome.reason);
        self.use_f64();
        // It is judged by itself.
        self.watch.judge = self.judge();
        // The first attempt is part of finding out how to solve.
        self.times.setup += solved.seconds;
        let failure = match self.attempt(rhs) {
            Ok(second) => {
                *solved = second;
                None
            }
            Err(error) => {
                (self.plan.hierarchy_in_f32, self.needs_f64) = (true, false);
                self.times.setup -= solved.seconds;
                Some(error.to_string())
            }
        };
        Warning::HierarchyInF64 { iterations, reason, failure }
    }

    /// Of the last solve, and of what was set up for it.
    pub(super) fn report(&mut self, rhs: &Rhs, warnings: Vec<Warning>, solved: &Solved) -> Report {
        let plan = &self.plan;
        let start = Instant::now();
        let backward_error =
            backward_error::of_maxima(plan.norm, most(&solved.x), rhs.max, solved.residual.max);
        let mut times = std::mem::take(&mut self.times);
        times.check += start.elapsed().as_secs_f64();
        let about = About {
            n_rows: plan.a.n_rows(),
            nnz: plan.a.nnz() - self.ladder.isolated.as_ref().map_or(0, Isolated::count),
            method: plan.method,
            precond: plan.precond,
            options: &plan.options,
            device: &self.device,
            norm_b: rhs.norm,
            backward_error,
            times,
            warnings,
        };
        let by_host = self.numbering.as_ref().map(|numbering| numbering.info);
        let reordered = by_host.or(solved.reordered);
        let expected_bytes = self.device.gpu().map(|_| plan.expected_bytes());
        Report { reordered, expected_bytes, ..Report::new(about, solved) }
    }
}

//! A solver on each rank, for the rows that this rank has.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::checks::{Facts, check_size, examine};
use super::choice::{Chosen, check_options, choose};
use super::equation::OwnRows;
use super::singular::{out_of_reach, why_singular};
use crate::backend::distributed::Exchanged;
use crate::comm::{Comm, Ranges, agree, maxima, sums};
use crate::error::{Error, Result};
use crate::job::judge::Judge;
use crate::job::progress::{CancellationToken, Iterations, Stage, Watch};
use crate::job::projection::Projection;
use crate::job::ranks::end;
use crate::job::ranks::orders::{Choices, check_same_options};
use crate::job::ranks::part::{self, Around, Part};
use crate::job::ranks::share::Share;
use crate::job::refine::{Refined, refine};
use crate::job::report::Warning;
use crate::job::residual::{Equation, Norms, relative};
use crate::job::setup::{Clock, Times};
use crate::job::size::Size;
use crate::job::solved::{Asked, Rhs, Solution, Solved};
use crate::job::verdict::{is_worse_than_start, prove, reason_of_loss};
use crate::job::{Device, Options, Precision};
use crate::matrix::{Csr, check};
use crate::precond::NullSpace;
use crate::precond::amg::Known;
use crate::solver::{Observer, Outcome, Stop, StopReason};

/// Solves `A x = b` on ranks each of which has its rows of A, x and b, and no more: the rows of the first
/// rank come first, and so on. All ranks make one, with the same options, and call the same methods; what
/// they get is their part of x, and a report of the whole. What was set up on rank 0 alone is in its report
/// alone.
///
/// With one rank it is a solver like any other, but for what needs more than rows: see [`Solver::new`].
pub struct Solver {
    pub(super) rows: Arc<OwnRows>,
    ranges: Ranges,
    pub(super) device: Device,
    pub(super) options: Options,
    pub(super) facts: Facts,
    pub(super) chosen: Chosen,
    in_f32: bool,
    pub(super) part: Option<Box<dyn Part>>,
    watch: Watch,
    pub(super) times: Times,
    /// What this rank told others in the solve that runs, and the bytes that it moved.
    pub(super) exchanged: Exchanged,
    bytes_moved: u64,
    /// Seconds in which b went to where it is used, and x came from there.
    around: Around,
}

impl Solver {
    /// For the matrix of which `a` are this rank's rows, with the columns of the whole matrix. Where nobody
    /// has named method and preconditioner, it is CG with multigrid for a symmetric matrix with a positive
    /// diagonal, and else GMRES with incomplete factors, those of each rank its own:
    /// [`Info::choice`](crate::job::ranks::Info::choice) says why.
    ///
    /// # Errors
    /// Other options than those of rank 0; a matrix that is not square or not finite, with the first such row
    /// of the whole; what method and preconditioner cannot do with it; [`Error::Option`] for what needs the
    /// whole matrix; [`Error::Rank`] where another rank has failed. Every rank gets an error then.
    pub fn new(comm: &Arc<dyn Comm>, device: &Device, a: Csr<f64>, options: &Options) -> Result<Solver> {
        device.clone().run(|| Self::of_rows(comm, device, a, options))
    }

    fn of_rows(comm: &Arc<dyn Comm>, device: &Device, a: Csr<f64>, options: &Options) -> Result<Solver> {
        let start = Instant::now();
        agree(&**comm, check_options(options))?;
        check_same_options(&**comm, options)?;
        let ranges = Ranges::of_counts(&**comm, a.n_rows())?;
        check_size(&**comm, ranges.n_rows())?;
        let (mut facts, piece) = examine(&**comm, a, &ranges, (options.block_size, device.target()))?;
        let chosen = agree(&**comm, choose(&**comm, &facts, (&piece, &ranges), options))?;
        let in_f32 = chosen.precond.description().has_hierarchy
            && options.amg_precision.map_or(facts.fits_f32, |precision| precision == Precision::F32);
        Ok(Solver {
            rows: Arc::new(OwnRows { comm: comm.clone(), piece, null_space: facts.null_space.take() }),
            ranges,
            device: device.clone(),
            options: options.clone(),
            facts,
            chosen,
            in_f32,
            part: None,
            watch: Watch::default(),
            times: Times { setup: start.elapsed().as_secs_f64(), ..Times::default() },
            exchanged: Exchanged::default(),
            bytes_moved: 0,
            around: Around::default(),
        })
    }

    /// Is called with what is being done, from the thread that solves; on rank 0.
    pub fn on_progress(mut self, tell: impl FnMut(Stage) + Send + 'static) -> Self {
        self.watch.on_progress = Some(Box::new(tell));
        self
    }

    /// What can stop a solve of all ranks; on rank 0.
    pub fn cancellation(mut self, token: CancellationToken) -> Self {
        self.watch.cancellation = token;
        self
    }

    /// This rank's rows, as the whole matrix counts them from 0.
    pub fn rows(&self) -> Range<usize> {
        self.ranges.of(self.rows.comm.rank())
    }

    /// Rows of all ranks.
    pub fn n_rows(&self) -> usize {
        self.facts.n_rows
    }

    /// Solves from `x = 0` for the right-hand side of which this rank has `b`. The solution comes back also
    /// where the solver did not converge, which the report says, and is 0 where a method that failed left
    /// something worse. "Converged" is said of `b - A x` recomputed in f64, which every rank does for its
    /// rows.
    ///
    /// # Errors
    /// [`Error::Dimension`] and [`Error::NotFinite`] for a `b` that is too short or too long, or not finite;
    /// [`Error::Device`] where the device fails; [`Error::Rank`] where another rank has failed. Every rank
    /// gets an error then.
    pub fn solve(&mut self, b: &[f64]) -> Result<Solution> {
        self.device.clone().run(|| self.solve_part(b))
    }

    fn solve_part(&mut self, b: &[f64]) -> Result<Solution> {
        let checked = check::check_vector("right-hand side of this rank", b, self.rows().len());
        agree(&*self.rows.comm, checked)?;
        let size = Size::of(self.rows.most(b)?, 0, self.options.precision);
        let asked = Asked { b, start: None, atol: self.options.stop.atol };
        let rows = self.rows.clone();
        size.solve(&*rows, asked, |asked| self.solve_sized(asked))
    }

    fn solve_sized(&mut self, asked: Asked) -> Result<Solution> {
        let mut b = Cow::Borrowed(asked.b);
        let projection = self.project(&mut b)?;
        let (norm, max) = (self.rows.norm(&b)?, self.rows.most(&b)?);
        let stop = asked.stop(self.options.stop);
        let rhs = Rhs { b: &b, norm, max, threshold: stop.threshold(norm), start: None };
        let mut warnings = self.chosen.warnings.clone();
        warnings.extend(projection.as_ref().map(Projection::warning));
        let mut solved = self.attempt(&rhs)?;
        if self.in_f32 && solved.is_inexact(self.chosen.method, self.options.precision) {
            warnings.push(self.attempt_again(&rhs, &mut solved)?);
        }
        warnings.extend(self.settle(&rhs, &mut solved)?);
        let mut report = self.report(&rhs, warnings, &solved)?;
        if let Some(projection) = projection {
            projection.tell(&mut report, stop);
        }
        Ok(Solution { x: solved.x, report })
    }

    /// Takes the part out of b that is outside of the range of a singular matrix.
    fn project(&self, b: &mut Cow<[f64]>) -> Result<Option<Projection>> {
        let (comm, Some(null_space)) = (&*self.rows.comm, &self.rows.null_space) else { return Ok(None) };
        let norms = null_space.project_on_ranks(comm, b.to_mut())?;
        let has_others = maxima(comm, &[f64::from(u8::from(!null_space.has_every_unknown()))])?[0] > 0.0;
        let (dimension, is_all) = (null_space.dimension(), self.rows.most(b)? == 0.0);
        Ok(Projection { dimension, every_unknown: !has_others, norms, is_all }.beyond_rounding())
    }

    /// What the preconditioner is kept out of. One that the method brings is not.
    pub(super) fn projections(&self) -> Option<&NullSpace> {
        let brings = self.chosen.method.description().own_preconditioner().is_some();
        self.rows.null_space.as_ref().filter(|_| !brings)
    }

    /// Lets the hierarchy be applied in f64 from now on.
    fn use_f64(&mut self) {
        (self.in_f32, self.part) = (false, None);
    }

    /// What this rank solves with, set up where it is not there yet.
    fn prepare(&mut self) -> Result<()> {
        if self.part.is_some() {
            return Ok(());
        }
        self.watch.tell(Stage::SetUp);
        let clock = Clock::start(&self.device);
        let comm = &self.rows.comm;
        let numbers = self.rows().map(|row| row as u32).collect();
        let known = Known { numbers, total: self.facts.n_rows, in_f32: self.in_f32, near_null: None };
        let basis: Vec<Vec<f64>> = self.projections().into_iter().flat_map(NullSpace::basis).collect();
        let choices =
            Choices::of_rows(self.options.clone(), self.chosen.method, self.chosen.precond, basis.len());
        let share =
            Share { piece: self.rows.piece.clone(), basis, near_null: None, known: Some(known), there: None };
        let part = part::set_up(comm, &self.device, &choices, share, None);
        self.part = Some(agree(&**comm, part)?);
        self.times.setup += clock.stop(&mut self.times);
        Ok(())
    }

    /// Sets up what there is not yet, and solves.
    fn attempt(&mut self, rhs: &Rhs) -> Result<Solved> {
        self.prepare()?;
        self.watch.judge =
            (self.options.stop.max_iterations == Stop::BY_RATE).then(|| Judge::of_the_last(Stop::BY_RATE));
        let mut watch = std::mem::take(&mut self.watch);
        let solved = self.solve_watched(rhs, &mut watch);
        self.watch = watch;
        solved
    }

    fn solve_watched(&mut self, rhs: &Rhs, watch: &mut Watch) -> Result<Solved> {
        let threshold = rhs.threshold;
        (self.exchanged, self.bytes_moved, self.around) = (Exchanged::default(), 0, Around::default());
        watch.tell(Stage::Solve);
        let (start, clock) = (Instant::now(), Clock::start(&self.device));
        let mut observer = Iterations { watch, before: 0, norm_b: rhs.norm, threshold };
        let (x, outcome, norms) = self.run_watched(rhs.b, None, threshold, &mut observer)?;
        // Without the look at the residual.
        let unrefined = clock.stop(&mut self.times);
        let checking = Instant::now();
        let residual = self.rows.checked(&x, rhs.b, norms)?;
        self.times.check += checking.elapsed().as_secs_f64();
        let mut solved = self.solved(x, outcome, residual)?;
        refine(self, rhs, &mut solved, watch)?;
        let seconds = if solved.refinements > 0 { start.elapsed().as_secs_f64() } else { unrefined };
        let Around { ahead, check, behind } = self.around;
        solved.seconds = (seconds - ahead - check - behind).max(0.0);
        self.times.upload += ahead;
        self.times.check += check;
        self.times.download += behind;
        solved.bytes_moved = sums(&*self.rows.comm, &[self.bytes_moved as f64])?[0] as u64;
        solved.ranks = Some(self.info()?);
        Ok(solved)
    }

    pub(super) fn part(&mut self) -> Result<&mut dyn Part> {
        match &mut self.part {
            Some(part) => Ok(&mut **part),
            None => Err(Error::Option("nothing is set up: a mistake of this library".into())),
        }
    }

    /// One run of all ranks.
    fn run_once(
        &mut self,
        b: &[f64],
        start: Option<&[f64]>,
        stop: &Stop,
        observer: Option<&mut dyn Observer>,
    ) -> Result<part::Solved> {
        let solved = self.part()?.solve(b, start, stop, observer);
        // The others may wait for this rank.
        solved.inspect_err(|error| end(&*self.rows.comm, error))
    }

    /// The same down to a residual norm of `threshold`: x without its part in the null space, and how large
    /// `b - A x` is, as the ranks compute it.
    fn run_watched(
        &mut self,
        b: &[f64],
        start: Option<&[f64]>,
        threshold: f64,
        observer: &mut Iterations,
    ) -> Result<(Vec<f64>, Outcome, Option<Norms>)> {
        let stop = observer.stop(&self.options.stop, threshold);
        let is_first = self.rows.comm.rank() == 0;
        let watching = is_first.then_some(&mut *observer as &mut dyn Observer);
        let part::Solved { mut x, mut outcome, norms, exchanged, bytes_moved, around } =
            self.run_once(b, start, &stop, watching)?;
        self.rows.project(&mut x)?;
        self.exchanged.add(exchanged);
        self.bytes_moved += bytes_moved;
        self.around.add(around);
        if outcome.reason == StopReason::Interrupted && !self.is_cancelled(observer.watch)? {
            // It was the judge.
            outcome.reason = StopReason::Stagnated;
        }
        Ok((x, outcome, norms))
    }

    /// Solves once more with a hierarchy in f64, unless f32 was asked for.
    fn attempt_again(&mut self, rhs: &Rhs, solved: &mut Solved) -> Result<Warning> {
        if self.options.amg_precision.is_some() {
            return Ok(Warning::HierarchyInF32);
        }
        let Outcome { iterations, reason, .. } = solved.outcome;
        self.use_f64();
        self.times.setup += solved.seconds;
        *solved = self.attempt(rhs)?;
        Ok(Warning::HierarchyInF64 { iterations, reason, failure: None })
    }

    /// What becomes of a solution that is none: why there may not be one, and 0 where that is better.
    fn settle(&self, rhs: &Rhs, solved: &mut Solved) -> Result<Vec<Warning>> {
        let mut warnings = Vec::new();
        let is_finite = self.rows.most(&solved.x)?.is_finite();
        let method = self.chosen.method;
        if solved.outcome.reason == StopReason::Converged {
            return Ok(warnings);
        }
        let OwnRows { comm, piece, .. } = &*self.rows;
        if solved.outcome.reason != StopReason::Interrupted {
            prove(solved, out_of_reach(&**comm, piece, rhs.b)?, rhs);
            warnings.extend(why_singular(&**comm, piece, &self.ranges, rhs.b)?.map(Warning::Singular));
        }
        let (reason, growth) = (solved.outcome.reason, relative(solved.residual.two, rhs.norm));
        if is_worse_than_start(method, reason, is_finite, growth) {
            solved.outcome.reason = reason_of_loss(method, reason, growth);
            solved.x.fill(0.0);
            solved.residual = self.rows.norms(&solved.x, rhs.b)?;
            warnings.push(Warning::WorseThanStart { relative_residual: growth, from_zero: true });
        }
        Ok(warnings)
    }
}

impl Refined for Solver {
    fn equation(&self) -> &dyn Equation {
        &*self.rows
    }
    fn options(&self) -> &Options {
        &self.options
    }

    /// Whether rank 0 has been told so.
    fn is_cancelled(&self, watch: &Watch) -> Result<bool> {
        let mut message = vec![u8::from(watch.cancellation.is_cancelled())];
        self.rows.comm.broadcast(&mut message)?;
        Ok(message == [1])
    }

    fn run(
        &mut self,
        b: &[f64],
        start: Option<&[f64]>,
        threshold: f64,
        observer: &mut Iterations,
    ) -> Result<(Vec<f64>, Outcome)> {
        let (x, outcome, _) = self.run_watched(b, start, threshold, observer)?;
        Ok((x, outcome))
    }
}

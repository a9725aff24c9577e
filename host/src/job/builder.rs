//! How a solver is made.

use std::sync::Arc;
use std::time::Instant;

use super::climb::Ladder;
use super::look::{Look, Place};
use super::options::{Options, Permute, Precision, Reorder, Scale};
use super::plan::Plan;
use super::progress::{CancellationToken, Stage, Watch};
use super::ranks::Ranks;
use super::reorder::{self, Numbering};
use super::scaled::ScaledSystem;
use super::setup::{Clock, Times};
use super::solved::Solution;
use super::solver::Solver;
use super::{Device, Method, Precond};
use crate::error::Result;
use crate::matrix::{Csr, Format, IntoCsr, Target, block, check};
use crate::precond::{amg, ilu};

impl Solver {
    /// What can be chosen.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

/// What a [`Solver`] is made with. Everything has the default of the command line.
#[derive(Default)]
pub struct Builder {
    options: Options,
    device: Option<Device>,
    ranks: Option<Arc<Ranks>>,
    watch: Watch,
}

/// A choice of preconditioner: a name, or multigrid with its parameters.
pub enum Preconditioning {
    /// By name.
    Named(Precond),
    /// Algebraic multigrid.
    Amg(amg::Params),
    /// Incomplete factors.
    Ilu(ilu::Params),
}

impl From<Precond> for Preconditioning {
    fn from(name: Precond) -> Self {
        Preconditioning::Named(name)
    }
}

impl From<amg::Params> for Preconditioning {
    fn from(params: amg::Params) -> Self {
        Preconditioning::Amg(params)
    }
}

impl From<ilu::Params> for Preconditioning {
    fn from(params: ilu::Params) -> Self {
        Preconditioning::Ilu(params)
    }
}

impl Builder {
    /// All options at once.
    pub fn options(self, options: Options) -> Self {
        Builder { options, ..self }
    }
    /// Converged when `||b - A x||_2 <= max(rtol ||b||_2, atol)`.
    pub fn rtol(mut self, rtol: f64) -> Self {
        self.options.stop.rtol = rtol;
        self
    }
    /// See [`Builder::rtol`].
    pub fn atol(mut self, atol: f64) -> Self {
        self.options.stop.atol = atol;
        self
    }
    /// Most iterations.
    pub fn max_iterations(mut self, most: u32) -> Self {
        self.options.stop.max_iterations = most;
        self
    }
    /// The method, chosen otherwise.
    pub fn method(mut self, method: Method) -> Self {
        self.options.method = Some(method);
        self
    }
    /// The preconditioner, a [`Precond`], or the parameters of multigrid or of incomplete factors; chosen
    /// otherwise.
    pub fn preconditioner(mut self, preconditioner: impl Into<Preconditioning>) -> Self {
        match preconditioner.into() {
            Preconditioning::Named(name) => self.options.precond = Some(name),
            Preconditioning::Amg(params) => {
                (self.options.precond, self.options.amg) = (Some(Precond::Amg), params);
            }
            Preconditioning::Ilu(params) => {
                (self.options.precond, self.options.ilu) = (Some(Precond::Ilu), params);
            }
        }
        self
    }
    /// What multigrid by smoothed aggregation interpolates well, instead of the constant 1: the rigid motions
    /// of an elastic body.
    pub fn near_null(mut self, near_null: amg::NearNull) -> Self {
        self.options.near_null = Some(Arc::new(near_null));
        self
    }
    /// The format of the matrix, chosen otherwise.
    pub fn format(mut self, format: Format) -> Self {
        self.options.format = Some(format);
        self
    }
    /// In which numbering of the unknowns to solve.
    pub fn reorder(mut self, reorder: Reorder) -> Self {
        self.options.reorder = reorder;
        self
    }
    /// By what rows and columns are multiplied first. Residual, tolerance and solution are those of the given
    /// system.
    pub fn scaling(mut self, scaling: Scale) -> Self {
        self.options.scaling = scaling;
        self
    }
    /// In which order rows come; as [`Builder::scaling`].
    pub fn permute(mut self, permute: Permute) -> Self {
        self.options.permute = permute;
        self
    }
    /// Unknowns a node, 1 to 3, numbered node by node.
    pub fn block_size(mut self, unknowns: usize) -> Self {
        self.options.block_size = unknowns;
        self
    }
    /// The number type of the solve.
    pub fn precision(mut self, precision: Precision) -> Self {
        self.options.precision = precision;
        self
    }
    /// Longest cycle of GMRES.
    pub fn restart(mut self, iterations: usize) -> Self {
        self.options.restart = iterations;
        self
    }
    /// How many sweeps [`Precond::JacobiSweeps`] makes.
    pub fn sweeps(mut self, count: usize) -> Self {
        self.options.sweeps = count;
        self
    }
    /// The weight of the Jacobi method, and of those sweeps, between 0 and 2.
    pub fn omega(mut self, weight: f64) -> Self {
        self.options.omega = weight;
        self
    }
    /// Whether a hierarchy keeps what makes [`Solver::update_values`] fast, about twice the memory.
    pub fn reusable(mut self, reusable: bool) -> Self {
        self.options.reusable = reusable;
        self
    }
    /// Where to solve; [`Device::auto`] otherwise.
    pub fn device(mut self, device: Device) -> Self {
        self.device = Some(device);
        self
    }
    /// Solves on several ranks, of which the caller is the first, and computes on the [device](Self::device).
    pub fn ranks(mut self, ranks: Arc<Ranks>) -> Self {
        self.ranks = Some(ranks);
        self
    }
    /// Is called with what is being done, from the thread that solves.
    pub fn on_progress(mut self, tell: impl FnMut(Stage) + Send + 'static) -> Self {
        self.watch.on_progress = Some(Box::new(tell));
        self
    }
    /// What can stop a solve.
    pub fn cancellation(mut self, token: CancellationToken) -> Self {
        self.watch.cancellation = token;
        self
    }

    /// Checks the matrix, chooses what was left open, and sets up.
    ///
    /// # Errors
    /// What the matrix is not, such as square or finite; what the method or the preconditioner cannot do with
    /// it; [`Error::DeviceMemory`](crate::Error::DeviceMemory) where it does not fit.
    pub fn build(self, a: impl IntoCsr) -> Result<Solver> {
        let mut solver = self.plan(a)?;
        solver.device.clone().run(|| solver.prepare_any())?;
        Ok(solver)
    }

    /// Sets up for one right-hand side, solves from `x = 0`, and keeps nothing.
    ///
    /// # Errors
    /// As [`Builder::build`] and [`Solver::solve`].
    pub fn solve(self, a: impl IntoCsr, b: &[f64]) -> Result<Solution> {
        let a = a.into_csr()?;
        // Before the work of a set-up.
        check::check_vector("right-hand side", b, a.n_rows())?;
        self.plan(a)?.solve(b)
    }

    /// Sets up for several right-hand sides, [solves](Solver::solve_many), and keeps nothing.
    ///
    /// # Errors
    /// As [`Builder::build`] and [`Solver::solve`].
    pub fn solve_many(self, a: impl IntoCsr, b: &[impl AsRef<[f64]>]) -> Result<Vec<Solution>> {
        self.start(a, b).map(|(_, solutions)| solutions)
    }

    /// The same, and the solver for the next.
    ///
    /// # Errors
    /// As [`Builder::build`] and [`Solver::solve`].
    pub fn start(self, a: impl IntoCsr, b: &[impl AsRef<[f64]>]) -> Result<(Solver, Vec<Solution>)> {
        let a = a.into_csr()?;
        // Before the work of a set-up.
        b.iter().try_for_each(|b| check::check_vector("right-hand side", b.as_ref(), a.n_rows()))?;
        let mut solver = self.plan(a)?;
        let solutions = solver.solve_many(b)?;
        Ok((solver, solutions))
    }

    /// [`Builder::build`] without the set-up, which the first solve does.
    fn plan(mut self, a: impl IntoCsr) -> Result<Solver> {
        self.watch.tell(Stage::SetUp);
        let start = Instant::now();
        let ranks = self.ranks.take().filter(|ranks| ranks.size() > 1);
        if ranks.is_none() {
            // Around all rows there are no others.
            self.options.ilu.overlap = 0;
        }
        let mut a = Arc::new(a.into_csr()?);
        if self.options.block_size != 1 {
            // Blocks were asked for: the ways that have none are no way around this.
            block::check_block(&a, self.options.block_size)?;
        }
        let device = match self.device {
            Some(device) => device,
            None => Device::auto()?,
        };
        let here = match &ranks {
            None => Place::Device(&device),
            Some(ranks) => Place::Ranks(&device, ranks),
        };
        let mut times = Times::default();
        let clock = Clock::start(&device);
        let (scaled, ladder, plan, copy, numbering) = device.run(|| {
            let scaled = match ScaledSystem::of(&a, &mut self.options)? {
                None => None,
                Some((system, s)) => {
                    a = s;
                    Some(Arc::new(system))
                }
            };
            let mut planned = |a: &mut Arc<Csr<f64>>, here: Place, options: &Options| {
                let mut look = Look::at(a, here, options, &mut times)?;
                let mut ladder = Ladder::of(a, options.clone(), &mut look)?;
                let plan = ladder.plan(a, device.target())?;
                Result::Ok((ladder, plan, look.copy))
            };
            // What takes a CPU's threads as long as some iterations takes GPUs as long as many solves.
            let by_host = match self.options.reorder {
                Reorder::Auto => device.target() == Target::Cpu,
                _ => {
                    let is_alone_on_gpu = ranks.is_none() && device.gpu().is_some();
                    !(is_alone_on_gpu && reorder::is_left_to_gpu(&self.options))
                }
            };
            if !by_host || reorder::lines_where_bad(&a, &self.options).is_none() {
                let (ladder, plan, copy) = planned(&mut a, here, &self.options)?;
                return Result::Ok((scaled, ladder, plan, copy, None));
            }
            // What is said of rows names those of the matrix as it was given, which the device does not need.
            let (ladder, plan, _) = planned(&mut a.clone(), Place::Host, &self.options)?;
            let is_worth_it = self.options.reorder == Reorder::Rcm || plan.gains_by_numbering();
            let numbering = match is_worth_it {
                true => Numbering::of(&a, &self.options, ladder.is_symmetric())?,
                false => None,
            };
            let Some((numbering, reordered)) = numbering else {
                let (ladder, plan, copy) = planned(&mut a, here, &self.options)?;
                return Ok((scaled, ladder, plan, copy, None));
            };
            let Plan { warnings, .. } = plan;
            a = reordered;
            let in_that = Options { reorder: Reorder::None, ..self.options.clone() };
            let (ladder, plan, copy) = planned(&mut a, here, &in_that)?;
            Ok((scaled, ladder, Plan { warnings, ..plan }, copy, Some(Arc::new(numbering))))
        })?;
        let loading = clock.loading();
        times.setup = start.elapsed().as_secs_f64() - times.upload;
        times.count_as_warm_up(loading);
        let (watch, prepared, needs_f64, divided) = (self.watch, None, false, ladder.divided);
        Ok(Solver {
            device,
            ranks,
            ladder,
            plan,
            scaled,
            numbering,
            divided,
            copy,
            pattern: None,
            prepared,
            needs_f64,
            watch,
            times,
        })
    }
}

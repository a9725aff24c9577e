//! A plan carried out: what was set up for it, and solves with that.

use std::slice::from_ref;
use std::sync::Arc;
use std::time::Instant;

use cuda_std::Real;

use super::columns::ManySolver;
use super::look::Copied;
use super::plan::Plan;
use super::progress::{CancellationToken, Iterations, Stage, Watch};
use super::refine::{Refined, refine};
use super::renumbered::{Renumbers, reordered};
use super::residual::{Equation, Norms};
use super::setup::{Clock, Computes, Number, Operators, Times, operators, preconditioner};
use super::solved::{Rhs, Solved};
use super::{Device, Options, Precision, download};
use crate::backend::gpu::check_memory;
use crate::backend::{ColumnVector, Operator, Storage};
use crate::error::{Error, Result};
use crate::launch::Counts;
use crate::matrix::Csr;
use crate::precond::Preconditioner;
use crate::setup::{Blocks, DeviceCsr};
use crate::solver::{IterativeSolver, Outcome, Parameters, Parts};

/// A [`System`] whose number type and backend are forgotten.
pub(super) trait Prepared: Send {
    /// Solves. What comes before the iterations is added to `times`.
    fn solve(&mut self, rhs: &Rhs, watch: &mut Watch, times: &mut Times) -> Result<Solved>;
    /// Solves for several right-hand sides at once, all of them from 0; `None` where that is not there for
    /// this method and preconditioner, or the device has no memory for it.
    fn solve_columns(
        &mut self,
        rhs: &[Rhs],
        watch: &mut Watch,
        times: &mut Times,
    ) -> Result<Option<Vec<Solved>>>;
    /// Takes the values of a plan that [is like](Plan::is_like) this one, of whose matrix the devices may
    /// have a copy. After an error it is of no more use.
    fn update(&mut self, plan: Plan, copy: Copied, times: &mut Times) -> Result<()>;
}

/// Carries `plan` out on `device`, where there may be a copy of its matrix.
pub(super) fn on_device(
    mut plan: Plan,
    copy: Option<DeviceCsr<f64>>,
    device: &Device,
    watch: &mut Watch,
    times: &mut Times,
) -> Result<Box<dyn Prepared>> {
    let copy = match device {
        Device::Cpu(_) => None,
        Device::Gpu(gpu) => plan.fitted(gpu, copy)?,
    };
    let with = (device, watch, times);
    Ok(match (plan.options.precision, device) {
        (Precision::F64, Device::Cpu(cpu)) => Box::new(System::<f64, _>::new(plan, copy, None, cpu, with)?),
        (Precision::F64, Device::Gpu(gpu)) => {
            let (copy, numbering) = reordered(&plan, gpu, copy, with.2)?;
            Box::new(System::<f64, _>::new(plan, copy, numbering, gpu, with)?)
        }
        (Precision::F32, Device::Cpu(cpu)) => Box::new(System::<f32, _>::new(plan, copy, None, cpu, with)?),
        (Precision::F32, Device::Gpu(gpu)) => Box::new(System::<f32, _>::new(plan, copy, None, gpu, with)?),
    })
}

/// A matrix ready to be solved with, in T on B.
struct System<T: Real, B: Computes<T>> {
    plan: Plan,
    device: Device,
    backend: B,
    /// The numbering of what is on the device, where it is not the plan's.
    numbering: Option<Box<dyn Renumbers<T, B>>>,
    matrix: Arc<B::Matrix>,
    m: Box<dyn Preconditioner<T, B>>,
    solver: Box<dyn IterativeSolver<T, B>>,
    /// Bytes that the device held before.
    held_before: u64,
    cancellation: CancellationToken,
    /// What solves for several right-hand sides at once, once there were some.
    columns: Option<ManySolver<T, B>>,
}

impl<T: Number, B: Computes<T>> System<T, B> {
    fn new(
        plan: Plan,
        copy: Option<DeviceCsr<f64>>,
        numbering: Option<Box<dyn Renumbers<T, B>>>,
        backend: &B,
        (device, watch, times): (&Device, &mut Watch, &mut Times),
    ) -> Result<Self> {
        let a = T::matrix(&plan.a)?;
        let copied = copy.as_ref().map_or(0, DeviceCsr::bytes);
        let held_before = device.counts().map_or(0, |counts| counts.allocated_bytes - copied);
        let clock = Clock::start(device);
        let Operators { matrix, csr } = operators(&plan, backend, &a, copy, watch, times)?;
        let start = Instant::now();
        let cancellation = watch.cancellation.clone();
        if plan.factorises()
            && plan.options.precision == Precision::F64
            && let Some(prediction) = plan.outlook.prediction_unless(&plan.a, &cancellation.flag())
        {
            watch.tell(Stage::Factorisation { seconds: prediction.seconds(), bytes: prediction.bytes });
        }
        let m = preconditioner(&plan, backend, &a, csr, &matrix, &cancellation)?;
        let solver = make_solver(&plan, backend, &a, &*m, &cancellation)?;
        backend.synchronize()?;
        times.setup += start.elapsed().as_secs_f64();
        times.count_as_warm_up(clock.loading());
        let (device, backend) = (device.clone(), backend.clone());
        let columns = None;
        Ok(System { plan, device, backend, numbering, matrix, m, solver, held_before, cancellation, columns })
    }

    /// A vector on the device.
    fn vector(&self, values: &[f64]) -> Result<B::Vector> {
        match &self.numbering {
            Some(numbering) => numbering.vector(&self.backend, &T::rounded(values)),
            None => self.backend.vector(&T::rounded(values)),
        }
    }

    /// A vector of the device on the host, where there may be `room` for it.
    fn to_host(&self, v: &B::Vector, room: Option<Vec<T>>) -> Result<Vec<T>> {
        let Some(numbering) = &self.numbering else {
            return match room {
                Some(mut values) => self.backend.copy_to_host(v, &mut values).map(|()| values),
                None => self.backend.to_host(v),
            };
        };
        let mut values = room.unwrap_or_else(|| vec![T::ZERO; self.plan.a.n_rows()]);
        numbering.copy_to_host(&self.backend, v, &mut values).map(|()| values)
    }

    /// A start on the device.
    fn start(&self, x: Option<&[f64]>) -> Result<B::Vector> {
        match x {
            None => self.backend.zeros(self.plan.a.n_rows()),
            Some(x) => self.vector(x),
        }
    }

    /// A vector that came to the host, without its part in the null space.
    fn arrived(&self, x: Vec<T>) -> Vec<f64> {
        let mut x: Vec<f64> = x.into_iter().map(Real::to_f64).collect();
        self.plan.project(&mut x);
        x
    }

    /// Bytes that so many iterations had to move, the matrix read once for so many right-hand sides.
    fn bytes_moved(&self, iterations: u32, columns: usize) -> u64 {
        let vector = (self.plan.a.n_rows() * size_of::<T>()) as u64;
        let product = self.matrix.traffic() / columns as u64 + 2 * vector;
        let parts = Parts { product, vector, m: self.m.traffic(vector) };
        match self.columns.as_ref().filter(|_| columns > 1) {
            Some(solver) => solver.traffic(iterations, &parts),
            None => self.solver.traffic(iterations, &parts),
        }
    }

    /// Whether a device has the memory to solve for so many right-hand sides at once.
    fn has_room(&self, columns: usize) -> bool {
        let Some(gpu) = self.device.gpu() else { return true };
        // b, x and what CG holds; in a hierarchy three vectors a level, of which the finest has most.
        let vectors =
            self.plan.vector_bytes() + if self.plan.has_hierarchy() { 6 * self.vector_bytes() } else { 0 };
        check_memory(&**gpu.device(), &[("vectors", columns as u64 * vectors)]).is_ok()
    }

    fn vector_bytes(&self) -> u64 {
        (self.plan.a.n_rows() * size_of::<T>()) as u64
    }

    /// Runs `work`, and makes room for what a device computes meanwhile.
    fn with_room<R>(&mut self, count: usize, work: impl FnOnce(&mut Self) -> R) -> (Vec<Vec<T>>, R) {
        download::with_room(self.device.target(), (count, self.plan.a.n_rows()), || work(self))
    }

    /// What runs that ended with these x leave of these right-hand sides, and x on the host, where there may
    /// be `room` for them.
    fn checked(
        &self,
        x: &[B::Vector],
        b: &[B::Vector],
        mut room: Vec<Vec<T>>,
        rhs: &[Rhs],
        times: &mut Times,
    ) -> Result<impl Iterator<Item = (Vec<f64>, Norms)> + use<T, B>> {
        let start = Instant::now();
        let on_host: Vec<Vec<T>> = x.iter().map(|x| self.to_host(x, room.pop())).collect::<Result<_>>()?;
        let on_host: Vec<Vec<f64>> = on_host.into_iter().map(|x| self.arrived(x)).collect();
        times.download += start.elapsed().as_secs_f64();
        let clock = Clock::start(&self.device);
        let there = self.norms_on_device(x, b)?;
        let systems: Vec<(&[f64], &[f64])> =
            on_host.iter().zip(rhs).map(|(x, rhs)| (&x[..], rhs.b)).collect();
        let a = &self.plan.a;
        let is_true = |(norms, &(x, b)): (&Norms, &(&[f64], &[f64]))| norms.hold_for_sample(a, x, b);
        let there = there.filter(|norms| norms.iter().zip(&systems).all(is_true));
        let residuals = there.unwrap_or_else(|| Norms::of_all(a, &systems));
        times.check += clock.stop(times);
        Ok(on_host.into_iter().zip(residuals))
    }

    /// How large `b - A x` is for each pair of x and b, where a device has these and A as they are on the
    /// host, and memory for it.
    fn norms_on_device(&self, x: &[B::Vector], b: &[B::Vector]) -> Result<Option<Vec<Norms>>> {
        let Plan { a, options, null_space, .. } = &self.plan;
        if self.device.gpu().is_none() || options.precision != Precision::F64 || null_space.is_some() {
            return Ok(None);
        }
        let mut r = match self.backend.zeros(a.n_rows()) {
            Err(Error::DeviceMemory { .. }) => return Ok(None),
            made => made?,
        };
        download::norms(&self.backend, &*self.matrix, &x.iter().zip(b).collect::<Vec<_>>(), &mut r)
    }

    /// What came of a run that ended with x, not refined yet.
    fn solved(
        &self,
        (x, residual): (Vec<f64>, Norms),
        outcome: Outcome,
        seconds: f64,
        counts: Option<Counts>,
    ) -> Solved {
        let bytes = match self.device.counts() {
            Some(now) => now.allocated_bytes.saturating_sub(self.held_before),
            None => {
                let levels = self.m.hierarchy().into_iter().flat_map(|info| &info.levels);
                let hierarchy = levels.map(|level| level.bytes).sum::<u64>();
                let factors = self.m.factors().map_or(0, |info| info.bytes);
                self.matrix.bytes() + self.plan.vector_bytes() + hierarchy + factors
            }
        };
        Solved {
            residual,
            x,
            outcome,
            refinements: 0,
            seconds,
            counts,
            bytes,
            bytes_moved: 0,
            format: Storage::of(&*self.matrix, self.plan.a.nnz(), &self.plan.format.reason),
            reordered: self.numbering.as_ref().map(|numbering| numbering.info()),
            hierarchy: self.m.hierarchy().cloned(),
            ilu: self.m.factors().cloned(),
            factorisation: None,
            ranks: None,
        }
    }

    /// One run of the solver, from x, down to a residual norm of `threshold`.
    fn iterate(
        &mut self,
        b: &B::Vector,
        x: &mut B::Vector,
        threshold: f64,
        observer: &mut Iterations,
    ) -> Result<Outcome> {
        let stop = observer.stop(&self.plan.options.stop, threshold);
        let System { backend, matrix, m, solver, .. } = self;
        let outcome = solver.solve(backend, matrix, &mut **m, b, x, &stop, observer)?;
        backend.synchronize()?;
        Ok(observer.judged(outcome))
    }
}

/// The plan's method, which the token ends where it can be asked for no progress.
fn make_solver<T: Number, B: Computes<T>>(
    plan: &Plan,
    backend: &B,
    a: &Arc<Csr<T>>,
    m: &dyn Preconditioner<T, B>,
    cancellation: &CancellationToken,
) -> Result<Box<dyn IterativeSolver<T, B>>> {
    let parameters = Parameters { cancelled: cancellation.flag(), ..plan.method_parameters() };
    plan.method.make(backend, a, m, &parameters)
}

impl<T: Number, B: Computes<T>> Refined for System<T, B> {
    fn equation(&self) -> &dyn Equation {
        &self.plan
    }
    fn options(&self) -> &Options {
        &self.plan.options
    }
    fn run(
        &mut self,
        b: &[f64],
        start: Option<&[f64]>,
        threshold: f64,
        observer: &mut Iterations,
    ) -> Result<(Vec<f64>, Outcome)> {
        let b = self.vector(b)?;
        let mut x = self.start(start)?;
        let outcome = self.iterate(&b, &mut x, threshold, observer)?;
        Ok((self.arrived(self.to_host(&x, None)?), outcome))
    }
}

impl<T: Number, B: Computes<T>> Prepared for System<T, B> {
    fn solve(&mut self, rhs: &Rhs, watch: &mut Watch, times: &mut Times) -> Result<Solved> {
        let threshold = rhs.threshold;
        watch.tell(Stage::Upload);
        let start = Instant::now();
        let b = self.vector(rhs.b)?;
        let mut x = self.start(rhs.start)?;
        self.backend.synchronize()?;
        times.upload += start.elapsed().as_secs_f64();

        watch.tell(Stage::Solve);
        let before = self.device.counts();
        let clock = Clock::start(&self.device);
        let mut observer = Iterations { watch, before: 0, norm_b: rhs.norm, threshold };
        let (room, outcome) =
            self.with_room(1, |system| system.iterate(&b, &mut x, threshold, &mut observer));
        let outcome = outcome?;
        let seconds = clock.stop(times);
        let now = self.device.counts();
        let counts = now.zip(before).map(|(now, before)| now.since(&before));
        let checked = self.checked(from_ref(&x), from_ref(&b), room, from_ref(rhs), times)?.next();
        let checked = checked.expect("one for one");
        let mut solved = self.solved(checked, outcome, seconds, counts);
        let start = Instant::now();
        refine(self, rhs, &mut solved, watch)?;
        if solved.refinements > 0 {
            solved.seconds += start.elapsed().as_secs_f64();
            solved.counts = self.device.counts().zip(before).map(|(now, before)| now.since(&before));
        }
        let of_set_up = self.solver.take_set_up_seconds();
        solved.seconds -= of_set_up;
        times.setup += of_set_up;
        solved.factorisation = self.solver.factorisation().or_else(|| self.m.factorisation());
        if self.device.gpu().is_none() {
            solved.bytes += solved.factorisation.map_or(0, |info| info.prediction.bytes as u64);
        }
        solved.bytes_moved = self.bytes_moved(solved.outcome.iterations, 1);
        Ok(solved)
    }

    fn solve_columns(
        &mut self,
        rhs: &[Rhs],
        watch: &mut Watch,
        times: &mut Times,
    ) -> Result<Option<Vec<Solved>>> {
        let method = self.plan.method;
        if !method.takes_columns() || !self.has_room(rhs.len()) {
            return Ok(None);
        }
        let start = Instant::now();
        let kept = self.columns.take().filter(|kept| kept.count() == rhs.len());
        let made = match kept {
            Some(kept) => Some(kept),
            None => ManySolver::new(method, &self.backend, self.plan.a.n_rows(), &*self.m, rhs.len())?,
        };
        let Some(mut columns) = made else { return Ok(None) };
        times.setup += start.elapsed().as_secs_f64();

        watch.tell(Stage::Upload);
        let start = Instant::now();
        let b = rhs.iter().map(|rhs| self.vector(rhs.b)).collect::<Result<Vec<_>>>()?;
        self.backend.synchronize()?;
        times.upload += start.elapsed().as_secs_f64();
        let max_iterations = self.plan.options.stop.max_iterations;
        let thresholds: Vec<f64> = rhs.iter().map(|rhs| rhs.threshold).collect();

        watch.tell(Stage::Solve);
        let before = self.device.counts();
        let start = Instant::now();
        let norm_b = rhs.iter().map(|rhs| rhs.norm).fold(0.0, f64::max);
        let threshold = thresholds.iter().copied().fold(0.0, f64::max);
        let mut observer = Iterations { watch: &mut *watch, before: 0, norm_b, threshold };
        let b = ColumnVector::Each(b);
        let (room, solved) = self.with_room(rhs.len(), |system| {
            let solved = columns.solve(&system.matrix, &b, thresholds, max_iterations, &mut observer)?;
            system.backend.synchronize().map(|()| solved)
        });
        self.columns = Some(columns);
        let (x, outcomes) = solved?;
        let seconds = start.elapsed().as_secs_f64() / rhs.len() as f64;
        let counts = self.device.counts().zip(before).map(|(now, before)| now.since(&before));

        let mut all = Vec::new();
        let checked = self.checked(x.columns(), b.columns(), room, rhs, times)?;
        for ((x, outcome), rhs) in checked.zip(outcomes).zip(rhs) {
            let mut solved = self.solved(x, outcome, seconds, counts);
            solved.bytes_moved = self.bytes_moved(solved.outcome.iterations, b.count());
            let (start, iterations) = (Instant::now(), solved.outcome.iterations);
            refine(self, rhs, &mut solved, watch)?;
            if solved.refinements > 0 {
                solved.seconds += start.elapsed().as_secs_f64();
                solved.bytes_moved += self.bytes_moved(solved.outcome.iterations - iterations, 1);
            }
            all.push(solved);
        }
        Ok(Some(all))
    }

    fn update(&mut self, plan: Plan, copy: Copied, times: &mut Times) -> Result<()> {
        let (a, copy) = (T::matrix(&plan.a)?, copy.whole());
        let watch = &mut Watch::default();
        let copy = match &self.numbering {
            Some(numbering) => Some(numbering.matrix(&self.backend, &plan.a, copy, times)?),
            None => copy,
        };
        let Operators { matrix, csr } = operators(&plan, &self.backend, &a, copy, watch, times)?;
        let start = Instant::now();
        self.columns = None;
        self.matrix = matrix;
        let there = csr.as_ref().map(Blocks::first);
        if !self.m.update_values(&self.backend, &a, there)? {
            self.m = preconditioner(&plan, &self.backend, &a, csr, &self.matrix, &self.cancellation)?;
        }
        if plan.brings_preconditioner() {
            self.solver = make_solver(&plan, &self.backend, &a, &*self.m, &self.cancellation)?;
        }
        self.backend.synchronize()?;
        self.plan = plan;
        times.setup += start.elapsed().as_secs_f64();
        Ok(())
    }
}

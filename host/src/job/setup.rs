//! What a plan is carried out with: the matrix and its preconditioner where a backend computes.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use cuda_std::Real;

use super::Device;
use super::plan::Plan;
use super::progress::{CancellationToken, Stage, Watch};
use crate::backend::OneColumn;
use crate::error::Result;
use crate::matrix::{AnyMatrix, Csr, check};
use crate::precond::amg::AnyPrecision;
use crate::precond::ilu::Factorisations;
use crate::precond::{Identity, Parameters, Preconditioner, Projected, Source};
use crate::setup::{Blocks, DeviceCsr, Formats};
use crate::solver::{BlockCgSteps, Steps};

/// Backends that a system can be solved on.
pub(super) trait Computes<T: Real>:
    AnyPrecision<T> + Factorisations<T> + Steps<T> + BlockCgSteps<T> + OneColumn + Clone
{
}

impl<T: Real, B> Computes<T> for B where
    B: AnyPrecision<T> + Factorisations<T> + Steps<T> + BlockCgSteps<T> + OneColumn + Clone
{
}

/// Seconds of what comes before the iterations.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    /// Checks, choices, the format, the preconditioner.
    pub setup: f64,
    /// The driver's, for kernels on their first use.
    pub warm_up: f64,
    /// Copies to the device.
    pub upload: f64,
    /// Copies of solutions to the host.
    pub download: f64,
    /// Residuals and backward errors.
    pub check: f64,
}

impl Times {
    /// Counts seconds of the set-up in which kernels were loaded as warm-up.
    pub fn count_as_warm_up(&mut self, seconds: f64) {
        self.setup -= seconds;
        self.warm_up += seconds;
    }
}

/// A clock that tells from other work that a device loads kernels, which it does on their first use.
pub(super) struct Clock {
    device: Device,
    start: Instant,
    loaded: f64,
}

impl Clock {
    /// One that begins now.
    pub fn start(device: &Device) -> Self {
        Clock { device: device.clone(), start: Instant::now(), loaded: device.loading_seconds() }
    }

    /// Seconds of loading since it began.
    pub fn loading(&self) -> f64 {
        self.device.loading_seconds() - self.loaded
    }

    /// Seconds since it began, but for those of loading.
    pub fn seconds(&self) -> f64 {
        (self.start.elapsed().as_secs_f64() - self.loading()).max(0.0)
    }

    /// The same, with those of loading added to the warm-up.
    pub fn stop(self, times: &mut Times) -> f64 {
        times.warm_up += self.loading();
        self.seconds()
    }
}

/// Number types that the plan's matrix, in f64, can be rounded to.
pub(super) trait Number: Real {
    /// The matrix, rounded once.
    fn matrix(a: &Arc<Csr<f64>>) -> Result<Arc<Csr<Self>>>;
    /// A vector, rounded.
    fn rounded(values: &[f64]) -> Cow<'_, [Self]>;
}

impl Number for f64 {
    fn matrix(a: &Arc<Csr<f64>>) -> Result<Arc<Csr<f64>>> {
        Ok(a.clone())
    }
    fn rounded(values: &[f64]) -> Cow<'_, [f64]> {
        Cow::Borrowed(values)
    }
}

impl Number for f32 {
    fn matrix(a: &Arc<Csr<f64>>) -> Result<Arc<Csr<f32>>> {
        check::check_in_f32(a)?;
        Ok(Arc::new(a.cast::<f32>()))
    }
    fn rounded(values: &[f64]) -> Cow<'_, [f32]> {
        values.iter().map(|&v| v as f32).collect()
    }
}

/// The matrix where it is used: ready to be multiplied, and as the preconditioner is made from it.
pub(super) struct Operators<M, C> {
    pub matrix: Arc<M>,
    pub csr: Option<Blocks<C>>,
}

/// Those of a plan, of whose matrix `a` there may be a copy.
pub(super) fn operators<T: Real, B: Computes<T>>(
    plan: &Plan,
    backend: &B,
    a: &Arc<Csr<T>>,
    copy: Option<DeviceCsr<f64>>,
    watch: &mut Watch,
    times: &mut Times,
) -> Result<Operators<B::Matrix, B::Csr>> {
    let start = Instant::now();
    let made = match plan.converts_on_device {
        true => None,
        false => Some(Arc::new(AnyMatrix::from_csr(a, plan.format.format, plan.format.sigma)?)),
    };
    times.setup += start.elapsed().as_secs_f64();

    watch.tell(Stage::Upload);
    let start = Instant::now();
    let taken = || copy.and_then(taken_as).map_or_else(|| backend.csr(a), Ok);
    let csr = (made.is_none() || plan.needs_csr()).then(taken).transpose()?;
    let made = made.map(|matrix| backend.matrix(&matrix)).transpose()?;
    backend.synchronize()?;
    times.upload += start.elapsed().as_secs_f64();

    watch.tell(Stage::SetUp);
    let start = Instant::now();
    let operators = match (made, csr) {
        (Some(matrix), csr) => {
            let csr = csr.map(|csr| for_preconditioner(plan, backend, csr)).transpose()?;
            Operators { matrix: Arc::new(matrix), csr }
        }
        (None, Some(csr)) => converted(plan, backend, csr)?,
        (None, None) => unreachable!("what is converted on the device is there in CRS"),
    };
    times.setup += start.elapsed().as_secs_f64();
    Ok(operators)
}

/// The copy, where a backend's matrices are such.
pub(super) fn taken_as<C: 'static>(copy: DeviceCsr<f64>) -> Option<C> {
    let copy: Box<dyn Any> = Box::new(copy);
    copy.downcast().ok().map(|copy| *copy)
}

/// The matrix as the preconditioner is made from it: a hierarchy of blocks from their planes.
fn for_preconditioner<T: Real, B: Computes<T>>(
    plan: &Plan,
    backend: &B,
    csr: B::Csr,
) -> Result<Blocks<B::Csr>> {
    let block = if plan.has_hierarchy() { plan.options.block_size } else { 1 };
    backend.planes(csr, block)
}

/// The matrix in the format that suits it, made from CRS.
fn converted<T: Real, B: Computes<T>>(
    plan: &Plan,
    backend: &B,
    csr: B::Csr,
) -> Result<Operators<B::Matrix, B::Csr>> {
    if plan.options.block_size == 1 || plan.has_hierarchy() {
        let csr = for_preconditioner(plan, backend, csr)?;
        let matrix = Arc::new(Formats::<T, T>::operator(backend, &csr)?);
        return Ok(Operators { matrix, csr: Some(csr) });
    }
    let kept = plan.needs_csr().then(|| Blocks::scalar(csr.clone()));
    let (matrix, planes) = Formats::<T, T>::operator_of_nodes(backend, csr, plan.options.block_size)?;
    Ok(Operators { matrix: Arc::new(matrix), csr: kept.or(planes) })
}

/// The preconditioner, kept out of the null space; none where the method brings its own.
pub(super) fn preconditioner<T: Real, B: Computes<T>>(
    plan: &Plan,
    backend: &B,
    a: &Arc<Csr<T>>,
    csr: Option<Blocks<B::Csr>>,
    product: &Arc<B::Matrix>,
    cancellation: &CancellationToken,
) -> Result<Box<dyn Preconditioner<T, B>>> {
    if plan.brings_preconditioner() {
        return Ok(Box::new(Identity));
    }
    let parameters = &Parameters { cancelled: cancellation.flag(), ..plan.preconditioner_parameters() };
    let m = plan.precond.make(Source { backend, a, csr, product, parameters })?;
    match plan.projections() {
        Some(null_space) => Ok(Box::new(Projected::new(backend, m, null_space)?)),
        None => Ok(m),
    }
}

//! From a matrix and a right-hand side to a solution and an account of how it was come by.

use std::sync::Arc;
use std::time::Instant;

use cuda_std::Real;

use crate::backend::cpu::Cpu;
use crate::backend::gpu::{Gpu, check_memory};
use crate::error::{Error, Result};
use crate::launch::Counts;
use crate::matrix::{
    AnyMatrix, BlockCsr, Choice, Csr, Format, Padding, Target, block, check, choose, choose_blocks,
    diagonal_blocks, spmv_bytes,
};
use crate::named::named;
use crate::precond::amg::prediction::Prediction;
use crate::precond::amg::{self, AnyPrecision};
use crate::precond::{BlockJacobi, Identity, Jacobi, NullSpace, Preconditioner, Projected, SingularBlocks};
use crate::setup::{Blocks, Formats};
use crate::solver::{
    Bicgstab, Cg, Gmres, IterativeSolver, JacobiIteration, OnProgress, Outcome, Richardson, Steps, Stop,
    StopReason, TOLERABLE_MISS,
};

pub mod dot;
pub mod spmv;
mod timing;
mod traffic;

pub use timing::Timing;
pub use traffic::{bytes_moved, copy_bandwidth};

named! {
    /// The iterative method.
    "solver" Method {
        /// Conjugate gradients, for symmetric positive definite matrices.
        Cg = "cg",
        /// BiCGSTAB, for any matrix.
        Bicgstab = "bicgstab",
        /// Restarted GMRES, for any matrix.
        Gmres = "gmres",
        /// Weighted Jacobi, for diagonally dominant matrices.
        Jacobi = "jacobi",
        /// The cycles of algebraic multigrid by themselves.
        Amg = "amg",
    }
}

named! {
    /// The preconditioner.
    "preconditioner" Precond {
        /// None.
        None = "none",
        /// The diagonal.
        Jacobi = "jacobi",
        /// Algebraic multigrid.
        Amg = "amg",
    }
}

named! {
    /// The number type of the solve; residuals are checked in f64 all the same.
    "precision" Precision {
        /// Single.
        F32 = "f32",
        /// Double.
        F64 = "f64",
    }
}

/// How to solve.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The method; `None` chooses CG for symmetric matrices with a positive diagonal, else GMRES.
    pub method: Option<Method>,
    /// The preconditioner; `None` chooses Jacobi where the diagonal allows it.
    pub precond: Option<Precond>,
    /// The format; `None` chooses.
    pub format: Option<Format>,
    /// Sorting window of SELL, with `format`; `None` for 1.
    pub sigma: Option<usize>,
    /// Unknowns a node, numbered node by node: with 2 or 3, matrix, Jacobi and multigrid are those of blocks.
    pub block_size: usize,
    /// What the Jacobi preconditioner of blocks makes of singular ones.
    pub singular_blocks: SingularBlocks,
    /// The number type.
    pub precision: Precision,
    /// When to stop.
    pub stop: Stop,
    /// Longest cycle of GMRES.
    pub restart: usize,
    /// Weight of the Jacobi method.
    pub omega: f64,
    /// The hierarchy of [`Precond::Amg`].
    pub amg: amg::Params,
    /// The number type in which the hierarchy is applied; `None` for f32 where it can hold matrix and right-hand side.
    pub amg_precision: Option<Precision>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            method: None,
            precond: None,
            format: None,
            sigma: None,
            block_size: 1,
            singular_blocks: SingularBlocks::Refuse,
            precision: Precision::F64,
            stop: Stop::default(),
            restart: 30,
            omega: 1.0,
            amg: amg::Params::default(),
            amg_precision: None,
        }
    }
}

/// Where to solve.
pub enum Device {
    /// Threads of the host.
    Cpu(Cpu),
    /// A GPU, or the simulator.
    Gpu(Gpu),
}

impl Device {
    /// "NVIDIA H200", "simulator", "CPU, 2 threads".
    pub fn name(&self) -> String {
        match self {
            Device::Cpu(cpu) if cpu.threads() == 1 => "CPU, 1 thread".into(),
            Device::Cpu(cpu) => format!("CPU, {} threads", cpu.threads()),
            Device::Gpu(gpu) => gpu.device().info().name.clone(),
        }
    }

    fn target(&self) -> Target {
        match self {
            Device::Cpu(_) => Target::Cpu,
            Device::Gpu(_) => Target::Gpu,
        }
    }
}

/// What was done, and how long it took.
#[derive(Debug, Clone)]
pub struct Report {
    /// Rows.
    pub n_rows: usize,
    /// Nonzeros.
    pub nnz: usize,
    /// The format and why it was chosen.
    pub format: Choice,
    /// The method.
    pub method: Method,
    /// The preconditioner.
    pub precond: Precond,
    /// The device's name.
    pub device: String,
    /// Why the solver stopped, its iterations and residual norms.
    pub outcome: Outcome,
    /// `||b - A x||_2 / ||b||_2`, recomputed on the host in f64; the norm itself where b = 0.
    pub relative_residual: f64,
    /// `||b||_2`, of the projected b where the matrix is singular.
    pub norm_b: f64,
    /// Whether b was projected onto the range of a singular matrix: the residual is that of the projected b.
    pub projected: bool,
    /// Seconds for checks, choice and conversion of the format, preconditioner, and for a first attempt where that failed
    /// with a hierarchy in f32.
    pub setup_seconds: f64,
    /// Seconds in which the driver made the kernels ready: their first use on a GPU.
    pub warm_up_seconds: f64,
    /// Seconds for moving matrix and vectors to where they are used.
    pub upload_seconds: f64,
    /// Seconds in the solver.
    pub solve_seconds: f64,
    /// Bytes that were expected to be needed on the device at most; `None` on the CPU.
    pub expected_bytes: Option<u64>,
    /// Bytes held on the device (on the CPU: by matrix and vectors).
    pub device_bytes: u64,
    /// Bytes that the solver's iterations had to move; see [`bytes_moved`].
    pub bytes_moved: u64,
    /// What the device was asked for during the iterations (GPU and simulator).
    pub counts: Option<Counts>,
    /// The hierarchy, with [`Precond::Amg`].
    pub amg: Option<amg::Info>,
    /// What the user should know: an unsymmetric matrix under CG, an empty row.
    pub warnings: Vec<String>,
}

impl Report {
    /// Whether the solver converged.
    pub fn converged(&self) -> bool {
        self.outcome.reason == StopReason::Converged
    }
}

/// Called with what is being done ("set-up", "upload", "solve"), and during the solve with the iterations
/// done and the newest residual norm.
pub type OnStage<'a> = &'a mut (dyn FnMut(&'static str, Option<(u32, f64)>) + Send);

/// Solves `A x = b` from `x = 0`. The solution comes back also where the solver did not converge; where a method that
/// failed left something worse, or not finite, it is 0 again.
///
/// Where a hierarchy is applied in f32 without having been asked for, and the method fails as it does with a
/// preconditioner of too little accuracy, the system is solved once more with one in f64.
pub fn solve(
    a: &Arc<Csr<f64>>,
    b: &[f64],
    options: &Options,
    device: &Device,
    on_stage: OnStage,
) -> Result<(Vec<f64>, Report)> {
    match options.precision {
        Precision::F64 => solve_in::<f64>(a, a, b, options, device, on_stage),
        Precision::F32 => {
            let b32: Vec<f32> = b.iter().map(|&v| v as f32).collect();
            let a32 = Arc::new(a.cast::<f32>());
            check::check_finite(&a32)?;
            check::check_vector("right-hand side", &b32, a.n_rows())?;
            solve_in::<f32>(a, &a32, b, options, device, on_stage)
        }
    }
}

fn solve_in<T: Real>(
    original: &Csr<f64>,
    a: &Arc<Csr<T>>,
    b: &[f64],
    options: &Options,
    device: &Device,
    on_stage: OnStage,
) -> Result<(Vec<f64>, Report)> {
    on_stage("set-up", None);
    let start = Instant::now();
    check::check_square(original)?;
    if options.block_size != 1 {
        block::check_block(original, options.block_size)?;
    }
    check::check_finite(original)?;
    check::check_vector("right-hand side", b, original.n_rows())?;
    let diagonal = original.diagonal();
    let (method, precond, mut warnings) = choose_method(original, &diagonal, options)?;
    let format = choose_format(a, options, device.target())?;
    // Also of blocks that were not named: their null space decides whether there is a solution.
    let sizes = if options.block_size > 1 {
        options.block_size..=options.block_size
    } else {
        1..=*block::BLOCK_SIZES.end()
    };
    let null_space = sizes.into_iter().find_map(|b| NullSpace::of(original, b));
    let mut b = std::borrow::Cow::Borrowed(b);
    let of_projection = null_space.as_ref().and_then(|null_space| without_null_space(null_space, b.to_mut()));
    let projected = of_projection.is_some();
    warnings.extend(of_projection);
    let amg_in_f32 = precond == Precond::Amg && in_f32(&diagonal, &b, options.amg_precision);
    let plan = Plan {
        a,
        b: &b,
        options,
        method,
        precond,
        format,
        null_space,
        projected,
        amg_in_f32,
        warnings,
        start,
    };
    let chance = plan.amg_in_f32 && T::NAME == f64::NAME && method != Method::Amg;
    let in_f64 = Plan { amg_in_f32: false, ..plan.clone() };
    let (x, mut report) = plan.run_on(original, device, on_stage)?;
    let reason = report.outcome.reason;
    let inexact = matches!(
        reason,
        StopReason::IndefinitePreconditioner | StopReason::Breakdown(_) | StopReason::NotFinite
    );
    if !chance || !inexact {
        return Ok((x, report));
    }
    if options.amg_precision.is_some() {
        report.warnings.push("the hierarchy was applied in f32, as asked; try --amg precision=f64".into());
        return Ok((x, report));
    }
    let failed = format!(
        "with a hierarchy in f32 the solver stopped in iteration {} ({}), and the system was solved once more with one in \
         f64",
        report.outcome.iterations,
        reason.name(),
    );
    match in_f64.run_on(original, device, on_stage) {
        Ok((x, mut report)) => {
            report.warnings.push(format!("{failed}; --amg precision=f64 spares the first attempt"));
            Ok((x, report))
        }
        Err(error) => {
            report.warnings.push(format!("{failed}, in vain: {error}"));
            Ok((x, report))
        }
    }
}

/// The error of a diagonal entry, which cannot be had by another order where the whole row is empty.
fn of_diagonal<T: Real>(a: &Csr<T>, error: Error) -> Error {
    match error {
        Error::Diagonal { row, method, .. } if a.row_len(row - 1) == 0 => Error::Matrix(format!(
            "row {row} is empty: the matrix is singular, and {method} divides by its diagonal entry; take the equation \
             and its unknown out of the system, or put an entry there"
        )),
        error => error,
    }
}

/// Projects `b`, and says so if that changed more than rounding.
fn without_null_space(null_space: &NullSpace, b: &mut [f64]) -> Option<String> {
    const ROUNDING: f64 = 1e-10;
    let (norm, removed) = null_space.project(b);
    let components = match null_space.dimension() {
        1 => "".to_string(),
        n => format!(" on {n} components"),
    };
    let constants =
        if null_space.is_of_all() { "the constants" } else { "the constants of one unknown of each node" };
    (removed > ROUNDING * norm).then(|| {
        format!(
            "the matrix is singular: its null space is {constants}{components}; the right-hand side was projected, \
             the residual is that of the projected system"
        )
    })
}

/// The method and preconditioner to use, and what to warn of.
fn choose_method(
    a: &Csr<f64>,
    diagonal: &[f64],
    options: &Options,
) -> Result<(Method, Precond, Vec<String>)> {
    let mut warnings = Vec::new();
    if let Some(row) = check::empty_row(a) {
        warnings.push(format!("row {} is empty: the matrix is singular", row + 1));
    }
    let divisible = || match options.block_size {
        1 => check::check_diagonal(a, "jacobi"),
        _ if options.singular_blocks == SingularBlocks::PseudoInverse => Ok(()),
        b => check::check_diagonal_blocks(&diagonal_blocks(a, b), b, "jacobi"),
    };
    let precond = match options.precond {
        None | Some(Precond::Amg) if options.method == Some(Method::Amg) => Precond::Amg,
        Some(precond) if options.method == Some(Method::Amg) => {
            return Err(Error::Option(format!(
                "the method amg is algebraic multigrid by itself, without the preconditioner {precond}; leave \
                 --precond out, or use --solver cg, gmres or bicgstab"
            )));
        }
        Some(precond) => precond,
        None => match divisible() {
            Ok(()) => Precond::Jacobi,
            Err(Error::Diagonal { row, what, .. }) => {
                warnings.push(format!("no preconditioner: the diagonal entry of row {row} is {what}"));
                Precond::None
            }
            Err(Error::Block { node, what, .. }) => {
                warnings.push(format!("no preconditioner: the diagonal block of node {node} is {what}"));
                Precond::None
            }
            Err(_) => Precond::None,
        },
    };
    let symmetry = match options.method {
        None | Some(Method::Cg) => Some(a.is_symmetric(1e-12)),
        Some(_) => None,
    };
    let method = match (options.method, symmetry) {
        (Some(Method::Cg), Some(symmetry)) => {
            if !symmetry.is_symmetric() {
                warnings.push(format!(
                    "the matrix is {symmetry}; CG needs a symmetric one, use --solver gmres or bicgstab"
                ));
            }
            Method::Cg
        }
        (Some(method), _) => method,
        (None, Some(symmetry)) => {
            let positive = diagonal.iter().all(|&d| d > 0.0);
            if symmetry.is_symmetric() && positive { Method::Cg } else { Method::Gmres }
        }
        (None, None) => unreachable!("symmetry is computed where no method is given"),
    };
    if options.precond == Some(Precond::Jacobi) || method == Method::Jacobi {
        divisible().map_err(|error| of_diagonal(a, error))?;
    }
    let amg::Params { pre, post, .. } = options.amg;
    if precond == Precond::Amg && method == Method::Cg && pre != post {
        warnings.push(format!(
            "with pre = {pre} and post = {post} the multigrid preconditioner is not symmetric; CG needs a symmetric one, \
             with pre = post, or use --solver gmres or bicgstab"
        ));
    }
    Ok((method, precond, warnings))
}

fn choose_format<T: Real>(a: &Csr<T>, options: &Options, target: Target) -> Result<Choice> {
    match options.format {
        None if options.block_size > 1 => choose_blocks(a, options.block_size, target),
        None => Ok(choose(a, target)),
        Some(format) => Choice::given(a, format, options.sigma.unwrap_or(1)),
    }
}

/// Whether a hierarchy is applied in f32. Unless one or the other was asked for, f32 must hold the diagonal, its inverse
/// and b with room for the residual's decrease.
fn in_f32(diagonal: &[f64], b: &[f64], asked: Option<Precision>) -> bool {
    const ROOM: f64 = 1e15;
    let fits = |v: f64| v == 0.0 || (v.abs() > 1.0 / ROOM && v.abs() < ROOM);
    match asked {
        Some(precision) => precision == Precision::F32,
        None => {
            let largest = b.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
            fits(largest) && diagonal.iter().all(|&v| fits(v))
        }
    }
}

/// Everything decided before anything is allocated.
#[derive(Clone)]
struct Plan<'a, T> {
    a: &'a Arc<Csr<T>>,
    b: &'a [f64],
    options: &'a Options,
    method: Method,
    precond: Precond,
    format: Choice,
    null_space: Option<NullSpace>,
    projected: bool,
    /// Whether a hierarchy is applied in f32.
    amg_in_f32: bool,
    warnings: Vec<String>,
    start: Instant,
}

impl<T: Real> Plan<'_, T> {
    /// Vectors of length n that the solve holds: x, b, the preconditioner's and the workspace's.
    fn vectors(&self) -> usize {
        let workspace = match self.method {
            Method::Cg => Cg::<T, Gpu>::VECTORS,
            Method::Bicgstab => Bicgstab::<T, Gpu>::VECTORS,
            Method::Gmres => Gmres::<T, Gpu>::vectors(self.restart()),
            Method::Jacobi => JacobiIteration::<T, Gpu>::VECTORS,
            Method::Amg => Richardson::<T, Gpu>::VECTORS,
        };
        let precond = match self.precond {
            Precond::None => 0,
            Precond::Jacobi => 1,
            // z, or the directions of flexible GMRES; the hierarchy is counted by itself.
            Precond::Amg if self.method == Method::Gmres => self.restart(),
            Precond::Amg => 1,
        };
        // Its basis, and z.
        let projection = self.projections().map_or(0, |null_space| null_space.dimension() + 1);
        2 + workspace + precond + projection
    }

    /// What the preconditioner is kept out of. The Jacobi method has none: its part of x is removed in the end.
    fn projections(&self) -> Option<&NullSpace> {
        self.null_space.as_ref().filter(|_| self.method != Method::Jacobi)
    }

    /// No cycle is longer than the iteration limit.
    fn restart(&self) -> usize {
        self.options.restart.min(self.options.stop.max_iterations.max(1) as usize)
    }

    /// Iterations that launch every kernel of the method; GMRES has one for bases of up to 8, 16 and 32. Where
    /// iterations are recorded the third is the first of them.
    fn warm_up(&self) -> u32 {
        match self.method {
            Method::Gmres => self.restart().min(33) as u32,
            Method::Cg | Method::Bicgstab | Method::Jacobi | Method::Amg => 3,
        }
    }

    fn matrix_bytes(&self) -> u64 {
        let pointers = 8 * self.a.n_rows() as u64;
        self.format.padding.stored * (4 + size_of::<T>() as u64) + pointers
    }

    /// About what a multigrid set-up takes at its peak, beside the matrix in its format: the matrix and its strong part in
    /// CRS, interpolation and its transpose, the product of the first coarsening and A P, which stays for the way back, and a
    /// hierarchy with 8 vectors. In the systems measured the transfers are half as large as the matrix together, each of the
    /// products is as large as it, and the hierarchy half as large again; [`Prediction`] may say more.
    fn setup_bytes(&self) -> u64 {
        let (nnz, n) = (self.a.nnz() as f64, self.a.n_rows() as f64);
        let (in_t, in_s) = (size_of::<T>() as f64, if self.amg_in_f32 { 4.0 } else { 8.0 });
        let Prediction { product, coarser } = Prediction::of(self.a, &self.options.amg);
        let in_crs = 2.5 + 2.0 * product.max(1.0);
        let hierarchy = 1.0 + coarser.max(0.5);
        // Two copies in f64 while the coarsest matrix is inverted, and the inverse.
        let inverse = n.min(self.options.amg.coarse_rows as f64).powi(2) * (2.0 * 8.0 + 4.0 + in_t);
        let of_matrices = nnz * (in_crs * (4.0 + in_t) + hierarchy * (4.0 + in_s));
        (inverse + of_matrices + n * (3.0 * (4.0 + in_t) + 8.0 * in_s)) as u64
    }

    fn vector_bytes(&self) -> u64 {
        (self.vectors() * self.a.n_rows() * size_of::<T>()) as u64
    }

    fn expected_bytes(&self) -> u64 {
        let hierarchy = if self.precond == Precond::Amg { self.setup_bytes() } else { 0 };
        self.matrix_bytes() + self.vector_bytes() + hierarchy
    }

    fn check_memory(&self, gpu: &Gpu) -> Result<()> {
        let vectors = format!("{} vectors", self.vectors());
        let mut parts = vec![("matrix", self.matrix_bytes()), (vectors.as_str(), self.vector_bytes())];
        if self.precond == Precond::Amg {
            parts.push(("multigrid set-up, about", self.setup_bytes()));
        }
        check_memory(&**gpu.device(), &parts)
    }

    fn run_on(self, original: &Csr<f64>, device: &Device, on_stage: OnStage) -> Result<(Vec<f64>, Report)> {
        match device {
            Device::Cpu(cpu) => cpu.install(move || self.run(original, cpu, None, device, on_stage)),
            Device::Gpu(gpu) => {
                self.check_memory(gpu)?;
                self.run(original, gpu, Some(gpu), device, on_stage)
            }
        }
    }

    fn run<B: AnyPrecision<T> + Steps<T>>(
        mut self,
        original: &Csr<f64>,
        backend: &B,
        gpu: Option<&Gpu>,
        device: &Device,
        on_stage: OnStage,
    ) -> Result<(Vec<f64>, Report)> {
        let Options { stop, omega, .. } = *self.options;
        let n = self.a.n_rows();
        let held_before = gpu.map(|g| g.device().counters().snapshot().allocated_bytes);
        let mut warm_up_seconds = 0.0;
        let is_real_gpu = gpu.is_some_and(|g| g.device().info().compute_capability.0 > 0);
        if let Some(gpu) = gpu.filter(|_| is_real_gpu && self.precond == Precond::Amg) {
            let start = Instant::now();
            gpu.preload_multigrid(&[T::NAME, if self.amg_in_f32 { f32::NAME } else { T::NAME }])?;
            warm_up_seconds += start.elapsed().as_secs_f64();
        }
        // A hierarchy is built from CRS where it is used, and so is then the format of the matrix.
        let converts_there = self.precond == Precond::Amg && self.options.format.is_none();
        let matrix = match converts_there {
            true => Arc::new(AnyMatrix::Crs(self.a.clone())),
            false => Arc::new(AnyMatrix::from_csr(self.a, self.format.format, self.format.sigma)?),
        };
        let setup_seconds = self.start.elapsed().as_secs_f64() - warm_up_seconds;

        on_stage("upload", None);
        let start = Instant::now();
        let blocks = || match self.options.block_size {
            1 => Ok(Blocks::scalar(backend.csr(self.a)?)),
            block => backend.blocks(&BlockCsr::from_csr(self.a, block)?),
        };
        let csr = (self.precond == Precond::Amg).then(blocks).transpose()?;
        let uploaded = if converts_there { None } else { Some(backend.matrix(&matrix)?) };
        let b_in_t: Vec<T> = self.b.iter().map(|&v| T::from_f64(v)).collect();
        let b = backend.vector(&b_in_t)?;
        let mut x = backend.zeros(n)?;
        backend.synchronize()?;
        let upload_seconds = start.elapsed().as_secs_f64();

        let start = Instant::now();
        let device_matrix = match (uploaded, &csr) {
            (Some(matrix), _) => matrix,
            (None, Some(csr)) => Formats::<T, T>::operator(backend, csr)?.matrix,
            (None, None) => unreachable!("what is converted there was uploaded"),
        };
        let mut amg_info = None;
        let Options { block_size, singular_blocks, .. } = *self.options;
        let mut m: Box<dyn Preconditioner<T, B>> = match self.precond {
            Precond::None => Box::new(Identity),
            _ if self.method == Method::Jacobi && block_size > 1 => {
                Box::new(BlockJacobi::setup(backend, self.a, block_size, singular_blocks)?.weighted(omega))
            }
            Precond::Jacobi if block_size > 1 => {
                Box::new(BlockJacobi::setup(backend, self.a, block_size, singular_blocks)?)
            }
            Precond::Jacobi => Box::new(Jacobi::setup(backend, self.a)?),
            Precond::Amg => {
                match block_size {
                    1 => check::check_diagonal(self.a, "amg").map_err(|error| of_diagonal(self.a, error))?,
                    b => check::check_diagonal_blocks(&diagonal_blocks(self.a, b), b, "amg")?,
                }
                let csr = csr.expect("uploaded for this preconditioner");
                let (m, info) =
                    backend.amg_of(csr, Some(&device_matrix), &self.options.amg, self.amg_in_f32)?;
                amg_info = Some(info);
                m
            }
        };
        if let Some(null_space) = self.projections() {
            m = Box::new(Projected::new(backend, m, null_space)?);
        }
        let mut solver: Box<dyn IterativeSolver<T, B>> = match self.method {
            Method::Cg => Box::new(Cg::new(backend, n, &*m)?),
            Method::Bicgstab => Box::new(Bicgstab::new(backend, n)?),
            Method::Gmres => Box::new(Gmres::new(backend, n, self.restart())?),
            Method::Jacobi if block_size == 1 => Box::new(JacobiIteration::new(backend, self.a, omega)?),
            Method::Jacobi | Method::Amg => Box::new(Richardson::new(backend, n)?),
        };
        backend.synchronize()?;
        let setup_seconds = setup_seconds + start.elapsed().as_secs_f64();
        if is_real_gpu {
            // The driver translates a kernel when it is first launched, and would do so within the loop.
            let start = Instant::now();
            let stop = Stop { max_iterations: self.warm_up(), ..stop };
            solver.solve(backend, &device_matrix, &mut *m, &b, &mut x, &stop, &mut |_, _| ())?;
            backend.fill(T::ZERO, &mut x)?;
            backend.synchronize()?;
            warm_up_seconds += start.elapsed().as_secs_f64();
        }

        let counts_before = gpu.map(|g| g.device().counters().snapshot());
        let start = Instant::now();
        let mut on_progress = |k: u32, norm: f64| on_stage("solve", Some((k, norm)));
        let on_progress: OnProgress = &mut on_progress;
        let mut outcome = solver.solve(backend, &device_matrix, &mut *m, &b, &mut x, &stop, on_progress)?;
        backend.synchronize()?;
        let solve_seconds = start.elapsed().as_secs_f64();
        let counts = gpu.map(|g| g.device().counters().snapshot());
        let device_bytes = match (held_before, counts) {
            (Some(before), Some(now)) => now.allocated_bytes - before,
            _ => {
                let levels = amg_info.iter().flat_map(|info| &info.levels);
                matrix.bytes() + self.vector_bytes() + levels.map(|level| level.bytes).sum::<u64>()
            }
        };

        let mut x: Vec<f64> = backend.to_host(&x)?.into_iter().map(Real::to_f64).collect();
        if let Some(null_space) = &self.null_space {
            null_space.project(&mut x);
        }
        let mut relative_residual = relative_residual(original, &x, self.b);
        let norm_b = self.b.iter().map(|v| v * v).sum::<f64>().sqrt();
        let norm = relative_residual * if norm_b == 0.0 { 1.0 } else { norm_b };
        // Written so that NaN is a miss.
        let tolerable = norm <= TOLERABLE_MISS * outcome.threshold;
        if outcome.reason == StopReason::Converged && !tolerable {
            outcome.reason = StopReason::Inaccurate;
        }
        if outcome.reason != StopReason::Converged {
            self.warnings.extend(NullSpace::why_singular(original, self.b));
            if is_worse_than_zero(self.method, outcome.reason, &x, relative_residual) {
                self.warnings.push(format!(
                    "what the solver left is worse than x = 0, which is returned: ||b - A x|| / ||b|| was \
                     {relative_residual:.1e}; is the matrix singular?"
                ));
                if matches!(outcome.reason, StopReason::IterationLimit | StopReason::Inaccurate) {
                    outcome.reason = StopReason::Breakdown(LOST);
                }
                x.fill(0.0);
                relative_residual = self::relative_residual(original, &x, self.b);
            }
        }
        let expected_bytes = gpu.map(|_| self.expected_bytes());
        let bytes_moved = bytes_moved::<T>(
            self.method,
            self.precond,
            amg_info.as_ref().map_or(0, |info| info.cycle_bytes),
            self.projections().map_or(0, NullSpace::dimension),
            n,
            spmv_bytes(self.a.nnz(), n, size_of::<T>(), self.format.format.block()),
            outcome.iterations,
            self.restart(),
            block_size,
        );
        let report = Report {
            n_rows: n,
            nnz: self.a.nnz(),
            format: self.format,
            method: self.method,
            precond: self.precond,
            device: device.name(),
            outcome,
            relative_residual,
            norm_b,
            projected: self.projected,
            setup_seconds,
            warm_up_seconds,
            upload_seconds,
            solve_seconds,
            expected_bytes,
            device_bytes,
            bytes_moved,
            counts: counts.zip(counts_before).map(|(now, before)| now.since(&before)),
            amg: amg_info,
            warnings: self.warnings,
        };
        Ok((x, report))
    }
}

const LOST: &str = "rounding errors outgrew the solution";

/// Whether nothing is better than the `x` that a method left that did not converge. A method cut short may be on its way
/// through large residuals, but not GMRES, which minimises them, nor a stationary iteration: that diverges.
fn is_worse_than_zero(method: Method, reason: StopReason, x: &[f64], relative_residual: f64) -> bool {
    /// More than rounding.
    const WORSE: f64 = 2.0;
    let cut_short = matches!(reason, StopReason::IterationLimit | StopReason::Inaccurate);
    // Written so that NaN is worse.
    let descends = matches!(method, Method::Gmres | Method::Jacobi | Method::Amg);
    let worse = (relative_residual.is_nan() || relative_residual > WORSE) && (descends || !cut_short);
    worse || !x.iter().all(|v| v.is_finite())
}

/// `||b - A x||_2 / ||b||_2` in f64, or `||b - A x||_2` where b = 0.
pub fn relative_residual(a: &Csr<f64>, x: &[f64], b: &[f64]) -> f64 {
    use rayon::prelude::*;
    /// Rows whose sum is one number, so that the order of additions does not depend on the threads.
    const CHUNK: usize = 4096;
    let row = |i: usize| {
        let (columns, values) = a.row(i);
        let product: f64 = columns.iter().zip(values).map(|(&c, &v)| v * x[c as usize]).sum();
        (b[i] - product).powi(2)
    };
    let chunk = |c: usize| (c * CHUNK..((c + 1) * CHUNK).min(a.n_rows())).map(row).sum();
    let squares: Vec<f64> = (0..a.n_rows().div_ceil(CHUNK)).into_par_iter().map(chunk).collect();
    // The sum of nothing is -0 in Rust.
    let square = squares.iter().fold(0.0, |sum, s| sum + s);
    let norm_b: f64 = b.iter().map(|v| v * v).sum::<f64>().sqrt();
    if norm_b == 0.0 { square.sqrt() } else { square.sqrt() / norm_b }
}

impl Choice {
    /// The format that somebody asked for. [`Error::Padding`] where it would explode.
    fn given<T: Real>(a: &Csr<T>, format: Format, sigma: usize) -> Result<Choice> {
        use crate::matrix::{block_padding, ell_padding, sell_padding};
        let nnz = a.nnz() as u64;
        let (padding, sigma) = match format {
            Format::Crs => (Padding { stored: nnz, nnz }, 1),
            Format::Ell => (ell_padding(a), 1),
            Format::Sell => (sell_padding(a, sigma)?, sigma),
            Format::BlockCrs(block) => (block_padding(a, block, None)?, 1),
            Format::BlockSell(block) => (block_padding(a, block, Some(sigma))?, sigma),
        };
        Ok(Choice { format, sigma, padding, reason: format!("as asked: {:.1} % padding", padding.percent()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_worse_than_zero_depends_on_the_method() {
        use StopReason::{Breakdown, Inaccurate, IndefiniteOperator, IterationLimit};
        let worse =
            |method, reason, x: f64, residual| is_worse_than_zero(method, reason, &[0.5, x], residual);
        // GMRES minimises the residual; the others pass through larger ones.
        for reason in [IterationLimit, Inaccurate, Breakdown("")] {
            assert!(
                worse(Method::Gmres, reason, 1.0, 8e43) && !worse(Method::Gmres, reason, 1.0, 1.0 + 1e-9)
            );
            assert_eq!(worse(Method::Cg, reason, 1.0, 8e43), reason == Breakdown(""));
        }
        assert!(worse(Method::Cg, IndefiniteOperator, 1.0, f64::NAN));
        assert!(worse(Method::Bicgstab, IterationLimit, f64::INFINITY, f64::NAN));
    }

    #[test]
    fn scales_beyond_f32_take_a_hierarchy_in_f64() {
        let a = crate::problem::generate(&"poisson2d:12".parse().unwrap(), 1).unwrap();
        let device = Device::Cpu(Cpu::new(1).unwrap());
        let options = Options { precond: Some(Precond::Amg), ..Options::default() };
        for (of_a, of_b, precision) in [
            (1.0, 1.0, "f32"),
            (1e60, 1.0, "f64"),
            (1e-60, 1.0, "f64"),
            (1.0, 1e60, "f64"),
            (1.0, 1e-60, "f64"),
        ] {
            let mut a = a.clone();
            a.values_mut().iter_mut().for_each(|v| *v *= of_a);
            let b = vec![of_b; a.n_rows()];
            let (_, report) = solve(&Arc::new(a), &b, &options, &device, &mut |_, _| ()).unwrap();
            assert!(report.converged(), "{of_a} {of_b}: {:?}", report.outcome.reason);
            assert_eq!(report.amg.unwrap().precision, precision);
        }
    }
}

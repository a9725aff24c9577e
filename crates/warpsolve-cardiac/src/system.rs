//! A linear system that is solved in every step.

use std::sync::Arc;

use super::params::Params;
use super::share::{Share, Unknowns};
use warpsolve_host::backend::{Backend, Coef, Operator, Storage};
use warpsolve_host::error::{Error, Result};
use warpsolve_host::matrix::{Csr, Padding, check};
use warpsolve_host::number::plain;
use warpsolve_host::precond::amg::{self, Assembles};
use warpsolve_host::precond::{Jacobi, Preconditioner, Projected};
use warpsolve_host::solver::cg::CgSteps;
use warpsolve_host::solver::{Cg, IterativeSolver, Stop, StopReason};

/// A residual is also small enough if an error of this many mV at every node would cause it: the size of
/// rounding errors at 100 mV. Where the voltage is the same everywhere, the right-hand side consists of
/// rounding errors, and no relative tolerance can be reached.
const NEGLIGIBLE: f64 = 2e-12;

/// What reports say of a system.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemInfo {
    /// "parabolic", "elliptic", "coupled" or "potentials".
    pub name: &'static str,
    /// Rows.
    pub rows: usize,
    /// Nonzeros.
    pub nnz: usize,
    /// How the matrix is stored.
    pub format: Storage,
    /// The hierarchy, where multigrid is the preconditioner.
    pub amg: Option<amg::Info>,
}

/// `A x = b` with its solver, and its last two solutions.
pub(super) struct System<B: Backend<f64>> {
    pub info: SystemInfo,
    /// What it is solved for.
    pub unknowns: Unknowns,
    a: Arc<B::Matrix>,
    m: Box<dyn Preconditioner<f64, B>>,
    cg: Cg<f64, B>,
    stop: Stop,
    /// No scalars: vector updates take an array of them even if all coefficients are constants.
    scalars: B::Scalars,
    /// The right-hand side.
    pub b: B::Vector,
    /// The solution.
    pub x: B::Vector,
    /// The last solution but one.
    pub before: B::Vector,
}

/// A matrix where it is solved with.
struct OnDevice<R> {
    unknowns: Unknowns,
    /// The rows of this rank in its own columns.
    local: Arc<Csr<f64>>,
    rows: R,
    /// Of the rows of this rank.
    nnz: usize,
    /// The 2-norm of the diagonal, over all ranks.
    diagonal_norm: f64,
    /// Whether f32 holds the diagonal and its inverse, on all ranks.
    fits_f32: bool,
}

impl<R> OnDevice<R> {
    /// Of what this rank has assembled. All ranks call this.
    fn new<B: Assembles<Rows = R>>(
        backend: &B,
        share: &Share,
        a: Csr<f64>,
        unknowns: Unknowns,
    ) -> Result<Self> {
        let diagonal = share.own(a.diagonal(), unknowns);
        let do_not_fit = f64::from(!fit_f32(&diagonal));
        let [square, do_not_fit] = share.sums([diagonal.iter().map(|d| d * d).sum(), do_not_fit])?;
        let piece = share.piece(a, unknowns, unknowns)?;
        Ok(OnDevice {
            unknowns,
            local: piece.local.csr().clone(),
            nnz: piece.nnz(),
            rows: backend.rows(piece, unknowns.each())?,
            diagonal_norm: square.sqrt(),
            fits_f32: do_not_fit == 0.0,
        })
    }
}

impl<B: Assembles + CgSteps<f64> + 'static> System<B> {
    /// kappa M + theta K of the cells, preconditioned by its diagonal. All ranks call this.
    pub fn parabolic(backend: &B, share: &Share, a: Csr<f64>, params: &Params) -> Result<Self> {
        share.agree(check::check_finite(&a))?;
        let a = OnDevice::new(backend, share, a, Unknowns::Cells)?;
        let m = Box::new(share.agree(Jacobi::setup(backend, &a.local))?);
        let stop = stop(&a, params, params.parabolic_rtol);
        System::new(backend, share, "parabolic", a, (m, None), stop)
    }

    /// A system with `block` unknowns a node, preconditioned by multigrid. With nothing grounded its null
    /// space are the constants of an unknown: of one of `kinds` each node, or of all if there is one kind.
    /// All ranks call this.
    pub fn elliptic(
        backend: &B,
        share: &Share,
        name: &'static str,
        a: Csr<f64>,
        (block, kinds): (usize, usize),
        params: &Params,
    ) -> Result<Self> {
        share.agree(check::check_finite(&a))?;
        let unknowns = Unknowns::Nodes(block);
        let null_space = || {
            share.null_space(&a, unknowns, kinds)?.ok_or_else(|| {
                Error::Matrix(format!(
                    "the rows of the {name} matrix do not add up to 0 but for rounding; are there tetrahedra or \
                     conductivities that differ by many orders of magnitude?"
                ))
            })
        };
        let null_space = if params.grounds.is_empty() { Some(share.agree(null_space())?) } else { None };
        check::check_divisible(&a, block, "amg")?;
        let a = OnDevice::new(backend, share, a, unknowns)?;
        let numbers = share.numbering(unknowns);
        let (m, info) = backend.multigrid(&a.rows, numbers, &params.amg, a.fits_f32)?;
        let m = match null_space {
            Some(null_space) => Box::new(Projected::new(backend, m, &null_space)?),
            None => m,
        };
        let stop = stop(&a, params, params.rtol);
        System::new(backend, share, name, a, (m, info), stop)
    }

    fn new(
        backend: &B,
        share: &Share,
        name: &'static str,
        OnDevice { unknowns, rows, nnz, .. }: OnDevice<B::Rows>,
        (m, amg): (Box<dyn Preconditioner<f64, B>>, Option<amg::Info>),
        stop: Stop,
    ) -> Result<Self> {
        let n = share.count(unknowns);
        let a = backend.product(&rows)?;
        Ok(System {
            info: info_of_all(share, (name, n, nnz), &*a, amg)?,
            unknowns,
            a,
            cg: Cg::new(backend, n, &*m)?,
            m,
            stop,
            scalars: backend.scalars(1)?,
            b: backend.zeros(n)?,
            x: backend.zeros(n)?,
            before: backend.zeros(n)?,
        })
    }

    /// Solves, starting from `2 x - before`; returns the iterations. `time` (ms) is for messages.
    ///
    /// # Errors
    /// [`Error::NotFinite`], or [`Error::Option`] with advice, if it is not solved.
    pub fn solve(&mut self, backend: &B, time: f64) -> Result<u32> {
        backend.axpby(&self.scalars, Coef::constant(2.0), &self.x, Coef::constant(-1.0), &mut self.before)?;
        std::mem::swap(&mut self.x, &mut self.before);
        let (a, b, x, stop) = (&*self.a, &self.b, &mut self.x, &self.stop);
        let outcome = self.cg.solve(backend, a, &mut *self.m, b, x, stop, &mut |_, _| ())?;
        let norm = outcome.history.last().copied().unwrap_or(f64::NAN);
        match outcome.reason {
            StopReason::Converged => Ok(outcome.iterations),
            StopReason::NotFinite => Err(Error::NotFinite {
                what: "the residual",
                value: norm,
                position: format!(
                    "{} ms in the {} system (a smaller time step may help)",
                    plain(time),
                    self.info.name
                ),
            }),
            reason => {
                let why = match reason {
                    StopReason::IterationLimit => "iteration limit reached".to_string(),
                    StopReason::IndefiniteOperator | StopReason::IndefinitePreconditioner => {
                        "rounding errors made it or its preconditioner indefinite (are there tetrahedra or conductivities \
                         that differ by many orders of magnitude?)"
                            .into()
                    }
                    other => other.to_string(),
                };
                Err(Error::Option(format!(
                    "the {} system of the step to {} ms was not solved: {why} after {} iterations, with a residual of \
                     {norm:.3e} where {:.3e} was asked for; use more iterations, a larger tolerance or a smaller time step",
                    self.info.name,
                    plain(time),
                    outcome.iterations,
                    outcome.threshold
                )))
            }
        }
    }
}

fn stop<R>(a: &OnDevice<R>, params: &Params, rtol: f64) -> Stop {
    Stop { rtol, atol: NEGLIGIBLE * a.diagonal_norm, max_iterations: params.max_iterations }
}

/// What reports say of the system of which this rank has so many rows and nonzeros.
fn info_of_all(
    share: &Share,
    (name, rows, nnz): (&'static str, usize, usize),
    a: &impl Operator,
    amg: Option<amg::Info>,
) -> Result<SystemInfo> {
    let format = Storage::of(a, nnz, "");
    let counts = [rows as u64, nnz as u64, format.bytes, format.traffic, format.padding.stored];
    let [rows, nnz, bytes, traffic, stored] =
        share.sums(counts.map(|count| count as f64))?.map(|count| count as u64);
    let padding = Padding { stored, nnz };
    let (rows, nnz) = (rows as usize, nnz as usize);
    Ok(SystemInfo { name, rows, nnz, format: Storage { bytes, traffic, padding, ..format }, amg })
}

/// Whether f32 holds these and their inverses, with room for the decrease of a residual.
fn fit_f32(diagonal: &[f64]) -> bool {
    const ROOM: f64 = 1e15;
    diagonal.iter().all(|&d| d > 1.0 / ROOM && d < ROOM)
}

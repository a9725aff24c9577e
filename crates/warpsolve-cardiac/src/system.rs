//! A linear system that is solved in every step.

use std::sync::Arc;

use super::params::Params;
use warpsolve_host::backend::{Backend, Coef, Storage};
use warpsolve_host::error::{Error, Result};
use warpsolve_host::matrix::{Csr, check};
use warpsolve_host::number::plain;
use warpsolve_host::precond::amg::{self, Hierarchies};
use warpsolve_host::precond::{Jacobi, NullSpace, Preconditioner, Projected};
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
    a: B::Matrix,
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

impl<B: Hierarchies<f64> + CgSteps<f64> + 'static> System<B> {
    /// kappa M + theta K, preconditioned by its diagonal.
    pub fn parabolic(backend: &B, a: Csr<f64>, params: &Params) -> Result<Self> {
        check::check_finite(&a)?;
        let m = Box::new(Jacobi::setup(backend, &a)?);
        let on_device = backend.assembled(&Arc::new(a.clone()), 1)?;
        System::new(backend, "parabolic", &a, &on_device, (m, None), params, params.parabolic_rtol)
    }

    /// A system with `block` unknowns a node, preconditioned by multigrid. With nothing grounded its null
    /// space are the constants of an unknown: of one of `kinds` each node, or of all if there is one kind.
    pub fn elliptic(
        backend: &B,
        name: &'static str,
        a: Csr<f64>,
        (block, kinds): (usize, usize),
        params: &Params,
    ) -> Result<Self> {
        check::check_finite(&a)?;
        let null_space = || {
            NullSpace::of(&a, kinds).ok_or_else(|| {
                Error::Matrix(format!(
                    "the rows of the {name} matrix do not add up to 0 but for rounding; are there tetrahedra or \
                     conductivities that differ by many orders of magnitude?"
                ))
            })
        };
        let null_space = if params.grounds.is_empty() { Some(null_space()?) } else { None };
        let a = Arc::new(a);
        check::check_divisible(&a, block, "amg")?;
        let on_device = backend.assembled(&a, block)?;
        let (m, info) = backend.amg(on_device.clone(), None, &params.amg, None, fits_f32(&a))?;
        let m = match null_space {
            Some(null_space) => Box::new(Projected::new(backend, m, &null_space)?),
            None => m,
        };
        System::new(backend, name, &a, &on_device, (m, Some(info)), params, params.rtol)
    }

    fn new(
        backend: &B,
        name: &'static str,
        a: &Csr<f64>,
        on_device: &B::Assembled,
        (m, amg): (Box<dyn Preconditioner<f64, B>>, Option<amg::Info>),
        params: &Params,
        rtol: f64,
    ) -> Result<Self> {
        let n = a.n_rows();
        let diagonal_norm = a.diagonal().iter().map(|d| d * d).sum::<f64>().sqrt();
        let stop = Stop { rtol, atol: NEGLIGIBLE * diagonal_norm, max_iterations: params.max_iterations };
        let matrix = backend.operator(on_device)?;
        let format = Storage::of(&matrix, a.nnz(), "");
        Ok(System {
            info: SystemInfo { name, rows: n, nnz: a.nnz(), format, amg },
            a: matrix,
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
        let (a, b, x, stop) = (&self.a, &self.b, &mut self.x, &self.stop);
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

/// Whether f32 holds the diagonal and its inverse, with room for the decrease of a residual.
fn fits_f32(a: &Csr<f64>) -> bool {
    const ROOM: f64 = 1e15;
    a.diagonal().into_iter().all(|d| d > 1.0 / ROOM && d < ROOM)
}

//! GMRES (Saad and Schultz 1986; Saad 2003, algorithm 6.9), preconditioned from the right, restarted;
//! flexible (algorithm 9.6) where the preconditioner is more than a diagonal: a hierarchy in f32 is not
//! linear to f64's precision.

use cuda_std::Real;

use super::description::{Description, Parameter, Parameters};
use super::iterative::{IterativeSolver, OnProgress, Parts};
use super::on_host::OnHost;
use super::outcome::{Outcome, Stop, StopReason};
use super::run::Run;
use crate::backend::{Backend, Coef, Then};
use crate::error::{Error, Result};
use crate::precond::{Preconditioner, Shape};

mod device;
mod distributed;
mod host;
mod steps;

pub use arithmetic::gmres::MAX_RESTART;
pub use steps::{GmresSlots, GmresSteps, SIDE_BY_SIDE};

pub(super) const DESCRIPTION: Description = Description {
    parameters: &[Parameter { name: "restart", doc: "iterations before a restart, 1 to 1024 or none" }],
    descends: true,
    title_parameters: |parameters| format!("({})", parameters.restart),
    // There is a kernel for bases of up to 8, 16 and 32.
    ..Description::new("gmres", "GMRES", |parameters, is_fused| {
        let cycle = expected_cycle(parameters);
        if is_fused { cycle + 3 } else { 2 * cycle + 3 }
    })
};

/// Iterations that a cycle is expected to have: without a restart nobody knows, and vectors are made as they
/// are needed.
pub(super) fn expected_cycle(parameters: &Parameters) -> usize {
    if parameters.restart < MAX_RESTART { parameters.restart } else { SIDE_BY_SIDE }
}

pub(super) fn make<T: Real, B: GmresSteps<T> + 'static>(
    backend: &B,
    a: &dyn OnHost<T>,
    _: &dyn Preconditioner<T, B>,
    parameters: &Parameters,
) -> Result<Box<dyn IterativeSolver<T, B>>> {
    Ok(Box::new(Gmres::new(backend, a.n_rows(), parameters.restart)?))
}

/// A cycle minimises the residual; one that leaves it larger than before by this factor has gone wrong, and
/// is taken back.
const WORSE: f64 = 2.0;
/// The residual that rotations update drifts from the true one by rounding, but not by this factor.
const FAR: f64 = 10.0;
const SINGULAR: &str =
    "a column of the Hessenberg matrix is nothing but rounding: A M is singular on this space";

/// GMRES(restart) with its workspace of at most `restart + 3` vectors, and `restart` more with a
/// preconditioner that is more than a diagonal: those that the longest cycle so far has needed.
pub struct Gmres<T: Real, B: Backend<T>> {
    n: usize,
    basis: Vec<B::Vector>,
    /// `z_j = M v_j`, for a preconditioner that is more than a diagonal.
    directions: Vec<B::Vector>,
    /// What the last cycles added to x, the newest at `cycles - 1` modulo their number.
    corrections: Vec<B::Vector>,
    z: B::Vector,
    u: B::Vector,
    slots: GmresSlots,
    scalars: B::Scalars,
}

impl<T: Real, B: Backend<T>> Gmres<T, B> {
    /// A workspace for `n` unknowns and cycles of `restart` iterations, at most [`MAX_RESTART`].
    ///
    /// A cycle longer than the iteration limit is unrestarted GMRES.
    pub fn new(backend: &B, n: usize, restart: usize) -> Result<Self> {
        if !(1..=MAX_RESTART).contains(&restart) {
            return Err(Error::Option(format!(
                "a GMRES restart length of {restart} is out of range; it can be 1 to {MAX_RESTART}"
            )));
        }
        let slots = GmresSlots { restart };
        Ok(Gmres {
            n,
            directions: Vec::new(),
            corrections: Vec::new(),
            basis: backend.vectors(n, SIDE_BY_SIDE.min(restart + 1))?,
            z: backend.zeros(n)?,
            u: backend.zeros(n)?,
            slots,
            scalars: backend.scalars(slots.count())?,
        })
    }

    /// LGMRES: the last iterations of each cycle take what the last `cycles` cycles added to x for
    /// directions. There are fewer of these than iterations.
    pub fn remembering(self, backend: &B, cycles: usize) -> Result<Self> {
        Ok(Gmres { corrections: backend.vectors(self.n, cycles.min(self.slots.restart - 1))?, ..self })
    }
}

/// Makes the vectors at least so many, by as many at a time as lie side by side, and never more than `most`.
fn grow<T: Real, B: Backend<T>>(
    backend: &B,
    n: usize,
    vectors: &mut Vec<B::Vector>,
    [count, most]: [usize; 2],
) -> Result<()> {
    while vectors.len() < count {
        vectors.extend(backend.vectors(n, SIDE_BY_SIDE.min(most - vectors.len()))?);
    }
    Ok(())
}

impl<T: Real, B: GmresSteps<T>> IterativeSolver<T, B> for Gmres<T, B> {
    fn solve(
        &mut self,
        backend: &B,
        a: &B::Matrix,
        m: &mut dyn Preconditioner<T, B>,
        b: &B::Vector,
        x: &mut B::Vector,
        stop: &Stop,
        on_progress: OnProgress,
    ) -> Result<Outcome> {
        let flexible = matches!(m.shape(), Shape::General) || !self.corrections.is_empty();
        let (n, restart) = (self.n, self.slots.restart);
        let mut run = Run::<T, B>::new(backend, b, stop, on_progress)?.preconditioned_by(&*m);
        let guarded = run.backend.guarded(&run.monitor);
        let (g, s, slots) = (&guarded, &self.scalars, self.slots);
        let (z, u) = (&mut self.z, &mut self.u);

        let mut singular = false;
        let mut norm = T::ZERO;
        let mut k = 0;
        let mut cycles = 0;
        loop {
            // v_0 = (b - A x) / beta
            g.multiply(a, x, Then::Residual { b, r: &mut self.basis[0] })?;
            g.dot(&self.basis[0], &self.basis[0], s, GmresSlots::NORM2)?;
            if k == 0 {
                g.observe(s, GmresSlots::NORM2, &run.monitor)?;
                if !run.known(1)? {
                    break;
                }
            }
            g.gmres_start(s, slots)?;
            g.scale(s, Coef::inverse(GmresSlots::BETA), &mut self.basis[0])?;

            let first = k;
            let own = slots.restart - self.corrections.len().min(cycles);
            while k - first < slots.restart as u32 && run.goes_on(k)? {
                // w = A M v_j,  h = V^T w,  w -= V h,  v_{j+1} = w / ||w||
                let j = (k - first) as usize;
                grow(backend, n, &mut self.basis, [j + 2, restart + 1])?;
                if flexible {
                    grow(backend, n, &mut self.directions, [j + 1, restart])?;
                }
                let (v, rest) = self.basis.split_at_mut(j + 1);
                let w = &mut rest[0];
                let z = if flexible { &mut self.directions[j] } else { &mut *z };
                match j.checked_sub(own) {
                    None => m.apply(g, &v[j], z)?,
                    Some(remembered) => g.copy(&self.corrections[remembered], z)?,
                }
                g.multiply(a, z, Then::Store { y: w })?;
                g.gram_schmidt(v, w, s, slots, slots.column(j))?;
                g.gmres_rotate(s, slots, j, &run.monitor)?;
                g.scale(s, Coef::inverse(GmresSlots::LENGTH), w)?;
                k += 1;
            }
            // The update must be made once, also when the cycle was cut short: so the host learns here
            // whether it was.
            let running = run.known(k + 1)?;
            if flexible {
                backend.gmres_solution(s, slots, &self.directions, z)?;
            } else {
                backend.gmres_solution(s, slots, &self.basis, u)?;
                m.apply(backend, u, z)?;
            }
            backend.axpby(s, Coef::ONE, z, Coef::ONE, x)?;
            if running && !self.corrections.is_empty() {
                let oldest = cycles % self.corrections.len();
                backend.copy(z, &mut self.corrections[oldest])?;
            }
            cycles += 1;
            if !running {
                // Where A M is singular the last column may hold nothing but rounding, and its solution with
                // it.
                backend.multiply(a, x, Then::Residual { b, r: &mut self.basis[0] })?;
                backend.dot(&self.basis[0], &self.basis[0], s, GmresSlots::NORM2)?;
                norm = backend.read(s, GmresSlots::NORM2)?.sqrt();
                if norm > T::from_f64(WORSE) * backend.read(s, GmresSlots::BETA)? {
                    backend.axpby(s, Coef::constant(-1.0), z, Coef::ONE, x)?;
                    singular = true;
                }
                break;
            }
        }
        let mut outcome = run.outcome(|| Ok(SINGULAR))?;
        if singular {
            outcome.reason = StopReason::Breakdown(SINGULAR);
        } else if outcome.reason == StopReason::Converged && norm.to_f64() > FAR * outcome.threshold {
            let claimed = outcome.history.last().copied().unwrap_or(f64::NAN);
            outcome.reason = StopReason::Inaccurate { claimed, found: norm.to_f64() };
        }
        Ok(outcome)
    }

    /// 9 vectors and a preconditioner, one more for each cycle's update, and in the j-th iteration of a cycle
    /// 3 (j + 1) for the two passes of Gram and Schmidt, of which the dot products of the second share the
    /// pass of the update of the first.
    fn traffic(&self, iterations: u32, &Parts { product, vector, m }: &Parts) -> u64 {
        let (k, restart) = (u64::from(iterations), self.slots.restart as u64);
        let basis = |cycle: u64| 3 * cycle * (cycle + 1) / 2;
        let all = k / restart * basis(restart) + basis(k % restart);
        k * (product + 9 * vector) + (k + k.div_ceil(restart)) * m.apply + all * vector
    }
}

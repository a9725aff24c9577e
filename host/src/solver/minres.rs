//! MINRES (Paige and Saunders 1975) for symmetric A, definite or not, singular too, with a symmetric positive
//! definite M: the minimal residual in the norm of M, of all x in the Krylov space.
//!
//! The products `q = A p` of its directions are made orthogonal in the inner product of M, which for
//! symmetric A takes the two before (Ashby, Manteuffel, Saylor 1990: Orthodir). They are the Lanczos vectors
//! of `A M` but for their lengths. Other than with rotations of the tridiagonal matrix the residual itself is
//! at hand, and its norm is that of b - A x, not that in the norm of M.

use cuda_std::Real;

use super::description::{Description, Parameters};
use super::iterative::{IterativeSolver, OnProgress, Parts};
use super::on_host::OnHost;
use super::outcome::{Outcome, Stop, StopReason};
use super::run::Run;
use crate::backend::{Backend, Coef, Slot, Then};
use crate::error::Result;
use crate::precond::Preconditioner;

pub(super) const DESCRIPTION: Description = Description {
    doc: "symmetric indefinite",
    needs_symmetry: true,
    ..Description::new("minres", "MINRES", |_, _| 7)
};

pub(super) fn make<T: Real, B: Backend<T> + 'static>(
    backend: &B,
    a: &dyn OnHost<T>,
    _: &dyn Preconditioner<T, B>,
    _: &Parameters,
) -> Result<Box<dyn IterativeSolver<T, B>>> {
    Ok(Box::new(Minres::new(backend, a.n_rows())?))
}

/// `(q, M q)` of even and of odd iterations.
const SQUARE_Q: [Slot; 2] = [Slot(0), Slot(1)];
/// `max |M q|` of even and of odd iterations: what the next direction is divided by, so that none overflows.
const LARGEST: [Slot; 2] = [Slot(2), Slot(3)];
/// `(r, M q)`.
const R_Z: Slot = Slot(4);
/// `(A M q, M q)`; the slot after it receives `(A M q, A M q)`.
const AZ_Z: Slot = Slot(5);
/// `(r, r)`.
const SQUARE: Slot = Slot(7);
const SLOTS: usize = 8;

/// MINRES with its workspace of 7 vectors.
pub struct Minres<T: Real, B: Backend<T>> {
    r: B::Vector,
    /// The direction of this iteration, and the one before: they change places.
    p: [B::Vector; 2],
    /// `A p`.
    q: [B::Vector; 2],
    /// `M q`.
    z: B::Vector,
    /// `A z`.
    az: B::Vector,
    scalars: B::Scalars,
}

impl<T: Real, B: Backend<T>> Minres<T, B> {
    /// A workspace for `n` unknowns.
    pub fn new(backend: &B, n: usize) -> Result<Self> {
        Ok(Minres {
            r: backend.zeros(n)?,
            p: [backend.zeros(n)?, backend.zeros(n)?],
            q: [backend.zeros(n)?, backend.zeros(n)?],
            z: backend.zeros(n)?,
            az: backend.zeros(n)?,
            scalars: backend.scalars(SLOTS)?,
        })
    }
}

impl<T: Real, B: Backend<T>> IterativeSolver<T, B> for Minres<T, B> {
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
        let mut run = Run::<T, B>::new(backend, b, stop, on_progress)?.preconditioned_by(&*m);
        let guarded = run.backend.guarded(&run.monitor);
        let (g, s) = (&guarded, &self.scalars);
        let Minres { r, p: [p0, p1], q: [q0, q1], z, az, .. } = self;

        // r = b - A x,  p = M r,  q = A p
        g.multiply(a, x, Then::Residual { b, r })?;
        g.dot(r, r, s, SQUARE)?;
        g.observe(s, SQUARE, &run.monitor)?;
        m.apply(g, r, p0)?;
        g.multiply(a, p0, Then::Store { y: q0 })?;
        g.fill(T::ZERO, p1)?;
        g.fill(T::ZERO, q1)?;

        run.iterate(2, |g, monitor, k| {
            let (now, before) = (k as usize % 2, (k as usize + 1) % 2);
            let (p, p_old, q, q_old) = if now == 0 {
                (&mut *p0, &mut *p1, &*q0, &mut *q1)
            } else {
                (&mut *p1, &mut *p0, &*q1, &mut *q0)
            };
            // alpha = (r, z) / (q, z)  with  z = M q,  x += alpha p,  r -= alpha q
            m.apply(g, q, z)?;
            g.dot(q, z, s, SQUARE_Q[now])?;
            g.dot(r, z, s, R_Z)?;
            let alpha = Coef::ratio(R_Z, SQUARE_Q[now]);
            g.axpby(s, alpha, p, Coef::ONE, x)?;
            g.axpby(s, alpha.negated(), q, Coef::ONE, r)?;
            g.dot(r, r, s, SQUARE)?;
            g.observe(s, SQUARE, monitor)?;
            // mu p_new = z - delta p - gamma p_old,  delta = (A z, z) / (q, z),
            // gamma = (A z, z_old) / (q_old, z_old) = mu_old (q, z) / (q_old, z_old),  mu = max |z|
            g.norm_max(z, s, LARGEST[now])?;
            g.multiply(a, z, Then::Dot { w: z, y: az, s, out: AZ_Z })?;
            let mu = Coef::inverse(LARGEST[now]);
            let delta = Coef::ratio(AZ_Z, SQUARE_Q[now]);
            let delta = Coef { den: [delta.den[0], Some(LARGEST[now])], ..delta };
            let gamma = match k {
                0 => Coef::ZERO,
                _ => Coef::ratio(LARGEST[before], LARGEST[now]).times(SQUARE_Q[now], SQUARE_Q[before]),
            };
            g.axpbypcz(s, mu, z, delta.negated(), p, gamma.negated(), p_old)?;
            g.axpbypcz(s, mu, az, delta.negated(), q, gamma.negated(), q_old)
        })?;
        let is_f64 = T::EPSILON.to_f64() == f64::EPSILON;
        let mut outcome = run.outcome(|| Ok(if is_f64 { LEAST } else { VANISHED }))?;
        let squares = [backend.read(s, SQUARE_Q[0])?, backend.read(s, SQUARE_Q[1])?];
        if outcome.reason != StopReason::Converged && squares.iter().any(|&square| square < T::ZERO) {
            outcome.reason = StopReason::IndefinitePreconditioner;
        }
        Ok(outcome)
    }

    /// The product with its dot product, two more of z with q and with r, the largest of z, and updates of x,
    /// r, two directions.
    fn traffic(&self, iterations: u32, &Parts { product, vector, m }: &Parts) -> u64 {
        u64::from(iterations) * (product + 20 * vector + m.apply)
    }
}

const LEAST: &str = "A M r = 0: no x leaves a smaller residual";
// Of a matrix that was rounded to f32, which proves nothing.
const VANISHED: &str = "A M r = 0 in f32";

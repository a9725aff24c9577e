//! MINRES (Paige and Saunders 1975) for symmetric A, definite or not, singular too, with a symmetric positive
//! definite M: the minimal residual in the norm of M, of all x in the Krylov space.
//!
//! The products `q = A p` of its directions are made orthogonal in the inner product of M, which for
//! symmetric A takes the two before (Ashby, Manteuffel, Saylor 1990: Orthodir). They are the Lanczos vectors
//! of `A M` but for their lengths. Other than with rotations of the tridiagonal matrix the residual itself is
//! at hand, and its norm is that of b - A x, not that in the norm of M.
//!
//! Where b is outside of the range of A, the residual goes down to a vector r with A M r = 0, and behind that
//! rounding makes ever larger steps along the null space, of which the residual that is updated knows nothing
//! (Choi, Paige and Saunders 2011). So x and b - A x are looked at when the iterations have doubled, and the
//! best x is [`kept`].

use cuda_std::Real;

use super::description::{Description, Parameters};
use super::iterative::{IterativeSolver, OnProgress, Parts};
use super::on_host::OnHost;
use super::outcome::{Outcome, Stop, StopReason};
use super::run::Run;
use crate::backend::{Backend, Coef, Slot, Then};
use crate::error::Result;
use crate::precond::Preconditioner;
use kept::{Kept, Verdict};

mod kept;

pub(super) const DESCRIPTION: Description = Description {
    doc: "symmetric indefinite",
    needs_symmetry: true,
    ..Description::new("minres", "MINRES", |_, _| 8)
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

/// MINRES with its workspace of 8 vectors.
pub struct Minres<T: Real, B: Backend<T>> {
    r: B::Vector,
    /// The direction of even and of odd iterations.
    p: [B::Vector; 2],
    /// `A p`.
    q: [B::Vector; 2],
    /// `M q`.
    z: B::Vector,
    /// `A z`.
    az: B::Vector,
    scalars: B::Scalars,
    kept: Kept<T, B>,
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
            kept: Kept::new(backend, n)?,
        })
    }

    /// `p = M r,  q = A p`
    fn start(&mut self, g: &B, a: &B::Matrix, m: &mut dyn Preconditioner<T, B>) -> Result<()> {
        let Minres { r, p: [p0, p1], q: [q0, q1], .. } = self;
        m.apply(g, r, p0)?;
        g.multiply(a, p0, Then::Store { y: q0 })?;
        g.fill(T::ZERO, p1)?;
        g.fill(T::ZERO, q1)
    }

    /// Why an iteration stopped, which goes on by its own residual where it `is_running`.
    fn reason(&self, backend: &B, outcome: &Outcome, is_running: bool) -> Result<StopReason> {
        /// `||A M r||` beside `||A|| ||M r||` at most, where nothing could make x better.
        const SMALL: f64 = 1e-6;
        /// More than rounding, of a norm that is compared with the threshold once more.
        const NEAR: f64 = 2.0;
        let Outcome { reason, ref history, threshold, .. } = *outcome;
        let (norm, gradient) = (self.kept.norm(), self.kept.gradient());
        let is_f64 = T::NAME == f64::NAME;
        let claimed = history.last().copied().unwrap_or(f64::NAN);
        let squares = [backend.read(&self.scalars, SQUARE_Q[0])?, backend.read(&self.scalars, SQUARE_Q[1])?];
        let is_over = matches!(reason, StopReason::Converged | StopReason::Breakdown(_));
        let is_left = reason == StopReason::IterationLimit && is_running;
        Ok(match reason {
            StopReason::Converged if norm <= NEAR * threshold => reason,
            // A matrix that was rounded to f32 proves nothing.
            _ if is_f64 && (is_over || is_left) && gradient <= SMALL => StopReason::LeastSquares { gradient },
            StopReason::Converged => reason,
            _ if squares.iter().any(|&square| square < T::ZERO) => StopReason::IndefinitePreconditioner,
            _ if is_left => StopReason::Inaccurate { claimed, found: norm },
            reason => reason,
        })
    }

    /// Iteration k from the start.
    fn step(
        &mut self,
        g: &B,
        (a, m): (&B::Matrix, &mut dyn Preconditioner<T, B>),
        x: &mut B::Vector,
        monitor: &B::Monitor,
        k: u32,
    ) -> Result<()> {
        let Minres { r, p: [p0, p1], q: [q0, q1], z, az, scalars: s, .. } = self;
        let (now, before) = (k as usize % 2, (k as usize + 1) % 2);
        let (p, p_old, q, q_old) = if now == 0 { (p0, p1, q0, q1) } else { (p1, p0, q1, q0) };
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
        let g = &guarded;
        // r = b - A x
        g.multiply(a, x, Then::Residual { b, r: &mut self.r })?;
        g.dot(&self.r, &self.r, &self.scalars, SQUARE)?;
        g.observe(&self.scalars, SQUARE, &run.monitor)?;
        self.start(g, a, m)?;
        self.kept.begin(backend, x, (&self.r, &self.p[0], &self.q[0]))?;

        let (mut before, mut first, mut length) = (0, 0, 1);
        loop {
            let end = first + length;
            run.stretch(before, first..end, 2, |g, monitor, k| self.step(g, (a, &mut *m), x, monitor, k))?;
            let goes_on = run.known(before + end + 1)?;
            let progress = backend.wait(&run.monitor, 0)?;
            let Minres { r, z, az, kept, .. } = self;
            match kept.look(backend, (a, &mut *m, b), x, (z, az), progress)? {
                Verdict::GoOn if goes_on => (first, length) = (end, 2 * length),
                Verdict::Again if goes_on => {
                    (before, first, length) = (before + end, 0, 1);
                    g.multiply(a, x, Then::Residual { b, r })?;
                    self.start(g, a, m)?;
                }
                _ => break,
            }
        }
        let is_running = backend.wait(&run.monitor, 0)?.running();
        let mut outcome = run.outcome(|| Ok(VANISHED))?;
        outcome.reason = self.reason(backend, &outcome, is_running)?;
        Ok(outcome)
    }

    /// The product with its dot product, two more of z with q and with r, the largest of z, and updates of x,
    /// r, two directions; and what looks at x take.
    fn traffic(&self, iterations: u32, &Parts { product, vector, m }: &Parts) -> u64 {
        let looks = u64::from((iterations + 1).ilog2());
        u64::from(iterations) * (product + 20 * vector + m.apply)
            + looks * (2 * product + 9 * vector + m.apply)
    }
}

const VANISHED: &str = "a product of directions, whose squares vanish or overflow where the numbers of the matrix \
                        or of its preconditioner are far from 1; multiply the matrix by a number";

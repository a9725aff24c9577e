//! BiCGSTAB (van der Vorst 1992; Saad 2003, algorithm 7.7), preconditioned from the right, for
//! nonsymmetric A.

use cuda_std::Real;

use super::description::{Description, Parameters};
use super::iterative::{IterativeSolver, OnProgress, Parts};
use super::on_host::OnHost;
use super::outcome::{Outcome, Stop, StopReason};
use super::run::Run;
use crate::backend::{Backend, Coef, Slot, Then};
use crate::error::Result;
use crate::precond::Preconditioner;

pub(super) const DESCRIPTION: Description =
    Description { after_breakdown: Some("gmres"), ..Description::new("bicgstab", "BiCGSTAB", |_, _| 7) };

pub(super) fn make<T: Real, B: Backend<T> + 'static>(
    backend: &B,
    a: &dyn OnHost<T>,
    _: &dyn Preconditioner<T, B>,
    _: &Parameters,
) -> Result<Box<dyn IterativeSolver<T, B>>> {
    Ok(Box::new(Bicgstab::new(backend, a.n_rows())?))
}

/// `(r0, r)` of even and of odd iterations.
const RHO: [Slot; 2] = [Slot(0), Slot(1)];
/// `(r0, v)`; the slot after it receives `(v, v)`.
const R0_V: Slot = Slot(2);
/// `(s, t)`, then `(t, t)`.
const S_T: Slot = Slot(4);
const T_T: Slot = Slot(5);
/// `(r, r)`.
const SQUARE: Slot = Slot(6);
const SLOTS: usize = 7;

/// BiCGSTAB with its workspace of 7 vectors.
pub struct Bicgstab<T: Real, B: Backend<T>> {
    r: B::Vector,
    shadow: B::Vector,
    p: B::Vector,
    mp: B::Vector,
    v: B::Vector,
    ms: B::Vector,
    t: B::Vector,
    scalars: B::Scalars,
}

impl<T: Real, B: Backend<T>> Bicgstab<T, B> {
    /// A workspace for `n` unknowns.
    pub fn new(backend: &B, n: usize) -> Result<Self> {
        Ok(Bicgstab {
            r: backend.zeros(n)?,
            shadow: backend.zeros(n)?,
            p: backend.zeros(n)?,
            mp: backend.zeros(n)?,
            v: backend.zeros(n)?,
            ms: backend.zeros(n)?,
            t: backend.zeros(n)?,
            scalars: backend.scalars(SLOTS)?,
        })
    }
}

impl<T: Real, B: Backend<T>> IterativeSolver<T, B> for Bicgstab<T, B> {
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
        let (g, scalars) = (&guarded, &self.scalars);
        let Bicgstab { r, shadow, p, mp, v, ms, t, .. } = self;

        // r = b - A x,  r0 = r
        g.multiply(a, x, Then::Residual { b, r })?;
        g.copy(r, shadow)?;
        g.dot(r, r, scalars, SQUARE)?;
        g.observe(scalars, SQUARE, &run.monitor)?;

        run.iterate(2, |g, monitor, k| {
            // alpha = rho / (r0, v)  and  omega = (s, t) / (t, t)  are never formed:
            // beta = (rho / rho_old) (alpha_old / omega_old) = (rho / (r0, v_old)) ((t, t) / (s, t))
            let rho = RHO[k as usize % 2];
            let alpha = Coef::ratio(rho, R0_V);
            let omega = Coef::ratio(S_T, T_T);
            g.dot(shadow, r, scalars, rho)?;
            if k == 0 {
                g.copy(r, p)?;
            } else {
                // p = r + beta (p - omega_old v)
                g.axpbypcz(scalars, Coef::ONE, r, alpha.negated(), v, alpha.times(T_T, S_T), p)?;
            }
            // v = A M p,  s = r - alpha v  (kept in r),  x += alpha M p
            m.apply(g, p, mp)?;
            g.multiply(a, mp, Then::Dot { w: shadow, y: v, s: scalars, out: R0_V })?;
            g.axpby(scalars, alpha, mp, Coef::ONE, x)?;
            g.axpby(scalars, alpha.negated(), v, Coef::ONE, r)?;
            // t = A M s,  x += omega M s,  r = s - omega t
            m.apply(g, r, ms)?;
            g.multiply(a, ms, Then::Dot { w: r, y: t, s: scalars, out: S_T })?;
            g.axpby(scalars, omega, ms, Coef::ONE, x)?;
            g.axpby(scalars, omega.negated(), t, Coef::ONE, r)?;
            g.dot(r, r, scalars, SQUARE)?;
            g.observe(scalars, SQUARE, monitor)
        })?;
        let threshold = run.threshold;
        let mut outcome = run.outcome(|| {
            Ok(match () {
                () if backend.read(scalars, R0_V)? == T::ZERO => "(r0, A M p) = 0",
                () if backend.read(scalars, T_T)? == T::ZERO => "A M s = 0",
                () => "omega = 0",
            })
        })?;
        // The first half of a step may already have solved the system: then s = 0, and t = A M s with it.
        if let StopReason::Breakdown(_) = outcome.reason {
            backend.multiply(a, x, Then::Residual { b, r })?;
            backend.dot(r, r, scalars, SQUARE)?;
            let norm = backend.read(scalars, SQUARE)?.to_f64().sqrt();
            if norm <= threshold {
                outcome.reason = StopReason::Converged;
                outcome.iterations += 1;
                outcome.history.push(norm);
            }
        }
        Ok(outcome)
    }

    fn traffic(&self, iterations: u32, &Parts { product, vector, m }: &Parts) -> u64 {
        u64::from(iterations) * (2 * product + 21 * vector + 2 * m.apply)
    }
}

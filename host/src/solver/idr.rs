//! IDR(s) with bi-orthogonal vectors (van Gijzen and Sonneveld 2011, algorithm 2) for nonsymmetric A,
//! preconditioned from the right, with s = 4 shadow vectors that are the same in every run.
//!
//! A cycle is s steps, each of which finds a direction u and `g = A u` orthogonal to one shadow vector more,
//! and one step `r -= omega A M r` into the next, smaller space, whose omega is kept from being small
//! (Sleijpen and van der Vorst 1995). Where the paper solves with the lower
//! triangular matrix `(p_i, g_j)`, each unknown of it is a dot product with what the ones before it left.

use cuda_std::Real;

use super::description::{Description, Parameters};
use super::iterative::{IterativeSolver, OnProgress, Parts};
use super::on_host::OnHost;
use super::outcome::{Outcome, Stop, StopReason};
use super::run::Run;
use crate::backend::{Backend, Coef, Slot, Then};
use crate::error::Result;
use crate::precond::Preconditioner;
use crate::problem::random::uniform;

/// Shadow vectors.
const S: usize = 4;

pub(super) const DESCRIPTION: Description = Description {
    doc: "IDR(4), few vectors",
    after_breakdown: Some("gmres"),
    ..Description::new("idr", "IDR(4)", |_, _| 3 * S + 3)
};

pub(super) fn make<T: Real, B: Backend<T> + 'static>(
    backend: &B,
    a: &dyn OnHost<T>,
    _: &dyn Preconditioner<T, B>,
    _: &Parameters,
) -> Result<Box<dyn IterativeSolver<T, B>>> {
    Ok(Box::new(Idr::new(backend, a.n_rows())?))
}

/// `(p_k, g_k)`.
const P_G: Slot = Slot(0);
/// `(p_k, v)`.
const P_V: Slot = Slot(S);
/// `(p_i, g_k)`, one at a time.
const P_OTHER: Slot = Slot(2 * S);
/// `(p_k, r)`.
const P_R: Slot = Slot(2 * S + 1);
/// `(r, t)`, then `(t, t)`.
const R_T: Slot = Slot(2 * S + 2);
const T_T: Slot = Slot(2 * S + 3);
/// `(r, r)`.
const SQUARE: Slot = Slot(2 * S + 4);
/// The step into the next space.
const OMEGA: Slot = Slot(2 * S + 5);
const SLOTS: usize = 2 * S + 6;

/// IDR(4) with its workspace of 15 vectors.
pub struct Idr<T: Real, B: Backend<T>> {
    shadows: Vec<B::Vector>,
    u: Vec<B::Vector>,
    /// `g_k = A u_k`.
    g: Vec<B::Vector>,
    r: B::Vector,
    v: B::Vector,
    z: B::Vector,
    scalars: B::Scalars,
}

impl<T: Real, B: Backend<T>> Idr<T, B> {
    /// A workspace for `n` unknowns.
    pub fn new(backend: &B, n: usize) -> Result<Self> {
        let shadows = orthonormal(n, S.min(n));
        let shadows: Vec<Vec<T>> =
            shadows.into_iter().map(|p| p.into_iter().map(T::from_f64).collect()).collect();
        Ok(Idr {
            u: backend.vectors(n, shadows.len())?,
            g: backend.vectors(n, shadows.len())?,
            shadows: shadows.iter().map(|p| backend.vector(p)).collect::<Result<_>>()?,
            r: backend.zeros(n)?,
            v: backend.zeros(n)?,
            z: backend.zeros(n)?,
            scalars: backend.scalars(SLOTS)?,
        })
    }

    /// Step `k` of a cycle: a direction u with `g = A u`, orthogonal to the shadow vectors before, and the
    /// residual made orthogonal to the k-th.
    fn step(
        &mut self,
        (backend, a, m): (&B, &B::Matrix, &mut dyn Preconditioner<T, B>),
        (k, is_first): (usize, bool),
        x: &mut B::Vector,
    ) -> Result<()> {
        let s = &self.scalars;
        let Idr { shadows, r, v, z, .. } = self;
        let gamma = |i: usize| Coef::ratio(P_V.offset(i), P_G.offset(i));
        let omega = if is_first { Coef::ONE } else { Coef::slot(OMEGA) };
        let (u_before, u_rest) = self.u.split_at_mut(k);
        let (g_before, g_rest) = self.g.split_at_mut(k);
        let ((u, u_after), (g, g_after)) =
            (u_rest.split_first_mut().expect("k < s"), g_rest.split_first_mut().expect("k < s"));

        // v = r - sum gamma_i g_i,  orthogonal to all shadow vectors;  u = omega M v + sum gamma_i u_i.
        // In the first cycle those of later steps are zero.
        backend.copy(r, v)?;
        if !is_first {
            for (i, g) in std::iter::once(&*g).chain(&*g_after).enumerate() {
                backend.dot(&shadows[k + i], v, s, P_V.offset(k + i))?;
                backend.axpby(s, gamma(k + i).negated(), g, Coef::ONE, v)?;
            }
        }
        m.apply(backend, v, z)?;
        let share = if is_first { Coef::ZERO } else { gamma(k) };
        backend.axpby(s, omega, z, share, u)?;
        if !is_first {
            for (i, u_after) in u_after.iter().enumerate() {
                backend.axpby(s, gamma(k + 1 + i), u_after, Coef::ONE, u)?;
            }
        }
        backend.multiply(a, u, Then::Store { y: g })?;
        for (i, (u_before, g_before)) in u_before.iter().zip(&*g_before).enumerate() {
            let alpha = Coef::ratio(P_OTHER, P_G.offset(i)).negated();
            backend.dot(&shadows[i], g, s, P_OTHER)?;
            backend.axpby(s, alpha, g_before, Coef::ONE, g)?;
            backend.axpby(s, alpha, u_before, Coef::ONE, u)?;
        }
        // beta = (p_k, r) / (p_k, g_k),  r -= beta g_k,  x += beta u_k
        let beta = Coef::ratio(P_R, P_G.offset(k));
        backend.dot(&shadows[k], g, s, P_G.offset(k))?;
        backend.dot(&shadows[k], r, s, P_R)?;
        backend.axpby(s, beta.negated(), g, Coef::ONE, r)?;
        backend.axpby(s, beta, u, Coef::ONE, x)
    }

    /// The end of a cycle: `t = A M r`, `x += omega M r`, `r -= omega t`. `omega = (r, t) / (t, t)` leaves
    /// the least of r. But where r and t are nearly orthogonal, as with a skew A, it is so small that the
    /// next space is found with little accuracy, and then it is made longer.
    fn reduce(
        &mut self,
        (backend, a, m): (&B, &B::Matrix, &mut dyn Preconditioner<T, B>),
        x: &mut B::Vector,
    ) -> Result<()> {
        let Idr { r, v: t, z, scalars: s, .. } = self;
        let omega = Coef::slot(OMEGA);
        m.apply(backend, r, z)?;
        backend.multiply(a, z, Then::Dot { w: r, y: t, s, out: R_T })?;
        backend.angle_step(s, R_T, SQUARE, OMEGA)?;
        backend.axpby(s, omega, z, Coef::ONE, x)?;
        backend.axpby(s, omega.negated(), t, Coef::ONE, r)
    }
}

impl<T: Real, B: Backend<T>> IterativeSolver<T, B> for Idr<T, B> {
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
        let cycle = self.shadows.len() + 1;

        // r = b - A x
        guarded.multiply(a, x, Then::Residual { b, r: &mut self.r })?;
        guarded.dot(&self.r, &self.r, &self.scalars, SQUARE)?;
        guarded.observe(&self.scalars, SQUARE, &run.monitor)?;

        // An even number of iterations: M may do one thing in one application and another in the next.
        run.iterate(2 * cycle as u32, |g, monitor, iteration| {
            let k = iteration as usize % cycle;
            if k < self.shadows.len() {
                self.step((g, a, &mut *m), (k, (iteration as usize) < cycle), x)?;
            } else {
                self.reduce((g, a, &mut *m), x)?;
            }
            g.dot(&self.r, &self.r, &self.scalars, SQUARE)?;
            g.observe(&self.scalars, SQUARE, monitor)
        })?;
        let threshold = run.threshold;
        let mut outcome = run.outcome(|| {
            let is_omega = backend.read(&self.scalars, T_T)? == T::ZERO;
            Ok(if is_omega { "A M r = 0" } else { "(p, A M v) = 0" })
        })?;
        // A residual that vanishes within a step leaves nothing to divide by in the next.
        if let StopReason::Breakdown(_) = outcome.reason {
            backend.multiply(a, x, Then::Residual { b, r: &mut self.r })?;
            backend.dot(&self.r, &self.r, &self.scalars, SQUARE)?;
            if backend.read(&self.scalars, SQUARE)?.to_f64().sqrt() <= threshold {
                outcome.reason = StopReason::Converged;
            }
        }
        Ok(outcome)
    }

    /// In step k of a cycle: r copied to v, with s - k vectors g (8 each, with the dot product) and s - k - 1
    /// more u (3), the first u with z (3), k vectors g and u (8), dot products with g and r (4), updates of r
    /// and x (6), `(r, r)`. In the first cycle g and u of later steps are left out. The end of a cycle: the
    /// product's dot product, two updates, `(r, r)`.
    fn traffic(&self, iterations: u32, &Parts { product, vector, m }: &Parts) -> u64 {
        let (iterations, s) = (u64::from(iterations), self.shadows.len() as u64);
        let vectors = |iteration: u64| match iteration % (s + 1) {
            k if k == s => 8,
            k if iteration < s => 2 + 2 + 8 * k + 11,
            k => 2 + 5 * (s - k) + 3 * (s - k - 1) + 3 + 8 * k + 11,
        };
        iterations * (product + m.apply) + (0..iterations).map(vectors).sum::<u64>() * vector
    }
}

/// So many orthonormal vectors of length n, by modified Gram-Schmidt done twice from random numbers.
fn orthonormal(n: usize, count: usize) -> Vec<Vec<f64>> {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let mut vectors: Vec<Vec<f64>> = Vec::with_capacity(count);
    for seed in 1..=count as u64 {
        let mut v: Vec<f64> = (0..n as u64).map(|i| uniform(seed, i) - 0.5).collect();
        for _ in 0..2 {
            for before in &vectors {
                let h = dot(before, &v);
                v.iter_mut().zip(before).for_each(|(v, before)| *v -= h * before);
            }
            let norm = dot(&v, &v).sqrt();
            v.iter_mut().for_each(|v| *v /= norm);
        }
        vectors.push(v);
    }
    vectors
}

#[cfg(test)]
mod tests {
    use crate::job::{self, Device, Method, Options, Precond};
    use crate::matrix::Csr;
    use crate::problem::random::uniform;

    /// Differences on a grid, which are skew, and a little of the identity.
    fn skewed(side: usize, diagonal: f64) -> Csr<f64> {
        let n = side * side;
        let along = (0..n).filter(|i| (i + 1) % side != 0).map(|i| (i, i + 1));
        let across = (0..n - side).map(|i| (i, i + side));
        let edges = along.chain(across).flat_map(|(i, j)| [(i, j, 1.0), (j, i, -1.0)]);
        Csr::from_triplets(n, n, edges.chain((0..n).map(|i| (i, i, diagonal)))).unwrap()
    }

    #[test]
    fn what_is_nearly_skew_converges() {
        // Without the angle it takes about 300 and 600 iterations.
        for (side, diagonal, most) in [(15, 0.5, 260), (30, 0.5, 480)] {
            let a = skewed(side, diagonal);
            let n = a.n_rows();
            let b: Vec<f64> = (0..n as u64).map(|i| uniform(6, i) - 0.5).collect();
            let (method, precond) = (Some(Method::Idr), Some(Precond::None));
            let options = Options { method, precond, ..Options::default() };
            let report = job::solve(&a, &b, &options, &Device::cpu(1).unwrap()).unwrap().report;
            assert!(report.converged() && report.outcome.iterations < most, "{report}");
        }
    }
}

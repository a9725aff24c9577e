//! The preconditioned conjugate gradient method (Hestenes and Stiefel 1952; Saad 2003, algorithm 9.1), for
//! symmetric positive definite A and M.

use cuda_std::Real;

use super::{OnProgress, Outcome, Run, Solver, Stop};
use crate::backend::{Backend, Coef, Slot};
use crate::error::Result;
use crate::precond::{Preconditioner, Shape};

/// `(r, M r)` and `(r, r)` of even iterations, then of odd ones: a step reads one pair and writes the other.
const RHO: [Slot; 2] = [Slot(0), Slot(2)];
/// `(p, A p)`; the slot after it receives `(A p, A p)`.
const P_AP: Slot = Slot(4);
const SLOTS: usize = 6;

/// CG with its workspace: 3 vectors, and one more for a preconditioner that cannot be fused.
pub struct Cg<T: Real, B: Backend<T>> {
    r: B::Vector,
    p: B::Vector,
    ap: B::Vector,
    z: Option<B::Vector>,
    scalars: B::Scalars,
}

impl<T: Real, B: Backend<T>> Cg<T, B> {
    /// Vectors of length n in the workspace; one more with a preconditioner that cannot be fused.
    pub const VECTORS: usize = 3;

    /// A workspace for `n` unknowns and a preconditioner of the shape of `m`.
    pub fn new(backend: &B, n: usize, m: &dyn Preconditioner<T, B>) -> Result<Self> {
        let z = match m.shape() {
            Shape::General => Some(backend.zeros(n)?),
            Shape::Identity | Shape::Diagonal(_) => None,
        };
        Ok(Cg {
            r: backend.zeros(n)?,
            p: backend.zeros(n)?,
            ap: backend.zeros(n)?,
            z,
            scalars: backend.scalars(SLOTS)?,
        })
    }
}

impl<T: Real, B: Backend<T>> Solver<T, B> for Cg<T, B> {
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
        let mut run = Run::<T, B>::new(backend, b, stop, on_progress)?;
        let guarded = run.backend.guarded(&run.monitor);
        let (g, s) = (&guarded, &self.scalars);
        let (r, p, ap) = (&mut self.r, &mut self.p, &mut self.ap);

        // r = b - A x,  p = M r,  rho = (r, M r)
        backend.fill(T::ZERO, p)?;
        g.residual(a, x, b, r)?;
        g.dot(r, r, s, RHO[0])?;
        g.observe(s, RHO[0], &run.monitor)?;
        match m.shape() {
            Shape::Identity => g.direction(s, None, r, Coef::ZERO, p)?,
            Shape::Diagonal(d) => g.direction(s, Some(d), r, Coef::ZERO, p)?,
            Shape::General => m.apply(g, r, p)?,
        }
        g.dot(r, p, s, RHO[0])?;

        let mut k = 0;
        while run.goes_on(k)? {
            let (rho, next) = (RHO[k as usize % 2], RHO[(k as usize + 1) % 2]);
            let beta = Coef::ratio(next, rho);
            // alpha = rho / (p, A p),  x += alpha p,  r -= alpha A p,  z = M r,  p = z + beta p
            g.spmv_dot(a, p, p, ap, s, P_AP)?;
            let d = match m.shape() {
                Shape::Diagonal(d) => Some(d),
                Shape::Identity | Shape::General => None,
            };
            g.cg_step(s, rho, P_AP, p, ap, d, x, r, next, &run.monitor)?;
            match &mut self.z {
                None => g.direction(s, d, r, beta, p)?,
                Some(z) => {
                    m.apply(g, r, z)?;
                    g.dot(r, z, s, next)?;
                    g.direction(s, None, z, beta, p)?;
                }
            }
            k += 1;
        }
        run.outcome(|| Ok("beta is not finite"))
    }
}

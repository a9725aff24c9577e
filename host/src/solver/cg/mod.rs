//! The preconditioned conjugate gradient method (Hestenes and Stiefel 1952; Saad 2003, algorithm 9.1), for
//! symmetric positive definite A and M; where M changes from step to step, the flexible one (Notay 2000, with
//! a truncation to one direction).

use cuda_std::Real;

use super::columns::ColumnsSolver;
use super::description::{Description, Parameters};
use super::iterative::{IterativeSolver, OnProgress, Parts};
use super::on_host::OnHost;
use super::outcome::{Outcome, Stop};
use super::run::Run;
use crate::backend::{Backend, Coef, Columns, Memory, OneColumn, Slot, Then};
use crate::error::Result;
use crate::precond::{Preconditioner, Shape};

mod columns;
mod device;
mod distributed;
mod host;
mod steps;

pub(crate) use columns::column_of;
pub use steps::{CgStep, CgSteps};

pub(super) const DESCRIPTION: Description = Description {
    needs_symmetry: true,
    ..Description::new("cg", "CG", |_, is_fused| if is_fused { 3 } else { 4 })
};

pub(super) fn make<T: Real, B: CgSteps<T> + 'static>(
    backend: &B,
    a: &dyn OnHost<T>,
    m: &dyn Preconditioner<T, B>,
    _: &Parameters,
) -> Result<Box<dyn IterativeSolver<T, B>>> {
    Ok(Box::new(Cg::new(backend, a.n_rows(), m)?))
}

/// `(r, M r)` and `(r, r)` of even iterations, then of odd ones: a step reads one pair and writes the other.
const RHO: [Slot; 2] = [Slot(0), Slot(2)];
/// `(p, A p)`; the slot after it receives `(A p, A p)`.
const P_AP: Slot = Slot(4);
/// `(z, A p)`, where M is not fixed.
const Z_AP: Slot = Slot(6);
const SLOTS: usize = 7;

/// CG with its workspace: 3 vectors, and one more for a preconditioner that cannot be fused.
pub struct Cg<T: Real, B: Backend<T>> {
    r: B::Vector,
    p: B::Vector,
    ap: B::Vector,
    z: Option<B::Vector>,
    scalars: B::Scalars,
}

impl<T: Real, B: Backend<T>> Cg<T, B> {
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

impl<T: Real, B: CgSteps<T>> IterativeSolver<T, B> for Cg<T, B> {
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
        self.iterate(&mut run, backend, a, m, b, x)?;
        run.outcome(|| Ok(BREAKDOWN))
    }

    /// The product with its dot product, the step over p, A p, x and r, and the direction.
    fn traffic(&self, iterations: u32, &Parts { product, vector, m }: &Parts) -> u64 {
        u64::from(iterations) * (product + 9 * vector + m.in_cg)
    }
}

/// What stops CG where nothing else does.
const BREAKDOWN: &str = "beta is not finite";

impl<T: Real, B: CgSteps<T>> Cg<T, B> {
    /// Iterates until the monitor of `run` stops.
    fn iterate(
        &mut self,
        run: &mut Run<T, B>,
        backend: &B,
        a: &B::Matrix,
        m: &mut dyn Preconditioner<T, B>,
        b: &B::Vector,
        x: &mut B::Vector,
    ) -> Result<()> {
        let guarded = run.backend.guarded(&run.monitor);
        let (g, s) = (&guarded, &self.scalars);
        let (r, p, ap, z) = (&mut self.r, &mut self.p, &mut self.ap, &mut self.z);

        // r = b - A x,  p = M r,  rho = (r, M r)
        backend.fill(T::ZERO, p)?;
        g.multiply(a, x, Then::Residual { b, r })?;
        g.dot(r, r, s, RHO[0])?;
        g.observe(s, RHO[0], &run.monitor)?;
        match m.shape() {
            Shape::Identity => g.direction(s, None, r, Coef::ZERO, p)?,
            Shape::Diagonal(d) => g.direction(s, Some(d), r, Coef::ZERO, p)?,
            Shape::General => m.apply(g, r, p)?,
        }
        g.dot(r, p, s, RHO[0])?;

        run.iterate(2, |g, monitor, k| {
            let (rho, next) = (RHO[k as usize % 2], RHO[(k as usize + 1) % 2]);
            // alpha = rho / (p, A p),  x += alpha p,  r -= alpha A p,  z = M r,  p = z + beta p
            g.multiply(a, p, Then::Dot { w: p, y: ap, s, out: P_AP })?;
            let d = match m.shape() {
                Shape::Diagonal(d) => Some(d),
                Shape::Identity | Shape::General => None,
            };
            let mut step = CgStep { s, rho, p_ap: P_AP, p, ap, x, r, out: next, scratch: Z_AP, monitor };
            match z {
                None => {
                    g.cg_step(&mut step, d)?;
                    g.direction(s, d, r, Coef::ratio(next, rho), p)
                }
                Some(z) => m.cg_step(g, step, z),
            }
        })
    }
}

impl<T: Real, B: CgSteps<T> + OneColumn> ColumnsSolver<T, B> for Cg<T, Columns<B>> {
    /// Independent systems: a column stops by itself, and then neither its x nor its history changes.
    fn solve_columns(
        &mut self,
        backend: &Columns<B>,
        a: &B::Matrix,
        m: &mut dyn Preconditioner<T, Columns<B>>,
        b: &<Columns<B> as Memory<T>>::Vector,
        x: &mut <Columns<B> as Memory<T>>::Vector,
        limit: u32,
        on_progress: OnProgress,
    ) -> Result<Vec<Outcome>> {
        let mut run = Run::bounded(backend, limit, 1.0, on_progress)?.preconditioned_by(&*m);
        self.iterate(&mut run, backend, a, m, b, x)?;
        run.outcomes(|| Ok(BREAKDOWN))
    }

    fn column_traffic(&self, iterations: u32, parts: &Parts) -> u64 {
        self.traffic(iterations, parts)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::backend::gpu::Gpu;
    use crate::backend::reference::Reference;
    use crate::matrix::{AnyMatrix, Csr};
    use crate::problem::generate;
    use crate::problem::random::uniform;

    /// Two diagonals in turn.
    struct Alternating<V> {
        diagonals: [V; 2],
        calls: usize,
        says_fixed: bool,
    }

    impl<B: Backend<f64>> Preconditioner<f64, B> for Alternating<B::Vector> {
        fn apply(&mut self, backend: &B, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
            self.calls += 1;
            backend.scale_rows(1.0, &self.diagonals[(self.calls + 1) % 2], r, z)
        }
        fn is_fixed(&self) -> bool {
            self.says_fixed
        }
    }

    const STEPS: usize = 12;

    fn diagonals(n: usize) -> [Vec<f64>; 2] {
        [1, 2].map(|seed| (0..n as u64).map(|i| 0.4 + 0.8 * uniform(seed, i)).collect())
    }

    fn history<B: CgSteps<f64>>(g: &B, a: &Arc<Csr<f64>>, says_fixed: bool) -> Vec<f64> {
        let n = a.n_rows();
        let mut m =
            Alternating { diagonals: diagonals(n).map(|d| g.vector(&d).unwrap()), calls: 0, says_fixed };
        let matrix = g.matrix(&Arc::new(AnyMatrix::Crs(a.clone()))).unwrap();
        let (b, mut x) = (g.vector(&vec![1.0; n]).unwrap(), g.zeros(n).unwrap());
        let stop = Stop { rtol: 0.0, atol: 0.0, max_iterations: STEPS as u32 };
        let mut cg = Cg::new(g, n, &m).unwrap();
        cg.solve(g, &matrix, &mut m, &b, &mut x, &stop, &mut |_, _| ()).unwrap().history
    }

    /// Flexible CG with `beta = (z, r_new - r_old) / (z_old, r_old)`.
    fn expected(a: &Csr<f64>) -> Vec<f64> {
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let d = diagonals(a.n_rows());
        let apply = |k: usize, r: &[f64]| r.iter().zip(&d[k % 2]).map(|(r, d)| r * d).collect::<Vec<f64>>();
        let mut r = vec![1.0; a.n_rows()];
        let mut p = apply(0, &r);
        let mut rho = dot(&r, &p);
        let mut norms = vec![dot(&r, &r).sqrt()];
        for k in 1..=STEPS {
            let ap = a.mul_vec(&p);
            let alpha = rho / dot(&p, &ap);
            let old = r.clone();
            r.iter_mut().zip(&ap).for_each(|(r, ap)| *r -= alpha * ap);
            norms.push(dot(&r, &r).sqrt());
            let z = apply(k, &r);
            let beta = (dot(&z, &r) - dot(&z, &old)) / rho;
            rho = dot(&z, &r);
            p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + beta * *p);
        }
        norms
    }

    #[test]
    fn a_changing_preconditioner_gets_the_flexible_beta() {
        let a: Arc<Csr<f64>> = Arc::new(generate(&"poisson2d:12".parse().unwrap(), 1).unwrap());
        let expected = expected(&a);
        let close = |norms: &[f64]| norms.iter().zip(&expected).all(|(n, e)| (n - e).abs() < 1e-10 * e);
        for norms in [history(&Reference::new(), &a, false), history(&Gpu::simulated().unwrap(), &a, false)] {
            assert_eq!(norms.len(), STEPS + 1);
            assert!(close(&norms), "{norms:?} {expected:?}");
        }
        assert!(!close(&history(&Reference::new(), &a, true)), "a test that shows nothing");
    }
}

//! The stationary iteration of a preconditioner, Richardson's (Saad 2003, section 4.1): multigrid as a
//! solver.

use cuda_std::Real;

use super::description::{Description, Parameters, Takes};
use super::iterative::{IterativeSolver, OnProgress, Parts};
use super::on_host::OnHost;
use super::outcome::{Outcome, Stop};
use super::run::Run;
use crate::backend::{Backend, Coef, Slot, Then};
use crate::error::Result;
use crate::precond::{Precond, Preconditioner};

/// Multigrid by itself.
pub(super) const DESCRIPTION: Description = Description {
    takes: Takes::Only(Precond::Amg),
    descends: true,
    ..Description::new("amg", "AMG", |_, _| 2)
};

pub(super) fn make<T: Real, B: Backend<T> + 'static>(
    backend: &B,
    a: &dyn OnHost<T>,
    _: &dyn Preconditioner<T, B>,
    _: &Parameters,
) -> Result<Box<dyn IterativeSolver<T, B>>> {
    Ok(Box::new(Richardson::new(backend, a.n_rows())?))
}

const NORM2: Slot = Slot(0);

/// `x_{k+1} = x_k + M (b - A x_k)`, with its workspace of 2 vectors. It converges where the spectral radius
/// of `I - M A` is below 1.
pub struct Richardson<T: Real, B: Backend<T>> {
    r: B::Vector,
    z: B::Vector,
    scalars: B::Scalars,
}

impl<T: Real, B: Backend<T>> Richardson<T, B> {
    /// A workspace for `n` unknowns.
    pub fn new(backend: &B, n: usize) -> Result<Self> {
        Ok(Richardson { r: backend.zeros(n)?, z: backend.zeros(n)?, scalars: backend.scalars(1)? })
    }
}

impl<T: Real, B: Backend<T>> IterativeSolver<T, B> for Richardson<T, B> {
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
        let (r, z, s) = (&mut self.r, &mut self.z, &self.scalars);
        run.iterate(2, |g, monitor, _| {
            g.multiply(a, x, Then::Residual { b, r })?;
            g.dot(r, r, s, NORM2)?;
            g.observe(s, NORM2, monitor)?;
            m.apply(g, r, z)?;
            g.axpby(s, Coef::ONE, z, Coef::ONE, x)
        })?;
        run.outcome(|| Ok("none"))
    }

    fn traffic(&self, iterations: u32, &Parts { product, vector, m }: &Parts) -> u64 {
        u64::from(iterations) * (product + 5 * vector + m.apply)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::backend::Memory;
    use crate::backend::Products;
    use crate::backend::cpu::Cpu;
    use crate::backend::gpu::Gpu;
    use crate::error::Error;
    use crate::job::{self, Device, Method, Options};
    use crate::matrix::{AnyMatrix, Csr};
    use crate::precond::Jacobi;
    use crate::precond::amg::Params;
    use crate::problem::generate;
    use crate::solver::{JacobiIteration, StopReason};

    #[test]
    fn with_jacobi_it_is_the_jacobi_method() {
        let a: Arc<Csr<f64>> = Arc::new(generate(&"random-spd:97".parse().unwrap(), 1).unwrap());
        let n = a.n_rows();
        for max_iterations in [5, 6, 500] {
            let stop = Stop { rtol: 1e-6, atol: 0.0, max_iterations };
            let g = Gpu::simulated().unwrap();
            let matrix = g.matrix(&Arc::new(AnyMatrix::Crs(a.clone()))).unwrap();
            let b = g.vector(&vec![1.5; n]).unwrap();
            let mut m = Jacobi::setup(&g, &a).unwrap();
            let mut run = |solver: &mut dyn IterativeSolver<f64, Gpu>| {
                let mut x: <Gpu as Memory<f64>>::Vector = g.zeros(n).unwrap();
                let outcome = solver.solve(&g, &matrix, &mut m, &b, &mut x, &stop, &mut |_, _| ()).unwrap();
                (outcome, g.to_host(&x).unwrap())
            };
            let (outcome, x) = run(&mut Richardson::new(&g, n).unwrap());
            let (expected, y) = run(&mut JacobiIteration::new(&g, &a, 1.0).unwrap());
            assert_eq!((outcome.reason, outcome.iterations), (expected.reason, expected.iterations));
            assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-12));
            assert!(max_iterations < 10 || outcome.reason == StopReason::Converged);
        }
    }

    #[test]
    fn multigrid_converges_by_itself_and_divergence_stops() {
        let a: Arc<Csr<f64>> = Arc::new(generate(&"poisson2d:21".parse().unwrap(), 1).unwrap());
        let b: Vec<f64> = (0..a.n_rows()).map(|i| 1.0 + (i % 7) as f64).collect();
        let amg = Params { coarse_rows: 20, ..Params::default() };
        let options = Options { method: Some(Method::Amg), amg, ..Options::default() };
        for device in [Device::Cpu(Cpu::new(2).unwrap()), Device::Gpu(Gpu::simulated().unwrap())] {
            let job::Solution { x, report } = job::solve(&a, &b, &options, &device).unwrap();
            assert!(report.converged() && report.outcome.iterations <= 40, "{report:?}");
            assert_eq!((report.method, report.precond), (Method::Amg, Precond::Amg));
            assert!(job::relative_residual(&a, &x, &b) <= 1.01e-8);
        }
        // D^-1 A has eigenvalues near 2, and the weight makes 1 - w lambda less than -1.
        let diverging: Params = Params {
            smoother: crate::precond::amg::SmootherKind::Jacobi,
            omega: Some(1.99),
            max_levels: 1,
            coarse_rows: 20,
            ..Params::default()
        };
        let options = Options { amg: diverging, ..options };
        let device = Device::Cpu(Cpu::new(1).unwrap());
        let report = job::solve(&a, &b, &options, &device).unwrap().report;
        assert_eq!(report.outcome.reason, StopReason::Diverged);
    }

    #[test]
    fn another_preconditioner_is_refused() {
        let a = Arc::new(Csr::identity(3));
        let device = Device::Cpu(Cpu::new(1).unwrap());
        for precond in [Precond::None, Precond::Jacobi] {
            let options = Options { method: Some(Method::Amg), precond: Some(precond), ..Options::default() };
            match job::solve(&a, &[1.0; 3], &options, &device) {
                Err(Error::Preconditioner { method: "amg", precond: named }) => {
                    assert_eq!(named, precond.to_string())
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

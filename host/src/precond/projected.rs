//! A preconditioner that stays out of a null space.

use std::sync::Arc;

use cuda_std::Real;

use super::preconditioner::ForColumns;
use super::{NullSpace, Preconditioner, Traffic, amg, ilu};
use crate::backend::{Backend, Coef, ColumnVector, Columns, Memory, OneColumn, Slot};
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::Matrices;
use crate::solver::direct;

/// `z = (I - V V^T) M r` with V the orthonormal basis of a null space: search directions and solution stay
/// orthogonal to it, and a singular system whose right-hand side is orthogonal to it behaves like a regular
/// one.
pub struct Projected<'m, T: Real, B: Backend<T>> {
    m: Box<dyn Preconditioner<T, B> + 'm>,
    basis: Vec<Arc<B::Vector>>,
    /// `(v_k, z)`.
    products: B::Scalars,
}

impl<'m, T: Real, B: Backend<T>> Projected<'m, T, B> {
    /// `m` without its part in `null_space`, of the same matrix.
    pub fn new(backend: &B, m: Box<dyn Preconditioner<T, B> + 'm>, null_space: &NullSpace) -> Result<Self> {
        let basis = null_space.basis().map(|v| backend.vector(&v)).collect::<Result<Vec<_>>>()?;
        Self::with_basis(backend, m, basis)
    }

    /// `m` without its part in the space of an orthonormal basis.
    pub(crate) fn with_basis(
        backend: &B,
        m: Box<dyn Preconditioner<T, B> + 'm>,
        basis: Vec<B::Vector>,
    ) -> Result<Self> {
        let basis: Vec<_> = basis.into_iter().map(Arc::new).collect();
        Ok(Projected { m, products: backend.scalars(basis.len())?, basis })
    }
}

impl<T: Real, B: Backend<T>> Preconditioner<T, B> for Projected<'_, T, B> {
    fn apply(&mut self, backend: &B, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        self.m.apply(backend, r, z)?;
        for (k, v) in self.basis.iter().enumerate() {
            backend.dot(v, z, &self.products, Slot(k))?;
            backend.axpby(&self.products, Coef::slot(Slot(k)).negated(), v, Coef::ONE, z)?;
        }
        Ok(())
    }

    fn is_fixed(&self) -> bool {
        self.m.is_fixed()
    }

    fn traffic(&self, vector: u64) -> Traffic {
        // A dot product and an update for each.
        let projections = 5 * self.basis.len() as u64 * vector;
        Traffic::unfused(self.m.traffic(vector).apply + projections, vector)
    }

    fn hierarchy(&self) -> Option<&amg::Info> {
        self.m.hierarchy()
    }

    fn factors(&self) -> Option<&ilu::Info> {
        self.m.factors()
    }

    fn factorisation(&self) -> Option<direct::Info> {
        self.m.factorisation()
    }

    fn update_values(&mut self, backend: &B, a: &Arc<Csr<T>>, there: Option<&B::Csr>) -> Result<bool>
    where
        B: Matrices<T>,
    {
        self.m.update_values(backend, a, there)
    }

    fn for_columns(&self, columns: &Columns<B>) -> Result<Option<ForColumns<T, B>>>
    where
        B: OneColumn,
    {
        let Some(m) = self.m.for_columns(columns)? else { return Ok(None) };
        let shared = |v: &Arc<B::Vector>| Arc::new(ColumnVector::Shared(v.clone()));
        let basis: Vec<_> = self.basis.iter().map(shared).collect();
        let products = Memory::<T>::scalars(columns, basis.len())?;
        Ok(Some(Box::new(Projected { m, basis, products })))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::backend::cpu::Cpu;
    use crate::backend::gpu::Gpu;
    use crate::backend::reference::Reference;
    use crate::job::{self, Device, Options};
    use crate::matrix::AnyMatrix;
    use crate::precond::amg::{AnyPrecision, Params};
    use crate::precond::null_space::tests::{neumann, problem};
    use crate::precond::{Identity, Jacobi};
    use crate::problem::random::uniform;
    use crate::setup::Blocks;
    use crate::solver::{Cg, IterativeSolver, Steps, Stop, StopReason};

    fn rhs(n: usize) -> Vec<f64> {
        (0..n as u64).map(|i| uniform(3, i) - 0.3).collect()
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    enum M {
        Identity,
        Jacobi,
        Amg { in_f32: bool },
    }

    /// Iterations of CG; the relative residual and the solution are checked.
    fn iterations<T: Real, B: AnyPrecision<T> + Steps<T>>(backend: &B, a: &Csr<f64>, m: M) -> u32 {
        let rtol = if T::NAME == "f64" { 1e-8 } else { 1e-4 };
        let mut b = rhs(a.n_rows());
        let null_space = NullSpace::of(a, 1);
        if let Some(null_space) = &null_space {
            null_space.project(&mut b);
        }
        let a_in_t: Arc<Csr<T>> = Arc::new(a.cast());
        let mut m: Box<dyn Preconditioner<T, B> + '_> = match m {
            M::Identity => Box::new(Identity),
            M::Jacobi => Box::new(Jacobi::setup(backend, &a_in_t).unwrap()),
            M::Amg { in_f32 } => {
                let params = Params { coarse_rows: 10, ..Params::default() };
                let csr = Blocks::scalar(backend.csr(&a_in_t).unwrap());
                let (m, info) = backend.amg_of(csr, None, &params, None, in_f32).unwrap();
                assert!(info.levels.len() > 1);
                m
            }
        };
        if let Some(null_space) = &null_space {
            m = Box::new(Projected::new(backend, m, null_space).unwrap());
        }
        let matrix = backend.matrix(&Arc::new(AnyMatrix::Crs(a_in_t))).unwrap();
        let in_t: Vec<T> = b.iter().map(|&v| T::from_f64(v)).collect();
        let in_t = backend.vector(&in_t).unwrap();
        let mut x = backend.zeros(a.n_rows()).unwrap();
        let mut cg = Cg::new(backend, a.n_rows(), &*m).unwrap();
        let stop = Stop { rtol, atol: 0.0, max_iterations: 500 };
        let outcome = cg.solve(backend, &matrix, &mut *m, &in_t, &mut x, &stop, &mut |_, _| ()).unwrap();
        assert_eq!(outcome.reason, StopReason::Converged);
        let mut x: Vec<f64> = backend.to_host(&x).unwrap().into_iter().map(Real::to_f64).collect();
        let residual = job::relative_residual(a, &x, &b);
        assert!(residual < 3.0 * rtol, "{residual:e}");
        if let Some(null_space) = &null_space {
            let (norm, in_null_space) = null_space.project(&mut x);
            assert!(in_null_space <= 100.0 * T::EPSILON.to_f64() * norm, "{in_null_space:e} of {norm:e}");
        }
        outcome.iterations
    }

    fn check<T: Real, B: AnyPrecision<T> + Steps<T>>(backend: &B, problems: &[&str]) {
        for name in problems {
            let a = problem(name);
            for m in [M::Identity, M::Jacobi, M::Amg { in_f32: false }, M::Amg { in_f32: true }] {
                let regular = iterations::<T, B>(backend, &a, m);
                for copies in [1, 2] {
                    let singular = iterations::<T, B>(backend, &neumann(&a, copies), m);
                    let most = if let M::Amg { .. } = m { regular + 3 } else { 2 * regular };
                    assert!(singular <= most, "{name} {m:?} {copies}: {singular} for {regular}");
                }
            }
        }
    }

    #[test]
    fn singular_systems_converge_like_regular_ones() {
        check::<f64, _>(&Reference::new(), &["poisson2d:19", "poisson3d:7"]);
        check::<f32, _>(&Reference::new(), &["poisson2d:19"]);
        check::<f64, _>(&Cpu::new(2).unwrap(), &["poisson2d:23", "poisson3d:8"]);
        check::<f64, _>(&Gpu::simulated().unwrap(), &["poisson2d:7"]);
    }

    #[test]
    fn a_job_projects_and_says_so() {
        let a = Arc::new(neumann(&problem("poisson2d:9"), 2));
        let n = a.n_rows();
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        for device in [Device::Cpu(Cpu::new(1).unwrap()), Device::Gpu(Gpu::simulated().unwrap())] {
            let solve = |b: &[f64]| job::solve(&a, b, &Options::default(), &device).unwrap();
            let job::Solution { x, report } = solve(&rhs(n));
            assert!(report.converged() && report.relative_residual < 2e-8, "{report:?}");
            let message = "the matrix is singular: its null space has the constants on 2 components; 6.0e-1 of \
                           the right-hand side is outside of its range, where no x reaches: it was projected, \
                           and the residual is that of the projected system";
            assert_eq!(report.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(), [message]);
            assert!(report.projected);
            assert!(mean(&x[..n / 2]).abs() < 1e-12 && mean(&x[n / 2..]).abs() < 1e-12);
            // In the range: nothing to say. Constant: no solution.
            let job::Solution { x: y, report } = solve(&a.mul_vec(&x));
            assert_eq!(report.warnings, []);
            assert!(!report.projected);
            assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-5));
            let job::Solution { x: zero, report } = solve(&vec![0.1; n]);
            assert_eq!((zero, report.outcome.iterations, report.relative_residual), (vec![0.0; n], 0, 1.0));
            assert!(matches!(report.outcome.reason, StopReason::NoSolution { .. }), "{report}");
        }
    }
}

//! A sparse factorisation as a preconditioner.

use std::sync::Arc;

use cuda_std::Real;

use super::description::{Description, Parameters, Source};
use super::{Preconditioner, Traffic};
use crate::backend::Backend;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::{Algebra, Matrices};
use crate::solver::direct::{self, Inverse};

pub(super) const DESCRIPTION: Description = Description {
    name: "direct",
    doc: "factors, on the host",
    title: "direct",
    parameters: &[],
    divides_by_diagonal: false,
    from_csr: false,
    has_hierarchy: false,
    factorises: true,
    is_fused: |_| false,
    vectors: |_| 0,
};

pub(super) fn make<T: Real, B: Algebra<T> + 'static>(
    source: Source<T, B>,
) -> Result<Box<dyn Preconditioner<T, B>>> {
    Ok(Box::new(Direct::setup(source.a, source.parameters)?))
}

/// `M = A^-1` by factors of A in f64, on the host whatever the device: r goes there, and z comes back.
///
/// One iteration solves what they were made of. They are worth keeping for what comes after it: of another
/// matrix of the same pattern that differs little, as in Newton's method or from one step in time to the
/// next, they are a preconditioner that takes a few iterations, and nothing is factorised. On several ranks
/// each factorises its own rows and columns: block Jacobi, its blocks solved exactly.
pub struct Direct {
    inverse: Inverse,
}

impl Direct {
    /// Factorises; how is chosen as by the method of the same name.
    ///
    /// # Errors
    /// [`Error::HostMemory`](crate::error::Error::HostMemory) where the factors do not fit.
    pub fn setup<T: Real>(a: &Arc<Csr<T>>, parameters: &Parameters) -> Result<Direct> {
        let inverse = Inverse::of(&Csr::in_type(a), &parameters.outlook, parameters.cancelled.clone())?;
        Ok(Direct { inverse })
    }
}

impl<T: Real, B: Backend<T>> Preconditioner<T, B> for Direct {
    /// It waits for r, so that it is never recorded.
    fn apply(&mut self, backend: &B, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        let on_host: Vec<f64> = backend.to_host(r)?.into_iter().map(Real::to_f64).collect();
        match self.inverse.times(&on_host)? {
            // Copied there: z may be one of vectors that belong together.
            Some(solution) => {
                let solution: Vec<T> = solution.into_iter().map(T::from_f64).collect();
                backend.copy(&backend.vector(&solution)?, z)
            }
            // Whoever has cancelled the factorisation ends the iteration too.
            None => backend.copy(r, z),
        }
    }

    /// The factors are read once for L and once for U, in the host's memory.
    fn traffic(&self, vector: u64) -> Traffic {
        let factors = self.inverse.info().map_or(0, |info| info.prediction.bytes as u64);
        Traffic::unfused(factors + 2 * vector, vector)
    }

    fn factorisation(&self) -> Option<direct::Info> {
        self.inverse.info()
    }

    /// Keeps the factors, which is what they are for.
    fn update_values(&mut self, _: &B, _: &Arc<Csr<T>>, _: Option<&B::Csr>) -> Result<bool>
    where
        B: Matrices<T>,
    {
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use crate::job::{self, CancellationToken, Device, Method, Options, Precision, Solver, Stage};
    use crate::matrix::Csr;
    use crate::precond::Precond;
    use crate::problem::random::uniform;
    use crate::solver::{Stop, StopReason, direct};

    fn problem(name: &str) -> (Csr<f64>, Vec<f64>) {
        let a = crate::problem::generate(&name.parse().unwrap(), 1).unwrap();
        let b = (0..a.n_rows() as u64).map(|i| uniform(3, i) - 0.3).collect();
        (a, b)
    }

    fn options(method: Method) -> Options {
        Options { method: Some(method), precond: Some(Precond::Direct), ..Options::default() }
    }

    #[test]
    fn an_iteration_solves_what_was_factorised() {
        for device in [Device::cpu(2).unwrap(), Device::simulator().unwrap()] {
            for (name, method, kind) in [
                ("poisson2d:17", Method::Cg, direct::Kind::Cholesky),
                ("poisson2d:17", Method::Minres, direct::Kind::Cholesky),
                ("convection-diffusion:13", Method::Gmres, direct::Kind::Lu),
                ("convection-diffusion:13", Method::Idr, direct::Kind::Lu),
            ] {
                let (a, b) = problem(name);
                let job::Solution { x, report } = job::solve(&a, &b, &options(method), &device).unwrap();
                assert!(report.converged() && report.outcome.iterations <= 2, "{report}");
                assert!(job::relative_residual(&a, &x, &b) <= 1e-8, "{report}");
                assert_eq!(report.factorisation.unwrap().prediction.kind, kind);
            }
            // In f32 but for the factors.
            let stop = Stop { rtol: 1e-5, ..Stop::default() };
            let (a, b) = problem("poisson2d:17");
            let in_f32 = Options { precision: Precision::F32, stop, ..options(Method::Cg) };
            let report = job::solve(&a, &b, &in_f32, &device).unwrap().report;
            assert!(report.converged() && report.outcome.iterations <= 3, "{report}");
        }
    }

    #[test]
    fn the_factors_serve_for_other_values() {
        let (a, b) = problem("convection-diffusion:13");
        let mut other = a.clone();
        other.values_mut().iter_mut().enumerate().for_each(|(k, v)| *v *= 1.0 + 0.02 * uniform(4, k as u64));
        for device in [Device::cpu(2).unwrap(), Device::simulator().unwrap()] {
            let mut solver =
                Solver::builder().options(options(Method::Gmres)).device(device).build(&a).unwrap();
            assert!(solver.solve(&b).unwrap().report.outcome.iterations <= 2);
            solver.update_values(&other).unwrap();
            let job::Solution { x, report } = solver.solve(&b).unwrap();
            assert!(job::relative_residual(&other, &x, &b) <= 1e-8, "{report}");
            // New factors would take one.
            assert!((3..20).contains(&report.outcome.iterations), "{report}");
        }
    }

    #[test]
    fn a_cancelled_factorisation_ends_the_solve() {
        let (a, b) = problem("poisson2d:17");
        let token = CancellationToken::new();
        let cancel = token.clone();
        let solution = Solver::builder()
            .options(options(Method::Cg))
            .device(Device::cpu(2).unwrap())
            .cancellation(token)
            .on_progress(move |stage| {
                if let Stage::Factorisation { .. } = stage {
                    cancel.cancel();
                }
            })
            .solve(&a, &b);
        assert_eq!(solution.unwrap().report.outcome.reason, StopReason::Interrupted);
    }
}

//! Incomplete factorisations: `A` is nearly `L U`, and `M = U^-1 L^-1` (Saad 2003, chapter 10).
//!
//! The factors are computed in f64, in an order of elimination: on a GPU where they have the pattern of A and
//! the order is that of colours, else on the host. They are solved with, or multiplied by as sparse inverses,
//! where the vectors are. Everything is deterministic: the factors are the same everywhere, and the sums of a
//! solution have an order of their own.

use cuda_std::Real;

use super::description::{Description, Source};
use super::preconditioner::{Preconditioner, Traffic};
use crate::backend::{Backend, Operator, Then};
use crate::error::Result;
use crate::matrix::{Csr, check};
use crate::setup::{Algebra, Blocks, Formats};
pub(crate) use factorisation::factorised;
pub use factorisation::{FactoredOn, Factorisations};
pub use factors::Factored;
pub(crate) use info::expected_bytes;

mod arrangement;
mod elimination;
mod factorisation;
mod factors;
mod info;
mod inverse;
mod order;
mod params;
mod pattern;
mod schedule;
mod solve;
#[cfg(test)]
mod tests;
mod threshold;

pub use info::Info;
pub use params::{Kind, Order, Params, Solves};
pub use solve::{Triangles, TriangularSolves};

/// The unknowns of a square matrix in reverse Cuthill-McKee's order: neighbours are near.
pub(crate) fn reverse_cuthill_mckee<T: Real>(a: &Csr<T>) -> Result<Vec<u32>> {
    order::order(&order::Neighbours::of(a, false), Order::Rcm)
}

pub(super) const DESCRIPTION: Description = Description {
    name: "ilu",
    doc: "incomplete factorisation",
    title: "ILU",
    parameters: &["ilu"],
    divides_by_diagonal: false,
    from_csr: true,
    has_hierarchy: false,
    factorises: false,
    is_fused: |_| false,
    vectors: |_| 2,
};

pub(super) fn make<T: Real, B: Algebra<T> + Factorisations<T> + 'static>(
    source: Source<T, B>,
) -> Result<Box<dyn Preconditioner<T, B>>> {
    let there = source.csr.as_ref().filter(|csr| csr.block() == 1).map(Blocks::first);
    Ok(Box::new(Ilu::of(source.backend, source.a, there, &source.parameters.ilu)?))
}

/// The same for a matrix that is where the backend computes.
pub(crate) fn make_there<T: Real, B: Algebra<T> + Factorisations<T>>(
    backend: &B,
    a: &B::Csr,
    params: &Params,
) -> Result<Box<dyn Preconditioner<T, B>>> {
    Ok(Box::new(Ilu::of(backend, &*backend.csr_to_host(a)?, Some(a), params)?))
}

/// `M = U^-1 L^-1` for one matrix on one backend.
pub struct Ilu<T: Real, B: TriangularSolves<T> + Backend<T>> {
    info: Info,
    solution: Solution<T, B>,
}

/// How M is applied.
enum Solution<T: Real, B: TriangularSolves<T> + Backend<T>> {
    Triangles(B::Triangles),
    /// `M = N_U N_L`, and the vector between them.
    Products([B::Matrix; 2], B::Vector),
}

impl<T: Real, B: Factorisations<T>> Ilu<T, B> {
    /// Factorises a square matrix. Pivots that are too small are changed, and counted.
    ///
    /// # Errors
    /// [`crate::Error::Matrix`] where `a` is not square, [`crate::Error::NotFinite`] where it is not finite,
    /// [`crate::Error::Option`] for a parameter out of its range, memory that runs out.
    pub fn setup(backend: &B, a: &Csr<T>, params: &Params) -> Result<Self> {
        params.check()?;
        check::check_square(a)?;
        check::check_finite(a)?;
        Self::of(backend, a, None, params)
    }

    /// Of a matrix that was checked; `there` is the same where the backend computes.
    fn of(backend: &B, a: &Csr<T>, there: Option<&B::Csr>, params: &Params) -> Result<Self> {
        let (factors, mut info) = backend.factorise(a, there, params)?;
        let solution = match factors {
            Factored::Triangles(triangles) => Solution::Triangles(triangles),
            Factored::Inverses([lower, upper]) => {
                let lower = Formats::<T, T>::operator(backend, &Blocks::scalar(lower))?;
                let upper = Formats::<T, T>::operator(backend, &Blocks::scalar(upper))?;
                info.bytes = lower.bytes() + upper.bytes();
                Solution::Products([lower, upper], backend.zeros(a.n_rows())?)
            }
        };
        Ok(Ilu { info, solution })
    }

    /// What was factorised.
    pub fn info(&self) -> &Info {
        &self.info
    }
}

impl<T: Real, B: Factorisations<T>> Preconditioner<T, B> for Ilu<T, B> {
    fn apply(&mut self, backend: &B, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        match &mut self.solution {
            Solution::Triangles(triangles) => backend.solve_triangles(triangles, r, z),
            Solution::Products([lower, upper], y) => {
                backend.multiply(lower, r, Then::Store { y: &mut *y })?;
                backend.multiply(upper, y, Then::Store { y: z })
            }
        }
    }

    fn traffic(&self, vector: u64) -> Traffic {
        match &self.solution {
            // r, y and w written, y and w read, z.
            Solution::Triangles(_) => Traffic::unfused(self.info.bytes + 6 * vector, vector),
            // r, y written and read, z.
            Solution::Products([lower, upper], _) => {
                Traffic::unfused(lower.traffic() + upper.traffic() + 4 * vector, vector)
            }
        }
    }

    fn factors(&self) -> Option<&Info> {
        Some(&self.info)
    }
}

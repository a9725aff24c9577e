//! Sweeps of the weighted Jacobi method as a preconditioner.

use std::sync::Arc;

use cuda_std::Real;

use super::description::{Description, Parameters, Source};
use super::jacobi::{inverse_diagonal, inverse_diagonal_of};
use super::preconditioner::ForColumns;
use super::{Preconditioner, Traffic};
use crate::backend::{Backend, Coef, ColumnVector, Columns, Memory, OneColumn, Operator, Then};
use crate::error::{Error, Result};
use crate::matrix::Csr;
use crate::setup::Algebra;

pub(super) const DESCRIPTION: Description = Description {
    name: "jacobi-sweeps",
    doc: "sweeps of weighted Jacobi",
    title: "weighted Jacobi",
    parameters: &["singular-blocks", "sweeps", "omega"],
    divides_by_diagonal: true,
    from_csr: false,
    has_hierarchy: false,
    factorises: false,
    is_fused: |_| false,
    vectors: |block_size| block_size + if block_size == 1 { 1 } else { 2 },
};

pub(super) fn make<T: Real, B: Algebra<T> + 'static>(
    source: Source<T, B>,
) -> Result<Box<dyn Preconditioner<T, B>>> {
    let inverse = inverse_diagonal_of(&source)?;
    Ok(Box::new(JacobiSweeps::of(source.backend, inverse, source.product.clone(), source.parameters)?))
}

/// `z = M r` after nu sweeps of `z_{k+1} = z_k + omega D^-1 (r - A z_k)` from `z_0 = 0`, with D the diagonal
/// of A, or the blocks on it (Rosenberger and Haase 2017, section 8.2). So
/// `M = sum over k < nu of (I - omega D^-1 A)^k omega D^-1`, which is symmetric where A is.
///
/// Where A is positive definite M is so too for an odd nu, and for an even one if no eigenvalue of
/// `omega D^-1 A` is above 2; CG needs that.
pub struct JacobiSweeps<T: Real, B: Backend<T>> {
    a: Arc<B::Matrix>,
    omega: T,
    sweeps: usize,
    block: usize,
    inverse_diagonal: Arc<B::Vector>,
    /// A vector to work with.
    other: B::Vector,
    /// What blocks need beside it.
    blocks: Option<Correction<B::Vector, B::Scalars>>,
}

/// A vector to work with, and scalars for coefficients without slots.
struct Correction<V, S> {
    step: V,
    s: S,
}

impl<T: Real, B: Backend<T>> JacobiSweeps<T, B> {
    /// Inverts the diagonal, or the blocks on it, of `a`, which `product` multiplies by.
    ///
    /// # Errors
    /// [`Error::Option`] for no sweeps, or a weight that is not between 0 and 2; as
    /// [`BlockJacobi`](super::BlockJacobi) and [`Jacobi`](super::Jacobi) have them.
    pub fn setup(backend: &B, a: &Csr<T>, product: Arc<B::Matrix>, parameters: &Parameters) -> Result<Self> {
        let inverse = inverse_diagonal(a, parameters.block_size, parameters.singular_blocks)?;
        Self::of(backend, backend.vector(&inverse)?, product, parameters)
    }

    /// The same of the inverse.
    fn of(backend: &B, inverse: B::Vector, product: Arc<B::Matrix>, parameters: &Parameters) -> Result<Self> {
        let &Parameters { block_size, sweeps, omega, .. } = parameters;
        if sweeps == 0 || !(omega > 0.0 && omega < 2.0) {
            return Err(Error::Option(format!(
                "{sweeps} sweeps of Jacobi with weight {omega}; take 1 or more, and a weight between 0 and 2"
            )));
        }
        let n = product.n_rows();
        Ok(JacobiSweeps {
            a: product,
            omega: T::from_f64(omega),
            sweeps,
            block: block_size,
            inverse_diagonal: Arc::new(inverse),
            other: backend.zeros(n)?,
            blocks: correction(backend, block_size, n)?,
        })
    }

    /// The first sweep writes z or the other vector, so that the last one writes z.
    fn sweep_the_diagonal(&mut self, backend: &B, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        let (omega, d, other) = (self.omega, &*self.inverse_diagonal, &mut self.other);
        let mut is_in_z = self.sweeps % 2 == 1;
        backend.scale_rows(omega, d, r, if is_in_z { &mut *z } else { &mut *other })?;
        for _ in 1..self.sweeps {
            let (from, to) = if is_in_z { (&*z, &mut *other) } else { (&*other, &mut *z) };
            backend.multiply(&self.a, from, Then::Sweep { omega, d, b: r, y: to })?;
            is_in_z = !is_in_z;
        }
        Ok(())
    }
}

fn correction<T: Real, B: Backend<T>>(
    backend: &B,
    block: usize,
    n: usize,
) -> Result<Option<Correction<B::Vector, B::Scalars>>> {
    let make = || Ok(Correction { step: backend.zeros(n)?, s: backend.scalars(1)? });
    (block > 1).then(make).transpose()
}

impl<T: Real, B: Backend<T>> Preconditioner<T, B> for JacobiSweeps<T, B> {
    fn apply(&mut self, backend: &B, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        let JacobiSweeps { a, inverse_diagonal, other, blocks, .. } = self;
        let Some(Correction { step, s }) = blocks else { return self.sweep_the_diagonal(backend, r, z) };
        // The matrix may be in any format, and only those of blocks have a product that ends so.
        backend.scale_rows(self.omega, inverse_diagonal, r, z)?;
        for _ in 1..self.sweeps {
            backend.multiply(a, z, Then::Residual { b: r, r: &mut *other })?;
            backend.scale_rows(self.omega, inverse_diagonal, other, step)?;
            backend.axpby(s, Coef::ONE, step, Coef::ONE, z)?;
        }
        Ok(())
    }

    fn traffic(&self, vector: u64) -> Traffic {
        let first = (2 + self.block as u64) * vector;
        let sweep = match self.block {
            1 => self.a.traffic() + 4 * vector,
            _ => self.a.traffic() + 3 * vector + first + 3 * vector,
        };
        Traffic::unfused(first + (self.sweeps as u64 - 1) * sweep, vector)
    }

    fn for_columns(&self, columns: &Columns<B>) -> Result<Option<ForColumns<T, B>>>
    where
        B: OneColumn,
    {
        let inverse_diagonal = Arc::new(ColumnVector::Shared(self.inverse_diagonal.clone()));
        let (a, &JacobiSweeps { omega, sweeps, block, .. }) = (self.a.clone(), self);
        let other = Memory::<T>::zeros(columns, self.a.n_rows())?;
        let blocks = correction::<T, _>(columns, block, self.a.n_rows())?;
        Ok(Some(Box::new(JacobiSweeps { a, omega, sweeps, block, inverse_diagonal, other, blocks })))
    }
}

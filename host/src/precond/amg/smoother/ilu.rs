//! Incomplete factors as a smoother: `x := x + U^-1 L^-1 (b - A x)`, IC(0) or ILU(0) in the order of colours.

use std::cell::RefCell;

use cuda_std::Real;

use super::input::Input;
use super::step::Smoother;
use super::uses::Uses;
use crate::backend::{Backend, Coef, Memory, Then};
use crate::error::{Error, Result};
use crate::precond::amg::traffic::Stored;
use crate::precond::ilu::{Params, TriangularSolves, factorised};
use crate::setup::{Algebra, Matrices};

pub(super) const USES: Uses = Uses::NOTHING;

/// The factors of one level's matrix. Of a symmetric one they are symmetric, so that a step afterwards is the
/// transpose of one before.
struct Factors<S: Real, B: TriangularSolves<S>> {
    triangles: RefCell<B::Triangles>,
    /// The correction.
    z: RefCell<B::Vector>,
    /// None is read.
    scalars: B::Scalars,
    bytes: u64,
}

pub(super) fn setup<T: Real, S: Real, B: Algebra<T> + Backend<S> + TriangularSolves<S> + 'static>(
    input: &Input<T, B>,
) -> Result<Box<dyn Smoother<S, B>>> {
    if input.a.block() > 1 {
        return Err(Error::Option(
            "the smoother ilu is not there for blocks; use chebyshev or jacobi".into(),
        ));
    }
    let backend = input.backend;
    let a = Matrices::<T>::csr_to_host(backend, input.a.first())?;
    let (triangles, info) = factorised::<T, S>(&a, &Params::default())?;
    Ok(Box::new(Factors::<S, B> {
        triangles: RefCell::new(backend.triangles(triangles)?),
        z: RefCell::new(Memory::<S>::zeros(backend, a.n_rows())?),
        scalars: Memory::<S>::scalars(backend, 1)?,
        bytes: info.bytes + (a.n_rows() * size_of::<S>()) as u64,
    }))
}

impl<S: Real, B: Backend<S> + TriangularSolves<S>> Smoother<S, B> for Factors<S, B> {
    fn smooth_from_zero(
        &self,
        backend: &B,
        _: &B::Matrix,
        b: &B::Vector,
        x: &mut B::Vector,
        _: &mut B::Vector,
    ) -> Result<()> {
        backend.solve_triangles(&mut self.triangles.borrow_mut(), b, x)
    }

    fn pre(
        &self,
        backend: &B,
        a: &B::Matrix,
        b: &B::Vector,
        x: &mut B::Vector,
        r: &mut B::Vector,
    ) -> Result<()> {
        let mut z = self.z.borrow_mut();
        backend.multiply(a, x, Then::Residual { b, r })?;
        backend.solve_triangles(&mut self.triangles.borrow_mut(), r, &mut z)?;
        backend.axpby(&self.scalars, Coef::ONE, &z, Coef::ONE, x)
    }

    fn post(
        &self,
        backend: &B,
        a: &B::Matrix,
        b: &B::Vector,
        x: &mut B::Vector,
        r: &mut B::Vector,
    ) -> Result<()> {
        self.pre(backend, a, b, x, r)
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn step_bytes(&self, a: Stored, from_zero: bool) -> f64 {
        // The factors with their vectors; before that the residual, after it the update.
        let vector = (a.n_rows * size_of::<S>()) as f64;
        let solution = self.bytes as f64 + 5.0 * vector;
        if from_zero { solution } else { solution + a.bytes as f64 + 6.0 * vector }
    }
}

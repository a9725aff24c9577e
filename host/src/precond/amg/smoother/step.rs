//! What a smoother is, and those that are weighted sweeps.

use std::sync::Arc;

use cuda_std::Real;

use super::input::Input;
use crate::backend::{Backend, ColumnVector, Columns, Memory, Then};
use crate::error::Result;
use crate::precond::amg::cast::Cast;
use crate::precond::amg::traffic::{self, Stored};
use crate::setup::{Algebra, Matrices};

/// A smoother of one level: steps `x := x + M (b - A x)`, M an approximate inverse of A.
///
/// `a` is the level's matrix. `r` is a vector to work with; it and `x` may change places. A step allocates
/// nothing.
pub trait Smoother<S: Real, B: Backend<S>>: Send {
    /// `x = M b`: a step from zero, whatever `x` holds.
    fn smooth_from_zero(
        &self,
        backend: &B,
        a: &B::Matrix,
        b: &B::Vector,
        x: &mut B::Vector,
        r: &mut B::Vector,
    ) -> Result<()>;

    /// A step before the coarser level is visited.
    fn pre(
        &self,
        backend: &B,
        a: &B::Matrix,
        b: &B::Vector,
        x: &mut B::Vector,
        r: &mut B::Vector,
    ) -> Result<()>;

    /// A step afterwards, with the transpose of M, so that the cycle stays symmetric where A is.
    fn post(
        &self,
        backend: &B,
        a: &B::Matrix,
        b: &B::Vector,
        x: &mut B::Vector,
        r: &mut B::Vector,
    ) -> Result<()>;

    /// Bytes of what it holds.
    fn bytes(&self) -> u64;

    /// Bytes that a step must move, from zero without what the cycle makes part of other passes.
    fn step_bytes(&self, a: Stored, from_zero: bool) -> f64;

    /// The weighted sweeps that this smoother is, if it is that. Then the cycle makes the first one from zero
    /// part of the pass that computes `b`, and the last one, where a step afterwards begins, part of the
    /// interpolation.
    fn as_sweeps(&self) -> Option<&Sweeps<S, B>> {
        None
    }
}

/// A smoother whose step is a sweep `x += w_k d .* (b - A x)` for each weight, with one diagonal, or its
/// inverted blocks: one kernel does all of them.
pub struct Sweeps<S: Real, B: Backend<S>> {
    d: Arc<B::Vector>,
    weights: Vec<S>,
    /// Rows of a block of D.
    block: usize,
    /// Elements of `d`.
    len: usize,
}

impl<S: Real, B: Backend<S>> Sweeps<S, B> {
    /// Sweeps with `d`, rounded to S, and these weights, at least one.
    pub(super) fn new<T: Real>(
        input: &Input<T, B>,
        d: &<B as Memory<T>>::Vector,
        weights: Vec<f64>,
    ) -> Result<Self>
    where
        B: Algebra<T> + Cast<T, S>,
    {
        let backend = input.backend;
        let len = input.a.planes().len() * Matrices::<T>::rows_here(backend, input.a.first());
        let mut rounded = Memory::<S>::zeros(backend, len)?;
        Cast::<T, S>::cast(backend, d, &mut rounded)?;
        let weights = weights.into_iter().map(S::from_f64).collect();
        Ok(Sweeps { d: Arc::new(rounded), weights, block: input.a.block(), len })
    }

    /// Sweeps with the `len` elements of `d`, which has blocks of so many rows.
    pub fn of_diagonal(d: B::Vector, weights: Vec<S>, block: usize, len: usize) -> Self {
        Sweeps { d: Arc::new(d), weights, block, len }
    }

    /// The weights, in the order of the sweeps of a step before the coarser level.
    pub fn weights(&self) -> &[S] {
        &self.weights
    }

    /// The first sweep from zero, `x = w_0 d .* b`: it needs no matrix.
    pub fn first(&self) -> (S, &B::Vector) {
        (self.weights[0], &self.d)
    }

    /// The last weight, with which a step after the coarser level begins, and the diagonal.
    pub fn last(&self) -> (S, &B::Vector) {
        (self.weights[self.weights.len() - 1], &self.d)
    }

    /// The same for several right-hand sides.
    pub fn for_columns(&self) -> Sweeps<S, Columns<B>> {
        let &Sweeps { ref d, ref weights, block, len } = self;
        let d = Arc::new(ColumnVector::Shared(d.clone()));
        Sweeps { d, weights: weights.clone(), block, len }
    }

    /// [`Smoother::pre`] without its first sweep.
    pub fn pre_but_first(
        &self,
        backend: &B,
        a: &B::Matrix,
        b: &B::Vector,
        x: &mut B::Vector,
        r: &mut B::Vector,
    ) -> Result<()> {
        self.sweep(backend, a, b, x, r, self.weights.iter().skip(1))
    }

    /// [`Smoother::post`] without its first sweep, that with the last weight.
    pub fn post_but_first(
        &self,
        backend: &B,
        a: &B::Matrix,
        b: &B::Vector,
        x: &mut B::Vector,
        r: &mut B::Vector,
    ) -> Result<()> {
        self.sweep(backend, a, b, x, r, self.weights.iter().rev().skip(1))
    }

    /// Bytes of this many sweeps.
    pub fn sweep_bytes(&self, count: usize, a: Stored) -> f64 {
        traffic::sweeps(count, a, size_of::<S>(), self.block)
    }

    /// `x += w d .* (b - A x)` for each of `weights`.
    fn sweep<'w>(
        &self,
        backend: &B,
        a: &B::Matrix,
        b: &B::Vector,
        x: &mut B::Vector,
        r: &mut B::Vector,
        weights: impl Iterator<Item = &'w S>,
    ) -> Result<()>
    where
        S: 'w,
    {
        for &weight in weights {
            backend.multiply(a, x, Then::Sweep { omega: weight, d: &self.d, b, y: r })?;
            std::mem::swap(x, r);
        }
        Ok(())
    }
}

impl<S: Real, B: Backend<S>> Smoother<S, B> for Sweeps<S, B> {
    fn smooth_from_zero(
        &self,
        backend: &B,
        a: &B::Matrix,
        b: &B::Vector,
        x: &mut B::Vector,
        r: &mut B::Vector,
    ) -> Result<()> {
        backend.scale_rows(self.weights[0], &self.d, b, x)?;
        self.pre_but_first(backend, a, b, x, r)
    }

    fn pre(
        &self,
        backend: &B,
        a: &B::Matrix,
        b: &B::Vector,
        x: &mut B::Vector,
        r: &mut B::Vector,
    ) -> Result<()> {
        self.sweep(backend, a, b, x, r, self.weights.iter())
    }

    /// The weights in reverse.
    fn post(
        &self,
        backend: &B,
        a: &B::Matrix,
        b: &B::Vector,
        x: &mut B::Vector,
        r: &mut B::Vector,
    ) -> Result<()> {
        self.sweep(backend, a, b, x, r, self.weights.iter().rev())
    }

    fn bytes(&self) -> u64 {
        (self.len * size_of::<S>()) as u64
    }

    fn step_bytes(&self, a: Stored, from_zero: bool) -> f64 {
        self.sweep_bytes(self.weights.len() - usize::from(from_zero), a)
    }

    fn as_sweeps(&self) -> Option<&Sweeps<S, B>> {
        Some(self)
    }
}

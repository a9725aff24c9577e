//! A level of the hierarchy, ready to be cycled over.

use std::sync::Arc;

use cuda_std::Real;

use super::flexible::FlexibleCg;
use super::hierarchy::{LevelMatrices, sweeps_while_interpolating};
use super::info::LevelInfo;
use super::params::{Cycle, Params};
use super::phases::Phases;
use super::smoother::{Input, Smoother};
use super::traffic::{Passes, Stored};
use crate::backend::{Backend, Memory, Operator, Storage};
use crate::error::Result;
use crate::matrix::rounding::Pivot;
use crate::precond::amg::cast::Cast;
use crate::precond::amg::precisions::Precisions;
use crate::setup::{Blocks, Formats, Matrices, Size};

/// A matrix of a level in its format, and its description for reports.
pub struct LevelMatrix<M> {
    /// The matrix, ready to be multiplied.
    pub matrix: Arc<M>,
    /// Its size, blocks written out.
    pub size: Size,
}

impl<M> Clone for LevelMatrix<M> {
    fn clone(&self) -> Self {
        LevelMatrix { matrix: self.matrix.clone(), size: self.size }
    }
}

impl<M: Operator> LevelMatrix<M> {
    /// `matrix`, which has that size.
    pub fn new(size: Size, matrix: M) -> Self {
        LevelMatrix { matrix: Arc::new(matrix), size }
    }

    /// It as products read it.
    pub fn stored(&self) -> Stored {
        let Size { n_rows, n_cols, .. } = self.size;
        Stored { n_rows, n_cols, bytes: self.matrix.traffic() }
    }
}

/// How a level takes over the correction `x_c` of the next coarser one.
pub enum Correction<M> {
    /// `x += P x_c`.
    Interpolated(LevelMatrix<M>),
    /// The same and the first sweep after it, with weight w, in one: `x += w d .* (r - Q x_c)`, where r is
    /// the residual from before and `Q = A P - (w D)^-1 P`. The smoother is sweeps.
    Swept(LevelMatrix<M>),
}

impl<M> Clone for Correction<M> {
    fn clone(&self) -> Self {
        match self {
            Correction::Interpolated(operator) => Correction::Interpolated(operator.clone()),
            Correction::Swept(operator) => Correction::Swept(operator.clone()),
        }
    }
}

impl<M> Correction<M> {
    fn operator(&self) -> &LevelMatrix<M> {
        match self {
            Correction::Interpolated(operator) | Correction::Swept(operator) => operator,
        }
    }
}

/// The vectors of a level.
pub struct Vectors<V> {
    /// Right-hand side.
    pub b: V,
    /// Correction.
    pub x: V,
    /// Residual, and the other half of a sweep.
    pub r: V,
}

impl<V> Vectors<V> {
    /// For `n` unknowns.
    pub fn new<S: Real, B: Backend<S, Vector = V>>(backend: &B, n: usize) -> Result<Self> {
        Ok(Vectors { b: backend.zeros(n)?, x: backend.zeros(n)?, r: backend.zeros(n)? })
    }

    /// Bytes of them.
    pub fn bytes<S: Real>(n: usize) -> u64 {
        (3 * n * size_of::<S>()) as u64
    }
}

/// A level, except for the coarsest: its matrix, the way to the next coarser level and back, its smoother,
/// its vectors.
pub struct Level<S: Real, B: Backend<S>> {
    /// The matrix.
    pub a: LevelMatrix<B::Matrix>,
    /// Restriction to the next coarser level.
    pub r: LevelMatrix<B::Matrix>,
    /// The way back.
    pub correction: Correction<B::Matrix>,
    /// The smoother.
    pub smoother: Box<dyn Smoother<S, B>>,
    /// The vectors.
    pub vectors: Vectors<B::Vector>,
    /// With K-cycles on every level but the finest: the two steps of CG.
    pub flexible: Option<FlexibleCg<S, B>>,
}

impl<S: Real, B: Backend<S>> Level<S, B> {
    /// The level `l` of these matrices; `finest` is the size of the finest level's pattern. The products
    /// `A P` serve as storage. Unless it `keeps` them, each of the matrices is given back as soon as it is
    /// there in its format: all of them in both ways would be the most that a set-up ever holds.
    pub fn new<T: Real>(
        backend: &B,
        l: usize,
        matrices: &mut LevelMatrices<<B as Matrices<T>>::Csr, <B as Memory<T>>::Vector>,
        keeps: bool,
        finest: Size,
        params: &Params,
        phases: &mut Phases,
    ) -> Result<Self>
    where
        B: Precisions<T, S>,
    {
        let LevelMatrices { a, p, r, diagonal, products } = matrices;
        let n = written_out::<T, B>(backend, a).n_rows;
        let vectors = Vectors::new::<S, B>(backend, n)?;
        let flexible = match params.cycle() {
            Cycle::K if l > 0 => Some(FlexibleCg::new(backend, n)?),
            _ => None,
        };
        let smoother: Box<dyn Smoother<S, B>> = phases.time::<T, B, _>(backend, "smoothers", || {
            params.smoother.setup(&Input { backend, a, diagonal, finest, params })
        })?;
        phases.time::<T, B, _>(backend, "formats", || {
            let size = |m: &Blocks<_>| written_out::<T, B>(backend, m);
            let converted = |m: &Blocks<_>| {
                let operator = match params.format {
                    Some(format) => Formats::<T, S>::operator_in(backend, m, format)?,
                    None => Formats::<T, S>::operator(backend, m)?,
                };
                Ok::<_, crate::Error>(LevelMatrix::new(size(m), operator))
            };
            let rounded = |m: &Blocks<_>, pivot| match params.compressed && params.format.is_none() {
                true => {
                    let smoothing = Formats::<T, S>::smoothing_operator(backend, m, pivot)?;
                    Ok(LevelMatrix::new(size(m), smoothing))
                }
                false => converted(m),
            };
            let give_back = |m: &mut Blocks<_>| {
                if !keeps {
                    m.clear();
                }
            };
            let operator = rounded(a, Pivot::Diagonal)?;
            let nnz = |m: &Blocks<_>| Matrices::<T>::size(backend, m.first()).nnz;
            // The set-up, which knows no formats, has decided by all entries of A.
            let sweep = operator.matrix.entries_in_crs().map_or(nnz(a), |entries| entries.min(nnz(a)));
            let block = a.block();
            give_back(a);
            let restriction = converted(r)?;
            give_back(r);
            let ap = products.as_mut().map(|products| &mut products.ap);
            let swept = ap.filter(|ap| sweeps_while_interpolating(params, block, nnz(ap), sweep + nnz(p)));
            let correction = match (swept, smoother.as_sweeps()) {
                (Some(q), Some(sweeps)) => {
                    let (weight, d) = sweeps.last();
                    let mut d_in_t = Memory::<T>::zeros(backend, n)?;
                    Cast::<S, T>::cast(backend, d, &mut d_in_t)?;
                    let weight = T::from_f64(weight.to_f64());
                    backend.subtract_scaled(q.first_mut(), p.first(), weight, &d_in_t)?;
                    give_back(p);
                    Correction::Swept(rounded(q, Pivot::Largest)?)
                }
                _ => {
                    let interpolation = converted(p)?;
                    give_back(p);
                    Correction::Interpolated(interpolation)
                }
            };
            if let Some(products) = products {
                give_back(&mut products.ap);
            }
            Ok(Level { a: operator, r: restriction, correction, smoother, vectors, flexible })
        })
    }

    /// For reports.
    pub fn info(&self) -> LevelInfo {
        let operators = [&self.a, &self.r, self.correction.operator()];
        let bytes = operators.map(|operator| operator.matrix.bytes()).iter().sum::<u64>()
            + self.smoother.bytes()
            + Vectors::<B::Vector>::bytes::<S>(self.a.size.n_rows);
        let (Size { n_rows, nnz, .. }, matrix) = (self.a.size, &self.a.matrix);
        LevelInfo { rows: n_rows, nnz, format: Storage::of(&**matrix, nnz, ""), bytes }
    }

    /// The passes that a visit makes.
    pub fn passes(&self) -> Passes {
        let a = self.a.stored();
        let sweeps = self.smoother.as_sweeps();
        let is_swept = matches!(self.correction, Correction::Swept(_));
        Passes {
            a,
            correction: self.correction.operator().stored(),
            r: self.r.stored(),
            step: self.smoother.step_bytes(a, false),
            step_from_zero: self.smoother.step_bytes(a, true),
            has_first_sweep: sweeps.is_some(),
            swept: sweeps.filter(|_| is_swept).map(|sweeps| sweeps.sweep_bytes(1, a)),
        }
    }
}

/// The size of a matrix with its blocks written out.
pub(super) fn written_out<T: Real, B: Matrices<T>>(backend: &B, a: &Blocks<B::Csr>) -> Size {
    let Size { n_rows, n_cols, nnz } = backend.size(a.first());
    let b = a.block();
    Size { n_rows: b * n_rows, n_cols: b * n_cols, nnz: b * b * nnz }
}

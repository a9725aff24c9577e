//! The coarsest level.

use std::sync::Arc;

use cuda_std::Real;

use super::info::LevelInfo;
use super::level::{LevelMatrix, Vectors, written_out};
use super::params::{CoarsestSolve, Cycle, Params};
use super::phases::Phases;
use super::smoother::{Input, Smoother};
use super::spectrum::diagonal;
use super::traffic;
use crate::backend::{Backend, Memory, Operator, Products, Slot, Storage};
use crate::error::Result;
use crate::matrix::{AnyMatrix, BlockCsr, Csr};
use crate::precond::amg::cast::Cast;
use crate::precond::ilu::TriangularSolves;
use crate::setup::inverse::host as dense;
use crate::setup::{Algebra, Blocks, Diagonals, Formats, Inverses, Matrices, RowWeight, Size};

/// A coarsest level of at most this many unknowns is inverted even if fewer were asked for: a smoother would
/// ignore the null space of a singular matrix.
const SMALL: usize = 64;

/// Steps of the smoother on a last level that has no inverse.
pub(super) const STEPS: u32 = 8;

/// How the coarsest level is solved.
pub enum Solve<S: Real, B: Backend<S>> {
    /// With its inverse: one product.
    Inverse(LevelMatrix<B::Matrix>),
    /// With [`STEPS`] of the smoother: it is too large for an inverse.
    Smoothed(LevelMatrix<B::Matrix>, Box<dyn Smoother<S, B>>),
    /// With more levels, which another backend computes on.
    Below(Box<dyn Below<S, B>>),
}

/// The levels below those of a backend.
pub trait Below<S: Real, B: Backend<S>>: Send {
    /// What `cycle` on the level above does from zero: `x` of the right-hand side `b`.
    fn visit(&mut self, g: &B, cycle: Cycle, b: &B::Vector, x: &mut B::Vector) -> Result<()>;
}

/// The coarsest level.
pub struct Coarsest<S: Real, B: Backend<S>> {
    /// The size of its matrix, blocks written out.
    pub(super) size: Size,
    /// How it is solved.
    pub solve: Solve<S, B>,
    /// Its vectors.
    pub vectors: Vectors<B::Vector>,
}

impl<S: Real, B: Backend<S>> Coarsest<S, B> {
    /// The level of the matrix `a`; `usual` is the [least magnitude](least_diagonal) on the diagonal of the
    /// level above it, or 0. `finest` is the size of the finest level's pattern.
    pub fn new<T: Real>(
        backend: &B,
        usual: f64,
        a: &Blocks<<B as Matrices<T>>::Csr>,
        finest: Size,
        params: &Params,
        phases: &mut Phases,
    ) -> Result<Self>
    where
        B: Algebra<T> + Formats<T, S> + Cast<T, S> + TriangularSolves<S>,
    {
        let size = written_out::<T, B>(backend, a);
        let vectors = Vectors::new::<S, B>(backend, size.n_rows)?;
        let solve = if params.coarsest == CoarsestSolve::Diagonal {
            Solve::Inverse(inverse_of_diagonal::<T, S, B>(backend, a, size)?)
        } else if size.n_rows <= params.coarse_rows.max(SMALL) {
            let inverse = phases
                .time::<T, B, _>(backend, "coarsest level", || inverse::<T, S, B>(backend, usual, a, size))?;
            Solve::Inverse(inverse)
        } else {
            let diagonal = diagonal::<T, B>(backend, a, None, params, false)?;
            let input = Input { backend, a, diagonal: &diagonal, finest, params };
            let smoother = params.smoother.setup::<T, S, B>(&input)?;
            Solve::Smoothed(LevelMatrix::new(size, Formats::<T, S>::operator(backend, a)?), smoother)
        };
        Ok(Coarsest { size, solve, vectors })
    }

    /// For reports; `None` where more levels are below.
    pub fn info(&self) -> Option<LevelInfo> {
        let (operator, why, smoother) = match &self.solve {
            Solve::Inverse(inverse) if inverse.size.nnz < inverse.size.n_rows.pow(2) => {
                (inverse, "the inverse of its diagonal", 0)
            }
            Solve::Inverse(inverse) => (inverse, "its dense inverse", 0),
            Solve::Smoothed(a, smoother) => (a, "", smoother.bytes()),
            Solve::Below(_) => return None,
        };
        let bytes = operator.matrix.bytes() + smoother + Vectors::<B::Vector>::bytes::<S>(self.size.n_rows);
        let format = Storage::of(&*operator.matrix, operator.size.nnz, why);
        Some(LevelInfo { rows: self.size.n_rows, nnz: self.size.nnz, format, bytes })
    }

    /// Bytes that solving on it must move, without the first sweep where that is part of the pass that
    /// computes `b`.
    pub fn traffic(&self) -> f64 {
        match &self.solve {
            Solve::Inverse(inverse) => traffic::product(inverse.stored(), size_of::<S>()),
            Solve::Smoothed(a, smoother) => {
                let a = a.stored();
                smoother.step_bytes(a, true) + f64::from(STEPS - 1) * smoother.step_bytes(a, false)
            }
            Solve::Below(_) => 0.0,
        }
    }
}

/// The dense inverse, as a matrix so that one product applies it.
fn inverse<T: Real, S: Real, B: Algebra<T> + Formats<T, S>>(
    backend: &B,
    usual: f64,
    a: &Blocks<<B as Matrices<T>>::Csr>,
    size: Size,
) -> Result<LevelMatrix<<B as Products<S>>::Matrix>> {
    // Without pivoting a nearly singular matrix is inverted less accurately than on the host.
    let nearly = f64::from(f32::EPSILON);
    let negligible = |largest| dense::negligible::<T>(largest, usual).max(nearly * largest);
    let on_device = match a.block() {
        1 => Inverses::<T>::inverse(backend, a.first(), &negligible)?,
        _ => None,
    };
    let matrix = match on_device {
        Some(inverse) => Formats::<T, S>::operator(backend, &Blocks::scalar(inverse))?,
        None => {
            let planes = a.map(|plane| Matrices::<T>::csr_to_host(backend, plane))?;
            let inverse = dense::inverse(&as_ordinary(&planes), usual);
            let inverse = Arc::new(AnyMatrix::Crs(Arc::new(inverse.cast::<S>())));
            Products::<S>::matrix(backend, &inverse)?
        }
    };
    Ok(LevelMatrix::new(Size { nnz: size.n_rows.pow(2), ..size }, matrix))
}

/// The inverse of the diagonal, or of the diagonal blocks, as a matrix.
///
/// Source: S. Rosenberger, G. Haase: OpenACC and CUDA parallelization for the Elasticity Problem in CARP
/// (2017), section 9.5.
fn inverse_of_diagonal<T: Real, S: Real, B: Algebra<T> + Formats<T, S>>(
    backend: &B,
    a: &Blocks<<B as Matrices<T>>::Csr>,
    size: Size,
) -> Result<LevelMatrix<<B as Products<S>>::Matrix>> {
    let b = a.block();
    // Block row i of the inverse, row after row: element b i + l is the l-th of row i in its block.
    let inverse = Memory::<T>::to_host(backend, &Diagonals::<T>::invert_diagonal(backend, a)?)?;
    let matrix = Csr::from_rows(
        size.n_rows,
        size.n_rows,
        |_| b,
        |i, columns, values| {
            for l in 0..b {
                (columns[l], values[l]) = ((i - i % b + l) as u32, inverse[b * i + l]);
            }
        },
    );
    let matrix = Arc::new(AnyMatrix::Crs(Arc::new(matrix.cast::<S>())));
    Ok(LevelMatrix::new(Size { nnz: b * size.n_rows, ..size }, Products::<S>::matrix(backend, &matrix)?))
}

/// The matrix of the blocks as an ordinary one.
pub(super) fn as_ordinary<T: Real>(a: &Blocks<Arc<Csr<T>>>) -> Arc<Csr<T>> {
    match a.block() {
        1 => a.first().clone(),
        _ => Arc::new(BlockCsr::<T>::from_planes(a.planes()).to_csr()),
    }
}

/// The least magnitude on the diagonal; of blocks the least norm.
pub(super) fn least_diagonal<T: Real, B: Algebra<T>>(backend: &B, a: &Blocks<B::Csr>) -> Result<f64> {
    let norms = if a.block() == 1 { a.first().clone() } else { backend.norms(a)? };
    let inverse = Diagonals::<T>::row_weights(backend, &norms, RowWeight::InverseDiagonal)?;
    let s = Memory::<T>::scalars(backend, 1)?;
    crate::backend::Vectors::<T>::norm_max(backend, &inverse, &s, Slot(0))?;
    Ok(1.0 / Memory::<T>::read(backend, &s, Slot(0))?.to_f64())
}

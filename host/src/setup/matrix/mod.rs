//! The matrices of a set-up: in CRS, columns ascending in each row, alone or as the planes of a matrix of
//! blocks.

use std::sync::Arc;

use cuda_std::Real;

use crate::backend::Backend;
use crate::error::Result;
use crate::matrix::Csr;

pub(super) mod device;
pub(super) mod distributed;
pub(super) mod exchange;
mod host;
pub(super) mod indices;
pub(super) mod pattern;

/// Rows, columns and stored entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Rows.
    pub n_rows: usize,
    /// Columns.
    pub n_cols: usize,
    /// Stored entries.
    pub nnz: usize,
}

/// A matrix of b x b blocks as b^2 matrices of one pattern: plane `k b + l` has the (k, l) entries of the
/// blocks. An ordinary matrix is its only plane.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks<M> {
    planes: Vec<M>,
}

impl<M> Blocks<M> {
    /// An ordinary matrix.
    pub fn scalar(a: M) -> Self {
        Blocks { planes: vec![a] }
    }
    /// The planes of a block matrix, a square number of them.
    pub fn from_planes(planes: Vec<M>) -> Self {
        debug_assert!(planes.len().isqrt().pow(2) == planes.len() && !planes.is_empty());
        Blocks { planes }
    }
    /// Gives all planes back: none are left.
    pub fn clear(&mut self) {
        self.planes.clear();
    }
    /// Rows of a block.
    pub fn block(&self) -> usize {
        self.planes.len().isqrt()
    }
    /// Plane after plane.
    pub fn planes(&self) -> &[M] {
        &self.planes
    }
    /// Plane after plane, to be changed.
    pub fn planes_mut(&mut self) -> &mut [M] {
        &mut self.planes
    }
    /// The (k, l) entries.
    pub fn plane(&self, k: usize, l: usize) -> &M {
        &self.planes[k * self.block() + l]
    }
    /// The (0, 0) entries: of an ordinary matrix all of it.
    pub fn first(&self) -> &M {
        &self.planes[0]
    }
    /// [`Blocks::first`], to be changed.
    pub fn first_mut(&mut self) -> &mut M {
        &mut self.planes[0]
    }
    /// `f` of every plane.
    pub fn map<N>(&self, f: impl FnMut(&M) -> Result<N>) -> Result<Blocks<N>> {
        Ok(Blocks { planes: self.planes.iter().map(f).collect::<Result<_>>()? })
    }
}

/// Sparse matrices where a backend computes.
pub trait Matrices<T: Real>: Backend<T> + 'static {
    /// A sparse matrix in CRS, columns ascending in each row; a clone shares it.
    type Csr: Clone + Send + 'static;
    /// A 32-bit number for each row.
    type Indices;

    /// The matrix, where this backend computes.
    fn csr(&self, a: &Arc<Csr<T>>) -> Result<Self::Csr>;
    /// The matrix on the host.
    fn csr_to_host(&self, a: &Self::Csr) -> Result<Arc<Csr<T>>>;
    /// Numbers from the host.
    fn indices(&self, values: &[u32]) -> Result<Self::Indices>;
    /// The numbers on the host.
    fn indices_to_host(&self, indices: &Self::Indices) -> Result<Vec<u32>>;
    /// Rows, columns, entries.
    fn size(&self, a: &Self::Csr) -> Size;
    /// Rows of it that are here: on several ranks those of this one.
    fn rows_here(&self, a: &Self::Csr) -> usize {
        self.size(a).n_rows
    }
    /// A square matrix with what the operations of a set-up look at: on several ranks rows of others, those
    /// that this rank's have columns of, and the diagonal entries of the columns of these.
    fn surrounded(&self, a: &Blocks<Self::Csr>) -> Result<Blocks<Self::Csr>> {
        Ok(a.clone())
    }
    /// Gives `a` the values of a matrix of the same pattern, which share them then.
    fn take_values(&self, a: &mut Self::Csr, from: &Self::Csr);
    /// `A = factor A`.
    fn scale_values(&self, a: &mut Self::Csr, factor: T) -> Result<()>;
    /// A matrix of zeros in the pattern of `a`.
    fn zeros_like(&self, a: &Self::Csr) -> Result<Self::Csr>;
}

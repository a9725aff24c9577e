//! Sparse matrices on the host, a file for each format. Each is validated when it is made and never changes
//! its pattern.

pub(crate) mod backward_error;
pub mod block;
mod block_sell;
pub mod check;
pub mod choice;
mod convert;
pub mod coo;
pub mod csr;
pub mod ell;
pub mod format;
pub(crate) mod lanes;
pub mod padding;
pub mod rounding;
pub mod sell;
mod stored;
mod survey;
#[cfg(test)]
mod tests;
mod traffic;
mod transform;

pub use backward_error::backward_error;
pub use block::{BlockCsr, block_padding, diagonal_blocks};
pub use block_sell::BlockSell;
pub use check::Symmetry;
pub use choice::{Choice, Target, choose, choose_blocks};
pub(crate) use choice::{SORTING_WINDOWS, choose_for_gpu, objection_to_blocks};
pub use convert::IntoCsr;
pub use coo::Coo;
pub use csr::Csr;
pub(crate) use csr::place;
pub use ell::Ell;
pub use format::{Format, SLICE};
pub(crate) use padding::sell_padding_of;
pub use padding::{MAX_PADDING, Padding, RowStats, ell_padding, row_stats, sell_padding};
pub use sell::Sell;
pub use stored::Stored;
pub(crate) use survey::usual_entries;
pub use survey::{Diagonal, Magnitudes, Survey};
pub(crate) use traffic::matrix_traffic;
pub use traffic::spmv_bytes;

use crate::error::Result;
use cuda_std::Real;
use std::sync::Arc;

/// A matrix in any of the formats.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyMatrix<T> {
    /// In compressed row storage.
    Crs(Arc<Csr<T>>),
    /// In ELLPACK.
    Ell(Ell<T>),
    /// In reduced SELL-32-sigma.
    Sell(Sell<T>),
    /// In compressed row storage of blocks.
    BlockCrs(BlockCsr<T>),
    /// In reduced SELL-32-sigma of blocks.
    BlockSell(BlockSell<T>),
}

impl<T: Real> AnyMatrix<T> {
    /// Converts to `format`, sharing a CRS matrix rather than copying it; `sigma` matters to [`Format::Sell`]
    /// alone.
    ///
    /// [`Error::Padding`](crate::Error::Padding) and [`Error::Option`](crate::Error::Option) as
    /// [`Ell::from_csr`] and [`Sell::from_csr`] say.
    pub fn from_csr(a: &Arc<Csr<T>>, format: Format, sigma: usize) -> Result<Self> {
        Ok(match format {
            Format::Crs => AnyMatrix::Crs(a.clone()),
            Format::Ell => AnyMatrix::Ell(Ell::from_csr(a)?),
            Format::Sell => AnyMatrix::Sell(Sell::from_csr(a, sigma)?),
            Format::BlockCrs(block) => AnyMatrix::BlockCrs(BlockCsr::from_csr(a, block)?),
            Format::BlockSell(block) => {
                AnyMatrix::BlockSell(BlockSell::from_blocks(&BlockCsr::from_csr(a, block)?, sigma)?)
            }
        })
    }

    /// What [`AnyMatrix::from_csr`] would store, and the sorting window that it would have.
    ///
    /// [`Error::Padding`](crate::Error::Padding) and [`Error::Option`](crate::Error::Option) as there.
    pub fn padding_of(a: &Csr<T>, format: Format, sigma: usize) -> Result<(Padding, usize)> {
        let nnz = a.nnz() as u64;
        Ok(match format {
            Format::Crs => (Padding { stored: nnz, nnz }, 1),
            Format::Ell => (ell_padding(a), 1),
            Format::Sell => (sell_padding(a, sigma)?, sigma),
            Format::BlockCrs(block) => (block_padding(a, block, None)?, 1),
            Format::BlockSell(block) => (block_padding(a, block, Some(sigma))?, sigma),
        })
    }

    /// The matrix as what all formats have in common.
    pub fn stored_matrix(&self) -> &dyn Stored<T> {
        match self {
            AnyMatrix::Crs(a) => &**a,
            AnyMatrix::Ell(a) => a,
            AnyMatrix::Sell(a) => a,
            AnyMatrix::BlockCrs(a) => a,
            AnyMatrix::BlockSell(a) => a,
        }
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.stored_matrix().format()
    }
    /// Rows that were sorted at a time; 1 where they are in order.
    pub fn sigma(&self) -> usize {
        self.stored_matrix().sigma()
    }
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.stored_matrix().n_rows()
    }
    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.stored_matrix().n_cols()
    }
    /// Number of entries without padding.
    pub fn nnz(&self) -> usize {
        self.stored_matrix().nnz()
    }
    /// Number of entries with padding.
    pub fn stored(&self) -> usize {
        self.stored_matrix().stored()
    }
    /// Stored entries, and nonzeros among them.
    pub fn padding(&self) -> Padding {
        Padding { stored: self.stored() as u64, nnz: self.nnz() as u64 }
    }
    /// Bytes that the arrays take on a device: 4 a column, the values, and CRS's row pointers at 4 (8 from
    /// 2^32 entries on), or SELL's slice pointers at 8 and its permutation at 4.
    pub fn bytes(&self) -> u64 {
        let square = self.format().block().pow(2) as u64;
        let stored = self.stored() as u64;
        stored / square * 4 + stored * size_of::<T>() as u64 + self.stored_matrix().pointer_bytes()
    }
    /// Bytes of the matrix that a product must move, padding left out: see [`spmv_bytes`].
    pub fn traffic(&self) -> u64 {
        matrix_traffic(self.nnz(), self.n_rows(), size_of::<T>(), self.format().block())
    }

    /// [`Stored::for_each_row`].
    pub fn for_each_row(&self, x: &[T], row: &mut dyn FnMut(usize, T)) {
        self.stored_matrix().for_each_row(x, row);
    }
}

//! Sparse matrices on the host. Each is validated when it is made and never changes its pattern.

pub mod block;
pub mod check;
pub mod coo;
pub mod csr;
pub mod ell;
pub mod format;
pub mod padding;
mod pages;
pub mod rounding;
pub mod sell;
#[cfg(test)]
mod tests;
mod transform;

pub use block::{BlockCsr, BlockSell, block_padding, diagonal_blocks};
pub use check::Symmetry;
pub use coo::Coo;
pub use csr::Csr;
pub(crate) use csr::place;
pub use ell::Ell;
pub(crate) use format::choose_for_gpu;
pub(crate) use format::matrix_traffic;
pub use format::{AnyMatrix, Choice, Format, Target, choose, choose_blocks, spmv_bytes};
pub use padding::{MAX_PADDING, Padding, RowStats, SLICE, ell_padding, row_stats, sell_padding};
pub(crate) use pages::in_large_pages;
pub use sell::Sell;

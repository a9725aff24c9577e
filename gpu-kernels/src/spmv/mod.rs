//! Sparse matrix-vector products, one file a format, each with every [`crate::epilogue`].

pub mod block;
pub mod coded;
pub mod columns;
pub mod compressed;
pub mod csr;
pub mod ell;
mod gather;
pub mod height;
pub mod indices;
mod packed;
pub(crate) mod rows;
pub mod sell;

/// The name of every entry point of the products.
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) fn entries() -> Vec<&'static str> {
    [
        block::SPMV_BLOCK_CSR_ENTRIES,
        block::SPMV_BLOCK_SELL_ENTRIES,
        coded::SPMV_CODED_ENTRIES,
        columns::SPMV_CODED_COLUMNS_ENTRIES,
        columns::SPMV_COMPRESSED_COLUMNS_ENTRIES,
        columns::SPMV_CSR_COLUMNS_ENTRIES,
        columns::SPMV_SELL_COLUMNS_ENTRIES,
        compressed::SPMV_COMPRESSED_ENTRIES,
        csr::SPMV_CSR_ENTRIES,
        csr::SPMV_CSR_VECTOR_ENTRIES,
        ell::SPMV_ELL_ENTRIES,
        height::SLICES_OF_ENTRIES,
        sell::SPMV_SELL_ENTRIES,
    ]
    .concat()
}

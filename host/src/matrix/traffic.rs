//! The bytes of a product.

/// The bytes that `y = A x` must move in CRS, or in a format of blocks of this size (1 for none).
///
/// They are `value_bytes` for each nonzero, 4 for the column index of a block, 4 for a row pointer, and `x`
/// and `y` once each. In f64 that is 12 for a nonzero and 4 + 16 for a row; with blocks of 2 x 2 it is 36 for
/// a block and 2 + 16 for a row.
///
/// Padding is not in it: a format that reads more than it must is slower by this measure, not faster.
pub fn spmv_bytes(nnz: usize, n_rows: usize, value_bytes: usize, block: usize) -> u64 {
    matrix_traffic(nnz, n_rows, value_bytes, block) + (2 * value_bytes * n_rows) as u64
}

/// The part of [`spmv_bytes`] that is the matrix's, without x and y.
pub(crate) fn matrix_traffic(nnz: usize, n_rows: usize, value_bytes: usize, block: usize) -> u64 {
    let (nnz, rows, value, block) = (nnz as u64, n_rows as u64, value_bytes as u64, block as u64);
    nnz * value + 4 * nnz / (block * block) + 4 * rows / block
}

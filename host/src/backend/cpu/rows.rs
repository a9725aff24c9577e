//! One row times a vector, in every format: the inner loop of the CPU.

use cuda_std::Real;

use crate::matrix::{AnyMatrix, SLICE};

/// `(A x)` of row `i`, or of the row at position `i` of a sorted SELL matrix.
///
/// `x` has as many elements as `a` has columns; callers assert it once for all rows.
#[inline(always)]
pub(super) fn row_product<T: Real>(a: &AnyMatrix<T>, x: &[T], i: usize) -> T {
    match a {
        AnyMatrix::Crs(a) => {
            let (columns, values) = a.row(i);
            let mut sum = T::ZERO;
            for (&c, &v) in columns.iter().zip(values) {
                // SAFETY: construction checked every column against n_cols == x.len(). The check costs a
                // fifth of the whole product.
                sum += v * unsafe { *x.get_unchecked(c as usize) };
            }
            sum
        }
        AnyMatrix::Ell(a) => strided(a.col_idx(), a.values(), x, i, a.stride(), a.width()),
        AnyMatrix::Sell(a) => {
            let slice = i / SLICE;
            let start = a.slice_ptr()[slice] as usize;
            let width = (a.slice_ptr()[slice + 1] as usize - start) / SLICE;
            strided(a.col_idx(), a.values(), x, start + i % SLICE, SLICE, width)
        }
    }
}

#[inline(always)]
fn strided<T: Real>(
    columns: &[u32],
    values: &[T],
    x: &[T],
    first: usize,
    stride: usize,
    count: usize,
) -> T {
    let entries = (0..count).map(|j| first + j * stride);
    entries.fold(T::ZERO, |sum, e| sum + values[e] * x[columns[e] as usize])
}

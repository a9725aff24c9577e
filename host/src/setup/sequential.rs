//! What the sequential definitions of the set-up are written with: matrices entry by entry.

use cuda_std::Real;

use crate::matrix::Csr;

/// (column, value) of the entries of row `i`.
pub(super) fn entries<T: Real>(a: &Csr<T>, i: usize) -> impl Iterator<Item = (usize, T)> + Clone {
    let (columns, values) = a.row(i);
    columns.iter().zip(values).map(|(&j, &v)| (j as usize, v))
}

/// The matrix whose rows have these entries, (column, value), columns ascending.
pub(super) fn from_entries<T: Real, R: IntoIterator<Item = (usize, T)>>(
    n_cols: usize,
    rows: impl IntoIterator<Item = R>,
) -> Csr<T> {
    let (mut row_ptr, mut col_idx, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        for (j, v) in row {
            col_idx.push(j as u32);
            values.push(v);
        }
        row_ptr.push(values.len());
    }
    Csr::new(row_ptr.len() - 1, n_cols, row_ptr, col_idx, values).expect("rows with ascending columns")
}

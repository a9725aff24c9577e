//! Sparse matrices of `faer`.

use faer::Index;
use faer::sparse::{SparseColMat, SparseColMatRef, SparseRowMat, SparseRowMatRef};

use super::{Csr, columns};
use crate::error::{Error, Result};

/// Copies the arrays.
impl<I: Index> TryFrom<SparseRowMatRef<'_, I, f64>> for Csr<f64> {
    type Error = Error;
    fn try_from(a: SparseRowMatRef<'_, I, f64>) -> Result<Self> {
        let pattern = a.symbolic();
        // Rows may have room behind them.
        let rows = || (0..pattern.nrows()).map(|i| pattern.row_range(i));
        let mut row_ptr = vec![0];
        row_ptr.extend(rows().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        }));
        let col_idx = columns(rows().flatten().map(|k| pattern.col_idx()[k].zx()))?;
        let values = rows().flat_map(|row| &a.val()[row]).copied().collect();
        Csr::new(pattern.nrows(), pattern.ncols(), row_ptr, col_idx, values)
    }
}

/// Copies and transposes the arrays.
impl<I: Index> TryFrom<SparseColMatRef<'_, I, f64>> for Csr<f64> {
    type Error = Error;
    fn try_from(a: SparseColMatRef<'_, I, f64>) -> Result<Self> {
        Ok(Csr::try_from(a.transpose())?.transpose())
    }
}

/// Copies the arrays.
impl<I: Index> TryFrom<&SparseRowMat<I, f64>> for Csr<f64> {
    type Error = Error;
    fn try_from(a: &SparseRowMat<I, f64>) -> Result<Self> {
        a.as_ref().try_into()
    }
}

/// Copies and transposes the arrays.
impl<I: Index> TryFrom<&SparseColMat<I, f64>> for Csr<f64> {
    type Error = Error;
    fn try_from(a: &SparseColMat<I, f64>) -> Result<Self> {
        a.as_ref().try_into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::sparse::Triplet;

    #[test]
    fn rows_and_columns_give_the_same_matrix() {
        let entries = [(0, 0, 2.0), (0, 2, -1.0), (2, 1, 4.5), (2, 2, 0.25)];
        let expected = Csr::from_triplets(3, 4, entries).unwrap();
        let triplets = entries.map(|(i, j, v)| Triplet::new(i as u32, j as u32, v));
        let rows = SparseRowMat::<u32, f64>::try_new_from_triplets(3, 4, &triplets).unwrap();
        assert_eq!(Csr::try_from(&rows).unwrap(), expected);
        let triplets = entries.map(|(i, j, v)| Triplet::new(i, j, v));
        let columns = SparseColMat::<usize, f64>::try_new_from_triplets(3, 4, &triplets).unwrap();
        assert_eq!(Csr::try_from(&columns).unwrap(), expected);
    }
}

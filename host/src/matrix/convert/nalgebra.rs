//! Matrices of `nalgebra-sparse`.

use nalgebra_sparse::{CooMatrix, CscMatrix, CsrMatrix};

use super::{Csr, columns};
use crate::error::{Error, Result};

/// Moves row pointers and values.
impl TryFrom<CsrMatrix<f64>> for Csr<f64> {
    type Error = Error;
    fn try_from(a: CsrMatrix<f64>) -> Result<Self> {
        let (n_rows, n_cols) = (a.nrows(), a.ncols());
        let (row_ptr, col_idx, values) = a.disassemble();
        Csr::new(n_rows, n_cols, row_ptr, columns(col_idx)?, values)
    }
}

/// Copies the arrays.
impl TryFrom<&CsrMatrix<f64>> for Csr<f64> {
    type Error = Error;
    fn try_from(a: &CsrMatrix<f64>) -> Result<Self> {
        let (row_ptr, col_idx, values) = a.csr_data();
        Csr::from_slices(a.nrows(), a.ncols(), row_ptr, col_idx, values)
    }
}

/// Copies and transposes the arrays.
impl TryFrom<&CscMatrix<f64>> for Csr<f64> {
    type Error = Error;
    fn try_from(a: &CscMatrix<f64>) -> Result<Self> {
        let (column_ptr, row_idx, values) = a.csc_data();
        Ok(Csr::from_slices(a.ncols(), a.nrows(), column_ptr, row_idx, values)?.transpose())
    }
}

/// Entries of the same place add up.
impl TryFrom<&CooMatrix<f64>> for Csr<f64> {
    type Error = Error;
    fn try_from(a: &CooMatrix<f64>) -> Result<Self> {
        Csr::from_triplets(a.nrows(), a.ncols(), a.triplet_iter().map(|(i, j, &v)| (i, j, v)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_columns_and_triplets_give_the_same_matrix() {
        let entries = [(0, 0, 2.0), (0, 2, -1.0), (2, 1, 4.5), (2, 2, 0.25)];
        let expected = Csr::from_triplets(3, 4, entries).unwrap();
        let mut triplets = CooMatrix::new(3, 4);
        entries.iter().for_each(|&(i, j, v)| triplets.push(i, j, v));
        assert_eq!(Csr::try_from(&triplets).unwrap(), expected);
        assert_eq!(Csr::try_from(&CscMatrix::from(&triplets)).unwrap(), expected);
        let rows = CsrMatrix::from(&triplets);
        assert_eq!(Csr::try_from(&rows).unwrap(), expected);
        let place = rows.values().as_ptr();
        let moved = Csr::try_from(rows).unwrap();
        assert!(moved == expected && moved.values().as_ptr() == place);
    }
}

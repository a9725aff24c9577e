//! Matrices of `sprs`.

use std::ops::Deref;

use sprs::{CsMatBase, SpIndex};

use super::{Csr, columns};
use crate::error::{Error, Result};

/// A matrix by rows or, transposed, by columns.
fn from_compressed<I: SpIndex, P: SpIndex>(
    (n_rows, n_cols): (usize, usize),
    is_csr: bool,
    row_ptr: Vec<P>,
    col_idx: Vec<I>,
    values: Vec<f64>,
) -> Result<Csr<f64>> {
    // In place where the types are those of the result.
    let row_ptr = row_ptr.into_iter().map(SpIndex::index).collect();
    let col_idx = columns(col_idx.into_iter().map(SpIndex::index))?;
    match is_csr {
        true => Csr::new(n_rows, n_cols, row_ptr, col_idx, values),
        false => Ok(Csr::new(n_cols, n_rows, row_ptr, col_idx, values)?.transpose()),
    }
}

/// Moves the values, and the indices where they are of 32 bits. A matrix by columns is transposed.
impl<I: SpIndex, P: SpIndex> TryFrom<sprs::CsMatI<f64, I, P>> for Csr<f64> {
    type Error = Error;
    fn try_from(a: sprs::CsMatI<f64, I, P>) -> Result<Self> {
        let (shape, is_csr) = (a.shape(), a.is_csr());
        let (row_ptr, col_idx, values) = a.into_raw_storage();
        from_compressed(shape, is_csr, row_ptr, col_idx, values)
    }
}

/// Copies the arrays. A matrix by columns is transposed.
impl<I, P, PointerStorage, IndexStorage, ValueStorage>
    TryFrom<&CsMatBase<f64, I, PointerStorage, IndexStorage, ValueStorage, P>> for Csr<f64>
where
    I: SpIndex,
    P: SpIndex,
    PointerStorage: Deref<Target = [P]>,
    IndexStorage: Deref<Target = [I]>,
    ValueStorage: Deref<Target = [f64]>,
{
    type Error = Error;
    fn try_from(a: &CsMatBase<f64, I, PointerStorage, IndexStorage, ValueStorage, P>) -> Result<Self> {
        let row_ptr = a.proper_indptr().into_owned();
        from_compressed(a.shape(), a.is_csr(), row_ptr, a.indices().to_vec(), a.data().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sprs::{CsMat, CsMatI, TriMatI};

    #[test]
    fn both_storages_of_any_indices_give_the_same_matrix() {
        let entries = [(0, 0, 2.0), (0, 2, -1.0), (2, 1, 4.5), (2, 2, 0.25)];
        let expected = Csr::from_triplets(3, 4, entries).unwrap();
        let mut triplets = TriMatI::<f64, u32>::new((3, 4));
        entries.iter().for_each(|&(i, j, v)| triplets.add_triplet(i, j, v));
        let rows: CsMatI<f64, u32, usize> = triplets.to_csr();
        let columns: CsMatI<f64, u32, usize> = triplets.to_csc();
        assert_eq!(Csr::try_from(&rows).unwrap(), expected);
        assert_eq!(Csr::try_from(&columns).unwrap(), expected);
        // A window of rows does not start at entry 0.
        let window = rows.slice_outer(1..3);
        assert_eq!(Csr::try_from(&window).unwrap().get(1, 1), Some(4.5));
        let wide: CsMat<f64> = rows.to_other_types();
        assert_eq!(Csr::try_from(wide).unwrap(), expected);
        let (place, indices) = (rows.data().as_ptr(), rows.indices().as_ptr());
        let moved = Csr::try_from(rows).unwrap();
        assert_eq!(moved, expected);
        assert!(moved.values().as_ptr() == place && moved.col_idx().as_ptr() == indices);
        assert_eq!(Csr::try_from(columns).unwrap(), expected);
    }
}

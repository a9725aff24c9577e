//! Matrices from elsewhere.

use std::sync::Arc;

use super::{Coo, Csr};
use crate::error::{Error, Result};

#[cfg(feature = "faer")]
mod faer;
#[cfg(feature = "nalgebra-sparse")]
mod nalgebra;
#[cfg(feature = "sprs")]
mod sprs;

/// What a system can be given as: a [`Csr`], which is shared, and whatever turns into one. The arrays of an
/// owned matrix of another crate are moved where they are of the same types, so that nothing is copied
/// without need.
///
/// With the features `sprs`, `faer` and `nalgebra-sparse` the sparse matrices of these crates are among them.
pub trait IntoCsr {
    /// The matrix, every invariant checked.
    ///
    /// # Errors
    /// [`Error::Matrix`] where it is none: an index out of range, or more than 32-bit indices reach.
    fn into_csr(self) -> Result<Csr<f64>>;
}

impl<M> IntoCsr for M
where
    Csr<f64>: TryFrom<M, Error = Error>,
{
    fn into_csr(self) -> Result<Csr<f64>> {
        self.try_into()
    }
}

impl IntoCsr for Csr<f64> {
    fn into_csr(self) -> Result<Csr<f64>> {
        Ok(self)
    }
}

impl IntoCsr for &Csr<f64> {
    fn into_csr(self) -> Result<Csr<f64>> {
        Ok(self.clone())
    }
}

impl IntoCsr for Arc<Csr<f64>> {
    fn into_csr(self) -> Result<Csr<f64>> {
        Ok(Arc::unwrap_or_clone(self))
    }
}

impl IntoCsr for &Arc<Csr<f64>> {
    fn into_csr(self) -> Result<Csr<f64>> {
        Ok((**self).clone())
    }
}

/// Triplets; those of the same place add up.
impl IntoCsr for Coo<f64> {
    fn into_csr(self) -> Result<Csr<f64>> {
        Ok(Coo::into_csr(self).0)
    }
}

/// The columns as 32-bit indices. Where they are such already, they stay where they are.
#[cfg(any(feature = "sprs", feature = "faer", feature = "nalgebra-sparse"))]
fn columns<J: TryInto<u32>>(columns: impl IntoIterator<Item = J>) -> Result<Vec<u32>> {
    let beyond = || Error::Matrix("a column is negative, or more than 32-bit indices reach".into());
    columns.into_iter().map(|j| j.try_into().map_err(|_| beyond())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(a: impl IntoCsr) -> Result<Csr<f64>> {
        a.into_csr()
    }

    #[test]
    fn a_matrix_is_shared_and_not_copied() {
        let a = Csr::from_triplets(2, 3, [(1, 2, 5.0), (0, 0, 1.5), (1, 2, -1.0)]).unwrap();
        assert_eq!((a.row_ptr(), a.col_idx(), a.values()), (&[0, 1, 2][..], &[0, 2][..], &[1.5, 4.0][..]));
        let arc = Arc::new(a.clone());
        for same in [of(&a).unwrap(), of(&arc).unwrap(), of(arc).unwrap()] {
            assert!(same == a && same.values().as_ptr() == a.values().as_ptr());
        }
        let mut other = a.clone();
        other.values_mut()[0] = 7.0;
        assert_eq!((a.values()[0], other.values()[0]), (1.5, 7.0));
    }

    #[test]
    fn slices_of_any_integers_and_triplets_are_checked() {
        let a = Csr::from_slices(2, 2, &[0i64, 1, 2], &[1i32, 0], &[2.0, 3.0]).unwrap();
        assert_eq!(of(a).unwrap(), Csr::from_triplets(2, 2, [(0, 1, 2.0), (1, 0, 3.0)]).unwrap());
        for columns in [[1i64, -1], [0, 1 << 32]] {
            let error = Csr::from_slices(2, 2, &[0u8, 1, 2], &columns, &[2.0, 3.0]).unwrap_err().to_string();
            assert!(error.starts_with("column "), "{error}");
        }
        assert!(Csr::from_slices(2, 2, &[0i16, -1, 2], &[0u32, 1], &[2.0, 3.0]).is_err());
        for outside in [(0, 2), (2, 0), (0, u32::MAX as usize + 5)] {
            assert!(Csr::from_triplets(2, 2, [(0, 0, 1.0), (outside.0, outside.1, 1.0)]).is_err());
        }
    }
}

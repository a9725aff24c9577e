//! [`SparseProducts`] as they are defined.

use std::collections::BTreeSet;
use std::sync::Arc;

use cuda_std::Real;

use super::SparseProducts;
use crate::backend::reference::Reference;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::sequential::{entries, from_entries};

impl<T: Real> SparseProducts<T> for Reference {
    fn product(&self, a: &Arc<Csr<T>>, b: &Arc<Csr<T>>) -> Result<Arc<Csr<T>>> {
        let row = |i: usize| {
            let columns: BTreeSet<usize> =
                entries(a, i).flat_map(|(k, _)| entries(b, k)).map(|(j, _)| j).collect();
            columns.into_iter().map(move |j| (j, sum(T::ZERO, a, b, i, j)))
        };
        Ok(Arc::new(from_entries(b.n_cols(), (0..a.n_rows()).map(row))))
    }
    fn product_values(&self, a: &Arc<Csr<T>>, b: &Arc<Csr<T>>, c: &mut Arc<Csr<T>>) -> Result<()> {
        let row = |i: usize| entries(c, i).map(move |(j, _)| (j, sum(T::ZERO, a, b, i, j)));
        *c = Arc::new(from_entries(c.n_cols(), (0..c.n_rows()).map(row)));
        Ok(())
    }
    fn add_product(&self, a: &Arc<Csr<T>>, b: &Arc<Csr<T>>, c: &mut Arc<Csr<T>>) -> Result<()> {
        let row = |i: usize| entries(c, i).map(move |(j, before)| (j, sum(before, a, b, i, j)));
        *c = Arc::new(from_entries(c.n_cols(), (0..c.n_rows()).map(row)));
        Ok(())
    }
}

/// `before + sum_k a_ik b_kj`, k ascending.
fn sum<T: Real>(before: T, a: &Csr<T>, b: &Csr<T>, i: usize, j: usize) -> T {
    let terms = entries(a, i).filter_map(|(k, a_ik)| b.get(k, j).map(|b_kj| a_ik * b_kj));
    terms.fold(before, |sum, term| sum + term)
}

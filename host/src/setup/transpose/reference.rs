//! [`Transposes`] as they are defined.

use std::sync::Arc;

use cuda_std::Real;

use super::Transposes;
use crate::backend::reference::Reference;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::sequential::{entries, from_entries};

impl<T: Real> Transposes<T> for Reference {
    fn transpose(&self, a: &Arc<Csr<T>>) -> Result<Arc<Csr<T>>> {
        let mut rows = vec![Vec::new(); a.n_cols()];
        for i in 0..a.n_rows() {
            entries(a, i).for_each(|(j, v)| rows[j].push((i, v)));
        }
        Ok(Arc::new(from_entries(a.n_rows(), rows)))
    }

    fn transpose_values(&self, a: &Arc<Csr<T>>, at: &mut Arc<Csr<T>>) -> Result<()> {
        *at = self.transpose(a)?;
        Ok(())
    }
}

//! [`Matrices`] in the host's memory.

use std::sync::Arc;

use crate::parallel::*;
use cuda_std::Real;

use super::{Blocks, Matrices, Size};
use crate::backend::cpu::Cpu;
use crate::backend::reference::Reference;
use crate::error::Result;
use crate::matrix::Csr;

macro_rules! matrices_of_the_host {
    ($($backend:ty),*) => {$(
        impl<T: Real> Matrices<T> for $backend {
            type Csr = Arc<Csr<T>>;
            type Indices = Vec<u32>;

            fn csr(&self, a: &Arc<Csr<T>>) -> Result<Arc<Csr<T>>> {
                Ok(a.clone())
            }
            fn csr_to_host(&self, a: &Arc<Csr<T>>) -> Result<Arc<Csr<T>>> {
                Ok(a.clone())
            }
            fn indices(&self, values: &[u32]) -> Result<Vec<u32>> {
                Ok(values.to_vec())
            }
            fn indices_to_host(&self, indices: &Vec<u32>) -> Result<Vec<u32>> {
                Ok(indices.clone())
            }
            fn size(&self, a: &Arc<Csr<T>>) -> Size {
                Size { n_rows: a.n_rows(), n_cols: a.n_cols(), nnz: a.nnz() }
            }
            fn take_values(&self, a: &mut Arc<Csr<T>>, from: &Arc<Csr<T>>) {
                *a = from.clone();
            }
            fn scale_values(&self, a: &mut Arc<Csr<T>>, factor: T) -> Result<()> {
                Arc::make_mut(a).values_mut().par_iter_mut().for_each(|v| *v = factor * *v);
                Ok(())
            }
            fn zeros_like(&self, a: &Arc<Csr<T>>) -> Result<Arc<Csr<T>>> {
                Ok(Arc::new(a.with_values(vec![T::ZERO; a.nnz()])))
            }
        }
    )*};
}

matrices_of_the_host!(Cpu, Reference);

impl<T: Real> Blocks<Arc<Csr<T>>> {
    /// The block of the `e`-th entry of the pattern.
    pub(in crate::setup) fn entry<const B: usize>(&self, e: usize) -> [[T; B]; B] {
        std::array::from_fn(|k| std::array::from_fn(|l| self.plane(k, l).values()[e]))
    }
}

//! [`Transposes`] on the CPU.

use std::sync::Arc;

use cuda_std::Real;

use super::Transposes;
use crate::backend::cpu::Cpu;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::rows::for_each_row;

impl<T: Real> Transposes<T> for Cpu {
    fn transpose(&self, a: &Arc<Csr<T>>) -> Result<Arc<Csr<T>>> {
        Ok(Arc::new(Csr::transpose(a)))
    }

    fn transpose_values(&self, a: &Arc<Csr<T>>, at: &mut Arc<Csr<T>>) -> Result<()> {
        for_each_row(Arc::make_mut(at), |j, columns, values| {
            for (&i, v) in columns.iter().zip(values) {
                *v = a.get(i as usize, j).expect("the pattern is that of the transpose");
            }
        });
        Ok(())
    }
}

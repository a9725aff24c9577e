//! From the set-up's CRS to what is multiplied fast.

use std::sync::Arc;

use cuda_std::Real;

use super::blocks::BlockMatrices;
use super::matrix::{Blocks, Matrices};
use crate::backend::{Backend, Operator, Products};
use crate::error::Result;
use crate::matrix::rounding::Pivot;
use crate::matrix::{AnyMatrix, Format, objection_to_blocks};

mod border;
mod device;
mod distributed;
mod host;
mod rounded;
#[cfg(test)]
mod tests;

pub use border::BorderFormat;
pub use rounded::RoundedRows;

/// Matrices that are multiplied a few times: what a conversion would cost is more than it would save.
pub trait CrsFormat<T: Real>: Matrices<T> {
    /// The matrix in CRS, or CRS of blocks, ready to be multiplied: unknown `b i + k` of the vectors is the
    /// k-th of block row i.
    fn in_crs(&self, a: &Blocks<Self::Csr>) -> Result<Self::Matrix>;
}

/// Matrices computed in T that are multiplied in S, which may be the same.
pub trait Formats<T: Real, S: Real>: BlockMatrices<T> + Backend<S> {
    /// The matrix with values rounded to S, in the format that [`crate::matrix::choose`] chooses.
    fn operator(&self, a: &Blocks<<Self as Matrices<T>>::Csr>) -> Result<<Self as Products<S>>::Matrix>;

    /// The matrix, with `block` unknowns a node, in the format that [`crate::matrix::choose_blocks`] chooses,
    /// with values rounded to S; and its planes, unless blocks would be mostly zeros.
    ///
    /// # Errors
    /// As [`BlockMatrices::merged`].
    #[allow(clippy::type_complexity)]
    fn operator_of_nodes(
        &self,
        a: <Self as Matrices<T>>::Csr,
        block: usize,
    ) -> Result<(<Self as Products<S>>::Matrix, Option<Blocks<<Self as Matrices<T>>::Csr>>)> {
        let (blocks, nnz) = (self.count_blocks(&a, block)?, Matrices::<T>::size(self, &a).nnz);
        if let Some(objection) = objection_to_blocks(block, blocks as u64, nnz) {
            let matrix = self.operator(&Blocks::scalar(a))?;
            let reason = format!("{}; {objection}", matrix.reason().unwrap_or_default());
            return Ok((self.with_reason(matrix, reason), None));
        }
        let planes = self.planes(a, block)?;
        Ok((self.operator(&planes)?, Some(planes)))
    }

    /// The matrix, which is stored as it is for this reason.
    fn with_reason(
        &self,
        matrix: <Self as Products<S>>::Matrix,
        reason: String,
    ) -> <Self as Products<S>>::Matrix;

    /// The matrix with values rounded to S, in this format, converted on the host; blocks as
    /// [`Formats::operator`] has them.
    ///
    /// # Errors
    /// Those of the conversion: ELLPACK whose padding explodes.
    fn operator_in(
        &self,
        a: &Blocks<<Self as Matrices<T>>::Csr>,
        format: Format,
    ) -> Result<<Self as Products<S>>::Matrix> {
        if a.block() > 1 {
            return self.operator(a);
        }
        let a = Matrices::<T>::csr_to_host(self, a.first())?;
        let matrix = AnyMatrix::from_csr(&Arc::new(a.cast::<S>()), format, 1)?;
        Products::<S>::matrix(self, &Arc::new(matrix))
    }

    /// [`Formats::operator`] of a matrix that smooths: in f32 rounded further where a GPU would then
    /// [compress](gpu_kernels::spmv::compressed) it, on every backend so that all iterate alike.
    fn smoothing_operator(
        &self,
        a: &Blocks<<Self as Matrices<T>>::Csr>,
        pivot: Pivot,
    ) -> Result<<Self as Products<S>>::Matrix>;
}

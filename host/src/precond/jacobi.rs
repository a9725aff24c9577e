//! The diagonal, or the diagonal blocks, as a preconditioner.

use cuda_std::Real;
use gpu_kernels::setup::blocks::inverse_or_diagonal;
use rayon::prelude::*;

use super::{Preconditioner, Shape};
use crate::backend::Backend;
use crate::error::Result;
use crate::matrix::{Csr, block, check, diagonal_blocks};

/// `M = D^-1` with `D = diag(A)` (Rosenberger and Haase 2017, section 2.1, one iteration with omega = 1).
pub struct Jacobi<V> {
    inverse_diagonal: V,
}

impl<V> Jacobi<V> {
    /// Inverts the diagonal. [`crate::Error::Diagonal`] names the first row where it cannot be inverted.
    pub fn setup<T: Real, B: Backend<T, Vector = V>>(backend: &B, a: &Csr<T>) -> Result<Self> {
        check::check_diagonal(a, "jacobi")?;
        let inverse: Vec<T> = a.diagonal().into_iter().map(|d| T::ONE / d).collect();
        Ok(Jacobi { inverse_diagonal: backend.vector(&inverse)? })
    }

    /// `1 / diag(A)`.
    pub fn inverse_diagonal(&self) -> &V {
        &self.inverse_diagonal
    }
}

impl<T: Real, B: Backend<T>> Preconditioner<T, B> for Jacobi<B::Vector> {
    fn apply(&mut self, backend: &B, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        backend.scale_rows(T::ONE, &self.inverse_diagonal, r, z)
    }
    fn shape(&self) -> Shape<'_, B::Vector> {
        Shape::Diagonal(&self.inverse_diagonal)
    }
}

/// `M = D^-1` with D the b x b blocks on the diagonal of A (Rosenberger and Haase 2017, section 8.2, one iteration with
/// omega = 1). The matrix itself may be in any format.
///
/// The paper's threaded listing reads one entry of a block three times, `dia[ii+1]`; this is the equation.
pub struct BlockJacobi<V> {
    inverse_blocks: V,
}

impl<V> BlockJacobi<V> {
    /// Inverts the diagonal blocks of `a`, unknown `b i + k` the k-th of node i. [`crate::Error::Block`] names the first node
    /// where that cannot be done; [`crate::Error::Option`] and [`crate::Error::Matrix`] for sizes that do not fit.
    pub fn setup<T: Real, B: Backend<T, Vector = V>>(backend: &B, a: &Csr<T>, b: usize) -> Result<Self> {
        block::check_block(a, b)?;
        let blocks = diagonal_blocks(a, b);
        check::check_diagonal_blocks(&blocks, b, "jacobi")?;
        let inverse = match b {
            2 => inverted::<T, 2>(&blocks),
            _ => inverted::<T, 3>(&blocks),
        };
        Ok(BlockJacobi { inverse_blocks: backend.vector(&inverse)? })
    }
}

fn inverted<T: Real, const B: usize>(blocks: &[T]) -> Vec<T> {
    let of_block = |v: &[T]| {
        let block = std::array::from_fn(|k| std::array::from_fn(|l| v[k * B + l]));
        inverse_or_diagonal::<T, B>(block).into_iter().flatten().collect::<Vec<_>>()
    };
    blocks.par_chunks(B * B).with_min_len(1024).flat_map_iter(of_block).collect()
}

impl<T: Real, B: Backend<T>> Preconditioner<T, B> for BlockJacobi<B::Vector> {
    fn apply(&mut self, backend: &B, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        backend.scale_rows(T::ONE, &self.inverse_blocks, r, z)
    }
}

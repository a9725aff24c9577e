//! The diagonal, or the diagonal blocks, as a preconditioner.

use std::sync::Arc;

use crate::parallel::*;
use arithmetic::blocks::{inverse_or_diagonal, is_regular};
use cuda_std::Real;
use faer::Mat;

use super::description::{Description, SingularBlocks, Source};
use super::preconditioner::ForColumns;
use super::{Preconditioner, Shape, Traffic};
use crate::backend::{Backend, ColumnVector, Columns, OneColumn};
use crate::error::Result;
use crate::matrix::{Csr, block, check, diagonal_blocks};
use crate::setup::Algebra;
use crate::setup::inverse::host::pseudo_inverse;

pub(super) const DESCRIPTION: Description = Description {
    name: "jacobi",
    doc: "",
    title: "Jacobi",
    parameters: &["singular-blocks"],
    divides_by_diagonal: true,
    from_csr: false,
    has_hierarchy: false,
    factorises: false,
    is_fused: |block_size| block_size == 1,
    vectors: |block_size| block_size,
};

pub(super) fn make<T: Real, B: Algebra<T> + 'static>(
    source: Source<T, B>,
) -> Result<Box<dyn Preconditioner<T, B>>> {
    let inverse = Arc::new(inverse_diagonal_of(&source)?);
    Ok(match source.parameters.block_size {
        1 => Box::new(Jacobi { inverse_diagonal: inverse }),
        b => Box::new(BlockJacobi { omega: T::ONE, block: b, inverse_blocks: inverse }),
    })
}

/// Singular values of a block up to so many units of rounding, beside its norm, are taken for zero.
const ROUNDINGS: f64 = 64.0;

/// `M = D^-1` with `D = diag(A)` (Rosenberger and Haase 2017, section 2.1, one iteration with omega = 1).
pub struct Jacobi<V> {
    inverse_diagonal: Arc<V>,
}

impl<V> Jacobi<V> {
    /// Inverts the diagonal. [`crate::Error::Diagonal`] names the first row where it cannot be inverted.
    pub fn setup<T: Real, B: Backend<T, Vector = V>>(backend: &B, a: &Csr<T>) -> Result<Self> {
        let inverse = inverse_diagonal(a, 1, SingularBlocks::Refuse)?;
        Ok(Jacobi { inverse_diagonal: Arc::new(backend.vector(&inverse)?) })
    }

    /// Of `1 / diag(A)`.
    pub(crate) fn of_inverse(inverse_diagonal: V) -> Self {
        Jacobi { inverse_diagonal: Arc::new(inverse_diagonal) }
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
    fn traffic(&self, vector: u64) -> Traffic {
        Traffic { apply: 3 * vector, in_cg: 2 * vector }
    }
    fn for_columns(&self, _: &Columns<B>) -> Result<Option<ForColumns<T, B>>>
    where
        B: OneColumn,
    {
        let shared = ColumnVector::Shared(self.inverse_diagonal.clone());
        Ok(Some(Box::new(Jacobi { inverse_diagonal: Arc::new(shared) })))
    }
}

/// `M = D^-1` with D the b x b blocks on the diagonal of A (Rosenberger and Haase 2017, section 8.2, one
/// iteration with omega = 1). The matrix itself may be in any format.
///
/// The paper's threaded listing reads one entry of a block three times, `dia[ii+1]`; this is the equation.
pub struct BlockJacobi<T, V> {
    omega: T,
    block: usize,
    inverse_blocks: Arc<V>,
}

impl<T: Real, V> BlockJacobi<T, V> {
    /// Inverts the diagonal blocks of `a`, unknown `b i + k` the k-th of node i. [`crate::Error::Block`]
    /// names the first node where that cannot be done, if that is to be [refused](SingularBlocks::Refuse);
    /// [`crate::Error::Option`] and [`crate::Error::Matrix`] for sizes that do not fit.
    pub fn setup<B: Backend<T, Vector = V>>(
        backend: &B,
        a: &Csr<T>,
        b: usize,
        singular: SingularBlocks,
    ) -> Result<Self> {
        let inverse = inverse_diagonal(a, b, singular)?;
        Ok(BlockJacobi { omega: T::ONE, block: b, inverse_blocks: Arc::new(backend.vector(&inverse)?) })
    }

    /// `M = omega D^-1`.
    pub fn weighted(self, omega: f64) -> Self {
        BlockJacobi { omega: T::from_f64(omega), ..self }
    }
}

/// `D^-1` with D the diagonal of `a`, or the b x b blocks on it, row by row; refused as
/// [`BlockJacobi::setup`] says.
pub(super) fn inverse_diagonal<T: Real>(a: &Csr<T>, b: usize, singular: SingularBlocks) -> Result<Vec<T>> {
    if b == 1 {
        check::check_diagonal(a, "jacobi")?;
        return Ok(a.diagonal().into_iter().map(|d| T::ONE / d).collect());
    }
    block::check_block(a, b)?;
    let blocks = diagonal_blocks(a, b);
    if singular == SingularBlocks::Refuse {
        check::check_diagonal_blocks(&blocks, b, "jacobi")?;
    }
    Ok(match b {
        2 => inverted::<T, 2>(&blocks),
        _ => inverted::<T, 3>(&blocks),
    })
}

/// [`inverse_diagonal`] where the backend computes: from the planes that are there, unless blocks are
/// singular.
pub(super) fn inverse_diagonal_of<T: Real, B: Algebra<T>>(source: &Source<T, B>) -> Result<B::Vector> {
    let Source { backend, a, parameters, .. } = source;
    match source.regular_planes()? {
        Some(planes) => backend.invert_diagonal(planes),
        None => backend.vector(&inverse_diagonal(a, parameters.block_size, parameters.singular_blocks)?),
    }
}

fn inverted<T: Real, const B: usize>(blocks: &[T]) -> Vec<T> {
    let inverse = |v: &[T]| {
        let block: [[T; B]; B] = std::array::from_fn(|k| std::array::from_fn(|l| v[k * B + l]));
        if is_regular(block) {
            return inverse_or_diagonal(block).into_iter().flatten().collect::<Vec<_>>();
        }
        let norm = v.iter().map(|v| v.to_f64().powi(2)).sum::<f64>().sqrt();
        let inverse = pseudo_inverse(
            &Mat::from_fn(B, B, |k, l| block[k][l].to_f64()),
            ROUNDINGS * T::EPSILON.to_f64() * norm,
        );
        (0..B * B).map(|kl| T::from_f64(inverse[(kl / B, kl % B)])).collect()
    };
    blocks.par_chunks(B * B).with_min_len(1024).flat_map_collect(inverse)
}

impl<T: Real, B: Backend<T>> Preconditioner<T, B> for BlockJacobi<T, B::Vector> {
    fn apply(&mut self, backend: &B, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        backend.scale_rows(self.omega, &self.inverse_blocks, r, z)
    }
    fn traffic(&self, vector: u64) -> Traffic {
        Traffic::unfused((2 + self.block as u64) * vector, vector)
    }
    fn for_columns(&self, _: &Columns<B>) -> Result<Option<ForColumns<T, B>>>
    where
        B: OneColumn,
    {
        let inverse_blocks = Arc::new(ColumnVector::Shared(self.inverse_blocks.clone()));
        Ok(Some(Box::new(BlockJacobi { omega: self.omega, block: self.block, inverse_blocks })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::reference::Reference;
    use crate::error::Error;

    #[test]
    fn singular_blocks_are_refused_or_get_their_pseudo_inverse() {
        //  2 1 | . .      its inverse 1/5 (3 -1; -1 2)
        //  1 3 | . .
        //  . . | 1 2      rank 1: (1 2)^T (1 2), its pseudo-inverse the same over 25
        //  . . | 2 4
        let values = vec![2.0, 1.0, 1.0, 3.0, 1.0, 2.0, 2.0, 4.0];
        let a = Csr::new(4, 4, vec![0, 2, 4, 6, 8], vec![0, 1, 0, 1, 2, 3, 2, 3], values).unwrap();
        let g = Reference::new();
        let refused = BlockJacobi::setup(&g, &a, 2, SingularBlocks::Refuse).err().unwrap();
        assert!(matches!(refused, Error::Block { node: 2, first: 3, last: 4, .. }), "{refused}");
        assert!(refused.to_string().ends_with("jacobi divides by it"), "{refused}");
        let mut m = BlockJacobi::setup(&g, &a, 2, SingularBlocks::PseudoInverse).unwrap();
        let mut z = vec![f64::NAN; 4];
        m.apply(&g, &vec![1.0, 2.0, 3.0, -1.0], &mut z).unwrap();
        for (z, expected) in z.iter().zip([0.2, 0.6, 1.0 / 25.0, 2.0 / 25.0]) {
            assert!((z - expected).abs() < 1e-14, "{z} {expected}");
        }
    }
}

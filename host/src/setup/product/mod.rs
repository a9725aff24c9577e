//! Sparse products.

use cuda_std::Real;

use super::matrix::{Blocks, Matrices};
use crate::error::Result;

mod device;
mod distributed;
pub(super) mod host;
mod lanes;
mod reference;
mod sort;
#[cfg(test)]
mod tests;
mod twins;

/// Products of sparse matrices.
pub trait SparseProducts<T: Real>: Matrices<T> {
    /// `A B`: the pattern without regard to values (an entry that cancels is stored), then the values.
    fn product(&self, a: &Self::Csr, b: &Self::Csr) -> Result<Self::Csr>;

    /// The values of `C = A B` in the pattern that [`SparseProducts::product`] made:
    /// `c_ij = sum_k a_ik b_kj`, k ascending, from 0, every multiplication and addition rounded.
    fn product_values(&self, a: &Self::Csr, b: &Self::Csr, c: &mut Self::Csr) -> Result<()>;

    /// `C = C + A B` in the pattern of C, which has that of A B: [`SparseProducts::product_values`] from the
    /// present `c_ij`.
    fn add_product(&self, a: &Self::Csr, b: &Self::Csr, c: &mut Self::Csr) -> Result<()>;

    /// `A B` of matrices of blocks: `C^kl = sum_m A^km B^ml`.
    fn product_of_blocks(&self, a: &Blocks<Self::Csr>, b: &Blocks<Self::Csr>) -> Result<Blocks<Self::Csr>> {
        let block = a.block();
        let mut planes = vec![self.product(a.first(), b.first())?];
        for kl in 1..block * block {
            let mut plane = self.zeros_like(&planes[0])?;
            self.product_values(a.plane(kl / block, 0), b.plane(0, kl % block), &mut plane)?;
            planes.push(plane);
        }
        for (kl, plane) in planes.iter_mut().enumerate() {
            for m in 1..block {
                self.add_product(a.plane(kl / block, m), b.plane(m, kl % block), plane)?;
            }
        }
        Ok(Blocks::from_planes(planes))
    }
}

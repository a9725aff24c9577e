//! [`NearNullSpaces`] on several ranks: rank 0 sets those hierarchies up.

use cuda_std::Real;

use super::{NearNullSpaces, OrthonormalOf};
use crate::backend::distributed::{Borders, Distributed};
use crate::error::Result;
use crate::setup::matrix::distributed::{DistributedCsr, DistributedIndices, only_alone};
use crate::setup::{Matrices, Parts};

type Indices<T, B> = DistributedIndices<<B as Matrices<T>>::Indices>;

impl<T: Real, B: Parts<T> + Borders<T>> NearNullSpaces<T> for Distributed<B> {
    fn magnitudes(&self, _: &DistributedCsr<B::Csr>) -> Result<DistributedCsr<B::Csr>> {
        Err(only_alone("near-null-space vectors"))
    }
    fn gather(&self, _: &Indices<T, B>, _: &Indices<T, B>) -> Result<Indices<T, B>> {
        Err(only_alone("near-null-space vectors"))
    }
    fn orthonormal(
        &self,
        _: &Indices<T, B>,
        _: &DistributedCsr<B::Csr>,
        _: &[B::Vector],
    ) -> Result<OrthonormalOf<T, Self>> {
        Err(only_alone("near-null-space vectors"))
    }
}

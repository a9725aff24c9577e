//! [`NearNullSpaces`] on several ranks: the unknowns of a node are all on one rank, and the rank that has an
//! aggregate decomposes the vectors on all of its unknowns.

use std::sync::Arc;

use cuda_std::Real;

use super::{NearNullSpaces, Orthonormal, OrthonormalOf};
use crate::backend::distributed::{Borders, Distributed};
use crate::comm::Numbering;
use crate::error::Result;
use crate::setup::matrix::distributed::{DistributedCsr, DistributedIndices};
use crate::setup::{Matrices, Parts, Transposes};

type Indices<T, B> = DistributedIndices<<B as Matrices<T>>::Indices>;

impl<T: Real, B: Parts<T> + Borders<T>> NearNullSpaces<T> for Distributed<B> {
    fn magnitudes(&self, a: &DistributedCsr<B::Csr>) -> Result<DistributedCsr<B::Csr>> {
        self.with_values(a, self.inner().magnitudes(&a.local))
    }

    fn nodes(&self, a: &DistributedCsr<B::Csr>, unknowns: usize) -> Result<Indices<T, B>> {
        let rank = self.comm().rank();
        let rows = Arc::new(a.rows.of_own(rank));
        let nodes: Vec<u32> = (0..rows.len()).map(|i| (i / unknowns) as u32).collect();
        let local = self.agreed(self.inner().indices(&nodes))?;
        let values = Some(Arc::new(rows.of_nodes(rank, unknowns)));
        Ok(DistributedIndices { local, rows, values })
    }

    fn gather(&self, x: &Indices<T, B>, at: &Indices<T, B>) -> Result<Indices<T, B>> {
        // Own unknowns belong to own nodes.
        let own = self.inner().picked(&x.local, x.rows.own());
        let local = self.agreed(own.and_then(|own| self.inner().gather(&own, &at.local)))?;
        Ok(DistributedIndices { local, rows: at.rows.clone(), values: x.values.clone() })
    }

    fn orthonormal(
        &self,
        tentative: &DistributedCsr<B::Csr>,
        vectors: &[B::Vector],
    ) -> Result<OrthonormalOf<T, Self>> {
        let (inner, comm) = (self.inner(), &**self.comm());
        let (of_own, unknowns, aggregates) = self.in_own_columns(tentative)?;
        let extended = |v: &B::Vector| self.extended(v, 1, &unknowns);
        let vectors = vectors.iter().map(extended).collect::<Result<Vec<_>>>()?;
        let made = inner.orthonormal(&of_own, &vectors).and_then(|made| {
            let aggregates = inner.indices_to_host(&made.aggregates)?;
            Ok((inner.transpose(&made.p)?, made, aggregates))
        });
        let (r, Orthonormal { vectors, aggregates: local, .. }, of) = self.agreed(made)?;
        let before = |aggregate: &u32| of.partition_point(|other| other < aggregate) as u32;
        let (starts, ends) = aggregates.own_ranges(comm.rank());
        let counts = starts.iter().zip(&ends).map(|(start, end)| before(end) - before(start));
        let (numbers, count) = aggregates.renumbered(comm, counts)?;
        let coarse = Arc::new(Numbering::of_own_and(comm.rank(), &numbers, Vec::new(), count));
        // Unknowns of other ranks get their rows.
        let p = self.transpose(&self.of_local(Ok(r), &coarse, &unknowns)?)?;
        let aggregates = DistributedIndices { local, rows: coarse, values: Some(aggregates) };
        Ok(Orthonormal { p, vectors, aggregates })
    }
}

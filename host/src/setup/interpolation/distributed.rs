//! [`Interpolation`] on several ranks, row by row.

use std::sync::Arc;

use cuda_std::Real;

use super::{Interpolation, Truncation};
use crate::backend::distributed::{Borders, Distributed};
use crate::comm::Numbering;
use crate::error::Result;
use crate::setup::matrix::distributed::{DistributedCsr, DistributedIndices};
use crate::setup::others::only_alone;
use crate::setup::{IndependentSetsOnRanks, Matrices, NO_AGGREGATE, Parts};

type Indices<T, B> = DistributedIndices<<B as Matrices<T>>::Indices>;

impl<T: Real, B: Parts<T> + Borders<T> + IndependentSetsOnRanks<T>> Interpolation<T> for Distributed<B> {
    fn damp(&self, s: &mut DistributedCsr<B::Csr>, omega: T, slivers: Option<&B::Vector>) -> Result<()> {
        let slivers = slivers.map(|slivers| self.extended(slivers, 1, &s.rows)).transpose()?;
        self.agreed(self.inner().damp(&mut s.local, omega, slivers.as_ref()))
    }

    fn multiply_tentative(
        &self,
        s: &DistributedCsr<B::Csr>,
        aggregates: &Indices<T, B>,
        _: usize,
    ) -> Result<DistributedCsr<B::Csr>> {
        let columns = aggregates.values.as_ref().ok_or_else(|| only_alone("aggregates without numbers"))?;
        let local = self.inner().multiply_tentative(&s.local, &aggregates.local, columns.len());
        self.of_local(local, &s.rows, columns)
    }

    fn smooth_tentative(
        &self,
        s: DistributedCsr<B::Csr>,
        (omega, slivers): (T, Option<&B::Vector>),
        aggregates: &Indices<T, B>,
        _: usize,
    ) -> Result<DistributedCsr<B::Csr>> {
        let slivers = slivers.map(|slivers| self.extended(slivers, 1, &s.rows)).transpose()?;
        let columns = aggregates.values.as_ref().ok_or_else(|| only_alone("aggregates without numbers"))?;
        let damping = (omega, slivers.as_ref());
        let local = self.inner().smooth_tentative(s.local, damping, &aggregates.local, columns.len());
        self.of_local(local, &s.rows, columns)
    }

    fn subtract_scaled(
        &self,
        c: &mut DistributedCsr<B::Csr>,
        p: &DistributedCsr<B::Csr>,
        omega: T,
        d: &B::Vector,
    ) -> Result<()> {
        let d = self.extended(d, 1, &c.rows)?;
        let p = match Arc::ptr_eq(&c.rows, &p.rows) && Arc::ptr_eq(&c.columns, &p.columns) {
            true => p.local.clone(),
            false => self.spread(p, &c.rows, &c.columns)?,
        };
        self.agreed(self.inner().subtract_scaled(&mut c.local, &p, omega, &d))
    }

    fn averaging(
        &self,
        s: &DistributedCsr<B::Csr>,
        coarse: &Indices<T, B>,
    ) -> Result<DistributedCsr<B::Csr>> {
        let columns = self.coarse_numbers::<T>(coarse)?;
        self.of_local(self.inner().averaging(&s.local, &coarse.local), &s.rows, &columns)
    }

    /// Rows of others would need more around them: there are none.
    fn extended_i(
        &self,
        a: &DistributedCsr<B::Csr>,
        s: &DistributedCsr<B::Csr>,
        coarse: &Indices<T, B>,
        truncation: Truncation,
    ) -> Result<DistributedCsr<B::Csr>> {
        let columns = self.coarse_numbers::<T>(coarse)?;
        let local = self.inner().extended_i(&a.local, &s.local, &coarse.local, truncation);
        self.in_own_rows(&self.of_local(local, &s.rows, &columns)?)
    }
}

impl<B> Distributed<B> {
    /// The coarse unknowns, for which `coarse` has 1, in the order of all ranks.
    fn coarse_numbers<T: Real>(
        &self,
        coarse: &DistributedIndices<<B as Matrices<T>>::Indices>,
    ) -> Result<Arc<Numbering>>
    where
        B: Parts<T>,
    {
        let (comm, rows) = (&**self.comm(), &coarse.rows);
        let before = self.agreed(self.inner().marked_before(&coarse.local, rows.own()))?;
        let (numbers, count) = self.numbers_of_marked(&before, rows)?;
        let halo = rows.halo(comm)?;
        let sends = halo.sent();
        let behind = sends.iter_runs().map(|(place, count)| (place + 1, count));
        let both = sends.iter_runs().chain(behind).collect();
        let counts = self.agreed(self.inner().taken(&before, &both))?;
        let (before, behind) = counts.split_at(sends.len());
        let number = |(&before, &behind): (&u32, &u32)| match behind == before {
            true => NO_AGGREGATE,
            false => numbers.get(before as usize),
        };
        let sent: Vec<[u32; 2]> =
            before.iter().zip(behind).map(|of| [number(of), comm.rank() as u32]).collect();
        let others = halo.received(comm, &sent, 1)?.into_iter();
        let others = others.filter(|&[number, _]| number != NO_AGGREGATE);
        let others = others.map(|[number, owner]| (number, owner)).collect();
        Ok(Arc::new(Numbering::of_own_and(comm.rank(), &numbers, others, count)))
    }
}

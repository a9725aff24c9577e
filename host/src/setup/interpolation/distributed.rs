//! [`Interpolation`] on several ranks, row by row.

use std::sync::Arc;

use cuda_std::Real;

use super::{Interpolation, Truncation};
use crate::backend::distributed::{Borders, Distributed};
use crate::comm::Numbering;
use crate::error::Result;
use crate::parallel::*;
use crate::setup::matrix::distributed::{DistributedCsr, DistributedIndices, only_alone};
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
        B: Matrices<T>,
    {
        let (comm, rows) = (&**self.comm(), &coarse.rows);
        let is_coarse = self.agreed(self.inner().indices_to_host(&coarse.local))?;
        let own = rows.own().par_iter().with_min_len(MANY).map(|place| *place);
        let own = own.filter_collect(|&place| is_coarse[place as usize] == 1);
        let (numbers, count) = rows.renumbered(comm, &own)?;
        let rank = comm.rank() as u32;
        let mut of_rows = spread_out(rows.len(), &own, [NO_AGGREGATE; 2], |k| [numbers[k], rank]);
        rows.update(comm, &mut of_rows)?;
        Ok(Arc::new(Numbering::of_all(comm.rank(), &of_rows, count)))
    }
}

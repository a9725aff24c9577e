//! [`Aggregation`] on several ranks: an aggregate belongs to the rank of its root.

use std::sync::Arc;

use cuda_std::Real;

use super::{Aggregation, NO_AGGREGATE};
use crate::backend::distributed::{Borders, Distributed};
use crate::comm::Numbering;
use crate::error::Result;
use crate::parallel::*;
use crate::setup::matrix::distributed::{DistributedCsr, DistributedIndices, only_alone};
use crate::setup::{IndependentSetsOnRanks, Matrices, Parts};

type Indices<T, B> = DistributedIndices<<B as Matrices<T>>::Indices>;

impl<T: Real, B: Parts<T> + Borders<T> + IndependentSetsOnRanks<T>> Aggregation<T> for Distributed<B> {
    fn aggregate(&self, s: &DistributedCsr<B::Csr>, roots: &Indices<T, B>) -> Result<(Indices<T, B>, usize)> {
        let (comm, rows) = (&**self.comm(), &s.rows);
        let joined = self.inner().join(&s.local, &roots.local);
        let root_of = self.agreed(joined.and_then(|root_of| self.inner().indices_to_host(&root_of)))?;
        let rank = comm.rank() as u32;
        let own = || rows.own().par_iter().with_min_len(MANY).map(|place| *place);
        let own_roots = own().filter_collect(|&place| root_of[place as usize] == place);
        let (numbers, count) = rows.renumbered(comm, &own_roots)?;
        // The aggregate of each root, and then of each unknown, with the rank that has it.
        const NONE: [u32; 2] = [NO_AGGREGATE; 2];
        let mut of_root = spread_out(rows.len(), &own_roots, NONE, |k| [numbers[k], rank]);
        rows.update(comm, &mut of_root)?;
        let joined = |k: usize| root_of[rows.own()[k] as usize] as usize;
        let aggregate = |k: usize| of_root.get(joined(k)).copied().unwrap_or(NONE);
        let mut aggregates = spread_out(rows.len(), rows.own(), NONE, aggregate);
        rows.update(comm, &mut aggregates)?;
        // Aggregates with a member here: those of own roots, of others' roots that somebody joined, and those
        // of others' unknowns.
        let is_of_other = |root: &u32| rows.owners().get(*root as usize).is_some_and(|owner| *owner != rank);
        let roots_of_others = own().map(|place| root_of[place as usize]).filter_collect(is_of_other);
        let of_others = rows.halo(comm)?.receives.iter().flat_map(|(_, places)| places);
        let of_others = of_others.map(|&place| aggregates[place as usize]);
        let roots = own_roots.iter().chain(&roots_of_others).map(|&root| of_root[root as usize]);
        let members: Vec<[u32; 2]> = roots.chain(of_others).collect();
        let values = Arc::new(Numbering::of_all(comm.rank(), &members, count));
        let place = |&[number, _]: &[u32; 2]| match number {
            NO_AGGREGATE => NO_AGGREGATE,
            _ => values.place(number).map_or(NO_AGGREGATE, |place| place as u32),
        };
        // Many have the same: each is looked up once where it has its root here.
        let of_roots = of_root.par_iter().with_min_len(MANY).map(place).collect();
        let joined = |k: usize| of_roots.get(joined(k)).copied().unwrap_or(NO_AGGREGATE);
        let mut places = spread_out(rows.len(), rows.own(), NO_AGGREGATE, joined);
        for &at in rows.halo(comm)?.receives.iter().flat_map(|(_, places)| places) {
            places[at as usize] = place(&aggregates[at as usize]);
        }
        let local = self.agreed(self.inner().indices(&places))?;
        Ok((DistributedIndices { local, rows: rows.clone(), values: Some(values) }, count))
    }

    fn join(&self, _: &DistributedCsr<B::Csr>, _: &Indices<T, B>) -> Result<Indices<T, B>> {
        Err(only_alone("roots that no rank has"))
    }

    fn tentative(&self, aggregates: &Indices<T, B>, _: usize) -> Result<DistributedCsr<B::Csr>> {
        let columns = aggregates.values.as_ref().ok_or_else(|| only_alone("aggregates without numbers"))?;
        let local = self.inner().tentative(&aggregates.local, columns.len());
        self.of_local(local, &aggregates.rows, columns)
    }
}

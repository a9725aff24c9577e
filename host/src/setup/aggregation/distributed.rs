//! [`Aggregation`] on several ranks: an aggregate belongs to the rank of its root.

use std::sync::Arc;

use cuda_std::Real;

use super::{Aggregation, NO_AGGREGATE};
use crate::backend::distributed::{Borders, Distributed};
use crate::comm::Numbering;
use crate::error::Result;
use crate::setup::matrix::distributed::{DistributedCsr, DistributedIndices, only_alone};
use crate::setup::{IndependentSetsOnRanks, Matrices, Parts};

type Indices<T, B> = DistributedIndices<<B as Matrices<T>>::Indices>;

impl<T: Real, B: Parts<T> + Borders<T> + IndependentSetsOnRanks<T>> Aggregation<T> for Distributed<B> {
    fn aggregate(&self, s: &DistributedCsr<B::Csr>, roots: &Indices<T, B>) -> Result<(Indices<T, B>, usize)> {
        let (comm, rows) = (&**self.comm(), &s.rows);
        let joined = self.inner().join(&s.local, &roots.local);
        let root_of = self.agreed(joined.and_then(|root_of| self.inner().indices_to_host(&root_of)))?;
        let own_roots: Vec<u32> =
            rows.own().iter().copied().filter(|&place| root_of[place as usize] == place).collect();
        let (numbers, count) = rows.renumbered(comm, &own_roots)?;
        // The aggregate of each root, and then of each unknown, with the rank that has it.
        const NONE: [u32; 2] = [NO_AGGREGATE; 2];
        let mut of_root = vec![NONE; rows.len()];
        for (&place, number) in own_roots.iter().zip(numbers) {
            of_root[place as usize] = [number, comm.rank() as u32];
        }
        rows.update(comm, &mut of_root)?;
        let joined = |place: &u32| of_root.get(root_of[*place as usize] as usize).copied().unwrap_or(NONE);
        let mut aggregates = vec![NONE; rows.len()];
        rows.own().iter().for_each(|place| aggregates[*place as usize] = joined(place));
        rows.update(comm, &mut aggregates)?;
        // Aggregates with a member here: those of roots that somebody joined, and those of others' unknowns.
        let mut has_members = vec![false; rows.len()];
        for &place in rows.own() {
            if let Some(has_members) = has_members.get_mut(root_of[place as usize] as usize) {
                *has_members = true;
            }
        }
        let of_others = rows.halo(comm)?.receives.iter().flat_map(|(_, places)| places);
        let of_others = of_others.map(|&place| aggregates[place as usize]);
        let joined = of_root.iter().zip(&has_members).filter(|(_, is)| **is).map(|(&aggregate, _)| aggregate);
        let values =
            Arc::new(Numbering::of_all(comm.rank(), &joined.chain(of_others).collect::<Vec<_>>(), count));
        let place = |&[number, _]: &[u32; 2]| values.place(number).map_or(NO_AGGREGATE, |place| place as u32);
        // Many have the same: each is looked up once where it has its root here.
        let of_roots: Vec<u32> = of_root.iter().map(place).collect();
        let mut places = vec![NO_AGGREGATE; rows.len()];
        for &at in rows.own() {
            let place = of_roots.get(root_of[at as usize] as usize);
            places[at as usize] = place.copied().unwrap_or(NO_AGGREGATE);
        }
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

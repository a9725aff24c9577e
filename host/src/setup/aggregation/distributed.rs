//! [`Aggregation`] on several ranks: an aggregate belongs to the rank of its root.

use std::sync::Arc;

use cuda_std::Real;

use super::{Aggregation, NO_AGGREGATE};
use crate::backend::distributed::{Borders, Distributed};
use crate::comm::{Numbering, Runs};
use crate::error::Result;
use crate::parallel::*;
use crate::setup::matrix::distributed::{DistributedCsr, DistributedIndices, only_alone};
use crate::setup::{IndependentSetsOnRanks, Matrices, Parts};

/// Numbers that a thread looks up, at least: fewer take less time than to wake it.
const LEAST_LOOKED_UP: usize = 8192;
/// An unknown without an aggregate.
const NONE: [u32; 2] = [NO_AGGREGATE; 2];

type Indices<T, B> = DistributedIndices<<B as Matrices<T>>::Indices>;

impl<T: Real, B: Parts<T> + Borders<T> + IndependentSetsOnRanks<T>> Aggregation<T> for Distributed<B> {
    fn aggregate(&self, s: &DistributedCsr<B::Csr>, roots: &Indices<T, B>) -> Result<(Indices<T, B>, usize)> {
        let (comm, inner, rows) = (&**self.comm(), self.inner(), &s.rows);
        let rank = comm.rank() as u32;
        let joined = inner.join(&s.local, &roots.local);
        let counted =
            joined.and_then(|(root_of, is_root)| Ok((inner.marked_before(&is_root, rows.own())?, root_of)));
        let (before, root_of) = self.agreed(counted)?;
        let (numbers, count) = self.numbers_of_marked(&before, rows)?;
        // Others look at some unknowns: which root these have, and how many roots are in front of it.
        let halo = rows.halo(comm)?;
        let (sends, receives) = (halo.sent(), halo.places_received());
        let roots_of_sent = inner.taken(&root_of, &sends).and_then(|roots| {
            let places: Runs =
                roots.iter().map(|&root| if root == NO_AGGREGATE { 0 } else { root }).collect();
            Ok(roots.into_iter().zip(inner.taken(&before, &places)?).collect::<Vec<_>>())
        });
        let roots_of_sent = self.agreed(roots_of_sent)?;
        // The aggregates of roots, each with the rank that has it, and then those of all unknowns.
        let own = |before: u32| [numbers.get(before as usize), rank];
        let of_root = |(place, &(root, before)): (u32, &(u32, u32))| {
            if root == place { own(before) } else { NONE }
        };
        let of_roots: Vec<[u32; 2]> = sends.iter().zip(&roots_of_sent).map(of_root).collect();
        let of_roots = halo.received(comm, &of_roots, 1)?;
        let of_others = halo.in_order(&of_roots);
        let joined = |&(root, before): &(u32, u32)| match root {
            NO_AGGREGATE => NONE,
            _ if rows.owner(root) == rank => own(before),
            _ => rows.others().position(root).map_or(NONE, |k| of_others[k]),
        };
        let roots_of_sent = roots_of_sent.par_iter().with_min_len(LEAST_LOOKED_UP);
        let aggregates: Vec<[u32; 2]> = roots_of_sent.map(joined).collect();
        let aggregates = halo.received(comm, &aggregates, 1)?;
        // Those with a member here: own ones, and those of others' unknowns, which are all that own unknowns
        // can have joined.
        let known = aggregates.iter().filter(|aggregate| **aggregate != NONE);
        let known = known.map(|&[number, owner]| (number, owner)).collect();
        let values = Arc::new(Numbering::of_own_and(comm.rank(), &numbers, known, count));
        let place = |&[number, _]: &[u32; 2]| match number {
            NO_AGGREGATE => NO_AGGREGATE,
            _ => values.place(number).map_or(NO_AGGREGATE, |place| place as u32),
        };
        let places = |aggregates: &[[u32; 2]]| -> Vec<u32> {
            aggregates.par_iter().with_min_len(LEAST_LOOKED_UP).map(place).collect()
        };
        let local = inner.of_marked(&before, values.own()).and_then(|mut of_root| {
            inner.put_at(&mut of_root, &receives, &places(&of_roots))?;
            let mut local = inner.through(&root_of, &of_root)?;
            inner.put_at(&mut local, &receives, &places(&aggregates))?;
            Ok(local)
        });
        let local = self.agreed(local)?;
        Ok((DistributedIndices { local, rows: rows.clone(), values: Some(values) }, count))
    }

    fn join(&self, _: &DistributedCsr<B::Csr>, _: &Indices<T, B>) -> Result<(Indices<T, B>, Indices<T, B>)> {
        Err(only_alone("roots that no rank has"))
    }

    fn tentative(&self, aggregates: &Indices<T, B>, _: usize) -> Result<DistributedCsr<B::Csr>> {
        let columns = aggregates.values.as_ref().ok_or_else(|| only_alone("aggregates without numbers"))?;
        let local = self.inner().tentative(&aggregates.local, columns.len());
        self.of_local(local, &aggregates.rows, columns)
    }
}

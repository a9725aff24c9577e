//! [`Aggregation`] on several ranks: an aggregate belongs to the rank of its root.

use std::sync::Arc;

use cuda_std::Real;

use super::{Aggregation, NO_AGGREGATE};
use crate::backend::distributed::{Borders, Distributed};
use crate::comm::{NOWHERE, Numbering};
use crate::error::Result;
use crate::setup::matrix::distributed::{DistributedCsr, DistributedIndices};
use crate::setup::others::only_alone;
use crate::setup::{IndependentSetsOnRanks, Matrices, Parts};

type Indices<T, B> = DistributedIndices<<B as Matrices<T>>::Indices>;

impl<T: Real, B: Parts<T> + Borders<T> + IndependentSetsOnRanks<T>> Aggregation<T> for Distributed<B> {
    fn aggregate(&self, s: &DistributedCsr<B::Csr>, roots: &Indices<T, B>) -> Result<(Indices<T, B>, usize)> {
        let (inner, rows, rank) = (self.inner(), &s.rows, self.comm().rank());
        let others = self.others(rows);
        let joined = inner.join(&s.local, &roots.local);
        let counted =
            joined.and_then(|(root_of, is_root)| Ok((inner.marked_before(&is_root, rows.own())?, root_of)));
        let (before, root_of) = self.agreed(counted)?;
        let (numbers, count) = self.numbers_of_marked(&before, rows)?;
        // The number of each root's aggregate, then of each unknown's; and the rank that has that.
        let found = inner.of_marked(&before, &numbers).and_then(|mut of_root| {
            inner.update_numbers(&mut of_root, &others)?;
            let mut aggregates = inner.through(&root_of, &of_root)?;
            inner.update_numbers(&mut aggregates, &others)?;
            let mut owners = inner.through(&root_of, &inner.owners(rows)?)?;
            inner.update_numbers(&mut owners, &others)?;
            let of_others = inner.taken(&aggregates, rows.others())?;
            Ok((aggregates, of_others, inner.taken(&owners, rows.others())?))
        });
        // Where this rank alone has come to an end, the others, which wait for it, are told at the end.
        let (aggregates, of_others, owners) = found?;
        // Those with a member here: own ones, and those of others' unknowns, which are all that own unknowns
        // can have joined.
        let known = each_once(&of_others, &owners);
        let values = Arc::new(Numbering::of_own_and(rank, &numbers, known, count));
        let local = self.agreed(inner.through_runs(&aggregates, &values.numbers().inverse(count)))?;
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

/// The aggregates of some unknowns, ascending, each with the rank that has it.
fn each_once(aggregates: &[u32], owners: &[u32]) -> Vec<(u32, u32)> {
    let there = || aggregates.iter().zip(owners).filter(|&(&aggregate, _)| aggregate != NO_AGGREGATE);
    let Some(first) = there().map(|(&aggregate, _)| aggregate).min() else { return Vec::new() };
    let last = there().map(|(&aggregate, _)| aggregate).max().unwrap_or(first);
    // Those at a border have numbers that are near each other, most of them.
    let mut owner_of = vec![NOWHERE; (last - first) as usize + 1];
    there().for_each(|(&aggregate, &owner)| owner_of[(aggregate - first) as usize] = owner);
    (first..).zip(owner_of).filter(|&(_, owner)| owner != NOWHERE).collect()
}

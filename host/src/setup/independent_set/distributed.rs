//! [`IndependentSets`] on several ranks: each decides about its own unknowns, and tells the others after
//! every round.

use std::sync::Arc;

use cuda_std::Real;

use super::{IndependentSets, IndependentSetsOnRanks};
use crate::backend::distributed::{Borders, Distributed};
use crate::error::Result;
use crate::setup::matrix::distributed::{DistributedCsr, DistributedIndices};
use crate::setup::{Matrices, Parts};

type Indices<T, B> = DistributedIndices<<B as Matrices<T>>::Indices>;

impl<T: Real, B: Parts<T> + Borders<T> + IndependentSetsOnRanks<T>> IndependentSets<T> for Distributed<B> {
    fn independent_set(
        &self,
        s: &DistributedCsr<B::Csr>,
        st: Option<&DistributedCsr<B::Csr>>,
        distance: u32,
        isolated: bool,
        slivers: Option<&B::Vector>,
    ) -> Result<Indices<T, B>> {
        let rank = self.comm().rank();
        // The transpose looks at other unknowns than s.
        let (all, s_local, st_local) = match st {
            None => (s.columns.clone(), s.local.clone(), None),
            Some(st) => {
                let (all, _) = s.columns.united(rank, st.columns.rows());
                let (s_local, st_local) = (self.spread(s, &all, &all)?, self.spread(st, &all, &all)?);
                (Arc::new(all), s_local, Some(st_local))
            }
        };
        let slivers = slivers.map(|slivers| self.extended(slivers, 1, &all)).transpose()?;
        let others = self.others(&all);
        let found = self.inner().independent_set_among(
            &s_local,
            st_local.as_ref(),
            distance,
            isolated,
            slivers.as_ref(),
            Some(&others),
        );
        let members = found.and_then(|found| match st {
            None => Ok(found),
            Some(_) => self.inner().picked(&found, &s.rows.places_in(&all)),
        });
        // Where this rank alone has come to an end, the others, which wait for it, are told at the end.
        let mut members = members?;
        self.inner().update_numbers(&mut members, &self.others(&s.rows))?;
        Ok(DistributedIndices { local: members, rows: s.rows.clone(), values: None })
    }
}

//! [`IndependentSets`] on several ranks: each decides about its own unknowns, and tells the others after every
//! round.

use cuda_std::Real;

use super::{IndependentSets, IndependentSetsOnRanks, Others};
use crate::backend::distributed::{Borders, Distributed};
use crate::error::Result;
use crate::setup::matrix::distributed::{DistributedCsr, DistributedIndices, only_alone};
use crate::setup::{Algebra, Matrices};

type Indices<T, B> = DistributedIndices<<B as Matrices<T>>::Indices>;

impl<T: Real, B: Algebra<T> + Borders<T> + IndependentSetsOnRanks<T>> IndependentSets<T> for Distributed<B> {
    fn independent_set(
        &self,
        s: &DistributedCsr<B::Csr>,
        st: Option<&DistributedCsr<B::Csr>>,
        distance: u32,
        isolated: bool,
        slivers: Option<&B::Vector>,
    ) -> Result<Indices<T, B>> {
        if st.is_some() {
            return Err(only_alone("a splitting that looks at transposes"));
        }
        let (comm, rows) = (&**self.comm(), &s.rows);
        let slivers = slivers.map(|slivers| self.extended(slivers, 1, rows)).transpose()?;
        let others = Others { comm, numbering: rows };
        let found = self.inner().independent_set_among(
            &s.local,
            None,
            distance,
            isolated,
            slivers.as_ref(),
            Some(&others),
        );
        let mut members = self.agreed(found.and_then(|found| self.inner().indices_to_host(&found)))?;
        rows.update(comm, &mut members)?;
        let local = self.agreed(self.inner().indices(&members))?;
        Ok(DistributedIndices { local, rows: rows.clone(), values: None })
    }
}

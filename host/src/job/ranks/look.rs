//! The first look at a matrix on the devices of ranks that are threads of one process.

use std::sync::Arc;

use arithmetic::survey::Found;

use super::Ranks;
use super::orders::Order;
use super::there::{There, Whole, take_rows};
use crate::comm::{Partition, Partitioning};
use crate::error::Result;
use crate::job::setup::Times;
use crate::job::{Device, Options};
use crate::matrix::Csr;
use crate::setup::DeviceCsr;

/// A matrix whose rows are on the devices of their ranks.
pub(in crate::job) struct OnDevices {
    partition: Arc<Partition>,
    ranks: Vec<There>,
}

/// Of each rank which of its rows have columns of others, and the rows.
type OfRanks = (Vec<Vec<u32>>, Vec<Option<DeviceCsr<f64>>>);

impl OnDevices {
    /// What each rank has; `None` where rows are shared out in another way now.
    pub(super) fn of(self, partition: &Partition) -> Option<OfRanks> {
        let is_same = *self.partition == *partition;
        let ranks = self.ranks.into_iter().map(|There { rows, at_border, .. }| (at_border, Some(rows)));
        is_same.then(|| ranks.unzip())
    }
}

impl Ranks {
    /// What is found in a matrix of whose rows each rank takes its own to its device, where they stay; `None`
    /// where ranks have no range of rows each, or no device with room for them. `device` is rank 0's.
    pub(in crate::job) fn look(
        &self,
        a: &Arc<Csr<f64>>,
        device: &Device,
        options: &Options,
        times: &mut Times,
    ) -> Result<Option<(Found, OnDevices)>> {
        let is_here = self.comm.one_process().is_some() && device.gpu().is_some();
        if !is_here || self.partitioning != Partitioning::Blocks {
            return Ok(None);
        }
        let partition = self.partition(a, options)?;
        let whole = Whole { a: a.clone(), partition: partition.clone(), options: options.clone() };
        self.fatal(|| self.order(&Order::Look))?;
        let (seconds, ranks) = take_rows(&*self.comm, device, Some(whole))?;
        times.upload += seconds;
        Ok(ranks.map(|ranks| {
            let found = ranks.iter().map(|there| there.found).fold(Found::NONE, Found::with);
            (found, OnDevices { partition, ranks })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::gpu::Gpu;
    use crate::comm::Pieces;
    use crate::job::plan::Plan;
    use crate::job::progress::Watch;
    use crate::job::solved::Rhs;
    use crate::job::{Method, Precond};
    use crate::matrix::{Survey, Target};
    use crate::problem::generate;
    use crate::setup::Matrices;

    fn on_simulators(size: usize) -> (Device, Arc<Ranks>) {
        let ranks = Ranks::threads(size, Partitioning::Blocks, |_| Device::simulator()).unwrap();
        (Device::simulator().unwrap(), Arc::new(ranks))
    }

    fn matrix() -> Arc<Csr<f64>> {
        Arc::new(generate(&"tet:5".parse().unwrap(), 1).unwrap())
    }

    /// Also where some ranks have no rows, and where one has a device that is none.
    #[test]
    fn devices_find_in_their_rows_what_the_host_does() {
        let few = Arc::new(Csr::from_triplets(2, 2, [(0, 0, 2.0), (0, 1, -1.0), (1, 1, 3.0)]).unwrap());
        for (a, size) in [(matrix(), 2), (matrix(), 3), (few, 4)] {
            let (device, ranks) = on_simulators(size);
            let (found, there) =
                ranks.look(&a, &device, &Options::default(), &mut Times::default()).unwrap().unwrap();
            let (found, expected) = (Survey::made((a.n_rows(), a.n_cols()), &found), Survey::of(&a));
            let near = |x: f64, y: f64| (x - y).abs() <= 1e-12 * expected.sum_of_magnitudes;
            assert!(near(found.sum, expected.sum) && near(found.m_share, expected.m_share));
            let Survey { sum, sum_of_magnitudes, m_share, .. } = expected;
            assert_eq!(Survey { sum, sum_of_magnitudes, m_share, ..found }, expected);
            let partition = Arc::new(Partition::new(&a, size, 1, &Partitioning::Blocks).unwrap());
            let (at_border, rows) = there.of(&partition).unwrap();
            let (found, expected) =
                (Pieces::with_border_rows(&a, &partition, &at_border), Pieces::of(&a, &partition));
            for (rank, rows) in rows.into_iter().enumerate() {
                assert_eq!(found.piece(rank), expected.piece(rank));
                let gpu: &Gpu = device.gpu().unwrap();
                let rows = Matrices::<f64>::csr_to_host(gpu, &rows.unwrap()).unwrap();
                assert_eq!(*rows, a.chosen_rows(&partition.rows(rank).expanded()));
            }
        }
        let open = |_| Device::cpu(1);
        let ranks = Ranks::threads(2, Partitioning::Blocks, open).unwrap();
        let sim = Device::simulator().unwrap();
        assert!(ranks.look(&matrix(), &sim, &Options::default(), &mut Times::default()).unwrap().is_none());
    }

    #[test]
    fn rows_that_are_there_are_not_copied_once_more() {
        let (a, (device, ranks)) = (matrix(), on_simulators(2));
        let b: Vec<f64> = (0..a.n_rows()).map(|i| 0.5 + (i % 7) as f64).collect();
        for precond in [Precond::Jacobi, Precond::Amg, Precond::Ilu] {
            let mut options =
                Options { method: Some(Method::Cg), precond: Some(precond), ..Options::default() };
            (options.amg.coarse_rows, options.amg.rank_rows) = (20, Some(1));
            let survey = Survey::of(&a);
            let solved = |there: Option<OnDevices>| {
                let plan = Plan::new(a.clone(), options.clone(), &survey, true, Target::Gpu).unwrap();
                let (mut watch, mut times) = (Watch::default(), Times::default());
                let uploaded = || device.counts().unwrap().uploaded_bytes;
                let before = uploaded();
                let system = super::super::prepare(plan, there, &device, &ranks, &mut watch, &mut times);
                let (mut system, uploaded) = (system.unwrap(), uploaded() - before);
                let (norm, max) = crate::norm::norms(&b);
                let rhs = Rhs { b: &b, norm, max, threshold: 1e-8, start: None };
                (system.solve(&rhs, &mut watch, &mut times).unwrap(), uploaded)
            };
            let there =
                ranks.look(&a, &device, &Options::default(), &mut Times::default()).unwrap().unwrap().1;
            let ((there, less), (alone, uploaded)) = (solved(Some(there)), solved(None));
            assert_eq!((&there.x, there.outcome.iterations), (&alone.x, alone.outcome.iterations));
            // About half of the entries are rank 0's, 12 bytes each.
            let saved = uploaded - less;
            match precond {
                Precond::Ilu => assert_eq!(saved, 0),
                _ => assert!(saved > 5 * a.nnz() as u64, "{precond}: {saved}"),
            }
        }
    }
}

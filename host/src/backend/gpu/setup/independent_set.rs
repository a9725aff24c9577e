//! Independent sets.

use cuda_std::Real;
use gpu_kernels::setup::independent_set::{
    independent_reach, independent_remove, independent_select, independent_start,
};
use gpu_kernels::setup::team::Pattern;

use super::super::memory::{Buffer, DeviceVector, bytes_of_mut};
use super::super::{DeviceCsr, DeviceIndices, Gpu, pointer_or_null};
use crate::error::Result;

/// Rounds between two times that the host asks whether somebody is undecided; those after the last do nothing.
const ROUNDS: u32 = 4;

impl Gpu {
    /// See [`crate::backend::Algebra::independent_set`].
    pub(in super::super) fn independent<T: Real>(
        &self,
        s: &DeviceCsr<T>,
        st: Option<&DeviceCsr<T>>,
        distance: u32,
        isolated: bool,
        outlying: Option<&DeviceVector<T>>,
    ) -> Result<DeviceIndices> {
        let rows = s.size.n_rows;
        let members = DeviceIndices::new(&self.device, rows)?;
        let null = Pattern { row_ptr: std::ptr::null(), col_idx: std::ptr::null() };
        // Most rows are decided after a few rounds, and then a team has but one number to read.
        let (n, log2_lanes) = (rows as u64, s.log2_lanes().saturating_sub(1));
        let (s, st) = (s.pattern(), st.map_or(null, |st| st.pattern()));
        // One allocation: the largest of each neighbourhood, weights, marks, and the last round that left somebody.
        let scratch = Buffer::new(&self.device, rows * 16 + size_of::<u32>())?;
        let largest = scratch.address as *mut u64;
        let weights = largest.wrapping_add(rows) as *mut u32;
        let marks = weights.wrapping_add(rows);
        let open = marks.wrapping_add(rows);
        // SAFETY: within the allocation.
        unsafe { self.device.zero(open as u64, size_of::<u32>())? };
        let (isolated, members_ptr) = (isolated as u32, members.ptr_mut());
        let outlying = pointer_or_null(outlying);
        let kernel = independent_start { n, s, st, isolated, outlying, weights, marks, members: members_ptr };
        self.launch(rows, &kernel)?;
        let mut round = 0;
        loop {
            for _ in 0..ROUNDS {
                round += 1;
                let kernel = independent_reach { n, log2_lanes, s, st, round, weights, largest };
                self.launch(rows << log2_lanes, &kernel)?;
                let kernel = independent_select {
                    n,
                    log2_lanes,
                    s,
                    st,
                    distance,
                    round,
                    weights,
                    largest,
                    marks,
                    members: members_ptr,
                    open,
                };
                self.launch(rows << log2_lanes, &kernel)?;
                let kernel = independent_remove { n, log2_lanes, s, st, distance, round, marks, weights };
                self.launch(rows << log2_lanes, &kernel)?;
            }
            let mut last_open = [0u32];
            // SAFETY: within the allocation.
            unsafe { self.device.download(bytes_of_mut(&mut last_open), open as u64)? };
            if last_open[0] < round {
                return Ok(members);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::strength::tests::{all_samples, outlying_by_chance, strict, symmetric_samples};
    use crate::backend::algebra::Strength;
    use crate::backend::reference::Reference;
    use crate::backend::{Algebra, Memory};
    use crate::matrix::Csr;

    #[test]
    fn is_that_of_the_host() {
        let (gpu, host) = (strict(), Reference::new());
        for a in all_samples::<f64>() {
            let s = host.strength(&a, Strength::Classical { theta: 0.3 }).unwrap();
            for s in [a, s] {
                let st = host.transpose(&s).unwrap();
                let (on_device, st_on_device) = (gpu.csr(&s).unwrap(), gpu.csr(&st).unwrap());
                for (distance, isolated, both) in
                    [(1, true, false), (2, false, false), (1, false, true), (2, true, true)]
                {
                    let (st, st_on_device) = (both.then_some(&st), both.then_some(&st_on_device));
                    for outlying in [None, Some(outlying_by_chance(s.n_rows()))] {
                        let on_both = outlying.as_ref().map(|of_rows| gpu.vector(of_rows).unwrap());
                        let expected =
                            host.independent_set(&s, st, distance, isolated, outlying.as_ref()).unwrap();
                        let found = gpu
                            .independent_set(&on_device, st_on_device, distance, isolated, on_both.as_ref())
                            .unwrap();
                        assert_eq!(
                            found.to_host().unwrap(),
                            expected,
                            "{} rows, distance {distance}, both {both}",
                            s.n_rows()
                        );
                    }
                }
            }
        }
    }

    /// The unknowns within so many edges of `i`, `i` too.
    fn within(s: &Csr<f64>, i: u32, distance: u32) -> BTreeSet<u32> {
        let mut reached = BTreeSet::from([i]);
        for _ in 0..distance {
            reached = reached.iter().flat_map(|&j| s.row(j as usize).0.iter().copied().chain([j])).collect();
        }
        reached
    }

    #[test]
    fn members_are_far_from_each_other_and_near_to_all() {
        let gpu = strict();
        for s in symmetric_samples::<f64>() {
            for distance in [1, 2] {
                let set = gpu.independent_set(&gpu.csr(&s).unwrap(), None, distance, true, None).unwrap();
                let set = set.to_host().unwrap();
                for i in 0..s.n_rows() as u32 {
                    let near = within(&s, i, distance);
                    let members = near.iter().filter(|&&j| set[j as usize] == 1).count();
                    let is_member = set[i as usize] == 1;
                    assert!(
                        if is_member { members == 1 } else { members > 0 },
                        "unknown {i} of {}",
                        set.len()
                    );
                }
            }
        }
    }
}

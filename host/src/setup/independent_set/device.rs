//! [`IndependentSets`] on a device.

use std::ptr::null;

use cuda_std::Real;
use gpu_kernels::setup::independent_set::{
    independent_reach, independent_remove, independent_select, independent_start,
};
use gpu_kernels::setup::sub_warp::Pattern;

use super::{IndependentSets, IndependentSetsOnRanks};
use crate::backend::gpu::buffer::Buffer;
use crate::backend::gpu::transfer;
use crate::backend::gpu::{DeviceVector, Gpu, pointer_or_null};
use crate::comm::Runs;
use crate::error::Result;
use crate::setup::matrix::device::DeviceCsr;
use crate::setup::matrix::indices::DeviceIndices;
use crate::setup::others::{OnDevice, Others};

/// Rounds between two times that the host asks whether somebody is undecided; those after the last do
/// nothing.
const ROUNDS: u32 = 4;

impl<T: Real> IndependentSets<T> for Gpu {
    fn independent_set(
        &self,
        s: &DeviceCsr<T>,
        st: Option<&DeviceCsr<T>>,
        distance: u32,
        isolated: bool,
        slivers: Option<&DeviceVector<T>>,
    ) -> Result<DeviceIndices> {
        self.independent_set_among(s, st, distance, isolated, slivers, None)
    }
}

impl<T: Real> IndependentSetsOnRanks<T> for Gpu {
    fn independent_set_among(
        &self,
        s: &DeviceCsr<T>,
        st: Option<&DeviceCsr<T>>,
        distance: u32,
        isolated: bool,
        slivers: Option<&DeviceVector<T>>,
        others: Option<&Others>,
    ) -> Result<DeviceIndices> {
        let rows = s.size.n_rows;
        let members = DeviceIndices::new(self.device(), rows)?;
        let no_graph = Pattern { row_ptr: null(), col_idx: null() };
        // Most rows are decided after a few rounds, and then a sub-warp has but one number to read.
        let (n, log2_lanes) = (rows as u64, s.log2_lanes().saturating_sub(1));
        let (s, st) = (s.pattern(), st.map_or(no_graph, |st| st.pattern()));
        // One allocation: the largest of each neighbourhood, weights, marks, and the last round that left
        // somebody.
        let scratch = Buffer::new(self.device(), rows * 16 + size_of::<u32>())?;
        let largest = scratch.address as *mut u64;
        let weights = largest.wrapping_add(rows) as *mut u32;
        let marks = weights.wrapping_add(rows);
        let open = marks.wrapping_add(rows);
        // SAFETY: within the allocation.
        unsafe { self.device().zero(open as u64, size_of::<u32>())? };
        let (isolated, members_ptr) = (isolated as u32, members.ptr_mut());
        let slivers = pointer_or_null(slivers);
        let numbers_of = |numbers: Runs| self.numbers_of_runs(&numbers);
        let numbers = others.map(|others| numbers_of(others.numbers())).transpose()?;
        let own = others.map(|others| numbers_of(others.own())).transpose()?;
        let pointer =
            |indices: &Option<DeviceIndices>| indices.as_ref().map_or(null(), |indices| indices.ptr());
        let (numbers, own) = (pointer(&numbers), pointer(&own));
        let kernel =
            independent_start { n, s, st, numbers, isolated, slivers, weights, marks, members: members_ptr };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(rows, &kernel) }?;
        let border = others.map(|others| OnDevice::of(self, others)).transpose()?;
        if let Some(border) = &border {
            // The weights of others are those of their ranks, and 0 where any rank has decided.
            // SAFETY: there is a weight for each unknown.
            unsafe {
                border.update(self, weights)?;
                border.settle(self, weights)?;
            }
        }
        let mut round = 0;
        loop {
            for _ in 0..if matches!(border, Some(OnDevice::Host(..))) { 1 } else { ROUNDS } {
                round += 1;
                let kernel = independent_reach { n, log2_lanes, s, st, round, weights, largest };
                // SAFETY: the matrices are valid, and the arrays were made for their sizes.
                unsafe { self.launch(rows << log2_lanes, &kernel) }?;
                let kernel = independent_select {
                    n,
                    log2_lanes,
                    s,
                    st,
                    distance,
                    round,
                    weights,
                    largest,
                    own,
                    marks,
                    members: members_ptr,
                    open,
                };
                // SAFETY: the matrices are valid, and the arrays were made for their sizes.
                unsafe { self.launch(rows << log2_lanes, &kernel) }?;
                let kernel = independent_remove { n, log2_lanes, s, st, distance, round, marks, weights };
                // SAFETY: the matrices are valid, and the arrays were made for their sizes.
                unsafe { self.launch(rows << log2_lanes, &kernel) }?;
                if let Some(border) = &border {
                    // SAFETY: as above.
                    unsafe { border.settle(self, weights) }?;
                }
            }
            let mut last_open = [0u32];
            // SAFETY: within the allocation.
            unsafe { transfer::download(&**self.device(), &mut last_open, open as u64)? };
            let is_open = last_open[0] == round;
            if !others.map_or(Ok(is_open), |others| others.is_any_open(is_open))? {
                return Ok(members);
            }
        }
    }
}

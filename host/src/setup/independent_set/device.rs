//! [`IndependentSets`] on a device.

use cuda_std::Real;
use gpu_kernels::setup::independent_set::{
    independent_reach, independent_remove, independent_select, independent_start,
};
use gpu_kernels::setup::sub_warp::Pattern;

use super::IndependentSets;
use crate::backend::gpu::buffer::Buffer;
use crate::backend::gpu::transfer;
use crate::backend::gpu::{DeviceVector, Gpu, pointer_or_null};
use crate::error::Result;
use crate::setup::matrix::device::{DeviceCsr, DeviceIndices};

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
        let rows = s.size.n_rows;
        let members = DeviceIndices::new(self.device(), rows)?;
        let null = Pattern { row_ptr: std::ptr::null(), col_idx: std::ptr::null() };
        // Most rows are decided after a few rounds, and then a sub-warp has but one number to read.
        let (n, log2_lanes) = (rows as u64, s.log2_lanes().saturating_sub(1));
        let (s, st) = (s.pattern(), st.map_or(null, |st| st.pattern()));
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
        let kernel = independent_start { n, s, st, isolated, slivers, weights, marks, members: members_ptr };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(rows, &kernel) }?;
        let mut round = 0;
        loop {
            for _ in 0..ROUNDS {
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
                    marks,
                    members: members_ptr,
                    open,
                };
                // SAFETY: the matrices are valid, and the arrays were made for their sizes.
                unsafe { self.launch(rows << log2_lanes, &kernel) }?;
                let kernel = independent_remove { n, log2_lanes, s, st, distance, round, marks, weights };
                // SAFETY: the matrices are valid, and the arrays were made for their sizes.
                unsafe { self.launch(rows << log2_lanes, &kernel) }?;
            }
            let mut last_open = [0u32];
            // SAFETY: within the allocation.
            unsafe { transfer::download(&**self.device(), &mut last_open, open as u64)? };
            if last_open[0] < round {
                return Ok(members);
            }
        }
    }
}

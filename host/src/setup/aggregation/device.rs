//! [`Aggregation`] on a device.

use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::setup::aggregate::{
    join_neighbours, join_roots, number_aggregates, tentative, tentative_lengths,
};

use super::Aggregation;
use crate::backend::gpu::Gpu;
use crate::backend::gpu::buffer::Buffer;
use crate::error::Result;
use crate::setup::matrix::device::DeviceCsr;
use crate::setup::matrix::indices::DeviceIndices;

impl<T: Real> Aggregation<T> for Gpu {
    fn aggregate(&self, s: &DeviceCsr<T>, roots: &DeviceIndices) -> Result<(DeviceIndices, usize)> {
        let (root_of, is_root) = self.joined(s, roots)?;
        let (rows, n) = (s.size.n_rows, s.size.n_rows as u64);
        let count = self.row_pointers(&is_root, rows)?;
        let numbers = is_root.address as *const u32;
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(rows, &number_aggregates { n, numbers, root_of: root_of.ptr_mut() }) }?;
        Ok((root_of, count as usize))
    }

    fn join(&self, s: &DeviceCsr<T>, roots: &DeviceIndices) -> Result<(DeviceIndices, DeviceIndices)> {
        let (root_of, is_root) = self.joined(s, roots)?;
        Ok((root_of, DeviceIndices { len: s.size.n_rows, buffer: is_root }))
    }

    fn tentative(&self, aggregates: &DeviceIndices, n_aggregates: usize) -> Result<DeviceCsr<T>> {
        let (rows, n) = (aggregates.len, aggregates.len as u64);
        let row_ptr = Buffer::new(self.device(), (rows + 1) * size_of::<u32>())?;
        let lengths = row_ptr.address as *mut u32;
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(rows, &tentative_lengths { n, aggregates: aggregates.ptr(), lengths }) }?;
        let p = self.csr_of_lengths(row_ptr, rows, n_aggregates)?;
        let kernel = tentative {
            n,
            aggregates: aggregates.ptr(),
            row_ptr: p.row_ptr(),
            col_idx: p.col_idx_mut(),
            values: p.values_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(rows, &kernel) }?;
        Ok(p)
    }
}

impl Gpu {
    /// The root of each unknown, and 1 for roots, 0 for others, with room for one more.
    fn joined<T: Real>(
        &self,
        s: &DeviceCsr<T>,
        roots: &DeviceIndices,
    ) -> Result<(DeviceIndices, Arc<Buffer>)> {
        let rows = s.size.n_rows;
        let (n, log2_lanes, values) = (rows as u64, s.log2_lanes(), s.values());
        let before = DeviceIndices::new(self.device(), rows)?;
        let root_of = DeviceIndices::new(self.device(), rows)?;
        let is_root = Buffer::new(self.device(), (rows + 1) * size_of::<u32>())?;
        let kernel = join_roots {
            n,
            log2_lanes,
            s: s.pattern(),
            values,
            roots: roots.ptr(),
            root_of: before.ptr_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch_on_rows(s, &kernel) }?;
        let kernel = join_neighbours {
            n,
            log2_lanes,
            s: s.pattern(),
            values,
            roots: roots.ptr(),
            before: before.ptr(),
            root_of: root_of.ptr_mut(),
            is_root: is_root.address as *mut u32,
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch_on_rows(s, &kernel) }?;
        Ok((root_of, is_root))
    }
}

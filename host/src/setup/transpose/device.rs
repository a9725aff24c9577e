//! [`Transposes`] on a device.

use std::marker::PhantomData;
use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::setup::columns::SLOTS;
use gpu_kernels::setup::sub_warp::Pattern;
use gpu_kernels::setup::transpose::{count_rows, scatter_rows, sort_rows, sort_rows_long, transpose_values};

use super::Transposes;
use crate::backend::gpu::Gpu;
use crate::backend::gpu::buffer::Buffer;
use crate::error::Result;
use crate::setup::launch::log2_lanes_for;
use crate::setup::matrix::Size;
use crate::setup::matrix::device::DeviceCsr;

impl<T: Real> Transposes<T> for Gpu {
    fn transpose(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        let mut at = self.transposed_pattern(a)?;
        self.transpose_values(a, &mut at)?;
        Ok(at)
    }

    fn transpose_values(&self, a: &DeviceCsr<T>, at: &mut DeviceCsr<T>) -> Result<()> {
        let log2_lanes = at.log2_lanes();
        let kernel = transpose_values::<T> {
            n_rows: at.size.n_rows as u64,
            log2_lanes,
            a: a.pattern(),
            values: a.values(),
            at: at.pattern(),
            at_values: at.values_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(at.size.n_rows << log2_lanes, &kernel) }
    }
}

impl Gpu {
    /// The pattern of the transpose; the values are undefined.
    fn transposed_pattern<T: Real>(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        let size = Size { n_rows: a.size.n_cols, n_cols: a.size.n_rows, nnz: a.size.nnz };
        let bytes = (size.n_rows + 1) * size_of::<u32>();
        let row_ptr = Buffer::zeroed(self.device(), bytes)?;
        let lengths = row_ptr.address as *mut u32;
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe {
            self.launch(size.nnz, &count_rows { nnz: size.nnz as u64, columns: a.col_idx(), lengths })
        }?;
        self.row_pointers(&row_ptr, size.n_rows)?;

        let next = Buffer::new(self.device(), bytes)?;
        // SAFETY: both have that many bytes.
        unsafe { self.device().copy(next.address, row_ptr.address, bytes)? };
        let unsorted = Buffer::new(self.device(), size.nnz * size_of::<u32>())?;
        let kernel = scatter_rows {
            n_rows: a.size.n_rows as u64,
            log2_lanes: a.log2_lanes(),
            a: a.pattern(),
            next: next.address as *mut u32,
            rows: unsorted.address as *mut u32,
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(a.size.n_rows << a.log2_lanes(), &kernel) }?;

        let col_idx =
            self.sorted_rows(size, row_ptr.address as *const u32, unsorted.address as *const u32)?;
        let values = Buffer::new(self.device(), size.nnz * size_of::<T>())?;
        Ok(DeviceCsr { size, row_ptr, col_idx, values, element: PhantomData })
    }

    /// The columns of a matrix of this size, ascending within a row, which are there in any order. What is
    /// queued reads them.
    pub(in crate::setup) fn sorted_rows(
        &self,
        size: Size,
        row_ptr: *const u32,
        columns: *const u32,
    ) -> Result<Arc<Buffer>> {
        let col_idx = Buffer::new(self.device(), size.nnz * size_of::<u32>())?;
        let (sorted, unsorted) = (col_idx.address as *mut u32, Pattern { row_ptr, col_idx: columns });
        let (_list, long) = self.long_rows(size.n_rows)?;
        // Room for rows twice as long as most.
        let mean = size.nnz as f64 / size.n_rows.max(1) as f64;
        let log2_lanes = log2_lanes_for(2.0 * mean, SLOTS);
        let kernel = sort_rows { n_rows: size.n_rows as u64, log2_lanes, unsorted, sorted, long };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(size.n_rows << log2_lanes, &kernel) }?;
        let n_cols = size.n_cols as u64;
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch_long(size.n_rows, &sort_rows_long { n_cols, unsorted, sorted, long }) }?;
        Ok(col_idx)
    }
}

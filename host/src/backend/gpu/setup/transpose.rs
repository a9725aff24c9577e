//! Transposes.

use std::marker::PhantomData;

use cuda_std::Real;
use gpu_kernels::setup::columns::SLOTS;
use gpu_kernels::setup::team::Pattern;
use gpu_kernels::setup::transpose::{count_rows, scatter_rows, sort_rows, sort_rows_long, transpose_values};

use super::super::memory::Buffer;
use super::super::{DeviceCsr, Gpu};
use super::product::log2_lanes_for;
use crate::backend::algebra::Size;
use crate::error::Result;

impl Gpu {
    /// The pattern of the transpose; the values are undefined.
    pub(in super::super) fn transposed_pattern<T: Real>(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        let size = Size { n_rows: a.size.n_cols, n_cols: a.size.n_rows, nnz: a.size.nnz };
        let bytes = (size.n_rows + 1) * size_of::<u32>();
        let row_ptr = Buffer::zeroed(&self.device, bytes)?;
        let lengths = row_ptr.address as *mut u32;
        self.launch(size.nnz, &count_rows { nnz: size.nnz as u64, columns: a.col_idx(), lengths })?;
        self.row_pointers(&row_ptr, size.n_rows)?;

        let next = Buffer::new(&self.device, bytes)?;
        // SAFETY: both have so many bytes.
        unsafe { self.device.copy(next.address, row_ptr.address, bytes)? };
        let unsorted = Buffer::new(&self.device, size.nnz * size_of::<u32>())?;
        let kernel = scatter_rows {
            n_rows: a.size.n_rows as u64,
            log2_lanes: a.log2_lanes(),
            a: a.pattern(),
            next: next.address as *mut u32,
            rows: unsorted.address as *mut u32,
        };
        self.launch(a.size.n_rows << a.log2_lanes(), &kernel)?;

        let col_idx = Buffer::new(&self.device, size.nnz * size_of::<u32>())?;
        let sorted = col_idx.address as *mut u32;
        let unsorted =
            Pattern { row_ptr: row_ptr.address as *const u32, col_idx: unsorted.address as *const u32 };
        let (_list, long) = self.long_rows(size.n_rows)?;
        // Room for rows twice as long as most.
        let mean = size.nnz as f64 / size.n_rows.max(1) as f64;
        let log2_lanes = log2_lanes_for(2.0 * mean, SLOTS);
        let kernel = sort_rows { n_rows: size.n_rows as u64, log2_lanes, unsorted, sorted, long };
        self.launch(size.n_rows << log2_lanes, &kernel)?;
        let n_cols = size.n_cols as u64;
        self.launch_long(size.n_rows, &sort_rows_long { n_cols, unsorted, sorted, long })?;
        let values = Buffer::new(&self.device, size.nnz * size_of::<T>())?;
        Ok(DeviceCsr { size, row_ptr, col_idx, values, element: PhantomData })
    }

    /// See [`crate::backend::Algebra::transpose_values`].
    pub(in super::super) fn transposed_values<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        at: &mut DeviceCsr<T>,
    ) -> Result<()> {
        let log2_lanes = at.log2_lanes();
        let kernel = transpose_values::<T> {
            n_rows: at.size.n_rows as u64,
            log2_lanes,
            a: a.pattern(),
            values: a.values(),
            at: at.pattern(),
            at_values: at.values_mut(),
        };
        self.launch(at.size.n_rows << log2_lanes, &kernel)
    }
}

#[cfg(test)]
mod tests {
    use super::super::product::tests::scattered;
    use super::super::strength::tests::{assert_same, strict};
    use super::*;
    use crate::backend::Algebra;
    use crate::matrix::Csr;

    fn check<T: Real>(a: &Csr<T>) {
        let gpu = strict();
        let there = DeviceCsr::upload(&gpu.device, a).unwrap();
        assert_same(&gpu.transpose(&there).unwrap().to_host().unwrap(), &a.transpose(), "transpose");
    }

    fn transposes<T: Real>() {
        check::<T>(&scattered(1, 1, |_| 1));
        check::<T>(&scattered(3, 5, |_| 0));
        check::<T>(&scattered(0, 4, |_| 0));
        check::<T>(&scattered(70, 33, |i| i % 6));
        check::<T>(&scattered(130, 20, |i| i % 19));
        // Long rows of the transpose, beyond the tables; most columns are empty.
        check::<T>(&scattered(300, 100, |i| 1 + i % 2).transpose());
        check::<T>(&scattered(4, 600, |i| if i == 2 { 500 } else { 2 }).transpose());
    }

    #[test]
    fn transposes_in_f64() {
        transposes::<f64>();
    }

    #[test]
    fn transposes_in_f32() {
        transposes::<f32>();
    }
}

//! [`SparseProducts`] on a device.

use cuda_std::Real;
use gpu_kernels::setup::product::{
    count_columns, count_columns_long, multiply, write_columns, write_columns_long,
};

use super::SparseProducts;
use super::lanes::{lanes_of_columns, lanes_of_values};
use super::twins::may_have_twins;
use crate::backend::gpu::Gpu;
use crate::backend::gpu::buffer::Buffer;
use crate::error::Result;
use crate::setup::matrix::device::DeviceCsr;
use crate::setup::matrix::pattern::DevicePattern;

impl<T: Real> SparseProducts<T> for Gpu {
    fn product(&self, a: &DeviceCsr<T>, b: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        let (of_a, of_b) = (a.shared_pattern(), b.shared_pattern());
        let thinned = if may_have_twins(a.size) { self.without_twins(&of_a, &of_b)? } else { None };
        if let Some(thinned) = thinned {
            let c = self.pattern_of_product(&thinned.a, &of_b, lanes_of_columns(a.size, b.size))?;
            return self.product_of_twins(a, b, &thinned, &c);
        }
        let mut c = self.product_pattern(a, b)?;
        self.product_values(a, b, &mut c)?;
        Ok(c)
    }
    fn product_values(&self, a: &DeviceCsr<T>, b: &DeviceCsr<T>, c: &mut DeviceCsr<T>) -> Result<()> {
        self.fill_values(a, b, c, false)
    }
    fn add_product(&self, a: &DeviceCsr<T>, b: &DeviceCsr<T>, c: &mut DeviceCsr<T>) -> Result<()> {
        self.fill_values(a, b, c, true)
    }
}

impl Gpu {
    /// The pattern of `A B`; the values are undefined.
    pub(in crate::setup) fn product_pattern<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        b: &DeviceCsr<T>,
    ) -> Result<DeviceCsr<T>> {
        assert_eq!(a.size.n_cols, b.size.n_rows);
        let (a, b) = (a.shared_pattern(), b.shared_pattern());
        let log2_lanes = lanes_of_columns(a.size, b.size);
        self.pattern_of_product(&a, &b, log2_lanes)?.with_values(self.device())
    }

    pub(super) fn pattern_of_product(
        &self,
        a: &DevicePattern,
        b: &DevicePattern,
        log2_lanes: u32,
    ) -> Result<DevicePattern> {
        let (rows, cols) = (a.size.n_rows, b.size.n_cols);
        let (n_rows, n_cols) = (rows as u64, cols as u64);
        let (a, b) = (a.pattern(), b.pattern());
        let (_list, long) = self.long_rows(rows)?;
        let row_ptr = Buffer::new(self.device(), (rows + 1) * size_of::<u32>())?;
        let lengths = row_ptr.address as *mut u32;
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe {
            self.launch(rows << log2_lanes, &count_columns { n_rows, log2_lanes, a, b, lengths, long })
        }?;
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch_long(rows, &count_columns_long { n_cols, a, b, lengths, long }) }?;
        let c = self.pattern_of_lengths(row_ptr, rows, cols)?;
        let (row_ptr, columns) = (c.pattern().row_ptr, c.columns());
        let kernel = write_columns { n_rows, log2_lanes, a, b, row_ptr, columns };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(rows << log2_lanes, &kernel) }?;
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch_long(rows, &write_columns_long { n_cols, a, b, row_ptr, columns, long }) }?;
        Ok(c)
    }

    /// `C = A B`, or `C = C + A B` to `accumulate`, in the pattern of C.
    fn fill_values<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        b: &DeviceCsr<T>,
        c: &mut DeviceCsr<T>,
        accumulate: bool,
    ) -> Result<()> {
        let log2_lanes = lanes_of_values(b.size, c.size);
        let kernel = multiply::<T> {
            n_rows: c.size.n_rows as u64,
            log2_lanes,
            a: a.pattern(),
            a_values: a.values(),
            b: b.pattern(),
            b_values: b.values(),
            c: c.pattern(),
            c_values: c.values_mut(),
            accumulate: accumulate as u32,
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(c.size.n_rows << log2_lanes, &kernel) }
    }
}

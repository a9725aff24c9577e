//! [`SparseProducts`] on a device.
//!
//! Lanes share a row, about as many as rows of B have entries. Rows that their table has no room for have a
//! warp each in a second launch, and those that a warp has no room for a block in a third.

use std::sync::Arc;

use cuda_std::Real;
use cuda_std::warp::WARP_SIZE;
use gpu_kernels::setup::columns::LongRows;
use gpu_kernels::setup::product::{
    count_columns, count_columns_long, multiply, write_columns, write_columns_long, write_product,
};

use super::SparseProducts;
use super::lanes::{lanes_of_columns, lanes_of_values};
use super::twins::may_have_twins;
use crate::backend::gpu::Gpu;
use crate::backend::gpu::buffer::Buffer;
use crate::error::Result;
use crate::setup::matrix::device::DeviceCsr;
use crate::setup::matrix::pattern::DevicePattern;

/// Logarithm of a warp's lanes.
const WARP: u32 = WARP_SIZE.trailing_zeros();

/// The lengths of a product's rows, and which of them take more than the usual lanes.
struct Counted {
    lengths: Arc<Buffer>,
    /// Those of a warp, or of a block.
    longer: LongRows,
    /// Those of a block.
    long: LongRows,
    _lists: [Arc<Buffer>; 2],
}

impl<T: Real> SparseProducts<T> for Gpu {
    fn product(&self, a: &DeviceCsr<T>, b: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        let (of_a, of_b) = (a.shared_pattern(), b.shared_pattern());
        let thinned = if may_have_twins(a.size) { self.without_twins(&of_a, &of_b)? } else { None };
        let Some(thinned) = thinned else {
            return self.rows_of_product(a, b);
        };
        let c = self.pattern_of_product(&thinned.a, &of_b, lanes_of_columns(a.size, b.size))?;
        self.product_of_twins(a, b, &thinned, &c)
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
        let log2_lanes = lanes_of_columns(a.size, b.size);
        let (a, b) = (a.shared_pattern(), b.shared_pattern());
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
        let Counted { lengths, longer, long, _lists } = self.count_columns(a, b, log2_lanes)?;
        let (a, b) = (a.pattern(), b.pattern());
        let c = self.pattern_of_lengths(lengths, rows, cols)?;
        let (row_ptr, columns) = (c.pattern().row_ptr, c.columns());
        let write = |log2_lanes, of| write_columns { n_rows, log2_lanes, a, b, row_ptr, columns, of };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe {
            self.launch(rows << log2_lanes, &write(log2_lanes, LongRows::ALL))?;
            self.launch_long(rows, &write(WARP, longer))?;
            self.launch_long(rows, &write_columns_long { n_cols, a, b, row_ptr, columns, long })?;
        }
        Ok(c)
    }

    /// `A B`, columns and values at once.
    fn rows_of_product<T: Real>(&self, a: &DeviceCsr<T>, b: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        let (rows, cols, log2_lanes) = (a.size.n_rows, b.size.n_cols, lanes_of_columns(a.size, b.size));
        let (n_rows, n_cols) = (rows as u64, cols as u64);
        let Counted { lengths, longer, long, _lists } =
            self.count_columns(&a.shared_pattern(), &b.shared_pattern(), log2_lanes)?;
        let product = self.csr_of_lengths::<T>(lengths, rows, cols)?;
        let (row_ptr, columns, values) = (product.row_ptr(), product.col_idx_mut(), product.values_mut());
        let (a, b) = (a.rows(), b.rows());
        let write = |log2_lanes, of| write_product { n_rows, log2_lanes, a, b, row_ptr, columns, values, of };
        let columns_of_long =
            write_columns_long { n_cols, a: a.pattern, b: b.pattern, row_ptr, columns, long };
        let values_of_long = multiply {
            n_rows,
            log2_lanes: WARP,
            a,
            b,
            c: product.pattern(),
            c_values: values,
            accumulate: 0,
            of: long,
            long: LongRows::ALL,
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe {
            self.launch(rows << log2_lanes, &write(log2_lanes, LongRows::ALL))?;
            self.launch_long(rows, &write(WARP, longer))?;
            self.launch_long(rows, &columns_of_long)?;
            self.launch_long(rows, &values_of_long)?;
        }
        Ok(product)
    }

    fn count_columns(&self, a: &DevicePattern, b: &DevicePattern, log2_lanes: u32) -> Result<Counted> {
        assert_eq!(a.size.n_cols, b.size.n_rows);
        let (rows, n_cols) = (a.size.n_rows, b.size.n_cols as u64);
        let (n_rows, a, b) = (rows as u64, a.pattern(), b.pattern());
        let (longer_list, longer) = self.long_rows(rows)?;
        let (list, long) = self.long_rows(rows)?;
        let buffer = Buffer::new(self.device(), (rows + 1) * size_of::<u32>())?;
        let lengths = buffer.address as *mut u32;
        let count = |log2_lanes, of, long| count_columns { n_rows, log2_lanes, a, b, lengths, of, long };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe {
            self.launch(rows << log2_lanes, &count(log2_lanes, LongRows::ALL, longer))?;
            self.launch_long(rows, &count(WARP, longer, long))?;
            self.launch_long(rows, &count_columns_long { n_cols, a, b, lengths, long })?;
        }
        Ok(Counted { lengths: buffer, longer, long, _lists: [longer_list, list] })
    }

    /// `C = A B`, or `C = C + A B` to `accumulate`, in the pattern of C.
    fn fill_values<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        b: &DeviceCsr<T>,
        c: &mut DeviceCsr<T>,
        accumulate: bool,
    ) -> Result<()> {
        let rows = c.size.n_rows;
        let log2_lanes = lanes_of_values(b.size, c.size);
        let (_list, longer) = self.long_rows(rows)?;
        let (n_rows, accumulate, c_values) = (rows as u64, accumulate as u32, c.values_mut());
        let (a, b, c) = (a.rows(), b.rows(), c.pattern());
        let fill =
            |log2_lanes, of, long| multiply { n_rows, log2_lanes, a, b, c, c_values, accumulate, of, long };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe {
            self.launch(rows << log2_lanes, &fill(log2_lanes, LongRows::ALL, longer))?;
            self.launch_long(rows, &fill(WARP, longer, LongRows::ALL))
        }
    }
}

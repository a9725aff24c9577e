//! Sparse products.

use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::setup::columns::{LOADED, LongRows, SLOTS};
use gpu_kernels::setup::product::{
    count_columns, count_columns_long, multiply, write_columns, write_columns_long,
};

use super::super::memory::Buffer;
use super::super::{DeviceCsr, Gpu};
use crate::error::Result;

/// Blocks a multiprocessor for long rows, however many there are: the host does not know.
const LONG_BLOCKS: usize = 4;

/// Logarithm of the number of lanes that have room for so many entries, `share` a lane.
pub(super) fn log2_lanes_for(entries: f64, share: usize) -> u32 {
    ((entries / share as f64).ceil().max(1.0) as u32).min(32).next_power_of_two().trailing_zeros()
}

/// Logarithm of the number of lanes that share a row of A: about as many as a row of B has entries, and no fewer than
/// `needed`.
fn log2_lanes<T: Real>(b: &DeviceCsr<T>, needed: u32) -> u32 {
    log2_lanes_for(0.75 * mean(b), 1).max(needed)
}

/// Entries of a row.
pub(super) fn mean<T: Real>(a: &DeviceCsr<T>) -> f64 {
    a.size.nnz as f64 / a.size.n_rows.max(1) as f64
}

impl Gpu {
    /// The pattern of `A B`; the values are undefined.
    pub(in super::super) fn product_pattern<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        b: &DeviceCsr<T>,
    ) -> Result<DeviceCsr<T>> {
        assert_eq!(a.size.n_cols, b.size.n_rows);
        let (rows, cols) = (a.size.n_rows, b.size.n_cols);
        // Products of multigrid have about a tenth as many columns a row as multiplications.
        let multiplications = mean(a) * mean(b);
        let log2_lanes = log2_lanes(b, log2_lanes_for(multiplications / 8.0, SLOTS));
        let (n_rows, n_cols) = (rows as u64, cols as u64);
        let (a, b) = (a.pattern(), b.pattern());
        let (_list, long) = self.long_rows(rows)?;
        let row_ptr = Buffer::new(&self.device, (rows + 1) * size_of::<u32>())?;
        let lengths = row_ptr.address as *mut u32;
        self.launch(rows << log2_lanes, &count_columns { n_rows, log2_lanes, a, b, lengths, long })?;
        self.launch_long(rows, &count_columns_long { n_cols, a, b, lengths, long })?;
        let c = self.of_lengths(row_ptr, rows, cols)?;
        let (row_ptr, columns) = (c.row_ptr(), c.col_idx_mut());
        let kernel = write_columns { n_rows, log2_lanes, a, b, row_ptr, columns };
        self.launch(rows << log2_lanes, &kernel)?;
        self.launch_long(rows, &write_columns_long { n_cols, a, b, row_ptr, columns, long })?;
        Ok(c)
    }

    /// See [`crate::backend::Algebra::multiply_values`] and, with `accumulate`, [`crate::backend::Algebra::add_product`].
    pub(in super::super) fn product_values<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        b: &DeviceCsr<T>,
        c: &mut DeviceCsr<T>,
        accumulate: bool,
    ) -> Result<()> {
        // Room for rows a little longer than most.
        let log2_lanes = log2_lanes(b, log2_lanes_for(1.25 * mean(c), LOADED));
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
        self.launch(c.size.n_rows << log2_lanes, &kernel)
    }

    /// An empty list of long rows, with the memory it is in.
    pub(super) fn long_rows(&self, n_rows: usize) -> Result<(Arc<Buffer>, LongRows)> {
        let list = Buffer::new(&self.device, (n_rows + 1) * size_of::<u32>())?;
        // SAFETY: the list begins with the number of rows.
        unsafe { self.device.zero(list.address, size_of::<u32>())? };
        let count = list.address as *mut u32;
        Ok((list, LongRows { count, rows: count.wrapping_add(1) }))
    }

    /// Launches a kernel whose blocks take the long ones among so many rows in turn.
    pub(super) fn launch_long(&self, n_rows: usize, kernel: &dyn cuda_std::host::Kernel) -> Result<()> {
        let blocks = LONG_BLOCKS * self.device.info().multiprocessors as usize;
        self.launch_blocks(blocks.min(n_rows), kernel)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use gpu_kernels::setup::columns::BITS;

    use super::super::strength::tests::{assert_same, strict};
    use super::*;
    use crate::backend::{Algebra, reference::Reference};
    use crate::matrix::Csr;

    /// Rows of the lengths that `length` gives, their columns scattered, values without pattern.
    pub fn scattered<T: Real>(n_rows: usize, n_cols: usize, length: impl Fn(usize) -> usize) -> Csr<T> {
        let mut row_ptr = vec![0];
        let mut columns: Vec<u32> = Vec::new();
        for i in 0..n_rows {
            let length = length(i).min(n_cols);
            let mut row: Vec<u32> =
                (0..length).map(|k| ((i * 7919 + k * n_cols / length.max(1)) % n_cols) as u32).collect();
            row.sort_unstable();
            row.dedup();
            columns.extend(row);
            row_ptr.push(columns.len());
        }
        let value = |p: usize| T::from_f64(((p * 37 % 101) as f64 - 50.3) / 7.0);
        let values = (0..columns.len()).map(value).collect();
        Csr::new(n_rows, n_cols, row_ptr, columns, values).unwrap()
    }

    fn check<T: Real>(a: &Csr<T>, b: &Csr<T>) {
        let (gpu, host) = (strict(), Reference::new());
        let [a, b] = [a, b].map(|m| Arc::new(m.clone()));
        let c = Algebra::product(&gpu, &gpu.csr(&a).unwrap(), &gpu.csr(&b).unwrap()).unwrap();
        assert_same(&c.to_host().unwrap(), &host.product(&a, &b).unwrap(), "product");
    }

    fn products<T: Real>() {
        // The shapes of a hierarchy, one lane to many: rows of B with about 1, 4, 9 and 40 entries, some empty.
        check::<T>(&scattered(90, 70, |i| i % 17), &scattered(70, 31, |_| 1));
        check::<T>(&scattered(75, 60, |i| i % 23), &scattered(60, 40, |i| i % 7));
        check::<T>(&scattered(21, 80, |i| 3 * i), &scattered(80, 200, |i| 6 + i % 7));
        check::<T>(&scattered(9, 50, |i| 5 * i), &scattered(50, 333, |i| 30 + i));
        // Nothing, little.
        check::<T>(&scattered(1, 1, |_| 1), &scattered(1, 1, |_| 1));
        check::<T>(&scattered(5, 4, |_| 0), &scattered(4, 9, |_| 3));
        check::<T>(&scattered(0, 3, |_| 0), &scattered(3, 2, |_| 1));
        // A row of C that is full, among short ones: beyond the table, in the count, the columns and the values.
        check::<T>(&scattered(40, 64, |i| if i == 17 { 64 } else { 2 }), &scattered(64, 150, |i| i % 5));
        // Tables exactly full, and with one column too many: one lane has 16 slots.
        check::<T>(&scattered(33, 40, |i| 10 + i % 8), &scattered(40, 40, |_| 1));
    }

    #[test]
    fn products_in_f64() {
        products::<f64>();
    }

    #[test]
    fn products_in_f32() {
        products::<f32>();
    }

    #[test]
    fn long_rows_of_more_columns_than_a_bitmap_has() {
        let a = scattered::<f64>(3, 30, |i| if i == 1 { 30 } else { 1 });
        check(&a, &scattered(30, 2 * BITS + 77, |_| 3));
    }

    #[test]
    fn lanes_have_room() {
        let lanes = |entries, share| 1 << log2_lanes_for(entries, share);
        assert_eq!([0.0, 1.0, 16.0, 16.1, 90.0, 1e9].map(|entries| lanes(entries, 16)), [1, 1, 1, 2, 8, 32]);
    }
}

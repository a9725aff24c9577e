//! Twins on a device: where the entries of a product are is found without them, and those of A and of B are
//! multiplied together.

use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::setup::twins::{
    BLOCK, count_twins, find_twins, list_rows, multiply_twins, repeat_columns, repeat_lengths, start_rows,
    thin_columns, thin_lengths,
};

use super::{SAMPLES, are_many, step};
use crate::backend::gpu::Gpu;
use crate::backend::gpu::buffer::{Buffer, download};
use crate::error::Result;
use crate::setup::launch::mean;
use crate::setup::matrix::Size;
use crate::setup::matrix::device::DeviceCsr;
use crate::setup::matrix::pattern::DevicePattern;
use crate::setup::product::lanes::lanes_of_values;

/// Entries of a matrix, and of a row of it, from which it is worth to look for twins: nodes with several
/// unknowns have long rows.
const ENTRIES: usize = 1 << 18;
const ROW: f64 = 16.0;

/// A matrix without its twins, and without the columns of twins of another, B.
pub(in crate::setup::product) struct Thinned {
    pub a: DevicePattern,
    /// How many rows before each of A, with its twins, are no twins.
    numbers: Arc<Buffer>,
    /// For each row of B 0 where it is a twin, else 1.
    first_of_b: Arc<Buffer>,
}

/// Whether it is worth to look for twins among these rows.
pub(in crate::setup::product) fn may_have_twins(a: Size) -> bool {
    a.nnz >= ENTRIES && mean(a) >= ROW
}

impl Gpu {
    /// A without its twins and, among its columns, those of B, so that its product with B has the rows of A B
    /// that are no twins. Nothing where neither has many. Waits.
    pub(in crate::setup::product) fn without_twins(
        &self,
        a: &DevicePattern,
        b: &DevicePattern,
    ) -> Result<Option<Thinned>> {
        if !self.have_many_twins([a, b])? {
            return Ok(None);
        }
        let (numbers, first_of_b) = (self.first_rows(a)?, self.first_rows(b)?);
        let thin_rows = self.row_pointers(&numbers, a.size.n_rows)? as usize;
        let lengths = Buffer::new(self.device(), (thin_rows + 1) * size_of::<u32>())?;
        let (n, log2_lanes) = (a.size.n_rows as u64, a.log2_lanes());
        let (rows, first) = (a.pattern(), first_of_b.address as *const u32);
        let numbers_ptr = numbers.address as *const u32;
        let kernel = thin_lengths {
            n,
            log2_lanes,
            a: rows,
            numbers: numbers_ptr,
            first_of_b: first,
            lengths: lengths.address as *mut u32,
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(a.size.n_rows << log2_lanes, &kernel) }?;
        let thin = self.pattern_of_lengths(lengths, thin_rows, a.size.n_cols)?;
        let (row_ptr, columns) = (thin.pattern().row_ptr, thin.columns());
        let kernel = thin_columns {
            n,
            log2_lanes,
            a: rows,
            numbers: numbers_ptr,
            first_of_b: first,
            row_ptr,
            columns,
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(a.size.n_rows << log2_lanes, &kernel) }?;
        Ok(Some(Thinned { a: thin, numbers, first_of_b }))
    }

    /// `A B` of `n_rows` rows, the pattern from that of the thinned A times B. Waits.
    pub(in crate::setup::product) fn product_of_twins<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        b: &DeviceCsr<T>,
        thinned: &Thinned,
        c: &DevicePattern,
    ) -> Result<DeviceCsr<T>> {
        let rows = a.size.n_rows;
        let (n, numbers) = (rows as u64, thinned.numbers.address as *const u32);
        let lengths = Buffer::new(self.device(), (rows + 1) * size_of::<u32>())?;
        let kernel = repeat_lengths { n, numbers, c: c.pattern(), lengths: lengths.address as *mut u32 };
        // SAFETY: each row has the number of one of C.
        unsafe { self.launch(rows, &kernel) }?;
        let whole = self.csr_of_lengths::<T>(lengths, rows, c.size.n_cols)?;
        let (row_ptr, columns, log2_lanes) = (whole.row_ptr(), whole.col_idx_mut(), whole.log2_lanes());
        let kernel = repeat_columns { n, log2_lanes, numbers, c: c.pattern(), row_ptr, columns };
        // SAFETY: as above, and the columns were made for the rows' lengths.
        unsafe { self.launch(rows << log2_lanes, &kernel) }?;

        let (n_starts, starts) = self.starts(rows, thinned)?;
        let log2_lanes = lanes_of_values(b.size, whole.size);
        let kernel = multiply_twins::<T> {
            n_starts: n_starts as u64,
            log2_lanes,
            starts: starts.address as *const u32,
            a: a.rows(),
            b: b.rows(),
            first_of_b: thinned.first_of_b.address as *const u32,
            c: whole.pattern(),
            c_values: whole.values_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch_in_blocks_of(BLOCK, n_starts << log2_lanes, &kernel) }?;
        Ok(whole)
    }

    /// How many sets of rows are multiplied together, and the first row of each, with the number of rows
    /// behind them. Waits.
    fn starts(&self, rows: usize, thinned: &Thinned) -> Result<(usize, Arc<Buffer>)> {
        let numbers_of = |count: usize| Buffer::new(self.device(), (count + 1) * size_of::<u32>());
        let (n, numbers) = (rows as u64, thinned.numbers.address as *const u32);
        let (firsts, starts) = (numbers_of(thinned.a.size.n_rows)?, numbers_of(rows)?);
        let kernel = list_rows { n, numbers, rows: firsts.address as *mut u32 };
        // SAFETY: the thinned matrix has a row for each number.
        unsafe { self.launch(rows, &kernel) }?;
        let (firsts, of_rows) = (firsts.address as *const u32, starts.address as *mut u32);
        // SAFETY: as above.
        unsafe { self.launch(rows, &start_rows { n, numbers, firsts, starts: of_rows }) }?;
        let count = self.row_pointers(&starts, rows)? as usize;
        let list = numbers_of(count)?;
        let kernel = list_rows { n, numbers: of_rows, rows: list.address as *mut u32 };
        // SAFETY: there is room for as many rows as start a set.
        unsafe { self.launch(rows, &kernel) }?;
        Ok((count, list))
    }

    /// Whether one of the matrices has many twins.
    fn have_many_twins(&self, matrices: [&DevicePattern; 2]) -> Result<bool> {
        let counts = Buffer::zeroed(self.device(), matrices.len() * size_of::<u32>())?;
        let samples = |m: &DevicePattern| m.size.n_rows.min(SAMPLES);
        for (k, m) in matrices.iter().enumerate() {
            let kernel = count_twins {
                samples: samples(m) as u64,
                step: step(m.size.n_rows) as u64,
                log2_lanes: m.log2_lanes(),
                a: m.pattern(),
                count: (counts.address as *mut u32).wrapping_add(k),
            };
            // SAFETY: the matrix is valid, and there is a count for each.
            unsafe { self.launch(samples(m) << m.log2_lanes(), &kernel) }?;
        }
        let counts = download(&counts, matrices.len(), 0u32)?;
        Ok(counts.iter().zip(matrices).any(|(&twins, m)| are_many(twins as usize, samples(m))))
    }

    /// For each row, with room for one number more, 0 where it is a twin, else 1.
    fn first_rows(&self, a: &DevicePattern) -> Result<Arc<Buffer>> {
        let first = Buffer::new(self.device(), (a.size.n_rows + 1) * size_of::<u32>())?;
        let (n, log2_lanes) = (a.size.n_rows as u64, a.log2_lanes());
        let kernel = find_twins { n, log2_lanes, a: a.pattern(), first: first.address as *mut u32 };
        // SAFETY: the matrix is valid, and there is a number for each row.
        unsafe { self.launch(a.size.n_rows << log2_lanes, &kernel) }?;
        Ok(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::reference::Reference;
    use crate::matrix::Csr;
    use crate::setup::Matrices;
    use crate::setup::product::SparseProducts;
    use crate::setup::product::tests::of_nodes;
    use crate::setup::testing::{assert_agrees, scattered, strict};

    /// Whether there are many twins; then their product is the same.
    fn has_twins<T: Real>(a: Csr<T>, b: Csr<T>) -> bool {
        let (gpu, a, b) = (strict(), Arc::new(a), Arc::new(b));
        let [a_on_gpu, b_on_gpu] = [&a, &b].map(|m| gpu.csr(m).unwrap());
        let patterns = [&a_on_gpu, &b_on_gpu].map(DeviceCsr::shared_pattern);
        let Some(thinned) = gpu.without_twins(&patterns[0], &patterns[1]).unwrap() else { return false };
        assert!(thinned.a.size.n_rows <= a.n_rows() && thinned.a.size.nnz <= a.nnz());
        let c = gpu.pattern_of_product(&thinned.a, &patterns[1], 2).unwrap();
        let c = gpu.product_of_twins(&a_on_gpu, &b_on_gpu, &thinned, &c).unwrap();
        assert_agrees(&gpu, &c, &Reference::new().product(&a, &b).unwrap(), "product");
        true
    }

    fn products_of_twins<T: Real>() {
        for (rows, inner, columns) in
            [(3, 3, 6), (1, 3, 1), (3, 1, 2), (2, 2, 2), (6, 3, 6), (5, 7, 1), (1, 13, 1)]
        {
            let a = of_nodes(&scattered(40, 37, |i| i % 9), rows, inner);
            let b = of_nodes(&scattered(37, 50, |i| i % 6), inner, columns);
            assert!(has_twins::<T>(a, b), "{rows} {inner} {columns}");
        }
        // Nodes that the rows of A and of B do not have alike.
        let three = of_nodes(&scattered(35, 30, |i| i % 5), 3, 3);
        assert!(has_twins::<T>(three.clone(), of_nodes(&scattered(18, 11, |i| i % 4), 5, 2)));
        assert!(has_twins::<T>(three, scattered(90, 31, |i| i % 3)));
        assert!(!has_twins::<T>(scattered(60, 40, |i| 3 + i % 4), scattered(40, 31, |i| 2 + i % 3)));
        assert!(!has_twins::<T>(scattered(0, 3, |_| 0), scattered(3, 2, |_| 1)));
        // More columns than a table has, in rows of one lane and of many.
        let long = of_nodes(&scattered(20, 9, |i| i % 9), 4, 3);
        assert!(has_twins::<T>(long.clone(), of_nodes(&scattered(9, 400, |i| 25 * i), 3, 4)));
        assert!(has_twins::<T>(long, of_nodes(&scattered(9, 40, |i| i % 2 * 13), 3, 1)));
    }

    #[test]
    fn products_of_twins_are_the_same() {
        products_of_twins::<f64>();
        products_of_twins::<f32>();
    }
}

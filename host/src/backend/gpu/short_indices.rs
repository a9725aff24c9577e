//! Column indices of 16 bits, as [`gpu_kernels::spmv::indices`] has them.

use cuda_std::Real;
use gpu_kernels::setup::convert::shorten;
use gpu_kernels::spmv::sell::SHORT_BATCH;

use super::Gpu;
use super::buffer::Buffer;
use super::matrix::{DeviceMatrix, Layout};
use crate::backend::{Memory, Slot};
use crate::error::Result;
use crate::matrix::SLICE;

impl Gpu {
    /// `matrix` with column indices of 16 bits where they suffice, in reduced SELL, and rows are long enough
    /// in the mean to gain by it.
    ///
    /// Beside the whole ones there must be memory for them; else the matrix stays as it is.
    pub(crate) fn shorten<T: Real>(&self, matrix: DeviceMatrix<T>) -> Result<DeviceMatrix<T>> {
        let Layout::Sell { slices, bases: None } = &matrix.layout else { return Ok(matrix) };
        if matrix.nnz < SHORT_BATCH * matrix.n_rows {
            return Ok(matrix);
        }
        let places = matrix.col_idx.bytes() as usize / (SLICE * size_of::<u32>());
        let bases = Buffer::new(self.device(), places * size_of::<u32>());
        let distances = Buffer::new(self.device(), places * SLICE * size_of::<u16>());
        let (Ok(bases), Ok(distances)) = (bases, distances) else { return Ok(matrix) };
        let s = Memory::<f64>::scalars(self, 1)?;
        let kernel = shorten {
            n_rows: matrix.n_rows as u64,
            slice_ptr: slices.pointers(),
            columns: matrix.col_idx.address as *const u32,
            bases: bases.address as *mut u32,
            distances: distances.address as *mut u32,
            reduction: self.reduction(&s, Slot(0)),
        };
        let threads = matrix.n_rows.next_multiple_of(SLICE);
        // SAFETY: the matrix is valid, and the arrays were made for its size.
        unsafe { self.launch_resident(threads, &kernel) }?;
        if Memory::<f64>::read(self, &s, Slot(0))? > f64::from(u16::MAX) {
            return Ok(matrix);
        }
        let layout = Layout::Sell { slices: slices.clone(), bases: Some(bases) };
        Ok(DeviceMatrix { layout, col_idx: distances, ..matrix })
    }
}

/// The bases and the distances of a matrix, or `None` where a distance has more than 16 bits; one entry after
/// another.
#[cfg(test)]
pub(crate) fn reference<T: Real>(a: &crate::matrix::Sell<T>) -> Option<[Vec<u32>; 2]> {
    let (mut bases, mut distances) = (vec![], vec![]);
    for (s, range) in a.slice_ptr().windows(2).enumerate() {
        let rows = (a.n_rows() - s * SLICE).min(SLICE);
        for at in (range[0] as usize..range[1] as usize).step_by(SLICE) {
            let columns = &a.col_idx()[at..at + rows];
            let base = *columns.iter().min()?;
            let mut words = [0; SLICE / 2];
            for (lane, column) in columns.iter().enumerate() {
                words[lane / 2] |= u32::from(u16::try_from(column - base).ok()?) << (16 * (lane % 2));
            }
            bases.push(base);
            distances.extend(words);
        }
    }
    Some([bases, distances])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::backend::{Products, Then, Vectors};
    use crate::launch::sim::Sim;
    use crate::matrix::{AnyMatrix, Csr, Sell};

    /// Multiplies a matrix whose rows have so many entries, from these columns on; whether its indices are
    /// short.
    fn is_shortened(entries: usize, first: Vec<u32>) -> bool {
        let gpu = Gpu::new(Arc::new(Sim::strict())).unwrap();
        let n = first.len();
        let columns: Vec<u32> = first.iter().flat_map(|&j| j..j + entries as u32).collect();
        let values = (0..n * entries).map(|k| 1.5 - (k % 7) as f64).collect();
        let row_ptr = (0..=n).map(|i| i * entries).collect();
        let a = Csr::new(n, 1 << 17, row_ptr, columns, values).unwrap();
        let a = Sell::from_csr(&a, 1).unwrap();
        // Exact in f64 however sums are rounded.
        let x: Vec<f64> = (0..a.n_cols()).map(|j| (j % 11) as f64 * 0.25 - 1.0).collect();
        let expected: Vec<f64> = a.to_csr().mul_vec(&x);
        let matrix = gpu.matrix(&Arc::new(AnyMatrix::Sell(a))).unwrap();
        let (x, mut y) = (gpu.vector(&x).unwrap(), gpu.zeros(n).unwrap());
        gpu.fill(f64::NAN, &mut y).unwrap();
        gpu.multiply(&matrix, &x, Then::Store { y: &mut y }).unwrap();
        assert_eq!(y.to_host().unwrap(), expected);
        matches!(matrix.layout, Layout::Sell { bases: Some(_), .. })
    }

    #[test]
    fn products_are_the_same() {
        for n in [0, 1, 31, 32, 33, 63, 100, 1030] {
            let columns = (0..n as u32).map(|i| 60_000 - i / 2 * 5 + i % 2 * 60_000).collect();
            assert!(is_shortened(SHORT_BATCH + 3, columns), "{n} rows");
        }
    }

    #[test]
    fn short_rows_keep_whole_indices() {
        assert!(is_shortened(SHORT_BATCH, vec![7; 33]) && !is_shortened(SHORT_BATCH - 1, vec![7; 33]));
    }

    #[test]
    fn distances_have_sixteen_bits() {
        for (farthest, is_near) in [(65_535, true), (65_536, false)] {
            let is_shortened = |first| is_shortened(SHORT_BATCH, first);
            assert_eq!(is_shortened(vec![7, 7 + farthest]), is_near);
            // In another slice it is no distance.
            let mut apart = vec![7; 32];
            apart.push(7 + farthest);
            assert!(is_shortened(apart));
        }
    }
}

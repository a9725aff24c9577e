//! [`Formats`] on a device.

use std::any::TypeId;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use arithmetic::compression::Compression;
use cuda_std::Real;
use gpu_kernels::setup::convert::{compress, fill_sell, round, slice_widths, sort_windows};

use super::{CrsFormat, Formats};
use crate::backend::gpu::buffer::Buffer;
use crate::backend::gpu::matrix::{Layout, Slices, log2_lanes};
use crate::backend::gpu::{DeviceMatrix, Gpu, UNGUARDED, Work};
use crate::error::Result;
use crate::matrix::rounding::Pivot;
use crate::matrix::{Format, Padding, SLICE, choose_for_gpu};
use crate::setup::matrix::Blocks;
use crate::setup::matrix::device::DeviceCsr;

impl<T: Real> CrsFormat<T> for Gpu {
    fn in_crs(&self, a: &Blocks<DeviceCsr<T>>) -> Result<DeviceMatrix<T>> {
        self.crs(a)
    }
}

impl<T: Real, S: Real> Formats<T, S> for Gpu {
    /// Blocks are chosen for as if each were one entry. Waits for the padding of each window that is tried,
    /// for how many values there are, and how far columns are apart.
    fn operator(&self, a: &Blocks<DeviceCsr<T>>) -> Result<DeviceMatrix<S>> {
        self.shorten(self.encode_large(self.in_chosen_format(a)?)?)
    }

    fn with_reason(&self, matrix: DeviceMatrix<S>, reason: String) -> DeviceMatrix<S> {
        DeviceMatrix { reason: Some(reason), ..matrix }
    }

    fn smoothing_operator(&self, a: &Blocks<DeviceCsr<T>>, pivot: Pivot) -> Result<DeviceMatrix<S>> {
        self.shorten(self.compress(self.in_chosen_format(a)?, pivot)?)
    }
}

/// Where the rows of a matrix go in reduced SELL.
pub(super) struct Widths {
    /// Prefix sums of the slices' widths, in units of 32 entries.
    starts: Arc<Buffer>,
    /// The row at each position, unless rows stay in order.
    permutation: Option<Arc<Buffer>>,
    /// Entries with padding.
    pub stored: u64,
}

impl Gpu {
    /// The matrix with values rounded to `S`, in the format that [`choose_for_gpu`] chooses.
    fn in_chosen_format<T: Real, S: Real>(&self, a: &Blocks<DeviceCsr<T>>) -> Result<DeviceMatrix<S>> {
        let (pattern, nnz) = (a.first(), a.first().size.nnz);
        let mut widths = None;
        let choice = choose_for_gpu(pattern.size.n_rows, nnz, |sigma| {
            let stored = widths.insert(self.widths(pattern, 0..pattern.size.n_rows, sigma)?).stored;
            Ok(Padding { stored, nnz: nnz as u64 })
        })?;
        let matrix = match widths {
            Some(widths) if choice.format == Format::Sell => self.sell(a, widths, choice.sigma)?,
            _ => self.crs(a)?,
        };
        Ok(DeviceMatrix { reason: Some(choice.for_blocks(a.block()).reason), ..matrix })
    }

    /// `matrix`, compressed for smoothing where that is possible.
    fn compress<S: Real>(&self, matrix: DeviceMatrix<S>, pivot: Pivot) -> Result<DeviceMatrix<S>> {
        let Layout::Sell { slices, .. } = &matrix.layout else { return Ok(matrix) };
        if TypeId::of::<S>() != TypeId::of::<f32>() {
            return Ok(matrix);
        }
        let n_rows = matrix.n_rows as u64;
        let (slice_ptr, permutation) = (slices.pointers(), slices.permutation());
        let columns = matrix.col_idx.address as *mut u32;
        let values = matrix.values.address as *const f32;
        let pivots = match pivot {
            Pivot::Diagonal => None,
            Pivot::Largest => Some(Buffer::new(self.device(), matrix.n_rows * size_of::<u32>())?),
        };
        let pivot_places = pivots.as_ref().map_or(std::ptr::null_mut(), |p| p.address as *mut u32);
        let farthest = self.reach(&matrix, slices, pivot_places)?;
        let Some(compression) = Compression::reaching(farthest) else { return Ok(matrix) };
        let kept = Buffer::new(self.device(), matrix.n_rows * size_of::<f32>())?;
        let pivot_values = kept.address as *mut f32;
        let kernel = compress {
            n_rows,
            slice_ptr,
            permutation,
            compression,
            columns,
            values,
            pivots: pivot_places,
            pivot_values,
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(matrix.n_rows, &kernel) }?;
        let layout = Layout::Compressed { compression, slices: slices.clone(), pivots };
        Ok(DeviceMatrix { layout, values: kept, ..matrix })
    }

    /// `a` in CRS, values rounded to `S`; an ordinary matrix keeps its arrays where that is `T`.
    fn crs<T: Real, S: Real>(&self, a: &Blocks<DeviceCsr<T>>) -> Result<DeviceMatrix<S>> {
        let (block, pattern) = (a.block(), a.first());
        let (size, plane, row_ptr) = (pattern.size, pattern.size.nnz, pattern.row_ptr.clone());
        let values = if block == 1 && TypeId::of::<T>() == TypeId::of::<S>() {
            pattern.values.clone()
        } else {
            let values = Buffer::new(self.device(), block * block * plane * size_of::<S>())?;
            for (kl, source) in a.planes().iter().enumerate() {
                let y = (values.address as *mut S).wrapping_add(kl * plane);
                let work = Work::on_both::<T, S>(plane, 1, 1);
                // SAFETY: the matrices are valid, and the arrays were made for their sizes.
                unsafe {
                    self.launch(work, &round { n: plane as u64, x: source.values(), y, guard: UNGUARDED })
                }?;
            }
            values
        };
        let log2_lanes = log2_lanes(size.n_rows, plane);
        let layout = match block {
            1 => Layout::Crs { row_ptr, wide: false, log2_lanes },
            _ => Layout::BlockCrs { block, plane, row_ptr, log2_lanes },
        };
        Ok(DeviceMatrix {
            n_rows: block * size.n_rows,
            n_cols: block * size.n_cols,
            nnz: block * block * plane,
            layout,
            col_idx: pattern.col_idx.clone(),
            values,
            reason: None,
            element: PhantomData,
        })
    }

    /// The slices of these rows of `a`, sorted within windows of `sigma`, 1 or a multiple of 32 up to 1024.
    pub(super) fn widths<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        rows: Range<usize>,
        sigma: usize,
    ) -> Result<Widths> {
        let (count, row_ptr) = (rows.len(), a.row_ptr().wrapping_add(rows.start));
        let (n_rows, n_slices) = (count as u64, count.div_ceil(SLICE));
        let starts = Buffer::new(self.device(), (n_slices + 1) * size_of::<u32>())?;
        let widths = starts.address as *mut u32;
        let permutation = if sigma == 1 {
            // SAFETY: the matrices are valid, and the arrays were made for their sizes.
            unsafe { self.launch(n_slices * SLICE, &slice_widths { n_rows, row_ptr, widths }) }?;
            None
        } else {
            let rows = Buffer::new(self.device(), n_slices * SLICE * size_of::<u32>())?;
            let permutation = rows.address as *mut u32;
            let kernel = sort_windows { n_rows, row_ptr, permutation, widths };
            // SAFETY: the matrices are valid, and the arrays were made for their sizes.
            unsafe { self.launch_in_blocks_of(sigma as u32, count, &kernel) }?;
            Some(rows)
        };
        let stored = SLICE as u64 * self.row_pointers(&starts, n_slices)?;
        Ok(Widths { starts, permutation, stored })
    }

    /// `a` in reduced SELL, values rounded to `S`.
    fn sell<T: Real, S: Real>(
        &self,
        a: &Blocks<DeviceCsr<T>>,
        widths: Widths,
        sigma: usize,
    ) -> Result<DeviceMatrix<S>> {
        let (block, size, plane) = (a.block(), a.first().size, widths.stored as usize);
        let slice_ptr = Buffer::new(self.device(), (size.n_rows.div_ceil(SLICE) + 1) * size_of::<u64>())?;
        let col_idx = Buffer::new(self.device(), plane * size_of::<u32>())?;
        let values = Buffer::new(self.device(), block * block * plane * size_of::<S>())?;
        let Widths { starts, permutation, .. } = widths;
        let slices = Slices { slice_ptr, permutation, sigma };
        for (kl, source) in a.planes().iter().enumerate() {
            let kernel = fill_sell {
                n_rows: size.n_rows as u64,
                n_cols: size.n_cols as u64,
                row_ptr: source.row_ptr(),
                col_idx: source.col_idx(),
                values: source.values(),
                permutation: slices.permutation(),
                starts: starts.address as *const u32,
                slice_ptr: slices.slice_ptr.address as *mut u64,
                sell_columns: col_idx.address as *mut u32,
                sell_values: (values.address as *mut S).wrapping_add(kl * plane),
            };
            // SAFETY: the matrices are valid, and the arrays were made for their sizes.
            unsafe { self.launch(size.n_rows.div_ceil(SLICE) * SLICE, &kernel) }?;
        }
        let layout = match block {
            1 => Layout::Sell { slices, bases: None },
            _ => Layout::BlockSell { block, plane, slices },
        };
        Ok(DeviceMatrix {
            n_rows: block * size.n_rows,
            n_cols: block * size.n_cols,
            nnz: block * block * size.nnz,
            layout,
            col_idx,
            values,
            reason: None,
            element: PhantomData,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::gpu::bytes_of_mut;
    use crate::backend::gpu::short_indices::reference;
    use crate::backend::{Memory, Operator, Products, Then};
    use crate::launch::sim::Sim;
    use crate::matrix::{AnyMatrix, Csr, Target, choose};
    use gpu_kernels::spmv::sell::SHORT_BATCH;

    fn gpu() -> Gpu {
        Gpu::new(Arc::new(Sim::strict())).unwrap()
    }

    /// A matrix whose rows have these lengths, with fractional values and columns all over.
    fn with_lengths(n_cols: usize, lengths: &[usize]) -> Csr<f64> {
        let mut row_ptr = vec![0];
        let (mut col_idx, mut values) = (vec![], vec![]);
        for (i, &length) in lengths.iter().enumerate() {
            col_idx.extend((0..length).map(|j| ((j * n_cols + i % n_cols) / length) as u32));
            values.extend((0..length).map(|j| (0.7 * (31 * i + j) as f64).sin()));
            row_ptr.push(values.len());
        }
        Csr::new(lengths.len(), n_cols, row_ptr, col_idx, values).unwrap()
    }

    fn download<U: cuda_std::memory::Word>(buffer: &Buffer, like: &[U]) -> Vec<U> {
        let mut values = like.to_vec();
        let bytes = bytes_of_mut(&mut values);
        // SAFETY: the simulator reports what is out of bounds.
        unsafe { buffer.device().download(bytes, buffer.address).unwrap() };
        values
    }

    /// Compares choice and arrays with what the host makes of `a`; returns the format and the window.
    #[track_caller]
    fn compare<T: Real, S: Real>(a: &Csr<T>) -> (Format, usize) {
        let gpu = gpu();
        let on_device = DeviceCsr::upload(&gpu, a).unwrap();
        let choice = choose(a, Target::Gpu);
        let matrix = Formats::<T, S>::operator(&gpu, &Blocks::scalar(on_device.clone())).unwrap();
        let said = (matrix.format(), matrix.sigma(), matrix.stored(), matrix.reason().unwrap());
        assert_eq!(
            said,
            (choice.format.to_string(), choice.sigma, choice.padding.stored, choice.reason.as_str())
        );
        assert_eq!((matrix.n_rows, matrix.n_cols), (a.n_rows(), a.n_cols()));
        let expected = AnyMatrix::from_csr(&Arc::new(a.cast::<S>()), choice.format, choice.sigma).unwrap();
        match (&matrix.layout, &expected) {
            (Layout::Sell { slices, bases }, AnyMatrix::Sell(expected)) => {
                let Slices { slice_ptr, permutation, .. } = slices;
                assert_eq!(download(slice_ptr, expected.slice_ptr()), expected.slice_ptr());
                assert_eq!(permutation.is_some(), expected.permutation().is_some());
                if let (Some(permutation), Some(expected)) = (permutation, expected.permutation()) {
                    assert_eq!(download(permutation, expected), expected);
                }
                // Short rows gain nothing by short indices.
                let is_long = a.nnz() >= SHORT_BATCH * a.n_rows();
                match (bases, reference(expected).filter(|_| is_long)) {
                    (Some(bases), Some([expected, distances])) => {
                        assert_eq!(download(bases, &expected), expected);
                        assert_eq!(download(&matrix.col_idx, &distances), distances);
                    }
                    (None, None) => {
                        assert_eq!(download(&matrix.col_idx, expected.col_idx()), expected.col_idx());
                    }
                    _ => panic!("short indices here, whole ones there"),
                }
                assert_eq!(download(&matrix.values, expected.values()), expected.values());
            }
            (Layout::Crs { row_ptr, wide, .. }, AnyMatrix::Crs(expected)) => {
                assert!(!wide && Arc::ptr_eq(row_ptr, &on_device.row_ptr));
                assert!(Arc::ptr_eq(&matrix.col_idx, &on_device.col_idx));
                let shared = Arc::ptr_eq(&matrix.values, &on_device.values);
                assert_eq!(shared, TypeId::of::<T>() == TypeId::of::<S>());
                assert_eq!(download(&matrix.values, expected.values()), expected.values());
            }
            _ => panic!("{choice:?}"),
        }
        let hx: Vec<S> = (0..a.n_cols()).map(|j| S::from_f64((0.3 * j as f64).cos())).collect();
        let (x, mut y) = (gpu.vector(&hx).unwrap(), gpu.zeros(a.n_rows()).unwrap());
        gpu.multiply(&matrix, &x, Then::Store { y: &mut y }).unwrap();
        for (y, expected) in y.to_host().unwrap().into_iter().zip(a.cast::<S>().mul_vec(&hx)) {
            let error = (y.to_f64() - expected.to_f64()).abs();
            assert!(error <= 100.0 * S::EPSILON.to_f64(), "{y} is not {expected}");
        }
        (choice.format, choice.sigma)
    }

    #[test]
    fn rows_in_order() {
        for (n_rows, n_cols, length) in [(333, 50, 7), (64, 1000, 15), (191, 8, 8), (32, 3, 1)] {
            let a = with_lengths(n_cols, &vec![length; n_rows]);
            assert_eq!(compare::<f64, f64>(&a), (Format::Sell, 1));
            assert_eq!(compare::<f64, f32>(&a), (Format::Sell, 1));
            assert_eq!(compare::<f32, f64>(&a.cast()), (Format::Sell, 1));
        }
    }

    #[test]
    fn empty_rows_are_padded_near_the_diagonal() {
        let lengths: Vec<usize> = (0..480).map(|i| if i % 23 == 3 { 0 } else { 9 + i / 32 % 2 }).collect();
        assert_eq!(compare::<f64, f32>(&with_lengths(700, &lengths)), (Format::Sell, 1));
        assert_eq!(compare::<f64, f32>(&with_lengths(100, &lengths)), (Format::Sell, 1));
        assert_eq!(compare::<f64, f32>(&with_lengths(100, &[0; 40])), (Format::Sell, 1));
        assert_eq!(
            compare::<f64, f32>(&Csr::new(40, 0, vec![0; 41], vec![], vec![]).unwrap()),
            (Format::Sell, 1)
        );
    }

    #[test]
    fn columns_that_are_far_apart_have_whole_indices() {
        for farthest in [65_535, 65_536] {
            let columns = (0..333).map(|i| if i % 50 == 7 { farthest } else { 0 }).collect();
            let a = Csr::new(333, 70_000, (0..=333).collect(), columns, vec![0.3; 333]).unwrap();
            assert_eq!(compare::<f64, f64>(&a), (Format::Sell, 1));
        }
    }

    #[test]
    fn rows_sorted_in_windows() {
        let mixed: Vec<usize> = (0..600).map(|i| if i % 2 == 0 { 4 } else { 12 }).collect();
        assert_eq!(compare::<f64, f32>(&with_lengths(77, &mixed)), (Format::Sell, 256));
        let rare: Vec<usize> =
            (0..2100).map(|i| [4, 16, 5][usize::from(i % 300 == 0) + 2 * (i % 99 / 98)]).collect();
        assert_eq!(compare::<f64, f64>(&with_lengths(300, &rare)), (Format::Sell, 1024));
    }

    #[test]
    fn a_long_row_stays_in_crs() {
        let mut lengths = vec![2; 300];
        lengths[7] = 300;
        assert_eq!(compare::<f64, f32>(&with_lengths(300, &lengths)), (Format::Crs, 1));
        assert_eq!(compare::<f64, f64>(&with_lengths(300, &lengths)), (Format::Crs, 1));
        assert_eq!(compare::<f64, f32>(&with_lengths(300, &[1; 5])), (Format::Crs, 1));
    }

    #[test]
    fn few_long_rows_stay_in_crs() {
        assert_eq!(compare::<f64, f32>(&with_lengths(1000, &[17; 64])), (Format::Crs, 1));
    }

    #[test]
    fn crs_shares_its_arrays() {
        let gpu = gpu();
        let a: DeviceCsr<f64> = DeviceCsr::upload(&gpu, &with_lengths(9, &[3; 40])).unwrap();
        let blocks = Blocks::scalar(a.clone());
        let allocated = gpu.device().counters().snapshot().allocations;
        let matrix: DeviceMatrix<f64> = gpu.crs(&blocks).unwrap();
        assert_eq!(gpu.device().counters().snapshot().allocations, allocated);
        assert!(Arc::ptr_eq(&matrix.col_idx, &a.col_idx) && Arc::ptr_eq(&matrix.values, &a.values));
    }
}

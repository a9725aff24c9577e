//! Products with several columns in one launch.

use cuda_std::Real;
use cuda_std::host::Kernel;
use gpu_kernels::epilogue::Epilogue;
use gpu_kernels::spmv::columns::{
    Column, FEW, MOST, spmv_coded_columns, spmv_compressed_columns, spmv_csr_columns, spmv_sell_columns,
};
use gpu_kernels::spmv::indices::{Indices16, Indices32};

use super::matrix::{DeviceMatrix, Layout};
use super::{Gpu, Work};
use crate::error::Result;

impl<T: Real> DeviceMatrix<T> {
    /// Columns of one launch at most, where it `reduces`.
    ///
    /// The sums of eight columns, and their products in reduced SELL, leave room for one block of 256 threads
    /// a multiprocessor. Two launches of four read the matrix twice, and take less time all the same. So they
    /// do where neighbouring rows have columns apart, and indices are whole for that: of what lanes ask for,
    /// the first cache holds that of four columns.
    pub(super) fn columns_at_once(&self, reduces: bool) -> usize {
        match self.layout {
            Layout::Sell { .. } | Layout::Coded { .. } if reduces => FEW,
            Layout::Sell { bases: None, .. } => FEW,
            // Each column wants a lane of its own.
            Layout::Crs { log2_lanes, .. } if 1 << log2_lanes < MOST => FEW,
            _ => MOST,
        }
    }

    /// Whether there is a kernel for several columns.
    pub(super) fn takes_columns(&self) -> bool {
        matches!(
            self.layout,
            Layout::Sell { .. }
                | Layout::Coded { .. }
                | Layout::Compressed { .. }
                | Layout::Crs { wide: false, .. }
        )
    }
}

impl Gpu {
    /// A times each column, no more than [`columns_at_once`](DeviceMatrix::columns_at_once), with its
    /// epilogue, which reads or writes this many vectors of A's rows, apart from x.
    pub(super) fn product_of_columns<T: Real, E: Epilogue<T>>(
        &self,
        a: &DeviceMatrix<T>,
        vectors: usize,
        columns: Vec<Column<T, E>>,
    ) -> Result<()> {
        match columns.len() <= FEW {
            true => self.product_of::<T, FEW, E>(a, vectors, columns),
            false => self.product_of::<T, MOST, E>(a, vectors, columns),
        }
    }

    fn product_of<T: Real, const K: usize, E: Epilogue<T>>(
        &self,
        a: &DeviceMatrix<T>,
        vectors: usize,
        columns: Vec<Column<T, E>>,
    ) -> Result<()> {
        let (n_rows, count) = (a.n_rows as u64, columns.len());
        let absent = Column { x: std::ptr::null(), ..columns[0] };
        let columns: [Column<T, E>; K] = std::array::from_fn(|c| columns.get(c).copied().unwrap_or(absent));
        let (col_idx, values) = (a.col_idx.address as *const u32, a.values.address as *const T);
        // Blocks take runs of rows.
        // SAFETY: the matrix was checked when it was made, and the lengths before the product.
        let launch = |work: Work, kernel: &dyn Kernel| unsafe { self.launch_resident(work, kernel) };
        match &a.layout {
            Layout::Sell { slices, bases } => {
                let (slice_ptr, permutation) = (slices.pointers(), slices.permutation());
                let work = a.work_of(a.n_rows, vectors, count);
                if let Some(bases) = bases {
                    let indices = Indices16 { bases: bases.address as *const u32, distances: col_idx };
                    let kernel =
                        spmv_sell_columns { n_rows, slice_ptr, permutation, indices, values, columns };
                    launch(work, &kernel)
                } else {
                    let indices = Indices32 { columns: col_idx };
                    let kernel =
                        spmv_sell_columns { n_rows, slice_ptr, permutation, indices, values, columns };
                    launch(work, &kernel)
                }
            }
            &Layout::Coded { coding, ref slices } => {
                let (slice_ptr, permutation, entries) = (slices.pointers(), slices.permutation(), col_idx);
                let kernel = spmv_coded_columns::<T, K, E> {
                    n_rows,
                    slice_ptr,
                    permutation,
                    coding,
                    entries,
                    values,
                    columns,
                };
                launch(a.work_of(a.n_rows, vectors, count), &kernel)
            }
            &Layout::Compressed { compression, ref slices, ref pivots } => {
                let (slice_ptr, permutation) = (slices.pointers(), slices.permutation());
                let pivots = super::matrix::columns_or_null(pivots.as_ref());
                let (entries, pivot_values) = (col_idx, values);
                let kernel = spmv_compressed_columns::<T, K, E> {
                    n_rows,
                    slice_ptr,
                    permutation,
                    compression,
                    entries,
                    pivots,
                    pivot_values,
                    columns,
                };
                launch(a.work_of(a.n_rows, vectors, count), &kernel)
            }
            &Layout::Crs { ref row_ptr, log2_lanes, .. } => {
                let row_ptr = row_ptr.address as *const u32;
                let kernel =
                    spmv_csr_columns::<T, K, E> { n_rows, log2_lanes, row_ptr, col_idx, values, columns };
                launch(a.work_of(a.n_rows << log2_lanes, vectors, count), &kernel)
            }
            _ => unreachable!("asked before"),
        }
    }
}

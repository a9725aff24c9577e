//! Matrices in device memory, and the choice of the kernel that multiplies each.

use std::sync::Arc;

use arithmetic::coding::Coding;
use arithmetic::compression::Compression;
use cuda_std::Real;
use cuda_std::host::Kernel;
use gpu_kernels::epilogue::{BlockEpilogue, Epilogue};
use gpu_kernels::spmv::block::{spmv_block_csr, spmv_block_sell};
use gpu_kernels::spmv::coded::spmv_coded;
use gpu_kernels::spmv::compressed::spmv_compressed;
use gpu_kernels::spmv::csr::{Offset, spmv_csr, spmv_csr_vector};
use gpu_kernels::spmv::ell::spmv_ell;
use gpu_kernels::spmv::indices::{Indices, Indices16, Indices32};
use gpu_kernels::spmv::sell::spmv_sell;

use super::buffer::{Buffer, DeviceVector, check_reach};
use super::{Gpu, Work};
use crate::backend::Operator;
use crate::error::{Error, Result};
use crate::launch::Launch;
use crate::matrix::{AnyMatrix, Format, Sell, matrix_traffic};
use crate::parallel::*;

/// A sparse matrix in device memory, 32-bit columns; CRS row pointers of 64 bits only where needed.
pub struct DeviceMatrix<T> {
    pub(crate) n_rows: usize,
    pub(crate) n_cols: usize,
    /// Entries without padding.
    pub(crate) nnz: usize,
    pub(crate) layout: Layout,
    pub(crate) col_idx: Arc<Buffer>,
    pub(crate) values: Arc<Buffer>,
    /// Why this layout, where it was chosen on the device.
    pub(crate) reason: Option<String>,
    pub(crate) element: std::marker::PhantomData<T>,
}

/// Where a row's entries are.
pub(crate) enum Layout {
    Crs {
        row_ptr: Arc<Buffer>,
        wide: bool,
        log2_lanes: u32,
    },
    Ell {
        width: usize,
        stride: usize,
    },
    /// The columns in `col_idx`, or their distances from these bases, in 16 bits
    /// ([`gpu_kernels::spmv::indices`]).
    Sell {
        slices: Slices,
        bases: Option<Arc<Buffer>>,
    },
    /// [`gpu_kernels::spmv::coded`]: entries in `col_idx`, the different values in `values`.
    Coded {
        coding: Coding,
        slices: Slices,
    },
    /// [`gpu_kernels::spmv::compressed`]: entries in `col_idx`, those of the pivots in `values`, and the
    /// columns of the pivots unless they are the diagonal's.
    Compressed {
        compression: Compression,
        slices: Slices,
        pivots: Option<Arc<Buffer>>,
    },
    /// Of blocks, with the distance of the arrays of values; rows and columns are counted in `DeviceMatrix`
    /// all the same.
    BlockCrs {
        block: usize,
        plane: usize,
        row_ptr: Arc<Buffer>,
        log2_lanes: u32,
    },
    BlockSell {
        block: usize,
        plane: usize,
        slices: Slices,
    },
}

/// Where the slices of reduced SELL begin, and the row at each position, unless rows are in order: then sigma
/// is 1.
#[derive(Clone)]
pub(crate) struct Slices {
    pub(crate) slice_ptr: Arc<Buffer>,
    pub(crate) permutation: Option<Arc<Buffer>>,
    pub(crate) sigma: usize,
}

impl Slices {
    pub(crate) fn pointers(&self) -> *const u64 {
        self.slice_ptr.address as *const u64
    }
    pub(crate) fn permutation(&self) -> *const u32 {
        columns_or_null(self.permutation.as_ref())
    }
}

pub(super) fn columns_or_null(buffer: Option<&Arc<Buffer>>) -> *const u32 {
    buffer.map_or(std::ptr::null(), |buffer| buffer.address as *const u32)
}

/// An epilogue for every block size.
pub(crate) trait AnyBlockEpilogue<T: Real>: BlockEpilogue<T, 2> + BlockEpilogue<T, 3> {}
impl<T: Real, E: BlockEpilogue<T, 2> + BlockEpilogue<T, 3>> AnyBlockEpilogue<T> for E {}

/// Threads that keep a large device half busy.
const MANY_THREADS: usize = 1 << 17;

/// Logarithm of the number of lanes that share a CRS row of mean length: about four entries a lane, so that a
/// warp's loads stay within few cache lines, and one thread a row if rows are that short. If there are so few
/// rows that the device would idle, one entry a lane.
pub(crate) fn log2_lanes(n_rows: usize, nnz: usize) -> u32 {
    let mean = nnz as f64 / n_rows.max(1) as f64;
    let lanes = |entries: f64| ((mean / entries).max(1.0) as u32).next_power_of_two().min(32);
    let usual = lanes(4.0);
    if n_rows * (usual as usize) < MANY_THREADS { lanes(1.0) } else { usual }.trailing_zeros()
}

impl<T: Real> DeviceMatrix<T> {
    /// Copies `matrix` to the device.
    #[track_caller]
    pub(crate) fn upload(device: &Arc<dyn Launch>, matrix: &AnyMatrix<T>) -> Result<Self> {
        let narrow = |row_ptr: &[usize]| {
            let row_ptr: Vec<u32> = row_ptr.par_iter().with_min_len(1 << 16).map(|&p| p as u32).collect();
            Buffer::from_slice(device, &row_ptr)
        };
        let slices = |a: &Sell<T>| -> Result<_> {
            let permutation = a.permutation().map(|p| Buffer::from_slice(device, p)).transpose()?;
            Ok(Slices {
                slice_ptr: Buffer::from_slice(device, a.slice_ptr())?,
                permutation,
                sigma: a.sigma(),
            })
        };
        // The arrays one after another; values in the order that kernels want.
        let planes;
        let (layout, col_idx, values) = match matrix {
            AnyMatrix::Crs(a) => {
                let wide = a.nnz() > u32::MAX as usize;
                let row_ptr = if wide {
                    let row_ptr: Vec<u64> = a.row_ptr().iter().map(|&p| p as u64).collect();
                    Buffer::from_slice(device, &row_ptr)?
                } else {
                    narrow(a.row_ptr())?
                };
                let log2_lanes = log2_lanes(a.n_rows(), a.nnz());
                (Layout::Crs { row_ptr, wide, log2_lanes }, a.col_idx(), a.values())
            }
            AnyMatrix::Ell(a) => {
                (Layout::Ell { width: a.width(), stride: a.stride() }, a.col_idx(), a.values())
            }
            AnyMatrix::Sell(a) => (Layout::Sell { slices: slices(a)?, bases: None }, a.col_idx(), a.values()),
            AnyMatrix::BlockCrs(a) => {
                check_reach(a.blocks() as u64)?;
                let (block, plane) = (a.block(), a.blocks());
                let plane_at = |kl| a.plane(kl / block, kl % block);
                planes = (0..block * block).flat_map(|kl| plane_at(kl).values().to_vec()).collect::<Vec<T>>();
                let log2_lanes = log2_lanes(a.block_rows(), plane);
                let row_ptr = narrow(a.row_ptr())?;
                (Layout::BlockCrs { block, plane, row_ptr, log2_lanes }, a.col_idx(), &planes[..])
            }
            AnyMatrix::BlockSell(a) => {
                let (block, plane) = (a.block(), a.pattern().stored());
                let slices = slices(a.pattern())?;
                (Layout::BlockSell { block, plane, slices }, a.pattern().col_idx(), a.values())
            }
        };
        Ok(DeviceMatrix {
            n_rows: matrix.n_rows(),
            n_cols: matrix.n_cols(),
            nnz: matrix.nnz(),
            layout,
            col_idx: Buffer::from_slice(device, col_idx)?,
            values: Buffer::from_slice(device, values)?,
            reason: None,
            element: std::marker::PhantomData,
        })
    }

    /// Unknowns that share a column index.
    fn block(&self) -> usize {
        match self.layout {
            Layout::BlockCrs { block, .. } | Layout::BlockSell { block, .. } => block,
            _ => 1,
        }
    }

    /// Bytes of a column index.
    fn column_bytes(&self) -> usize {
        if let Layout::Sell { bases: Some(_), .. } = self.layout { 2 } else { 4 }
    }

    /// A product by this many threads that reads x, and reads or writes this many other vectors of A's rows.
    fn work(&self, threads: usize, vectors: usize) -> Work {
        self.work_of(threads, vectors, 1)
    }

    /// The same for so many columns.
    pub(super) fn work_of(&self, threads: usize, vectors: usize, columns: usize) -> Work {
        let values = columns * (self.n_cols + vectors * self.n_rows);
        Work::moving(threads, self.traffic() + (values * size_of::<T>()) as u64)
    }
}

impl<T: Real> Operator for DeviceMatrix<T> {
    fn n_rows(&self) -> usize {
        self.n_rows
    }
    fn n_cols(&self) -> usize {
        self.n_cols
    }
    fn format(&self) -> String {
        match self.layout {
            Layout::Crs { .. } => Format::Crs.to_string(),
            Layout::Ell { .. } => Format::Ell.to_string(),
            Layout::Sell { .. } | Layout::Coded { .. } | Layout::Compressed { .. } => {
                Format::Sell.to_string()
            }
            Layout::BlockCrs { block, .. } => Format::BlockCrs(block).to_string(),
            Layout::BlockSell { block, .. } => Format::BlockSell(block).to_string(),
        }
    }
    fn sigma(&self) -> usize {
        match &self.layout {
            Layout::Crs { .. } | Layout::Ell { .. } | Layout::BlockCrs { .. } => 1,
            Layout::Sell { slices, .. }
            | Layout::Coded { slices, .. }
            | Layout::Compressed { slices, .. }
            | Layout::BlockSell { slices, .. } => slices.sigma,
        }
    }
    fn is_compressed(&self) -> bool {
        matches!(self.layout, Layout::Compressed { .. })
    }
    fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }
    fn stored(&self) -> u64 {
        // A column for each entry or block.
        self.col_idx.bytes() / self.column_bytes() as u64 * self.block().pow(2) as u64
    }
    fn bytes(&self) -> u64 {
        let slices = |slices: &Slices| {
            slices.slice_ptr.bytes() + slices.permutation.as_ref().map_or(0, |rows| rows.bytes())
        };
        let pointers = match &self.layout {
            Layout::Crs { row_ptr, .. } | Layout::BlockCrs { row_ptr, .. } => row_ptr.bytes(),
            Layout::Ell { .. } => 0,
            Layout::Sell { slices: s, bases } => slices(s) + bases.as_ref().map_or(0, |bases| bases.bytes()),
            Layout::Coded { slices: s, .. } | Layout::BlockSell { slices: s, .. } => slices(s),
            Layout::Compressed { slices: s, pivots, .. } => {
                slices(s) + pivots.as_ref().map_or(0, |p| p.bytes())
            }
        };
        self.col_idx.bytes() + self.values.bytes() + pointers
    }
    fn traffic(&self) -> u64 {
        // A coded or compressed entry has its value in the word of its column; the pivots' take as much as
        // row pointers.
        let (value_bytes, pivot_bytes) = match &self.layout {
            Layout::Coded { .. } => (0, 0),
            Layout::Compressed { pivots, .. } => (0, pivots.as_ref().map_or(0, |_| 4 * self.n_rows)),
            _ => (size_of::<T>(), 0),
        };
        let whole = matrix_traffic(self.nnz, self.n_rows, value_bytes, self.block()) + pivot_bytes as u64;
        whole - (self.nnz * (size_of::<u32>() - self.column_bytes())) as u64
    }
}

impl Gpu {
    /// A x with the epilogue `e`, which reads or writes this many vectors of A's rows, apart from x.
    #[track_caller]
    pub(crate) fn product<T: Real, E: Epilogue<T> + AnyBlockEpilogue<T>>(
        &self,
        a: &DeviceMatrix<T>,
        x: &DeviceVector<T>,
        vectors: usize,
        e: E,
    ) -> Result<()> {
        if let Layout::BlockCrs { .. } | Layout::BlockSell { .. } = a.layout {
            return self.block_product(a, x, vectors, e);
        }
        let n_rows = a.n_rows as u64;
        let col_idx = a.col_idx.address as *const u32;
        let values = a.values.address as *const T;
        let (x, guard) = (x.ptr(), self.guard());
        match &a.layout {
            Layout::Sell { slices, bases: None } => {
                let indices = Indices32 { columns: col_idx };
                self.sell_product(a.work(a.n_rows, vectors), n_rows, slices, indices, values, x, e)
            }
            Layout::Sell { slices, bases: Some(bases) } => {
                let indices = Indices16 { bases: bases.address as *const u32, distances: col_idx };
                self.sell_product(a.work(a.n_rows, vectors), n_rows, slices, indices, values, x, e)
            }
            &Layout::Coded { coding, ref slices } => {
                let (slice_ptr, permutation, entries) = (slices.pointers(), slices.permutation(), col_idx);
                let kernel =
                    spmv_coded { n_rows, slice_ptr, permutation, coding, entries, values, x, e, guard };
                // SAFETY: the matrix was checked when it was made, and the lengths before the product.
                unsafe { self.launch_rows::<T, E>(a.work(a.n_rows, vectors), &kernel) }
            }
            &Layout::Compressed { compression, ref slices, ref pivots } => {
                let (slice_ptr, permutation) = (slices.pointers(), slices.permutation());
                let (entries, pivots, pivot_values) = (col_idx, columns_or_null(pivots.as_ref()), values);
                let kernel = spmv_compressed {
                    n_rows,
                    slice_ptr,
                    permutation,
                    compression,
                    entries,
                    pivots,
                    pivot_values,
                    x,
                    e,
                    guard,
                };
                // SAFETY: the matrix was checked when it was made, and the lengths before the product.
                unsafe { self.launch_rows::<T, E>(a.work(a.n_rows, vectors), &kernel) }
            }
            &Layout::Ell { width, stride } => {
                let (width, stride) = (width as u64, stride as u64);
                let kernel = spmv_ell { n_rows, width, stride, col_idx, values, x, e, guard };
                // SAFETY: the matrix was checked when it was made, and the lengths before the product.
                unsafe { self.launch_rows::<T, E>(a.work(a.n_rows, vectors), &kernel) }
            }
            Layout::Crs { row_ptr, wide, log2_lanes } => {
                let work = a.work(a.n_rows << log2_lanes, vectors);
                if *wide {
                    let row_ptr = row_ptr.address as *const u64;
                    self.csr_product(work, n_rows, *log2_lanes, row_ptr, col_idx, values, x, e)
                } else {
                    let row_ptr = row_ptr.address as *const u32;
                    self.csr_product(work, n_rows, *log2_lanes, row_ptr, col_idx, values, x, e)
                }
            }
            Layout::BlockCrs { .. } | Layout::BlockSell { .. } => unreachable!("handled above"),
        }
    }

    /// A x with the epilogue `e`, for a matrix of blocks.
    #[track_caller]
    pub(crate) fn block_product<T: Real, E: AnyBlockEpilogue<T>>(
        &self,
        a: &DeviceMatrix<T>,
        x: &DeviceVector<T>,
        vectors: usize,
        e: E,
    ) -> Result<()> {
        match a.layout {
            Layout::BlockCrs { block: 2, .. } | Layout::BlockSell { block: 2, .. } => {
                self.block_product_of::<T, 2, E>(a, x, vectors, e)
            }
            Layout::BlockCrs { block: 3, .. } | Layout::BlockSell { block: 3, .. } => {
                self.block_product_of::<T, 3, E>(a, x, vectors, e)
            }
            _ => Err(Error::Option(format!(
                "a product with a matrix in {} cannot end with blocks on a diagonal; take a format of such blocks",
                a.format()
            ))),
        }
    }

    #[track_caller]
    fn block_product_of<T: Real, const B: usize, E: BlockEpilogue<T, B>>(
        &self,
        a: &DeviceMatrix<T>,
        x: &DeviceVector<T>,
        vectors: usize,
        e: E,
    ) -> Result<()> {
        let rows = a.n_rows / B;
        let n_rows = rows as u64;
        let (col_idx, values) = (a.col_idx.address as *const u32, a.values.address as *const T);
        let (x, guard) = (x.ptr(), self.guard());
        let launch = |threads, kernel: &dyn Kernel| {
            // SAFETY: the matrix was checked when it was made, and the lengths before the product.
            unsafe {
                self.launch_threads(<E as BlockEpilogue<T, B>>::REDUCES, a.work(threads, vectors), kernel)
            }
        };
        match &a.layout {
            Layout::BlockSell { plane, slices, .. } => {
                let (slice_ptr, permutation) = (slices.pointers(), slices.permutation());
                let plane = *plane as u64;
                let kernel = spmv_block_sell::<T, B, E> {
                    n_rows,
                    slice_ptr,
                    permutation,
                    col_idx,
                    values,
                    plane,
                    x,
                    e,
                    guard,
                };
                launch(rows, &kernel)
            }
            Layout::BlockCrs { plane, row_ptr, log2_lanes, .. } => {
                let (plane, log2_lanes) = (*plane as u64, *log2_lanes);
                let row_ptr = row_ptr.address as *const u32;
                let kernel = spmv_block_csr::<T, B, E> {
                    n_rows,
                    log2_lanes,
                    row_ptr,
                    col_idx,
                    values,
                    plane,
                    x,
                    e,
                    guard,
                };
                launch(rows << log2_lanes, &kernel)
            }
            _ => unreachable!("a matrix of blocks"),
        }
    }

    #[allow(clippy::too_many_arguments)]
    #[track_caller]
    fn sell_product<T: Real, I: Indices, E: Epilogue<T>>(
        &self,
        work: Work,
        n_rows: u64,
        slices: &Slices,
        indices: I,
        values: *const T,
        x: *const T,
        e: E,
    ) -> Result<()> {
        let (slice_ptr, permutation, guard) = (slices.pointers(), slices.permutation(), self.guard());
        let kernel = spmv_sell { n_rows, slice_ptr, permutation, indices, values, x, e, guard };
        // SAFETY: the matrix was checked when it was made, and the lengths before the product.
        unsafe { self.launch_rows::<T, E>(work, &kernel) }
    }

    #[allow(clippy::too_many_arguments)]
    #[track_caller]
    fn csr_product<T: Real, O: Offset, E: Epilogue<T>>(
        &self,
        work: Work,
        n_rows: u64,
        log2_lanes: u32,
        row_ptr: *const O,
        col_idx: *const u32,
        values: *const T,
        x: *const T,
        e: E,
    ) -> Result<()> {
        let guard = self.guard();
        if log2_lanes == 0 {
            let kernel = spmv_csr { n_rows, row_ptr, col_idx, values, x, e, guard };
            // SAFETY: the matrix was checked when it was made, and the lengths before the product.
            unsafe { self.launch_rows::<T, E>(work, &kernel) }
        } else {
            let kernel = spmv_csr_vector { n_rows, log2_lanes, row_ptr, col_idx, values, x, e, guard };
            // SAFETY: the matrix was checked when it was made, and the lengths before the product.
            unsafe { self.launch_rows::<T, E>(work, &kernel) }
        }
    }

    /// # Safety
    /// As of [`Gpu::launch`].
    #[track_caller]
    unsafe fn launch_rows<T: Real, E: Epilogue<T>>(&self, work: Work, kernel: &dyn Kernel) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.launch_threads(<E as Epilogue<T>>::REDUCES, work, kernel) }
    }

    /// # Safety
    /// As of [`Gpu::launch`].
    #[track_caller]
    unsafe fn launch_threads(&self, reduces: bool, work: Work, kernel: &dyn Kernel) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { if reduces { self.launch_resident(work, kernel) } else { self.launch(work, kernel) } }
    }
}

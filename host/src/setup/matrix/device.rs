//! [`Matrices`] in device memory: CRS with 32-bit row pointers.

use std::marker::PhantomData;
use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::blas1::axpby;
use gpu_kernels::setup::blocks::{MAX_PLANES, Planes};
use gpu_kernels::setup::interpolate::Rows;
use gpu_kernels::setup::team::Pattern;

use super::{Blocks, Matrices, Size};
use crate::backend::gpu::buffer::{Buffer, bytes_of, bytes_of_mut, check_reach};
use crate::backend::gpu::matrix::log2_lanes;
use crate::backend::gpu::{Gpu, UNGUARDED, Work, constant};
use crate::error::Result;
use crate::launch::Launch;
use crate::matrix::{BlockCsr, Csr};

/// A CRS matrix in device memory, columns ascending within a row.
#[derive(Clone)]
pub struct DeviceCsr<T> {
    pub(in crate::setup) size: Size,
    /// `n_rows + 1` of 32 bits.
    pub(in crate::setup) row_ptr: Arc<Buffer>,
    pub(in crate::setup) col_idx: Arc<Buffer>,
    pub(in crate::setup) values: Arc<Buffer>,
    pub(in crate::setup) element: PhantomData<T>,
}

/// A 32-bit number for each row, in device memory.
#[derive(Clone)]
pub struct DeviceIndices {
    pub(in crate::setup) len: usize,
    pub(in crate::setup) buffer: Arc<Buffer>,
}

impl DeviceIndices {
    pub(in crate::setup) fn from_slice(device: &Arc<dyn Launch>, values: &[u32]) -> Result<Self> {
        Ok(DeviceIndices { len: values.len(), buffer: Buffer::from_slice(device, values)? })
    }

    /// `len` numbers, undefined.
    pub(in crate::setup) fn new(device: &Arc<dyn Launch>, len: usize) -> Result<Self> {
        Ok(DeviceIndices { len, buffer: Buffer::new(device, len * size_of::<u32>())? })
    }

    pub(in crate::setup) fn ptr(&self) -> *const u32 {
        self.buffer.address as *const u32
    }
    pub(in crate::setup) fn ptr_mut(&self) -> *mut u32 {
        self.buffer.address as *mut u32
    }

    pub(in crate::setup) fn to_host(&self) -> Result<Vec<u32>> {
        download(&self.buffer, self.len, 0u32)
    }
}

impl<T: Real> DeviceCsr<T> {
    /// Copies `a` to the device. [`Error::Matrix`](crate::Error::Matrix) where its entries are more than
    /// 32-bit row pointers reach.
    pub(in crate::setup) fn upload(device: &Arc<dyn Launch>, a: &Csr<T>) -> Result<Self> {
        let size = Size { n_rows: a.n_rows(), n_cols: a.n_cols(), nnz: a.nnz() };
        check_reach(size.nnz as u64)?;
        let row_ptr: Vec<u32> = a.row_ptr().iter().map(|&p| p as u32).collect();
        Ok(DeviceCsr {
            size,
            row_ptr: Buffer::from_slice(device, &row_ptr)?,
            col_idx: Buffer::from_slice(device, a.col_idx())?,
            values: Buffer::from_slice(device, a.values())?,
            element: PhantomData,
        })
    }

    /// A matrix of this pattern with undefined values.
    pub(in crate::setup) fn with_new_values(&self, device: &Arc<dyn Launch>) -> Result<Self> {
        Ok(DeviceCsr { values: Buffer::new(device, self.size.nnz * size_of::<T>())?, ..self.clone() })
    }

    pub(in crate::setup) fn to_host(&self) -> Result<Csr<T>> {
        let row_ptr = download(&self.row_ptr, self.size.n_rows + 1, 0u32)?;
        let row_ptr = row_ptr.into_iter().map(|p| p as usize).collect();
        let col_idx = download(&self.col_idx, self.size.nnz, 0u32)?;
        let values = download(&self.values, self.size.nnz, T::ZERO)?;
        Csr::new(self.size.n_rows, self.size.n_cols, row_ptr, col_idx, values)
    }

    pub(in crate::setup) fn row_ptr(&self) -> *const u32 {
        self.row_ptr.address as *const u32
    }
    pub(in crate::setup) fn col_idx(&self) -> *const u32 {
        self.col_idx.address as *const u32
    }
    pub(in crate::setup) fn col_idx_mut(&self) -> *mut u32 {
        self.col_idx.address as *mut u32
    }
    pub(in crate::setup) fn values(&self) -> *const T {
        self.values.address as *const T
    }
    pub(in crate::setup) fn values_mut(&self) -> *mut T {
        self.values.address as *mut T
    }
}

impl<T: Real> DeviceCsr<T> {
    /// The pattern, for kernels.
    pub(in crate::setup) fn pattern(&self) -> Pattern {
        Pattern { row_ptr: self.row_ptr(), col_idx: self.col_idx() }
    }

    /// Pattern and values, for kernels.
    pub(in crate::setup) fn rows(&self) -> Rows<T> {
        Rows { pattern: self.pattern(), values: self.values() }
    }

    /// Logarithm of the number of lanes that share a row.
    pub(in crate::setup) fn log2_lanes(&self) -> u32 {
        log2_lanes(self.size.n_rows, self.size.nnz)
    }
}

impl<T: Real> Blocks<DeviceCsr<T>> {
    /// The values of all planes, for kernels.
    pub(in crate::setup) fn values(&self) -> Planes<T> {
        let mut values = [std::ptr::null_mut(); MAX_PLANES];
        for (to, plane) in values.iter_mut().zip(self.planes()) {
            *to = plane.values_mut();
        }
        Planes { values }
    }
}

impl<T: Real> Matrices<T> for Gpu {
    type Csr = DeviceCsr<T>;
    type Indices = DeviceIndices;

    fn csr(&self, a: &Arc<Csr<T>>) -> Result<DeviceCsr<T>> {
        DeviceCsr::upload(self.device(), a)
    }
    fn csr_to_host(&self, a: &DeviceCsr<T>) -> Result<Arc<Csr<T>>> {
        a.to_host().map(Arc::new)
    }
    fn indices(&self, values: &[u32]) -> Result<DeviceIndices> {
        DeviceIndices::from_slice(self.device(), values)
    }
    fn indices_to_host(&self, indices: &DeviceIndices) -> Result<Vec<u32>> {
        indices.to_host()
    }
    fn blocks(&self, a: &BlockCsr<T>) -> Result<Blocks<DeviceCsr<T>>> {
        let size = Size { n_rows: a.block_rows(), n_cols: a.block_cols(), nnz: a.blocks() };
        check_reach(size.nnz as u64)?;
        let row_ptr: Vec<u32> = a.row_ptr().iter().map(|&p| p as u32).collect();
        let row_ptr = Buffer::from_slice(self.device(), &row_ptr)?;
        let col_idx = Buffer::from_slice(self.device(), a.col_idx())?;
        let b = a.block();
        let plane = |kl: usize| {
            let values = Buffer::from_slice(self.device(), a.plane(kl / b, kl % b).values())?;
            let (row_ptr, col_idx) = (row_ptr.clone(), col_idx.clone());
            Ok(DeviceCsr { size, row_ptr, col_idx, values, element: PhantomData })
        };
        Ok(Blocks::from_planes((0..b * b).map(plane).collect::<Result<_>>()?))
    }
    fn size(&self, a: &DeviceCsr<T>) -> Size {
        a.size
    }
    fn set_values(&self, a: &mut DeviceCsr<T>, values: &Csr<T>) -> Result<()> {
        assert_eq!(a.size.nnz, values.nnz());
        // SAFETY: the buffer has as many elements.
        unsafe { self.device().upload(a.values.address, bytes_of(values.values())) }
    }
    fn scale_values(&self, a: &mut DeviceCsr<T>, factor: T) -> Result<()> {
        let (n, x, z) = (a.size.nnz as u64, a.values(), a.values_mut());
        let (a, b, guard) = (constant(factor.to_f64()), constant(0.0), UNGUARDED);
        self.launch(Work::on::<T>(n as usize, 2), &axpby { n, a, x, b, y: x, z, guard })
    }
    fn zeros_like(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        Ok(DeviceCsr { values: Buffer::zeroed(self.device(), a.size.nnz * size_of::<T>())?, ..a.clone() })
    }
}

/// The first `len` elements.
pub(in crate::setup) fn download<U: cuda_std::memory::Word>(
    buffer: &Buffer,
    len: usize,
    zero: U,
) -> Result<Vec<U>> {
    let mut values = vec![zero; len];
    // SAFETY: the buffer has at least that many elements.
    unsafe { buffer.device().download(bytes_of_mut(&mut values), buffer.address)? };
    Ok(values)
}

//! Matrices of a multigrid set-up in device memory: CRS with 32-bit row pointers.

use std::marker::PhantomData;
use std::sync::Arc;

use cuda_std::Real;

use super::memory::{Buffer, bytes_of_mut};
use crate::backend::algebra::Size;
use crate::error::{Error, Result};
use crate::launch::Launch;
use crate::matrix::Csr;

/// A CRS matrix in device memory, columns ascending within a row.
#[derive(Clone)]
pub struct DeviceCsr<T> {
    pub(super) size: Size,
    /// `n_rows + 1` of 32 bits.
    pub(super) row_ptr: Arc<Buffer>,
    pub(super) col_idx: Arc<Buffer>,
    pub(super) values: Arc<Buffer>,
    pub(super) element: PhantomData<T>,
}

/// A 32-bit number for each row, in device memory.
#[derive(Clone)]
pub struct DeviceIndices {
    pub(super) len: usize,
    pub(super) buffer: Arc<Buffer>,
}

impl DeviceIndices {
    pub(super) fn from_slice(device: &Arc<dyn Launch>, values: &[u32]) -> Result<Self> {
        Ok(DeviceIndices { len: values.len(), buffer: Buffer::from_slice(device, values)? })
    }

    /// `len` numbers, undefined.
    pub(super) fn new(device: &Arc<dyn Launch>, len: usize) -> Result<Self> {
        Ok(DeviceIndices { len, buffer: Buffer::new(device, len * size_of::<u32>())? })
    }

    pub(super) fn ptr(&self) -> *const u32 {
        self.buffer.address as *const u32
    }
    pub(super) fn ptr_mut(&self) -> *mut u32 {
        self.buffer.address as *mut u32
    }

    pub(super) fn to_host(&self) -> Result<Vec<u32>> {
        download(&self.buffer, self.len, 0u32)
    }
}

impl<T: Real> DeviceCsr<T> {
    /// Copies `a` to the device. [`Error::Matrix`] where its entries are more than 32-bit row pointers reach.
    pub(super) fn upload(device: &Arc<dyn Launch>, a: &Csr<T>) -> Result<Self> {
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
    pub(super) fn with_new_values(&self, device: &Arc<dyn Launch>) -> Result<Self> {
        Ok(DeviceCsr { values: Buffer::new(device, self.size.nnz * size_of::<T>())?, ..self.clone() })
    }

    pub(super) fn to_host(&self) -> Result<Csr<T>> {
        let row_ptr = download(&self.row_ptr, self.size.n_rows + 1, 0u32)?;
        let row_ptr = row_ptr.into_iter().map(|p| p as usize).collect();
        let col_idx = download(&self.col_idx, self.size.nnz, 0u32)?;
        let values = download(&self.values, self.size.nnz, T::ZERO)?;
        Csr::new(self.size.n_rows, self.size.n_cols, row_ptr, col_idx, values)
    }

    pub(super) fn row_ptr(&self) -> *const u32 {
        self.row_ptr.address as *const u32
    }
    pub(super) fn col_idx(&self) -> *const u32 {
        self.col_idx.address as *const u32
    }
    pub(super) fn col_idx_mut(&self) -> *mut u32 {
        self.col_idx.address as *mut u32
    }
    pub(super) fn values(&self) -> *const T {
        self.values.address as *const T
    }
    pub(super) fn values_mut(&self) -> *mut T {
        self.values.address as *mut T
    }
}

/// [`Error::Reach`] where so many entries are more than 32-bit row pointers reach.
pub(super) fn check_reach(nnz: u64) -> Result<()> {
    if nnz <= u32::MAX as u64 {
        return Ok(());
    }
    Err(Error::Reach { nnz })
}

/// The first `len` elements.
pub(super) fn download<U: cuda_std::memory::Word>(buffer: &Buffer, len: usize, zero: U) -> Result<Vec<U>> {
    let mut values = vec![zero; len];
    // SAFETY: the buffer has at least so many elements.
    unsafe { buffer.device().download(bytes_of_mut(&mut values), buffer.address)? };
    Ok(values)
}

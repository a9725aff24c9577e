//! Where the entries of a matrix in CRS are, in device memory.

use std::marker::PhantomData;
use std::sync::{Arc, Weak};

use cuda_std::Real;
use gpu_kernels::setup::sub_warp::Pattern;

use super::Size;
use super::device::DeviceCsr;
use crate::backend::gpu::buffer::Buffer;
use crate::backend::gpu::matrix::log2_lanes;
use crate::backend::gpu::{Gpu, transfer};
use crate::error::Result;
use crate::launch::Launch;
use crate::matrix::Csr;

/// A pattern that is shared.
#[derive(Clone)]
pub(in crate::setup) struct DevicePattern {
    pub size: Size,
    /// `n_rows + 1` of 32 bits.
    pub row_ptr: Arc<Buffer>,
    pub col_idx: Arc<Buffer>,
}

impl DevicePattern {
    /// The pattern, for kernels.
    pub fn pattern(&self) -> Pattern {
        Pattern { row_ptr: self.row_ptr.address as *const u32, col_idx: self.columns() }
    }
    /// The columns, to be written.
    pub fn columns(&self) -> *mut u32 {
        self.col_idx.address as *mut u32
    }
    /// Logarithm of the number of lanes that share a row.
    pub fn log2_lanes(&self) -> u32 {
        log2_lanes(self.size.n_rows, self.size.nnz)
    }
    /// A matrix with undefined values.
    pub fn with_values<T: Real>(self, device: &Arc<dyn Launch>) -> Result<DeviceCsr<T>> {
        let DevicePattern { size, row_ptr, col_idx } = self;
        let values = Buffer::new(device, size.nnz * size_of::<T>())?;
        Ok(DeviceCsr { size, row_ptr, col_idx, values, element: PhantomData })
    }
}

impl<T: Real> DeviceCsr<T> {
    /// Pattern alone, which is shared.
    pub(in crate::setup) fn shared_pattern(&self) -> DevicePattern {
        DevicePattern { size: self.size, row_ptr: self.row_ptr.clone(), col_idx: self.col_idx.clone() }
    }

    /// The pattern as long as others have it.
    pub(crate) fn known_pattern(&self) -> KnownPattern {
        let DeviceCsr { size, row_ptr, col_idx, .. } = self;
        KnownPattern { size: *size, row_ptr: Arc::downgrade(row_ptr), col_idx: Arc::downgrade(col_idx) }
    }
}

/// A pattern that is there as long as others have it, of a matrix that was on the device.
pub(crate) struct KnownPattern {
    size: Size,
    row_ptr: Weak<Buffer>,
    col_idx: Weak<Buffer>,
}

impl KnownPattern {
    /// The matrix `a`, which has this pattern, where that is still there. Only its values are copied.
    pub(crate) fn filled<T: Real>(&self, gpu: &Gpu, a: &Csr<T>) -> Result<Option<DeviceCsr<T>>> {
        let (Some(row_ptr), Some(col_idx)) = (self.row_ptr.upgrade(), self.col_idx.upgrade()) else {
            return Ok(None);
        };
        let (size, nnz) = (self.size, a.nnz());
        assert_eq!((size.n_rows, size.n_cols, size.nnz), (a.n_rows(), a.n_cols(), nnz), "another pattern");
        let values = Buffer::new(gpu.device(), nnz * size_of::<T>())?;
        // SAFETY: the buffer was made for them.
        unsafe { transfer::upload(&**gpu.device(), values.address, a.values())? };
        Ok(Some(DeviceCsr { size, row_ptr, col_idx, values, element: PhantomData }))
    }
}

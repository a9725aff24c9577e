//! Short ways to the device.

use crate::error::CudaResult;
use crate::memory::{DeviceBox, DeviceBuffer, DeviceCopy, UnifiedBuffer};

/// Values on the device.
pub trait DeviceCopyExt: DeviceCopy {
    /// A copy of it on the device.
    ///
    /// # Errors
    /// The driver's.
    fn as_dbox(&self) -> CudaResult<DeviceBox<Self>> {
        DeviceBox::new(self)
    }
}

impl<T: DeviceCopy> DeviceCopyExt for T {}

/// Slices on the device.
pub trait SliceExt<T: DeviceCopy> {
    /// A copy of it on the device.
    ///
    /// # Errors
    /// The driver's.
    fn as_dbuf(&self) -> CudaResult<DeviceBuffer<T>>;

    /// A copy of it that host and device see.
    ///
    /// # Errors
    /// The driver's.
    fn as_unified_buf(&self) -> CudaResult<UnifiedBuffer<T>>;
}

impl<T: DeviceCopy> SliceExt<T> for [T] {
    fn as_dbuf(&self) -> CudaResult<DeviceBuffer<T>> {
        DeviceBuffer::from_slice(self)
    }

    fn as_unified_buf(&self) -> CudaResult<UnifiedBuffer<T>> {
        UnifiedBuffer::from_slice(self)
    }
}

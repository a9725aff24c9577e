//! Copies on the device: to slices from other slices and from buffers, and back.

use super::copy::{AsyncCopyDestination, CopyDestination, move_over, same_length};
use super::{DeviceBuffer, DeviceCopy, DeviceSlice};
use crate::error::CudaResult;
use crate::stream::Stream;

/// Copies between slices and other memory on the device.
macro_rules! copies_on_the_device {
    ($($other:ident)*) => {
        $(
            impl<T: DeviceCopy> CopyDestination<$other<T>> for DeviceSlice<T> {
                fn copy_from(&mut self, source: &$other<T>) -> CudaResult<()> {
                    same_length(self.len(), source.len())?;
                    let (to, from) = (self.as_device_ptr().as_raw(), source.as_device_ptr().as_raw());
                    // SAFETY: that many values are in both.
                    unsafe { move_over(to, from, self.bytes(), None) }
                }

                fn copy_to(&self, destination: &mut $other<T>) -> CudaResult<()> {
                    same_length(self.len(), destination.len())?;
                    let (to, from) = (destination.as_device_ptr().as_raw(), self.as_device_ptr().as_raw());
                    // SAFETY: that many values are in both.
                    unsafe { move_over(to, from, self.bytes(), None) }
                }
            }

            impl<T: DeviceCopy> AsyncCopyDestination<$other<T>> for DeviceSlice<T> {
                unsafe fn async_copy_from(&mut self, source: &$other<T>, stream: &Stream) -> CudaResult<()> {
                    same_length(self.len(), source.len())?;
                    let (to, from) = (self.as_device_ptr().as_raw(), source.as_device_ptr().as_raw());
                    // SAFETY: that many values are in both; the caller vouches for the time until it is done.
                    unsafe { move_over(to, from, self.bytes(), Some(stream)) }
                }

                unsafe fn async_copy_to(
                    &self,
                    destination: &mut $other<T>,
                    stream: &Stream,
                ) -> CudaResult<()> {
                    same_length(self.len(), destination.len())?;
                    let (to, from) = (destination.as_device_ptr().as_raw(), self.as_device_ptr().as_raw());
                    // SAFETY: as above.
                    unsafe { move_over(to, from, self.bytes(), Some(stream)) }
                }
            }
        )*
    };
}

copies_on_the_device! { DeviceSlice DeviceBuffer }

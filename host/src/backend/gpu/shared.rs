//! Device memory that is shared with other code of the program, in the types of `cust`.

use std::marker::PhantomData;
use std::sync::Arc;

use cuda_std::Real;
use cust::context::CurrentContext;
use cust::memory::{DeviceBuffer, DeviceCopy, DevicePointer};

use super::buffer::Buffer;
use super::{DeviceVector, Gpu};
use crate::error::{Error, Result};
use crate::launch::driver::failed;
use crate::launch::{Cuda, Launch};

impl Gpu {
    /// Context and stream, for code that uses `cust` beside this library; `None` on the simulator.
    pub fn cuda(&self) -> Option<Cuda> {
        self.device().cuda()
    }

    /// Makes a buffer a vector. Nothing is copied, and [`DeviceVector::into_device_buffer`] gives the buffer
    /// back. What was queued to write it must be complete, or be on this device's stream.
    ///
    /// # Errors
    /// [`Error::Device`] where the buffer is of another context than this device's.
    pub fn adopt<T: Real + DeviceCopy>(&self, buffer: DeviceBuffer<T>) -> Result<DeviceVector<T>> {
        let len = buffer.len();
        Ok(DeviceVector { buffer: self.adopt_buffer(buffer)?, offset: 0, len, element: PhantomData })
    }

    /// A vector in memory that stays its owner's.
    ///
    /// # Safety
    /// The pointer is aligned, `len` elements of this device's context are there, and they stay there until
    /// the vector is gone. Meanwhile nothing else writes them, but for work on this device's stream.
    pub unsafe fn borrow<T: Real + DeviceCopy>(
        &self,
        pointer: DevicePointer<T>,
        len: usize,
    ) -> DeviceVector<T> {
        // SAFETY: the caller's promise.
        let buffer =
            unsafe { Buffer::owned_by(self.device(), pointer.as_raw(), len * size_of::<T>(), Box::new(())) };
        DeviceVector { buffer, offset: 0, len, element: PhantomData }
    }

    /// The memory of a buffer of this device's context.
    pub(crate) fn adopt_buffer<T: DeviceCopy + Send + Sync + 'static>(
        &self,
        buffer: DeviceBuffer<T>,
    ) -> Result<Arc<Buffer>> {
        let Cuda { context, .. } = cuda_of(&**self.device())?;
        if !buffer.is_of(&context) {
            return Err(Error::Device {
                call: "adopt".into(),
                message: format!(
                    "the memory is of another context than that of {}",
                    self.device().info().name
                ),
            });
        }
        let (address, bytes) = (buffer.as_device_ptr().as_raw(), buffer.len() * size_of::<T>());
        // SAFETY: the buffer has so many bytes in this device's context, and keeps them.
        Ok(unsafe { Buffer::owned_by(self.device(), address, bytes, Box::new(buffer)) })
    }
}

impl<T: Real + DeviceCopy> DeviceVector<T> {
    /// Where its elements are; valid while the vector is there.
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        DevicePointer::from_raw(self.address())
    }

    /// The elements as a buffer: the one that was adopted, or else a copy on the device. Everything queued
    /// before is complete then.
    ///
    /// # Errors
    /// Those of the device; it has no memory for a copy; it is no CUDA device.
    pub fn into_device_buffer(self) -> Result<DeviceBuffer<T>> {
        let DeviceVector { mut buffer, offset, len, .. } = self;
        let device = buffer.device().clone();
        device.synchronize()?;
        if let Some(adopted) = Arc::get_mut(&mut buffer).and_then(Buffer::take_owner) {
            return Ok(adopted);
        }
        let Cuda { context, .. } = cuda_of(&*device)?;
        CurrentContext::set_current(&context).map_err(failed("cuCtxSetCurrent"))?;
        // SAFETY: all of it is written below.
        let copy = unsafe { DeviceBuffer::<T>::uninitialized(len) }.map_err(failed("cuMemAlloc"))?;
        let (to, from) = (copy.as_device_ptr().as_raw(), buffer.address + (offset * size_of::<T>()) as u64);
        // SAFETY: both have so many bytes.
        unsafe { device.copy(to, from, len * size_of::<T>())? };
        device.synchronize()?;
        Ok(copy)
    }
}

fn cuda_of(device: &dyn Launch) -> Result<Cuda> {
    device.cuda().ok_or_else(|| Error::Device {
        call: "adopt".into(),
        message: format!("{} is no CUDA device", device.info().name),
    })
}

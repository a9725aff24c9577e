//! One value on the device.

use super::copy::{AsyncCopyDestination, CopyDestination, download, move_over, upload};
use super::{DeviceBuffer, DeviceCopy, DevicePointer};
use crate::error::{CudaResult, DropResult};
use crate::private::Sealed;
use crate::stream::Stream;
use crate::sys::CUdeviceptr;
use bytemuck::Zeroable;
use std::fmt;
use std::mem::ManuallyDrop;

/// A value in device memory, owned. It keeps its context.
///
/// ```no_run
/// # use cust::memory::*;
/// # use cust::prelude::{Stream, StreamFlags};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// let mut residual = DeviceBox::new(&f64::INFINITY)?;
/// // A kernel gets `residual.as_device_ptr()`, and writes there.
/// println!("{}", residual.as_host_value()?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DeviceBox<T: DeviceCopy> {
    /// Of one value.
    buffer: DeviceBuffer<T>,
}

impl<T: DeviceCopy> DeviceBox<T> {
    /// A copy of the value on the device.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let count = DeviceBox::new(&0_u32)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn new(value: &T) -> CudaResult<Self> {
        Ok(DeviceBox { buffer: DeviceBuffer::from_slice(std::slice::from_ref(value))? })
    }

    /// Queues making a copy of the value on the device.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// let limit = LockedBox::new(&100_u32)?;
    /// // SAFETY: the value is there until the stream has copied it.
    /// let on_device = unsafe { DeviceBox::new_async(&*limit, &stream)? };
    /// stream.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// Until the stream has done this, the value is there and not written, and the box is not used.
    ///
    /// # Errors
    /// The driver's.
    pub unsafe fn new_async(value: &T, stream: &Stream) -> CudaResult<Self> {
        // SAFETY: the caller's promise.
        let buffer = unsafe { DeviceBuffer::from_slice_async(std::slice::from_ref(value), stream) }?;
        Ok(DeviceBox { buffer })
    }

    /// Memory for a value.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// // SAFETY: written next.
    /// let mut count = unsafe { DeviceBox::<u32>::uninitialized()? };
    /// count.copy_from(&0)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// It is written before it is read.
    ///
    /// # Errors
    /// The driver's.
    pub unsafe fn uninitialized() -> CudaResult<Self> {
        // SAFETY: the caller's promise.
        Ok(DeviceBox { buffer: unsafe { DeviceBuffer::uninitialized(1) }? })
    }

    /// Memory for a value, for what is queued on the stream from now on.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// // SAFETY: what writes it is queued on the same stream.
    /// let count = unsafe { DeviceBox::<u32>::uninitialized_async(&stream)? };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// It is written before it is read, and not used before the stream has done this.
    ///
    /// # Errors
    /// The driver's.
    pub unsafe fn uninitialized_async(stream: &Stream) -> CudaResult<Self> {
        // SAFETY: the caller's promise.
        Ok(DeviceBox { buffer: unsafe { DeviceBuffer::uninitialized_async(1, stream) }? })
    }

    /// Takes over memory.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let address = DeviceBox::into_device(DeviceBox::new(&7_u32)?).as_raw();
    /// // SAFETY: the box gave it away.
    /// let count = unsafe { DeviceBox::<u32>::from_raw(address) };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// As for [`DeviceBuffer::from_raw_parts`].
    pub unsafe fn from_raw(address: CUdeviceptr) -> Self {
        // SAFETY: the caller's promise.
        unsafe { DeviceBox::from_device(DevicePointer::from_raw(address)) }
    }

    /// Takes over memory.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let pointer = DeviceBox::into_device(DeviceBox::new(&7_u32)?);
    /// // SAFETY: the box gave it away.
    /// let count = unsafe { DeviceBox::from_device(pointer) };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// As for [`DeviceBuffer::from_raw_parts`].
    pub unsafe fn from_device(pointer: DevicePointer<T>) -> Self {
        // SAFETY: the caller's promise.
        DeviceBox { buffer: unsafe { DeviceBuffer::from_raw_parts(pointer, 1) } }
    }

    /// Its memory, which is not given back any more.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let pointer = DeviceBox::into_device(DeviceBox::new(&7_u32)?);
    /// // SAFETY: nothing uses it later.
    /// unsafe { cuda_free(pointer)? };
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_device(this: DeviceBox<T>) -> DevicePointer<T> {
        ManuallyDrop::new(this).as_device_ptr()
    }

    /// Where it is.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let count = DeviceBox::new(&0_u32)?;
    /// // What a kernel gets.
    /// let pointer: DevicePointer<u32> = count.as_device_ptr();
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        self.buffer.as_device_ptr()
    }

    /// A copy on the host.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// assert_eq!(DeviceBox::new(&7_u32)?.as_host_value()?, 7);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn as_host_value(&self) -> CudaResult<T>
    where
        T: Default,
    {
        let mut value = T::default();
        self.copy_to(&mut value)?;
        Ok(value)
    }

    /// Gives it back, and returns the driver's answer.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let count = DeviceBox::new(&7_u32)?;
    /// if let Err((error, _count)) = DeviceBox::drop(count) {
    ///     println!("the driver says {error}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's, with the box.
    pub fn drop(this: DeviceBox<T>) -> DropResult<DeviceBox<T>> {
        DeviceBuffer::drop(this.buffer).map_err(|(error, buffer)| (error, DeviceBox { buffer }))
    }

    /// Gives it back behind what is queued on the stream.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// # let count = DeviceBox::new(&7_u32)?;
    /// // When the kernels are done that are queued there.
    /// count.drop_async(&stream)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's; the memory is then leaked.
    pub fn drop_async(self, stream: &Stream) -> CudaResult<()> {
        self.buffer.drop_async(stream)
    }
}

impl<T: DeviceCopy + Zeroable> DeviceBox<T> {
    /// Zero.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// assert_eq!(DeviceBox::<u64>::zeroed()?.as_host_value()?, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn zeroed() -> CudaResult<Self> {
        Ok(DeviceBox { buffer: DeviceBuffer::zeroed(1)? })
    }

    /// Queues writing a zero.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// // SAFETY: what uses it is queued on the same stream.
    /// let count = unsafe { DeviceBox::<u32>::zeroed_async(&stream)? };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// The box is not used before the stream has done this.
    ///
    /// # Errors
    /// The driver's.
    pub unsafe fn zeroed_async(stream: &Stream) -> CudaResult<Self> {
        // SAFETY: the caller's promise.
        Ok(DeviceBox { buffer: unsafe { DeviceBuffer::zeroed_async(1, stream) }? })
    }
}

impl<T: DeviceCopy> fmt::Pointer for DeviceBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.as_device_ptr(), f)
    }
}

impl<T: DeviceCopy> Sealed for DeviceBox<T> {}

impl<T: DeviceCopy> CopyDestination<T> for DeviceBox<T> {
    fn copy_from(&mut self, source: &T) -> CudaResult<()> {
        // SAFETY: a value is there.
        unsafe { upload(self.as_device_ptr().as_raw(), std::slice::from_ref(source), None) }
    }

    fn copy_to(&self, destination: &mut T) -> CudaResult<()> {
        // SAFETY: a value is there.
        unsafe { download(std::slice::from_mut(destination), self.as_device_ptr().as_raw(), None) }
    }
}

impl<T: DeviceCopy> CopyDestination<DeviceBox<T>> for DeviceBox<T> {
    fn copy_from(&mut self, source: &DeviceBox<T>) -> CudaResult<()> {
        let (to, from) = (self.as_device_ptr().as_raw(), source.as_device_ptr().as_raw());
        // SAFETY: a value is in both.
        unsafe { move_over(to, from, size_of::<T>(), None) }
    }

    fn copy_to(&self, destination: &mut DeviceBox<T>) -> CudaResult<()> {
        destination.copy_from(self)
    }
}

impl<T: DeviceCopy> AsyncCopyDestination<T> for DeviceBox<T> {
    unsafe fn async_copy_from(&mut self, source: &T, stream: &Stream) -> CudaResult<()> {
        // SAFETY: a value is there; the caller vouches for the time until it is done.
        unsafe { upload(self.as_device_ptr().as_raw(), std::slice::from_ref(source), Some(stream)) }
    }

    unsafe fn async_copy_to(&self, destination: &mut T, stream: &Stream) -> CudaResult<()> {
        // SAFETY: as above.
        unsafe { download(std::slice::from_mut(destination), self.as_device_ptr().as_raw(), Some(stream)) }
    }
}

impl<T: DeviceCopy> AsyncCopyDestination<DeviceBox<T>> for DeviceBox<T> {
    unsafe fn async_copy_from(&mut self, source: &DeviceBox<T>, stream: &Stream) -> CudaResult<()> {
        let (to, from) = (self.as_device_ptr().as_raw(), source.as_device_ptr().as_raw());
        // SAFETY: a value is in both; the caller vouches for the time until it is done.
        unsafe { move_over(to, from, size_of::<T>(), Some(stream)) }
    }

    unsafe fn async_copy_to(&self, destination: &mut DeviceBox<T>, stream: &Stream) -> CudaResult<()> {
        // SAFETY: the caller's promise.
        unsafe { destination.async_copy_from(self, stream) }
    }
}

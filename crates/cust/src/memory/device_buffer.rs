//! Values on the device.

use super::copy::upload;
use super::malloc::{cuda_free, cuda_free_async, cuda_malloc, cuda_malloc_async};
use super::{DeviceCopy, DevicePointer, DeviceSlice};
use crate::context::{Context, Owner};
use crate::error::{CudaResult, DropResult};
use crate::stream::Stream;
use bytemuck::{Pod, PodCastError, Zeroable};
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

/// Values that follow each other in device memory, owned: what `Box<[T]>` is on the host. It keeps its
/// context.
///
/// ```no_run
/// # use cust::memory::*;
/// # use cust::prelude::{Stream, StreamFlags};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// let x = DeviceBuffer::from_slice(&[1.0, 2.0, 3.0])?;
/// let y = DeviceBuffer::<f64>::zeroed(x.len())?;
/// // A kernel gets `x.as_device_ptr()`, `y.as_device_ptr()` and the length.
/// assert_eq!(y.as_host_vec()?, [0.0; 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DeviceBuffer<T: DeviceCopy> {
    /// Null where there are no bytes, and once it is given back.
    pointer: DevicePointer<T>,
    len: usize,
    owner: Owner,
}

// SAFETY: it owns the values.
unsafe impl<T: Send + DeviceCopy> Send for DeviceBuffer<T> {}
// SAFETY: as above.
unsafe impl<T: Sync + DeviceCopy> Sync for DeviceBuffer<T> {}

/// Whether `len` values have no bytes.
fn is_nothing<T>(len: usize) -> bool {
    len == 0 || size_of::<T>() == 0
}

impl<T: DeviceCopy> DeviceBuffer<T> {
    /// Memory for this many values.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// // SAFETY: a kernel writes all of it before anything reads it.
    /// let y = unsafe { DeviceBuffer::<f64>::uninitialized(1000)? };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// It is written before it is read.
    ///
    /// # Errors
    /// There is not enough memory.
    pub unsafe fn uninitialized(len: usize) -> CudaResult<Self> {
        let pointer = match is_nothing::<T>(len) {
            true => DevicePointer::null(),
            // SAFETY: the caller's promise.
            false => unsafe { cuda_malloc(len) }?,
        };
        Ok(DeviceBuffer { pointer, len, owner: Owner::current() })
    }

    /// Memory for this many values, for what is queued on the stream from now on.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// // SAFETY: a kernel on the same stream writes all of it first.
    /// let y = unsafe { DeviceBuffer::<f64>::uninitialized_async(1000, &stream)? };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// It is written before it is read, and not used before the stream has done this.
    ///
    /// # Errors
    /// There is not enough memory.
    pub unsafe fn uninitialized_async(len: usize, stream: &Stream) -> CudaResult<Self> {
        let pointer = match is_nothing::<T>(len) {
            true => DevicePointer::null(),
            // SAFETY: the caller's promise.
            false => unsafe { cuda_malloc_async(stream, len) }?,
        };
        Ok(DeviceBuffer { pointer, len, owner: Owner::current() })
    }

    /// A copy of the slice on the device.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let x = DeviceBuffer::from_slice(&[1.0, 2.0, 3.0])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// There is not enough memory, or the driver's.
    pub fn from_slice(slice: &[T]) -> CudaResult<Self> {
        // SAFETY: all of it is written next.
        let buffer = unsafe { DeviceBuffer::uninitialized(slice.len()) }?;
        // SAFETY: that many values are there.
        unsafe { upload(buffer.pointer.as_raw(), slice, None) }?;
        Ok(buffer)
    }

    /// Queues making a copy of the slice on the device.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// let values = LockedBuffer::from_slice(&[1.0, 2.0, 3.0])?;
    /// // SAFETY: the values are there until the stream has copied them.
    /// let x = unsafe { DeviceBuffer::from_slice_async(&values, &stream)? };
    /// stream.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// Until the stream has done this, the slice is there and not written, and the buffer is not used.
    ///
    /// # Errors
    /// There is not enough memory, or the driver's.
    pub unsafe fn from_slice_async(slice: &[T], stream: &Stream) -> CudaResult<Self> {
        // SAFETY: all of it is written next; the caller vouches for the time until it is done.
        unsafe {
            let buffer = DeviceBuffer::uninitialized_async(slice.len(), stream)?;
            upload(buffer.pointer.as_raw(), slice, Some(stream))?;
            Ok(buffer)
        }
    }

    /// Takes over memory.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// // SAFETY: the buffer is written before it is read, and alone gives the memory back.
    /// let y = unsafe { DeviceBuffer::from_raw_parts(cuda_malloc::<f64>(1000)?, 1000) };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// It came from [`cuda_malloc`] or [`cuda_malloc_async`] in the current context, has this many values,
    /// and nothing else gives it back.
    pub unsafe fn from_raw_parts(pointer: DevicePointer<T>, len: usize) -> DeviceBuffer<T> {
        DeviceBuffer { pointer, len, owner: Owner::current() }
    }

    /// Whether it was made in that context. cust 0.3 does not know.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let context = cust::quick_init()?;
    /// let x = DeviceBuffer::from_slice(&[1.0, 2.0])?;
    /// assert!(x.is_of(&context));
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_of(&self, context: &Context) -> bool {
        self.owner.is(context)
    }

    /// All of it.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let x = DeviceBuffer::from_slice(&[1.0, 2.0])?;
    /// let all: &DeviceSlice<f64> = x.as_slice();
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_slice(&self) -> &DeviceSlice<T> {
        self
    }

    fn free(&mut self) -> CudaResult<()> {
        if !self.pointer.is_null() {
            // SAFETY: the memory is owned.
            self.owner.enter(|| unsafe { cuda_free(self.pointer) })?;
            self.pointer = DevicePointer::null();
        }
        Ok(())
    }

    /// Gives it back, and returns the driver's answer.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let x = DeviceBuffer::from_slice(&[1.0, 2.0])?;
    /// if let Err((error, _x)) = DeviceBuffer::drop(x) {
    ///     println!("the driver says {error}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's, with the buffer.
    pub fn drop(mut buffer: DeviceBuffer<T>) -> DropResult<DeviceBuffer<T>> {
        buffer.free().map_err(|error| (error, buffer))
    }

    /// Gives it back behind what is queued on the stream.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// # let x = DeviceBuffer::from_slice(&[1.0, 2.0])?;
    /// // When the kernels are done that are queued there.
    /// x.drop_async(&stream)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's; the memory is then leaked.
    pub fn drop_async(self, stream: &Stream) -> CudaResult<()> {
        if self.pointer.is_null() {
            return Ok(());
        }
        let mut this = ManuallyDrop::new(self);
        // SAFETY: the memory is owned. What uses it on other streams was queued by unsafe code.
        let freed = this.owner.enter(|| unsafe { cuda_free_async(stream, this.pointer) });
        // SAFETY: it is not used afterwards.
        unsafe { std::ptr::drop_in_place(&raw mut this.owner) };
        freed
    }
}

impl<T: DeviceCopy + Zeroable> DeviceBuffer<T> {
    /// Zeros.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let y = DeviceBuffer::<f64>::zeroed(1000)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// There is not enough memory, or the driver's.
    pub fn zeroed(len: usize) -> CudaResult<Self> {
        // SAFETY: all of it is written next.
        let mut buffer = unsafe { DeviceBuffer::uninitialized(len) }?;
        buffer.set_zero()?;
        Ok(buffer)
    }

    /// Queues writing zeros.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// // SAFETY: what uses it is queued on the same stream.
    /// let y = unsafe { DeviceBuffer::<f64>::zeroed_async(1000, &stream)? };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// The buffer is not used before the stream has done this.
    ///
    /// # Errors
    /// There is not enough memory, or the driver's.
    pub unsafe fn zeroed_async(len: usize, stream: &Stream) -> CudaResult<Self> {
        // SAFETY: all of it is written next; the caller vouches for the time until it is done.
        unsafe {
            let mut buffer = DeviceBuffer::uninitialized_async(len, stream)?;
            buffer.set_zero_async(stream)?;
            Ok(buffer)
        }
    }
}

impl<A: DeviceCopy + Pod> DeviceBuffer<A> {
    /// The same bytes as values of another type.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let bits: DeviceBuffer<u32> = DeviceBuffer::from_slice(&[1.0_f32])?.cast();
    /// assert_eq!(bits.as_host_vec()?, [0x3f80_0000]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// They do not fit; see [`DeviceBuffer::try_cast`].
    pub fn cast<B: Pod + DeviceCopy>(self) -> DeviceBuffer<B> {
        match self.try_cast() {
            Ok(buffer) => buffer,
            Err(error) => panic!("a buffer cannot be cast: {error}"),
        }
    }

    /// The same bytes as values of another type.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let bytes = DeviceBuffer::from_slice(&[0_u8; 7])?;
    /// assert!(bytes.try_cast::<u32>().is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The buffer does not end with a value, or does not begin where one may be.
    pub fn try_cast<B: Pod + DeviceCopy>(self) -> Result<DeviceBuffer<B>, PodCastError> {
        let bytes = self.len * size_of::<A>();
        let len = match size_of::<B>() {
            size if size == size_of::<A>() => self.len,
            0 => return Err(PodCastError::SizeMismatch),
            size if bytes.is_multiple_of(size) => bytes / size,
            _ => return Err(PodCastError::OutputSliceWouldHaveSlop),
        };
        if !self.pointer.as_raw().is_multiple_of(align_of::<B>() as u64) {
            return Err(PodCastError::TargetAlignmentGreaterAndInputNotAligned);
        }
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used afterwards.
        let owner = unsafe { std::ptr::read(&this.owner) };
        Ok(DeviceBuffer { pointer: this.pointer.cast(), len, owner })
    }
}

impl<T: DeviceCopy> Deref for DeviceBuffer<T> {
    type Target = DeviceSlice<T>;

    fn deref(&self) -> &DeviceSlice<T> {
        // SAFETY: the memory is owned, and borrowed with the buffer.
        unsafe { DeviceSlice::from_raw_parts(self.pointer, self.len) }
    }
}

impl<T: DeviceCopy> DerefMut for DeviceBuffer<T> {
    fn deref_mut(&mut self) -> &mut DeviceSlice<T> {
        // SAFETY: the memory is owned, and borrowed with the buffer.
        unsafe { DeviceSlice::from_raw_parts_mut(self.pointer, self.len) }
    }
}

impl<T: DeviceCopy> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        let _ = self.free();
    }
}

impl<T: DeviceCopy> crate::private::Sealed for DeviceBuffer<T> {}

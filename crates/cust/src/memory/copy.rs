//! Copies between host and device, and on the device.

use super::DeviceCopy;
use crate::error::{CudaError, CudaResult, ToResult};
use crate::private::Sealed;
use crate::stream::Stream;
use crate::sys::{self, CUdeviceptr};

/// Memory of the device that can be copied to and from.
///
/// Unlike in cust 0.3 lengths that differ are [`CudaError::InvalidValue`], not a panic.
///
/// ```no_run
/// # use cust::memory::*;
/// # use cust::prelude::{Stream, StreamFlags};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// let mut x = DeviceBuffer::from_slice(&[1.0, 2.0])?;
/// x.copy_from(&[3.0, 4.0])?;
/// let mut back = [0.0; 2];
/// x.copy_to(&mut back)?;
/// assert_eq!(back, [3.0, 4.0]);
/// # Ok(())
/// # }
/// ```
pub trait CopyDestination<O: ?Sized>: Sealed {
    /// Copies `source`, which has the same length, here.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let (mut x, y) = (DeviceBuffer::<f64>::zeroed(2)?, DeviceBuffer::from_slice(&[3.0, 4.0])?);
    /// // Also from other memory of the device.
    /// x.copy_from(&y)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The lengths differ, or the driver's.
    fn copy_from(&mut self, source: &O) -> CudaResult<()>;

    /// Copies this to `destination`, which has the same length.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let mut back = [0.0; 2];
    /// DeviceBuffer::from_slice(&[3.0, 4.0])?.copy_to(&mut back)?;
    /// assert_eq!(back, [3.0, 4.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The lengths differ, or the driver's.
    fn copy_to(&self, destination: &mut O) -> CudaResult<()>;
}

/// Copies that are queued on a stream. Memory of the host should be page-locked: the driver waits otherwise.
///
/// ```no_run
/// # use cust::memory::*;
/// # use cust::prelude::{Stream, StreamFlags};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
/// let (mut x, values) = (DeviceBuffer::zeroed(2)?, LockedBuffer::from_slice(&[3.0, 4.0])?);
/// // SAFETY: both are there, and not used, until the stream has done it.
/// unsafe { x.async_copy_from(&values, &stream)? };
/// stream.synchronize()?;
/// # Ok(())
/// # }
/// ```
pub trait AsyncCopyDestination<O: ?Sized>: Sealed {
    /// Queues copying `source`, which has the same length, here.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// # let mut x = DeviceBuffer::zeroed(2)?;
    /// # let values = LockedBuffer::from_slice(&[3.0, 4.0])?;
    /// // SAFETY: both are there, and not used, until the stream has done it.
    /// unsafe { x.async_copy_from(&values, &stream)? };
    /// stream.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// Until the stream has done this, both are there, `source` is not written, and this is not used.
    ///
    /// # Errors
    /// The lengths differ, or the driver's.
    unsafe fn async_copy_from(&mut self, source: &O, stream: &Stream) -> CudaResult<()>;

    /// Queues copying this to `destination`, which has the same length.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// # let x = DeviceBuffer::<f64>::zeroed(2)?;
    /// let mut back = LockedBuffer::new(&0.0, 2)?;
    /// // SAFETY: both are there, and not used, until the stream has done it.
    /// unsafe { x.async_copy_to(&mut back, &stream)? };
    /// stream.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// Until the stream has done this, both are there, this is not written, and `destination` is not used.
    ///
    /// # Errors
    /// The lengths differ, or the driver's.
    unsafe fn async_copy_to(&self, destination: &mut O, stream: &Stream) -> CudaResult<()>;
}

/// Checks that lengths are equal.
pub(super) fn same_length(one: usize, other: usize) -> CudaResult<()> {
    if one == other { Ok(()) } else { Err(CudaError::InvalidValue) }
}

/// Copies to the device, on a stream if there is one.
///
/// # Safety
/// `to` is valid for this many bytes; with a stream, as [`AsyncCopyDestination`] says.
pub(crate) unsafe fn upload<T: DeviceCopy>(
    to: CUdeviceptr,
    from: &[T],
    stream: Option<&Stream>,
) -> CudaResult<()> {
    let (from, bytes) = (from.as_ptr().cast(), size_of_val(from));
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller's promise, and `from` is borrowed.
    let status = unsafe {
        match stream {
            None => sys::cuMemcpyHtoD_v2(to, from, bytes),
            Some(stream) => sys::cuMemcpyHtoDAsync_v2(to, from, bytes, stream.as_inner()),
        }
    };
    status.to_result()
}

/// Copies to the host, on a stream if there is one.
///
/// # Safety
/// `from` is valid for this many bytes, which are values; with a stream, as [`AsyncCopyDestination`] says.
pub(crate) unsafe fn download<T: DeviceCopy>(
    to: &mut [T],
    from: CUdeviceptr,
    stream: Option<&Stream>,
) -> CudaResult<()> {
    let bytes = size_of_val(to);
    if bytes == 0 {
        return Ok(());
    }
    let to = to.as_mut_ptr().cast();
    // SAFETY: the caller's promise, and `to` is borrowed.
    let status = unsafe {
        match stream {
            None => sys::cuMemcpyDtoH_v2(to, from, bytes),
            Some(stream) => sys::cuMemcpyDtoHAsync_v2(to, from, bytes, stream.as_inner()),
        }
    };
    status.to_result()
}

/// Copies on the device, on a stream if there is one.
///
/// # Safety
/// Both are valid for this many bytes; with a stream, as [`AsyncCopyDestination`] says.
pub(super) unsafe fn move_over(
    to: CUdeviceptr,
    from: CUdeviceptr,
    bytes: usize,
    stream: Option<&Stream>,
) -> CudaResult<()> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    let status = unsafe {
        match stream {
            None => sys::cuMemcpyDtoD_v2(to, from, bytes),
            Some(stream) => sys::cuMemcpyDtoDAsync_v2(to, from, bytes, stream.as_inner()),
        }
    };
    status.to_result()
}

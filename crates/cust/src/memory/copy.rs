//! Copies between host and device, and on the device.

use super::DeviceCopy;
use crate::error::{CudaError, CudaResult, ToResult};
use crate::private::Sealed;
use crate::stream::Stream;
use crate::sys::{self, CUdeviceptr};

/// Memory of the device that can be copied to and from.
///
/// Unlike in cust 0.3 lengths that differ are [`CudaError::InvalidValue`], not a panic.
pub trait CopyDestination<O: ?Sized>: Sealed {
    /// Copies `source`, which has the same length, here.
    ///
    /// # Errors
    /// The lengths differ, or the driver's.
    fn copy_from(&mut self, source: &O) -> CudaResult<()>;

    /// Copies this to `destination`, which has the same length.
    ///
    /// # Errors
    /// The lengths differ, or the driver's.
    fn copy_to(&self, destination: &mut O) -> CudaResult<()>;
}

/// Copies that are queued on a stream. Memory of the host should be page-locked: the driver waits otherwise.
pub trait AsyncCopyDestination<O: ?Sized>: Sealed {
    /// Queues copying `source`, which has the same length, here.
    ///
    /// # Safety
    /// Until the stream has done this, both are there, `source` is not written, and this is not used.
    ///
    /// # Errors
    /// The lengths differ, or the driver's.
    unsafe fn async_copy_from(&mut self, source: &O, stream: &Stream) -> CudaResult<()>;

    /// Queues copying this to `destination`, which has the same length.
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

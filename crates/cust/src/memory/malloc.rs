//! Memory by its address, taken and given back by hand.

use super::{DeviceCopy, DevicePointer, UnifiedPointer};
use crate::error::{CudaError, CudaResult, ToResult};
use crate::stream::Stream;
use crate::sys;

/// Bytes of `count` values.
///
/// # Errors
/// There are none, or more than the address space has.
fn bytes_of<T>(count: usize) -> CudaResult<usize> {
    let bytes = count.checked_mul(size_of::<T>()).filter(|&bytes| bytes > 0);
    bytes.ok_or(CudaError::InvalidMemoryAllocation)
}

/// Takes device memory for `count` values.
///
/// ```no_run
/// # use cust::memory::*;
/// # use cust::prelude::{Stream, StreamFlags};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// // SAFETY: it is written before it is read, and given back once.
/// unsafe {
///     let x = cuda_malloc::<f64>(1000)?;
///     cuda_free(x)?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Safety
/// It is written before it is read.
///
/// # Errors
/// The driver's, or that of a size of 0.
pub unsafe fn cuda_malloc<T: DeviceCopy>(count: usize) -> CudaResult<DevicePointer<T>> {
    let (bytes, mut address) = (bytes_of::<T>(count)?, 0);
    // SAFETY: `address` is writable.
    unsafe { sys::cuMemAlloc_v2(&mut address, bytes) }.to_result()?;
    Ok(DevicePointer::from_raw(address))
}

/// Takes device memory for `count` values, for what is queued on the stream from now on.
///
/// ```no_run
/// # use cust::memory::*;
/// # use cust::prelude::{Stream, StreamFlags};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
/// // SAFETY: what writes and what reads it is queued on the stream between the two.
/// unsafe {
///     let x = cuda_malloc_async::<f64>(&stream, 1000)?;
///     cuda_free_async(&stream, x)?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Safety
/// It is written before it is read, and not used before the stream has done this.
///
/// # Errors
/// The driver's, or that of a size of 0.
pub unsafe fn cuda_malloc_async<T: DeviceCopy>(
    stream: &Stream,
    count: usize,
) -> CudaResult<DevicePointer<T>> {
    let (bytes, mut address) = (bytes_of::<T>(count)?, 0);
    // SAFETY: `address` is writable, and the stream alive.
    unsafe { sys::cuMemAllocAsync(&mut address, bytes, stream.as_inner()) }.to_result()?;
    Ok(DevicePointer::from_raw(address))
}

/// Gives device memory back behind what is queued on the stream.
///
/// ```no_run
/// # use cust::memory::*;
/// # use cust::prelude::{Stream, StreamFlags};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
/// # // SAFETY: nothing uses it.
/// # unsafe {
/// let x = cuda_malloc_async::<f64>(&stream, 1000)?;
/// // When the kernels are done that are queued here.
/// cuda_free_async(&stream, x)?;
/// # }
/// # Ok(())
/// # }
/// ```
///
/// # Safety
/// It came from [`cuda_malloc`] or [`cuda_malloc_async`], and nothing uses it later, or on another stream.
///
/// # Errors
/// The driver's.
pub unsafe fn cuda_free_async<T: DeviceCopy>(stream: &Stream, pointer: DevicePointer<T>) -> CudaResult<()> {
    if pointer.is_null() {
        return Err(CudaError::InvalidMemoryAllocation);
    }
    // SAFETY: the caller's promise, and the stream is alive.
    unsafe { sys::cuMemFreeAsync(pointer.as_raw(), stream.as_inner()) }.to_result()
}

/// Gives device memory back.
///
/// ```no_run
/// # use cust::memory::*;
/// # use cust::prelude::{Stream, StreamFlags};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// # // SAFETY: nothing uses it.
/// # unsafe {
/// let x = cuda_malloc::<f64>(1000)?;
/// cuda_free(x)?;
/// # }
/// # Ok(())
/// # }
/// ```
///
/// # Safety
/// It came from [`cuda_malloc`] or [`cuda_malloc_async`], and nothing uses it later.
///
/// # Errors
/// The driver's.
pub unsafe fn cuda_free<T: DeviceCopy>(pointer: DevicePointer<T>) -> CudaResult<()> {
    if pointer.is_null() {
        return Err(CudaError::InvalidMemoryAllocation);
    }
    // SAFETY: the caller's promise.
    unsafe { sys::cuMemFree_v2(pointer.as_raw()) }.to_result()
}

/// Takes memory for `count` values that host and device see.
///
/// ```no_run
/// # use cust::memory::*;
/// # use cust::prelude::{Stream, StreamFlags};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// // SAFETY: it is written before it is read, and given back once.
/// unsafe {
///     let mut x = cuda_malloc_unified::<f64>(1000)?;
///     *x.as_raw_mut() = 1.5;
///     cuda_free_unified(x)?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Safety
/// It is written before it is read.
///
/// # Errors
/// The driver's, or that of a size of 0.
pub unsafe fn cuda_malloc_unified<T: DeviceCopy>(count: usize) -> CudaResult<UnifiedPointer<T>> {
    let (bytes, mut address) = (bytes_of::<T>(count)?, 0);
    // SAFETY: `address` is writable.
    unsafe { sys::cuMemAllocManaged(&mut address, bytes, sys::CU_MEM_ATTACH_GLOBAL) }.to_result()?;
    // SAFETY: that is where it is.
    Ok(unsafe { UnifiedPointer::wrap(address as *mut T) })
}

/// Gives such memory back.
///
/// ```no_run
/// # use cust::memory::*;
/// # use cust::prelude::{Stream, StreamFlags};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// # // SAFETY: nothing uses it.
/// # unsafe {
/// let x = cuda_malloc_unified::<f64>(1000)?;
/// cuda_free_unified(x)?;
/// # }
/// # Ok(())
/// # }
/// ```
///
/// # Safety
/// It came from [`cuda_malloc_unified`], and nothing uses it later.
///
/// # Errors
/// The driver's.
pub unsafe fn cuda_free_unified<T: DeviceCopy>(pointer: UnifiedPointer<T>) -> CudaResult<()> {
    if pointer.is_null() {
        return Err(CudaError::InvalidMemoryAllocation);
    }
    // SAFETY: the caller's promise.
    unsafe { sys::cuMemFree_v2(pointer.as_raw() as u64) }.to_result()
}

/// Takes page-locked host memory for `count` values.
///
/// ```no_run
/// # use cust::memory::*;
/// # use cust::prelude::{Stream, StreamFlags};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// // SAFETY: it is written before it is read, and given back once.
/// unsafe {
///     let x = cuda_malloc_locked::<f64>(1000)?;
///     *x = 1.5;
///     cuda_free_locked(x)?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Safety
/// It is written before it is read.
///
/// # Errors
/// The driver's, or that of a size of 0.
pub unsafe fn cuda_malloc_locked<T>(count: usize) -> CudaResult<*mut T> {
    let (bytes, mut pointer) = (bytes_of::<T>(count)?, std::ptr::null_mut());
    // SAFETY: `pointer` is writable.
    unsafe { sys::cuMemAllocHost_v2(&mut pointer, bytes) }.to_result()?;
    Ok(pointer.cast())
}

/// Gives such memory back.
///
/// ```no_run
/// # use cust::memory::*;
/// # use cust::prelude::{Stream, StreamFlags};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// # // SAFETY: nothing uses it.
/// # unsafe {
/// let x = cuda_malloc_locked::<f64>(1000)?;
/// cuda_free_locked(x)?;
/// # }
/// # Ok(())
/// # }
/// ```
///
/// # Safety
/// It came from [`cuda_malloc_locked`], and nothing uses it later.
///
/// # Errors
/// The driver's.
pub unsafe fn cuda_free_locked<T>(pointer: *mut T) -> CudaResult<()> {
    if pointer.is_null() {
        return Err(CudaError::InvalidMemoryAllocation);
    }
    // SAFETY: the caller's promise.
    unsafe { sys::cuMemFreeHost(pointer.cast()) }.to_result()
}

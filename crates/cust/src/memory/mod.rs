//! Memory of the device, and of the host for the device.
//!
//! - [`DeviceBuffer`] and [`DeviceBox`]: on the device. They are copied to and from, as [`CopyDestination`]
//!   and [`AsyncCopyDestination`] say.
//! - [`LockedBuffer`] and [`LockedBox`]: on the host, page-locked, so that copies need not wait.
//! - [`UnifiedBuffer`] and [`UnifiedBox`]: where it is used last; host and device see it at one address.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use cust::memory::{CopyDestination, DeviceBuffer};
//!
//! let _context = cust::quick_init()?;
//! let mut x = DeviceBuffer::from_slice(&[1.0, 2.0, 3.0])?;
//! x.copy_from(&[4.0, 5.0, 6.0])?;
//! assert_eq!(x.as_host_vec()?, [4.0, 5.0, 6.0]);
//! # Ok(())
//! # }
//! ```

pub(crate) mod copy;
mod copy_on_device;
mod device_box;
mod device_buffer;
mod device_copy;
mod device_slice;
mod device_variable;
mod host;
mod host_box;
mod malloc;
mod pointer;

pub use crate::DeviceCopy;
pub use bytemuck;
pub use copy::{AsyncCopyDestination, CopyDestination};
pub use device_box::DeviceBox;
pub use device_buffer::DeviceBuffer;
pub use device_copy::DeviceCopy;
pub use device_slice::{DeviceSlice, DeviceSliceIndex};
pub use device_variable::DeviceVariable;
pub use host::{HostBuffer, HostMemory, LockedBuffer, PageLocked, Unified, UnifiedBuffer};
pub use host_box::{HostBox, LockedBox, UnifiedBox};
pub use malloc::*;
pub use pointer::{DevicePointer, UnifiedPointer};

use crate::error::{CudaResult, ToResult};
use crate::private::Sealed;
use crate::sys::{self, CUdeviceptr};

/// Buffers that the device sees.
///
/// ```no_run
/// # use cust::memory::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// /// Address and length, as kernels take them.
/// fn slice<T: DeviceCopy>(buffer: &impl GpuBuffer<T>) -> (DevicePointer<T>, usize) {
///     (buffer.as_device_ptr(), buffer.len())
/// }
/// # Ok(())
/// # }
/// ```
#[allow(clippy::len_without_is_empty, reason = "cust's")]
pub trait GpuBuffer<T: DeviceCopy>: Sealed {
    /// Where it is.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let x = UnifiedBuffer::from_slice(&[1.0, 2.0])?;
    /// println!("{:p}", GpuBuffer::as_device_ptr(&x));
    /// # Ok(())
    /// # }
    /// ```
    fn as_device_ptr(&self) -> DevicePointer<T>;
    /// Elements.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let x = DeviceBuffer::from_slice(&[1.0, 2.0])?;
    /// assert_eq!(GpuBuffer::len(&x), 2);
    /// # Ok(())
    /// # }
    /// ```
    fn len(&self) -> usize;
}

impl<T: DeviceCopy> GpuBuffer<T> for DeviceBuffer<T> {
    fn as_device_ptr(&self) -> DevicePointer<T> {
        self.as_slice().as_device_ptr()
    }

    fn len(&self) -> usize {
        self.as_slice().len()
    }
}

impl<T: DeviceCopy> GpuBuffer<T> for UnifiedBuffer<T> {
    fn as_device_ptr(&self) -> DevicePointer<T> {
        DevicePointer::from_raw(self.as_ptr() as CUdeviceptr)
    }

    fn len(&self) -> usize {
        self.as_slice().len()
    }
}

/// Single values that the device sees.
///
/// ```no_run
/// # use cust::memory::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// fn address<T: DeviceCopy>(value: &impl GpuBox<T>) -> DevicePointer<T> {
///     value.as_device_ptr()
/// }
/// # Ok(())
/// # }
/// ```
pub trait GpuBox<T: DeviceCopy>: Sealed {
    /// Where it is.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let count = UnifiedBox::new(0_u32)?;
    /// println!("{:p}", GpuBox::as_device_ptr(&count));
    /// # Ok(())
    /// # }
    /// ```
    fn as_device_ptr(&self) -> DevicePointer<T>;
}

impl<T: DeviceCopy> GpuBox<T> for DeviceBox<T> {
    fn as_device_ptr(&self) -> DevicePointer<T> {
        DeviceBox::as_device_ptr(self)
    }
}

impl<T: DeviceCopy> GpuBox<T> for UnifiedBox<T> {
    fn as_device_ptr(&self) -> DevicePointer<T> {
        DevicePointer::from_raw(self.as_unified_ptr().as_raw() as CUdeviceptr)
    }
}

/// Memory on the device.
///
/// ```no_run
/// # use cust::memory::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// fn total(memory: &[&dyn DeviceMemory]) -> usize {
///     memory.iter().map(|part| part.size_in_bytes()).sum()
/// }
/// # Ok(())
/// # }
/// ```
pub trait DeviceMemory {
    /// Where it is.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let x = DeviceBuffer::from_slice(&[1.0, 2.0])?;
    /// assert_eq!(x.as_raw_ptr(), x.as_device_ptr().as_raw());
    /// # Ok(())
    /// # }
    /// ```
    fn as_raw_ptr(&self) -> CUdeviceptr;
    /// How much it is.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// assert_eq!(DeviceBuffer::from_slice(&[1.0_f64, 2.0])?.size_in_bytes(), 16);
    /// # Ok(())
    /// # }
    /// ```
    fn size_in_bytes(&self) -> usize;
}

impl<T: DeviceCopy> DeviceMemory for DeviceBox<T> {
    fn as_raw_ptr(&self) -> CUdeviceptr {
        self.as_device_ptr().as_raw()
    }

    fn size_in_bytes(&self) -> usize {
        size_of::<T>()
    }
}

impl<T: DeviceCopy> DeviceMemory for DeviceVariable<T> {
    fn as_raw_ptr(&self) -> CUdeviceptr {
        self.as_device_ptr().as_raw()
    }

    fn size_in_bytes(&self) -> usize {
        size_of::<T>()
    }
}

impl<T: DeviceCopy> DeviceMemory for DeviceSlice<T> {
    fn as_raw_ptr(&self) -> CUdeviceptr {
        self.as_device_ptr().as_raw()
    }

    fn size_in_bytes(&self) -> usize {
        size_of::<T>() * self.len()
    }
}

impl<T: DeviceCopy> DeviceMemory for DeviceBuffer<T> {
    fn as_raw_ptr(&self) -> CUdeviceptr {
        self.as_slice().as_raw_ptr()
    }

    fn size_in_bytes(&self) -> usize {
        self.as_slice().size_in_bytes()
    }
}

/// Copies bytes to the device.
///
/// ```no_run
/// # use cust::memory::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// let (x, on_device) = ([1.0_f32, 2.0], DeviceBuffer::<f32>::zeroed(2)?);
/// // SAFETY: both have 8 bytes.
/// unsafe { memcpy_htod(on_device.as_raw_ptr(), x.as_ptr().cast(), 8)? };
/// # Ok(())
/// # }
/// ```
///
/// # Safety
/// Both are valid for this many bytes.
///
/// # Errors
/// The driver's.
pub unsafe fn memcpy_htod(to: CUdeviceptr, from: *const std::ffi::c_void, bytes: usize) -> CudaResult<()> {
    // SAFETY: the caller's promise.
    unsafe { sys::cuMemcpyHtoD_v2(to, from, bytes) }.to_result()
}

/// Bytes that are free on the current context's device, and bytes that it has.
///
/// ```no_run
/// # use cust::memory::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// let (free, total) = mem_get_info()?;
/// println!("{} % in use", 100 * (total - free) / total);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// No context is current.
pub fn mem_get_info() -> CudaResult<(usize, usize)> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: both are writable.
    unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) }.to_result()?;
    Ok((free, total))
}

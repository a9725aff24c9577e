//! Addresses that the device has.

use super::DeviceCopy;
use crate::sys::CUdeviceptr;
use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;

/// An address in device memory. A kernel takes it as a pointer.
///
/// Nothing keeps what it points to. Only kernels, and unsafe functions, go there.
///
/// ```
/// # use cust::memory::DevicePointer;
/// // What `DeviceBuffer::as_device_ptr` gives, and kernels take.
/// let x: DevicePointer<f32> = DevicePointer::from_raw(4096);
/// assert_eq!(x.wrapping_add(2).as_raw(), 4104);
/// ```
#[derive(Clone, Copy, Debug, PartialOrd, Ord, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct DevicePointer<T: DeviceCopy> {
    address: CUdeviceptr,
    kind: PhantomData<*mut T>,
}

impl<T: DeviceCopy> DevicePointer<T> {
    /// As a pointer, which the host cannot follow.
    ///
    /// ```
    /// # use cust::memory::DevicePointer;
    /// let x: DevicePointer<f32> = DevicePointer::from_raw(4096);
    /// assert_eq!(x.as_ptr().addr(), 4096);
    /// ```
    pub fn as_ptr(&self) -> *const T {
        self.address as *const T
    }

    /// As a pointer, which the host cannot follow.
    ///
    /// ```
    /// # use cust::memory::DevicePointer;
    /// let x: DevicePointer<f32> = DevicePointer::from_raw(4096);
    /// assert_eq!(x.as_mut_ptr().addr(), 4096);
    /// ```
    pub fn as_mut_ptr(&self) -> *mut T {
        self.address as *mut T
    }

    /// As a number.
    ///
    /// ```
    /// # use cust::memory::DevicePointer;
    /// let x: DevicePointer<f32> = DevicePointer::from_raw(4096);
    /// assert_eq!(x.as_raw(), 4096);
    /// ```
    pub fn as_raw(&self) -> CUdeviceptr {
        self.address
    }

    /// From a number.
    ///
    /// ```
    /// # use cust::memory::DevicePointer;
    /// let x: DevicePointer<f32> = DevicePointer::from_raw(4096);
    /// assert!(!x.is_null());
    /// ```
    pub fn from_raw(address: CUdeviceptr) -> Self {
        DevicePointer { address, kind: PhantomData }
    }

    /// Whether it points nowhere.
    ///
    /// ```
    /// # use cust::memory::DevicePointer;
    /// assert!(DevicePointer::<f32>::null().is_null());
    /// ```
    pub fn is_null(self) -> bool {
        self.address == 0
    }

    /// Points nowhere.
    ///
    /// ```
    /// # use cust::memory::DevicePointer;
    /// // For a kernel that takes it as "none".
    /// let none: DevicePointer<f32> = DevicePointer::null();
    /// ```
    pub fn null() -> Self {
        DevicePointer::from_raw(0)
    }

    /// `count` elements further.
    ///
    /// ```
    /// # use cust::memory::DevicePointer;
    /// let x: DevicePointer<f32> = DevicePointer::from_raw(4096);
    /// // SAFETY: only the address is looked at.
    /// assert_eq!(unsafe { x.offset(-1) }.as_raw(), 4092);
    /// ```
    ///
    /// # Safety
    /// It stays within one allocation, as for pointers.
    pub unsafe fn offset(self, count: isize) -> Self {
        self.wrapping_offset(count)
    }

    /// `count` elements further.
    ///
    /// ```
    /// # use cust::memory::DevicePointer;
    /// let x: DevicePointer<f32> = DevicePointer::from_raw(4096);
    /// // SAFETY: only the address is looked at.
    /// assert_eq!(unsafe { x.add(2) }.as_raw(), 4104);
    /// ```
    ///
    /// # Safety
    /// As for [`DevicePointer::offset`].
    #[allow(clippy::should_implement_trait, reason = "cust's")]
    pub unsafe fn add(self, count: usize) -> Self {
        self.wrapping_add(count)
    }

    /// `count` elements back.
    ///
    /// ```
    /// # use cust::memory::DevicePointer;
    /// let x: DevicePointer<f32> = DevicePointer::from_raw(4096);
    /// // SAFETY: only the address is looked at.
    /// assert_eq!(unsafe { x.sub(2) }.as_raw(), 4088);
    /// ```
    ///
    /// # Safety
    /// As for [`DevicePointer::offset`].
    #[allow(clippy::should_implement_trait, reason = "cust's")]
    pub unsafe fn sub(self, count: usize) -> Self {
        self.wrapping_sub(count)
    }

    /// `count` elements further; it may leave the allocation.
    ///
    /// ```
    /// # use cust::memory::DevicePointer;
    /// let x: DevicePointer<f32> = DevicePointer::from_raw(4096);
    /// assert_eq!(x.wrapping_offset(-1).as_raw(), 4092);
    /// ```
    pub fn wrapping_offset(self, count: isize) -> Self {
        let bytes = count.wrapping_mul(size_of::<T>() as isize);
        DevicePointer::from_raw(self.address.wrapping_add_signed(bytes as i64))
    }

    /// `count` elements further; it may leave the allocation.
    ///
    /// ```
    /// # use cust::memory::DevicePointer;
    /// let x: DevicePointer<f64> = DevicePointer::from_raw(4096);
    /// assert_eq!(x.wrapping_add(2).as_raw(), 4112);
    /// ```
    pub fn wrapping_add(self, count: usize) -> Self {
        self.wrapping_offset(count as isize)
    }

    /// `count` elements back; it may leave the allocation.
    ///
    /// ```
    /// # use cust::memory::DevicePointer;
    /// let x: DevicePointer<f64> = DevicePointer::from_raw(4096);
    /// assert_eq!(x.wrapping_sub(2).as_raw(), 4080);
    /// ```
    pub fn wrapping_sub(self, count: usize) -> Self {
        self.wrapping_offset((count as isize).wrapping_neg())
    }

    /// To another type.
    ///
    /// ```
    /// # use cust::memory::DevicePointer;
    /// let x: DevicePointer<f32> = DevicePointer::from_raw(4096);
    /// let bits: DevicePointer<u32> = x.cast();
    /// assert_eq!(bits.as_raw(), x.as_raw());
    /// ```
    pub fn cast<U: DeviceCopy>(self) -> DevicePointer<U> {
        DevicePointer::from_raw(self.address)
    }
}

// SAFETY: an address on the device.
unsafe impl<T: DeviceCopy> DeviceCopy for DevicePointer<T> {}

impl<T: DeviceCopy> fmt::Pointer for DevicePointer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&(self.address as *const c_void), f)
    }
}

/// An address that host and device have.
///
/// It is a pointer of the host by another name. Nothing keeps what it points to.
///
/// ```
/// # use cust::memory::UnifiedPointer;
/// // What `UnifiedBuffer::as_unified_ptr` gives, and kernels take.
/// let x: UnifiedPointer<f32> = UnifiedPointer::null();
/// assert!(x.is_null());
/// ```
#[derive(Copy, Clone, Debug, PartialOrd, Ord, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct UnifiedPointer<T: DeviceCopy>(*mut T);

impl<T: DeviceCopy> UnifiedPointer<T> {
    /// From a pointer.
    ///
    /// ```
    /// # use cust::memory::UnifiedPointer;
    /// // SAFETY: null is one.
    /// let x = unsafe { UnifiedPointer::wrap(std::ptr::null_mut::<f32>()) };
    /// assert!(x.is_null());
    /// ```
    ///
    /// # Safety
    /// It came from [`cuda_malloc_unified`](super::cuda_malloc_unified), or is null.
    pub unsafe fn wrap(pointer: *mut T) -> Self {
        UnifiedPointer(pointer)
    }

    /// As a pointer.
    ///
    /// ```
    /// # use cust::memory::UnifiedPointer;
    /// let x: UnifiedPointer<f32> = UnifiedPointer::null();
    /// assert_eq!(x.as_raw(), std::ptr::null());
    /// ```
    pub fn as_raw(self) -> *const T {
        self.0
    }

    /// As a pointer.
    ///
    /// ```
    /// # use cust::memory::UnifiedPointer;
    /// let mut x: UnifiedPointer<f32> = UnifiedPointer::null();
    /// assert_eq!(x.as_raw_mut(), std::ptr::null_mut());
    /// ```
    pub fn as_raw_mut(&mut self) -> *mut T {
        self.0
    }

    /// Whether it points nowhere.
    ///
    /// ```
    /// # use cust::memory::UnifiedPointer;
    /// assert!(UnifiedPointer::<f32>::null().is_null());
    /// ```
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Points nowhere.
    ///
    /// ```
    /// # use cust::memory::UnifiedPointer;
    /// // For a kernel that takes it as "none".
    /// let none: UnifiedPointer<f32> = UnifiedPointer::null();
    /// ```
    pub fn null() -> Self {
        UnifiedPointer(std::ptr::null_mut())
    }
}

// SAFETY: an address that the device has too.
unsafe impl<T: DeviceCopy> DeviceCopy for UnifiedPointer<T> {}

impl<T: DeviceCopy> fmt::Pointer for UnifiedPointer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.0, f)
    }
}

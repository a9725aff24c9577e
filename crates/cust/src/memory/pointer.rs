//! Addresses that the device has.

use super::DeviceCopy;
use crate::sys::CUdeviceptr;
use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;

/// An address in device memory. A kernel takes it as a pointer.
///
/// Nothing keeps what it points to. Only kernels, and unsafe functions, go there.
#[derive(Clone, Copy, Debug, PartialOrd, Ord, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct DevicePointer<T: DeviceCopy> {
    address: CUdeviceptr,
    kind: PhantomData<*mut T>,
}

impl<T: DeviceCopy> DevicePointer<T> {
    /// As a pointer, which the host cannot follow.
    pub fn as_ptr(&self) -> *const T {
        self.address as *const T
    }

    /// As a pointer, which the host cannot follow.
    pub fn as_mut_ptr(&self) -> *mut T {
        self.address as *mut T
    }

    /// As a number.
    pub fn as_raw(&self) -> CUdeviceptr {
        self.address
    }

    /// From a number.
    pub fn from_raw(address: CUdeviceptr) -> Self {
        DevicePointer { address, kind: PhantomData }
    }

    /// Whether it points nowhere.
    pub fn is_null(self) -> bool {
        self.address == 0
    }

    /// Points nowhere.
    pub fn null() -> Self {
        DevicePointer::from_raw(0)
    }

    /// `count` elements further.
    ///
    /// # Safety
    /// It stays within one allocation, as for pointers.
    pub unsafe fn offset(self, count: isize) -> Self {
        self.wrapping_offset(count)
    }

    /// `count` elements further.
    ///
    /// # Safety
    /// As for [`DevicePointer::offset`].
    #[allow(clippy::should_implement_trait, reason = "cust's")]
    pub unsafe fn add(self, count: usize) -> Self {
        self.wrapping_add(count)
    }

    /// `count` elements back.
    ///
    /// # Safety
    /// As for [`DevicePointer::offset`].
    #[allow(clippy::should_implement_trait, reason = "cust's")]
    pub unsafe fn sub(self, count: usize) -> Self {
        self.wrapping_sub(count)
    }

    /// `count` elements further; it may leave the allocation.
    pub fn wrapping_offset(self, count: isize) -> Self {
        let bytes = count.wrapping_mul(size_of::<T>() as isize);
        DevicePointer::from_raw(self.address.wrapping_add_signed(bytes as i64))
    }

    /// `count` elements further; it may leave the allocation.
    pub fn wrapping_add(self, count: usize) -> Self {
        self.wrapping_offset(count as isize)
    }

    /// `count` elements back; it may leave the allocation.
    pub fn wrapping_sub(self, count: usize) -> Self {
        self.wrapping_offset((count as isize).wrapping_neg())
    }

    /// To another type.
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
#[derive(Copy, Clone, Debug, PartialOrd, Ord, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct UnifiedPointer<T: DeviceCopy>(*mut T);

impl<T: DeviceCopy> UnifiedPointer<T> {
    /// From a pointer.
    ///
    /// # Safety
    /// It came from [`cuda_malloc_unified`](super::cuda_malloc_unified), or is null.
    pub unsafe fn wrap(pointer: *mut T) -> Self {
        UnifiedPointer(pointer)
    }

    /// As a pointer.
    pub fn as_raw(self) -> *const T {
        self.0
    }

    /// As a pointer.
    pub fn as_raw_mut(&mut self) -> *mut T {
        self.0
    }

    /// Whether it points nowhere.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Points nowhere.
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

//! Where pointers point.

use crate::platform;

pub use crate::space::AddressSpace;

/// Whether a pointer points into a kind of memory.
///
/// # Safety
/// The pointer is valid for a `T`.
#[inline(always)]
pub unsafe fn is_in_address_space<T>(ptr: *const T, address_space: AddressSpace) -> bool {
    platform::is_in_address_space(ptr.cast(), address_space)
}

/// The address within a kind of memory of what a pointer points to. It is no pointer that Rust can follow,
/// but one for instructions of that kind. In the simulator, where all memory is of one kind, it is the
/// pointer.
///
/// # Safety
/// The pointer is valid for a `T`, and points into that kind of memory.
#[inline(always)]
pub unsafe fn convert_generic_to_specific_address_space<T>(
    ptr: *const T,
    address_space: AddressSpace,
) -> *const T {
    platform::generic_to_specific(ptr.cast(), address_space).cast()
}

/// The pointer to an address within a kind of memory.
///
/// # Safety
/// It is the address of a `T` in that kind of memory.
#[inline(always)]
pub unsafe fn convert_specific_address_space_to_generic<T>(
    ptr: *const T,
    address_space: AddressSpace,
) -> *const T {
    platform::specific_to_generic(ptr.cast(), address_space).cast()
}

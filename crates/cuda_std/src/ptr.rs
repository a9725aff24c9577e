//! Where pointers point.
//!
//! ```
//! # use cuda_std::{host::Configuration, sim};
//! # use cuda_std::{ptr, shared};
//! # sim::call("example", Configuration { shared_bytes: 16, ..Configuration::new(1, 1) }, || unsafe {
//! use ptr::AddressSpace;
//! let tile = shared::dynamic_shared_mem::<f32>();
//! assert!(ptr::is_in_address_space(tile, AddressSpace::Shared));
//! # }).unwrap();
//! ```

use crate::platform;

pub use crate::space::AddressSpace;

/// Whether a pointer points into a kind of memory.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{ptr, shared};
/// # sim::call("example", Configuration::new(1, 1), || unsafe {
/// let on_the_stack = 7;
/// assert!(ptr::is_in_address_space(&on_the_stack, ptr::AddressSpace::Local));
/// # }).unwrap();
/// ```
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
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{ptr, shared};
/// # sim::call("example", Configuration { shared_bytes: 16, ..Configuration::new(1, 1) }, || unsafe {
/// # use ptr::AddressSpace::Shared;
/// let tile = shared::dynamic_shared_mem::<f32>().cast_const();
/// // What an instruction for shared memory takes, in assembly.
/// let offset = ptr::convert_generic_to_specific_address_space(tile, Shared);
/// assert_eq!(ptr::convert_specific_address_space_to_generic(offset, Shared), tile);
/// # }).unwrap();
/// ```
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
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{ptr, shared};
/// # sim::call("example", Configuration { shared_bytes: 16, ..Configuration::new(1, 1) }, || unsafe {
/// # use ptr::AddressSpace::Shared;
/// # let tile = shared::dynamic_shared_mem::<f32>().cast_const();
/// # let offset = ptr::convert_generic_to_specific_address_space(tile, Shared);
/// let pointer = ptr::convert_specific_address_space_to_generic(offset, Shared);
/// assert_eq!(pointer, tile);
/// # }).unwrap();
/// ```
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

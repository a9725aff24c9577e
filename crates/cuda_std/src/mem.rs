//! How much memory a block has, and memory of the device for kernels that ask for it.
//!
//! ```
//! # use cuda_std::{host::Configuration, sim};
//! # use cuda_std::{mem, shared};
//! # sim::call("example", Configuration { shared_bytes: 256, ..Configuration::new(1, 1) }, || unsafe {
//! assert_eq!(mem::dynamic_smem_size(), 256);
//! # }).unwrap();
//! ```

use crate::platform;

/// Bytes of dynamic shared memory of a block, as the launch asked for.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{mem, shared};
/// # sim::call("example", Configuration { shared_bytes: 256, ..Configuration::new(1, 1) }, || unsafe {
/// let numbers = mem::dynamic_smem_size() as usize / size_of::<f64>();
/// assert_eq!(numbers, 32);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn dynamic_smem_size() -> u32 {
    platform::dynamic_shared_bytes()
}

/// Bytes of shared memory of a block, static and dynamic. A device rounds up; the simulator counts what the
/// block has used so far.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{mem, shared};
/// # sim::call("example", Configuration { shared_bytes: 256, ..Configuration::new(1, 1) }, || unsafe {
/// let tile = shared![f64; 10];
/// assert_eq!(mem::total_smem_size(), 256 + 80);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn total_smem_size() -> u32 {
    platform::total_shared_bytes()
}

/// Memory of the device for `alloc`: `Box`, `Vec` and `String` in kernels. The driver's heap of 8 MiB is
/// slow, and shared by all threads of the device.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// use cuda_std::{prelude::*, thread};
/// // Memory of the device; a few bytes a thread, for it is slow.
/// let squares: Vec<u32> = (0..4).map(|i| i * i).collect();
/// assert_eq!(squares[3], 9);
/// # }).unwrap();
/// ```
pub struct CUDAAllocator;

#[cfg(target_arch = "nvptx64")]
mod heap {
    use super::CUDAAllocator;
    use core::alloc::{GlobalAlloc, Layout};
    use core::ffi::c_void;

    unsafe extern "C" {
        /// The driver's: bytes of device memory, at a multiple of 16.
        pub fn malloc(size: usize) -> *mut c_void;
        /// Gives them back.
        pub fn free(ptr: *mut c_void);
    }

    // SAFETY: the driver's heap. What wants more than its alignment gets none.
    unsafe impl GlobalAlloc for CUDAAllocator {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: any size is allowed.
            if layout.align() <= 16 { unsafe { malloc(layout.size()).cast() } } else { core::ptr::null_mut() }
        }

        unsafe fn dealloc(&self, address: *mut u8, _: Layout) {
            // SAFETY: the caller's promise.
            unsafe { free(address.cast()) }
        }
    }

    /// The allocator of every kernel.
    #[global_allocator]
    pub static GLOBAL_ALLOCATOR: CUDAAllocator = CUDAAllocator;
}

#[cfg(target_arch = "nvptx64")]
pub use heap::{GLOBAL_ALLOCATOR, free, malloc};

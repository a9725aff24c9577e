//! How much memory a block has, and memory of the device for kernels that ask for it.

use crate::platform;

/// Bytes of dynamic shared memory of a block, as the launch asked for.
#[inline(always)]
pub fn dynamic_smem_size() -> u32 {
    platform::dynamic_shared_bytes()
}

/// Bytes of shared memory of a block, static and dynamic. A device rounds up; the simulator counts what the
/// block has used so far.
#[inline(always)]
pub fn total_smem_size() -> u32 {
    platform::total_shared_bytes()
}

/// Memory of the device for `alloc`: `Box`, `Vec` and `String` in kernels. The driver's heap of 8 MiB is
/// slow, and shared by all threads of the device.
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

//! Memory of the host that the device copies from and to by itself.

use super::status::failed;
use crate::error::Result;
use cust::memory::{cuda_free_locked, cuda_malloc_locked};

/// Page-locked memory of which copies make use.
pub(super) struct PageLocked(*mut u8);

// SAFETY: the memory is owned, and page-locked memory is that of the process like any other.
unsafe impl Send for PageLocked {}

impl PageLocked {
    /// So many bytes, undefined.
    pub(super) fn new(bytes: usize) -> Result<PageLocked> {
        // SAFETY: any contents are fine for bytes which are written before they are read.
        let memory = unsafe { cuda_malloc_locked(bytes) }
            .map_err(failed(format!("cuMemAllocHost({bytes} bytes of page-locked memory)")))?;
        Ok(PageLocked(memory))
    }

    /// Where it begins.
    pub(super) fn start(&self) -> *mut u8 {
        self.0
    }
}

impl Drop for PageLocked {
    fn drop(&mut self) {
        // SAFETY: it came from `cuda_malloc_locked`. The driver waits for copies that use it. A failure leaks
        // it, which is all that can be done about it.
        let _ = unsafe { cuda_free_locked(self.0) };
    }
}

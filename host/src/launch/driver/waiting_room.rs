//! Small copies to the device.
//!
//! The host's memory may be reused at once, and nobody waits for what is queued in front of the copy: the
//! bytes wait in page-locked memory, from where the device takes them when it comes to it.

use super::status::failed;
use crate::error::Result;
use cust::memory::{cuda_free_locked, cuda_malloc_locked};

/// Bytes that wait at most.
pub(super) const ROOM: usize = 4 << 20;

/// Page-locked memory whose front part is in use.
pub(super) struct WaitingRoom {
    memory: *mut u8,
    used: usize,
}

// SAFETY: the memory is owned, and page-locked memory is that of the process like any other.
unsafe impl Send for WaitingRoom {}

impl Drop for WaitingRoom {
    fn drop(&mut self) {
        // SAFETY: it came from `cuda_malloc_locked`. The driver waits for copies that use it. A failure leaks
        // it, which is all that can be done about it.
        let _ = unsafe { cuda_free_locked(self.memory) };
    }
}

impl WaitingRoom {
    pub(super) fn new() -> Result<WaitingRoom> {
        // SAFETY: any contents are fine for bytes which are written before they are read.
        let memory = unsafe { cuda_malloc_locked(ROOM) }
            .map_err(failed(format!("cuMemAllocHost({ROOM} bytes of page-locked memory)")))?;
        Ok(WaitingRoom { memory, used: 0 })
    }

    /// Whether so many bytes have room behind those that wait.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        bytes <= ROOM - self.used
    }

    /// Forgets what waited: the device has it.
    pub(super) fn clear(&mut self) {
        self.used = 0;
    }

    /// Lets these bytes, for which there is room, wait; where they are.
    pub(super) fn put(&mut self, source: &[u8]) -> *const u8 {
        /// Copies from aligned addresses are the fastest.
        const ALIGNMENT: usize = 256;
        assert!(self.has_room(source.len()), "there is no room for {} bytes", source.len());
        // SAFETY: within the memory, as asserted; nobody reads this part.
        let place = unsafe {
            let place = self.memory.add(self.used);
            std::ptr::copy_nonoverlapping(source.as_ptr(), place, source.len());
            place
        };
        self.used = (self.used + source.len()).next_multiple_of(ALIGNMENT).min(ROOM);
        place
    }
}

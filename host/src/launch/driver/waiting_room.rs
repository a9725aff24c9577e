//! Small copies to the device.
//!
//! The host's memory may be reused at once, and nobody waits for what is queued in front of the copy: the
//! bytes wait in page-locked memory, from where the device takes them when it comes to it.

use super::page_locked::PageLocked;
use crate::error::Result;

/// Bytes that wait at most.
pub(super) const ROOM: usize = 4 << 20;

/// Page-locked memory whose front part is in use.
pub(super) struct WaitingRoom {
    memory: PageLocked,
    used: usize,
}

impl WaitingRoom {
    pub(super) fn new() -> Result<WaitingRoom> {
        Ok(WaitingRoom { memory: PageLocked::new(ROOM)?, used: 0 })
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
            let place = self.memory.start().add(self.used);
            std::ptr::copy_nonoverlapping(source.as_ptr(), place, source.len());
            place
        };
        self.used = (self.used + source.len()).next_multiple_of(ALIGNMENT).min(ROOM);
        place
    }
}

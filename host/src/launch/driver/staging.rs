//! Large copies between pageable host memory and the device.
//!
//! The device reads page-locked memory only. The driver's own staging of pageable memory runs on one
//! thread, at a fraction of what the bus carries. Here all threads fill one of two page-locked buffers
//! while the device empties the other.

use super::status::{check, failed};
use crate::error::Result;
use crate::launch::Address;
use crate::parallel::*;
use cust::event::{Event, EventFlags};
use cust::memory::{cuda_free_locked, cuda_malloc_locked};
use cust::stream::Stream;
use cust::sys;

/// Bytes of each of the two buffers. Copies from this size on are worth staging.
pub(super) const STAGE: usize = 16 << 20;
/// Bytes that one thread copies at a time: far more than a task costs, and more than one per core.
const PIECE: usize = 1 << 19;

/// Two page-locked buffers.
pub(super) struct Staging {
    slots: [Slot; 2],
}

struct Slot {
    memory: *mut u8,
    /// Recorded behind the device's last use of the buffer.
    done: Event,
}

// SAFETY: the buffer is owned, and page-locked memory is that of the process like any other.
unsafe impl Send for Slot {}

impl Drop for Slot {
    fn drop(&mut self) {
        // SAFETY: the buffer came from `cuda_malloc_locked`. The driver waits for copies that use it.
        // A failure leaks 16 MiB, which is all that can be done about it.
        let _ = unsafe { cuda_free_locked(self.memory) };
    }
}

impl Slot {
    fn new() -> Result<Slot> {
        let done = Event::new(EventFlags::DISABLE_TIMING).map_err(failed("cuEventCreate"))?;
        // SAFETY: any contents are fine for bytes which are written before they are read.
        let memory = unsafe { cuda_malloc_locked(STAGE) }
            .map_err(failed(format!("cuMemAllocHost({STAGE} bytes of page-locked memory)")))?;
        // SAFETY: just allocated with this size; zeroed so that a slice of it holds initialised bytes.
        unsafe { std::ptr::write_bytes(memory, 0, STAGE) };
        Ok(Slot { memory, done })
    }

    /// Waits until the device does not use the buffer, and lends its first bytes.
    fn ready(&mut self, bytes: usize) -> Result<&mut [u8]> {
        self.done.synchronize().map_err(failed("cuEventSynchronize(staging buffer)"))?;
        // SAFETY: the buffer has STAGE initialised bytes, and nothing else uses it now.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.memory, bytes.min(STAGE)) })
    }

    /// Marks the end of what is queued now as the last use.
    fn in_use(&self, stream: &Stream) -> Result<()> {
        self.done.record(stream).map_err(failed("cuEventRecord(staging buffer)"))
    }
}

impl Staging {
    pub(super) fn new() -> Result<Staging> {
        Ok(Staging { slots: [Slot::new()?, Slot::new()?] })
    }

    /// Queues copying `source` to the device. `source` may be reused at once.
    ///
    /// # Safety
    /// `destination` is valid for `source.len()` bytes.
    pub(super) unsafe fn upload(
        &mut self,
        destination: Address,
        source: &[u8],
        stream: &Stream,
    ) -> Result<()> {
        for (i, chunk) in source.chunks(STAGE).enumerate() {
            let slot = &mut self.slots[i % 2];
            copy(slot.ready(chunk.len())?, chunk);
            let to = destination + (i * STAGE) as u64;
            // SAFETY: `to` is within the destination; the buffer is not written before `done`.
            let status =
                unsafe { sys::cuMemcpyHtoDAsync_v2(to, slot.memory.cast(), chunk.len(), stream.as_inner()) };
            check(status, || format!("cuMemcpyHtoDAsync({} bytes to {to:#x})", chunk.len()))?;
            slot.in_use(stream)?;
        }
        Ok(())
    }

    /// Copies to the host, behind what is queued; returns when the bytes are there.
    ///
    /// # Safety
    /// `source` is valid for `destination.len()` bytes.
    pub(super) unsafe fn download(
        &mut self,
        destination: &mut [u8],
        source: Address,
        stream: &Stream,
    ) -> Result<()> {
        let length = destination.len();
        // SAFETY: the caller vouches for the source; no piece reaches beyond `length`.
        let request = |this: &Self, i: usize| unsafe {
            let at = i * STAGE;
            this.request(i, source + at as u64, STAGE.min(length.saturating_sub(at)), stream)
        };
        request(self, 0)?;
        for (i, chunk) in destination.chunks_mut(STAGE).enumerate() {
            request(self, i + 1)?;
            let bytes = chunk.len();
            copy(chunk, self.slots[i % 2].ready(bytes)?);
        }
        Ok(())
    }

    /// Queues copying `bytes` bytes, none or some, from the device to buffer `i % 2`.
    ///
    /// # Safety
    /// `source` is valid for `bytes` bytes, and the buffer has been read out.
    unsafe fn request(&self, i: usize, source: Address, bytes: usize, stream: &Stream) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let slot = &self.slots[i % 2];
        // SAFETY: the caller vouches for both.
        let status =
            unsafe { sys::cuMemcpyDtoHAsync_v2(slot.memory.cast(), source, bytes, stream.as_inner()) };
        check(status, || format!("cuMemcpyDtoHAsync({bytes} bytes from {source:#x})"))?;
        slot.in_use(stream)
    }
}

/// `destination = source`, on all threads.
fn copy(destination: &mut [u8], source: &[u8]) {
    let pieces = destination.par_chunks_mut(PIECE).zip(source.par_chunks(PIECE));
    pieces.for_each(|(destination, source)| destination.copy_from_slice(source));
}

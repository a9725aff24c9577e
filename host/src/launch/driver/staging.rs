//! Large copies between pageable host memory and the device.
//!
//! The device reads page-locked memory only. The driver's own staging of pageable memory runs on one
//! thread, at a fraction of what the bus carries. Here a ring of page-locked buffers is filled, or emptied,
//! by a dozen threads while the device has others of them. Nobody waits for a round to end: a thread takes
//! the next piece as soon as its buffer is free, and the thread that asked for the copy hands buffers to the
//! device.

use super::page_locked::PageLocked;
use super::status::{check, failed};
use crate::error::Result;
use crate::launch::Address;
use crate::parallel::{give_way, with_helpers};
use cust::event::{Event, EventFlags, EventStatus};
use cust::stream::Stream;
use cust::sys;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Copies from this size on are worth staging.
pub(super) const LEAST: usize = 1 << 20;
/// Buffers, and bytes of each: long enough for the bus, and short enough for the device to begin soon.
const SLOTS: usize = 8;
const SLOT: usize = 4 << 20;
/// Bytes that one thread copies at a time.
const PIECE: usize = 1 << 18;
const PIECES: usize = SLOT / PIECE;
/// Threads that help at most. Eight copy about as much as a bus of 50 GB/s carries; what else is to be done
/// meanwhile has the others.
const HELPERS: usize = 11;

/// A ring of page-locked buffers.
pub(super) struct Staging {
    slots: [Slot; SLOTS],
}

struct Slot {
    memory: PageLocked,
    /// Recorded behind the device's last use of the buffer.
    done: Event,
}

impl Slot {
    fn new() -> Result<Slot> {
        let done = Event::new(EventFlags::DISABLE_TIMING).map_err(failed("cuEventCreate"))?;
        Ok(Slot { memory: PageLocked::new(SLOT)?, done })
    }

    /// Whether the device has done with the buffer.
    fn is_ready(&self) -> Result<bool> {
        let status = self.done.query().map_err(failed("cuEventQuery(staging buffer)"))?;
        Ok(status == EventStatus::Ready)
    }

    /// Marks the end of what is queued now as the last use.
    fn in_use(&self, stream: &Stream) -> Result<()> {
        self.done.record(stream).map_err(failed("cuEventRecord(staging buffer)"))
    }
}

impl Staging {
    pub(super) fn new() -> Result<Staging> {
        let slots = (0..SLOTS).map(|_| Slot::new()).collect::<Result<Vec<_>>>()?;
        let Ok(slots) = slots.try_into() else { unreachable!("as many as there are") };
        Ok(Staging { slots })
    }

    /// Queues copying `source` to the device. `source` may be reused at once, and the buffers when the
    /// stream has come to the end of it.
    ///
    /// # Safety
    /// `destination` is valid for `source.len()` bytes.
    pub(super) unsafe fn upload(
        &mut self,
        destination: Address,
        source: &[u8],
        stream: &Stream,
    ) -> Result<()> {
        let ring = Ring::new(self, Way::Up(source.as_ptr()), source.len());
        ring.run(|| {
            ring.open(SLOTS);
            let (mut sent, mut freed) = (0, 0);
            while sent < ring.chunks() {
                if ring.is_through(sent) {
                    let (slot, bytes) = (ring.slot(sent), ring.bytes(sent));
                    let to = destination + (sent * SLOT) as u64;
                    // SAFETY: `to` is within the destination; the buffer is not written before `done`.
                    let status = unsafe {
                        sys::cuMemcpyHtoDAsync_v2(to, slot.memory.start().cast(), bytes, stream.as_inner())
                    };
                    check(status, || format!("cuMemcpyHtoDAsync({bytes} bytes to {to:#x})"))?;
                    slot.in_use(stream)?;
                    sent += 1;
                } else if freed < sent && ring.slot(freed).is_ready()? {
                    freed += 1;
                    ring.open(freed + SLOTS);
                } else {
                    ring.help(std::thread::yield_now);
                }
            }
            Ok(())
        })
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
        let ring = Ring::new(self, Way::Down(destination.as_mut_ptr()), destination.len());
        ring.run(|| {
            let (mut asked, mut arrived, mut read) = (0, 0, 0);
            while read < ring.chunks() {
                if asked < ring.chunks().min(read + SLOTS) {
                    let (slot, bytes) = (ring.slot(asked), ring.bytes(asked));
                    let from = source + (asked * SLOT) as u64;
                    // SAFETY: the caller vouches for the source, and the buffer has been read.
                    let status = unsafe {
                        sys::cuMemcpyDtoHAsync_v2(slot.memory.start().cast(), from, bytes, stream.as_inner())
                    };
                    check(status, || format!("cuMemcpyDtoHAsync({bytes} bytes from {from:#x})"))?;
                    slot.in_use(stream)?;
                    asked += 1;
                } else if arrived < asked && ring.slot(arrived).is_ready()? {
                    arrived += 1;
                    ring.open(arrived);
                } else if ring.is_through(read) {
                    read += 1;
                } else {
                    ring.help(std::thread::yield_now);
                }
            }
            Ok(())
        })
    }
}

/// The host's memory, as long as the copy.
enum Way {
    /// It is copied into the buffers.
    Up(*const u8),
    /// It is filled from them.
    Down(*mut u8),
}

/// A copy in chunks, each through one of the buffers in turn, and pieces of these.
struct Ring<'a> {
    slots: &'a [Slot; SLOTS],
    host: Way,
    length: usize,
    /// The piece that is taken next.
    next: AtomicUsize,
    /// Pieces before this one may be taken.
    open: AtomicUsize,
    /// Pieces that were copied through each buffer.
    copied: [AtomicUsize; SLOTS],
}

// SAFETY: a piece is copied by the thread that took it alone, from or to memory which the caller of the copy
// has borrowed for as long, and its buffer is the host's while the piece is open.
unsafe impl Sync for Ring<'_> {}

impl<'a> Ring<'a> {
    fn new(staging: &'a Staging, host: Way, length: usize) -> Self {
        let (next, open) = Default::default();
        Ring { slots: &staging.slots, host, length, next, open, copied: Default::default() }
    }

    fn chunks(&self) -> usize {
        self.length.div_ceil(SLOT)
    }
    fn slot(&self, chunk: usize) -> &Slot {
        &self.slots[chunk % SLOTS]
    }
    fn bytes(&self, chunk: usize) -> usize {
        SLOT.min(self.length - chunk * SLOT)
    }
    fn pieces(&self) -> usize {
        self.length.div_ceil(PIECE)
    }

    /// Lets pieces of so many chunks be taken. Their buffers are the host's.
    fn open(&self, chunks: usize) {
        self.open.store(self.pieces().min(chunks * PIECES), Ordering::Release);
    }

    /// Whether all pieces of a chunk were copied.
    fn is_through(&self, chunk: usize) -> bool {
        let before = chunk / SLOTS * PIECES;
        let own = self.bytes(chunk).div_ceil(PIECE);
        self.copied[chunk % SLOTS].load(Ordering::Acquire) == before + own
    }

    /// Copies a piece, if one is open; else does with `wait` what others need the processor for.
    fn help(&self, wait: fn()) {
        let piece = self.next.load(Ordering::Relaxed);
        let is_open = piece < self.open.load(Ordering::Acquire);
        let take = || self.next.compare_exchange(piece, piece + 1, Ordering::Relaxed, Ordering::Relaxed);
        if is_open && take().is_ok() {
            self.copy(piece);
        } else if !is_open {
            wait();
        }
    }

    fn copy(&self, piece: usize) {
        let (chunk, at) = (piece / PIECES, piece * PIECE);
        let bytes = PIECE.min(self.length - at);
        // SAFETY: the piece lies within the host's memory and within the buffer; nobody else has taken it.
        unsafe {
            let buffer = self.slot(chunk).memory.start().add(at % SLOT);
            match self.host {
                Way::Up(source) => buffer.copy_from_nonoverlapping(source.add(at), bytes),
                Way::Down(destination) => destination.add(at).copy_from_nonoverlapping(buffer, bytes),
            }
        }
        self.copied[chunk % SLOTS].fetch_add(1, Ordering::Release);
    }

    /// Runs `work` on this thread while others copy pieces.
    fn run(&self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        let help = || {
            while self.next.load(Ordering::Relaxed) < self.pieces() {
                // Several devices may be copied to at a time.
                self.help(give_way);
            }
        };
        with_helpers(HELPERS.min(self.pieces() - 1), &help, || {
            let done = work();
            // After a failure nobody takes another piece.
            self.next.store(self.pieces(), Ordering::Relaxed);
            done
        })
    }
}

//! The buffers that kernels may touch.

use super::fault::{Access, FaultKind, Place};
use std::cell::Cell;

/// A registered range of addresses.
#[derive(Debug)]
struct Buffer {
    start: u64,
    bytes: u64,
    /// Which bytes have been written; none where that is not tracked.
    written: Vec<Cell<bool>>,
}

impl Buffer {
    fn end(&self) -> u64 {
        self.start + self.bytes
    }

    /// The tracked bytes in a range of addresses.
    fn tracked(&self, address: u64, bytes: u64) -> &[Cell<bool>] {
        if self.written.is_empty() {
            return &[];
        }
        let offset = address - self.start;
        &self.written[offset as usize..(offset + bytes) as usize]
    }

    /// Notes a write; refuses a read of what was not written.
    fn note(&self, access: Access, address: u64, size: u64) -> Result<(), FaultKind> {
        let bytes = self.tracked(address, size);
        match access {
            Access::Write | Access::VolatileWrite => bytes.iter().for_each(|byte| byte.set(true)),
            Access::Read | Access::VolatileRead | Access::Atomic => {
                if bytes.iter().any(|byte| !byte.get()) {
                    let index = (address - self.start) / size;
                    return Err(FaultKind::UnwrittenGlobal { buffer: self.start, bytes: self.bytes, index });
                }
            }
        }
        Ok(())
    }
}

/// The buffers that kernels may touch: everything else is out of bounds.
///
/// ```
/// # use cuda_std::sim::Memory;
/// let x = [0.0_f32; 4];
/// let mut memory = Memory::new();
/// memory.register(x.as_ptr() as u64, 16);
/// assert!(memory.contains(x.as_ptr() as u64 + 8, 8));
/// ```
#[derive(Debug, Default)]
pub struct Memory {
    /// Ascending by address, without overlap.
    buffers: Vec<Buffer>,
    /// Index of the buffer touched last.
    last: Cell<usize>,
    /// Whether reads of what was never written are reported.
    tracks_writes: bool,
    /// Whether kernels may touch what is no buffer's.
    open: bool,
}

impl Memory {
    /// No buffers.
    ///
    /// ```
    /// # use cuda_std::sim::Memory;
    /// let memory = Memory::new();
    /// assert!(!memory.contains(4096, 1));
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// No buffers, and every read by a kernel of what no kernel wrote and nobody vouched for with
    /// [`Memory::mark_written`] will be a fault.
    ///
    /// ```
    /// # use cuda_std::sim::Memory;
    /// use cuda_std::{kernel, memory::*, sim};
    ///
    /// #[kernel]
    /// pub unsafe fn copy(x: *const f32, y: *mut f32) {
    ///     y.st(0, x.ld(0));
    /// }
    ///
    /// let (x, mut y) = ([0.0], [0.0]);
    /// let mut memory = Memory::tracking_writes();
    /// memory.register(x.as_ptr() as u64, 4);
    /// memory.register(y.as_mut_ptr() as u64, 4);
    /// let launch = copy { x: x.as_ptr(), y: y.as_mut_ptr() };
    /// let fault = sim::run(&launch, 1, 1, &memory, &sim::Options::default()).unwrap_err();
    /// assert!(matches!(fault.kind, sim::FaultKind::UnwrittenGlobal { index: 0, .. }));
    /// ```
    pub fn tracking_writes() -> Self {
        Self { tracks_writes: true, ..Self::default() }
    }

    /// No buffers, and kernels may touch everything: what they are given are plain references and pointers.
    ///
    /// ```
    /// # use cuda_std::sim::Memory;
    /// // What `sim::launch!` takes: kernels of plain pointers and references.
    /// let memory = Memory::open();
    /// ```
    pub fn open() -> Self {
        Self { open: true, ..Self::default() }
    }

    /// Lets kernels touch `bytes` bytes from `address`.
    ///
    /// ```
    /// # use cuda_std::sim::Memory;
    /// let x = vec![0.0_f64; 10];
    /// let mut memory = Memory::new();
    /// memory.register(x.as_ptr() as u64, 80);
    /// ```
    ///
    /// # Panics
    /// If they overlap with a buffer registered already.
    pub fn register(&mut self, address: u64, bytes: u64) {
        let at = self.buffers.partition_point(|b| b.start < address);
        let free = (at == 0 || self.buffers[at - 1].end() <= address)
            && self.buffers.get(at).is_none_or(|b| address + bytes <= b.start);
        assert!(free, "{bytes} bytes at {address:#x} overlap with a registered buffer");
        let tracked = if self.tracks_writes { bytes as usize } else { 0 };
        let written = vec![Cell::new(false); tracked];
        self.buffers.insert(at, Buffer { start: address, bytes, written });
    }

    /// Takes the buffer at `address` back; returns its size, or nothing if there is none.
    ///
    /// ```
    /// # use cuda_std::sim::Memory;
    /// # let x = vec![0.0_f64; 10];
    /// # let mut memory = Memory::new();
    /// memory.register(x.as_ptr() as u64, 80);
    /// assert_eq!(memory.unregister(x.as_ptr() as u64), Some(80));
    /// assert_eq!(memory.unregister(x.as_ptr() as u64), None);
    /// ```
    pub fn unregister(&mut self, address: u64) -> Option<u64> {
        let at = self.buffers.iter().position(|b| b.start == address)?;
        Some(self.buffers.remove(at).bytes)
    }

    /// Whether `bytes` bytes from `address` lie in one buffer.
    ///
    /// ```
    /// # use cuda_std::sim::Memory;
    /// # let x = vec![0.0_f64; 10];
    /// # let mut memory = Memory::new();
    /// memory.register(x.as_ptr() as u64, 80);
    /// assert!(memory.contains(x.as_ptr() as u64, 80));
    /// assert!(!memory.contains(x.as_ptr() as u64, 81));
    /// ```
    pub fn contains(&self, address: u64, bytes: u64) -> bool {
        self.find(address).is_some_and(|b| bytes <= b.end() - address)
    }

    /// Notes that the host has written `bytes` bytes at `address`, which lie in one buffer.
    ///
    /// ```
    /// # use cuda_std::sim::Memory;
    /// # let x = vec![0.0_f64; 10];
    /// let mut memory = Memory::tracking_writes();
    /// memory.register(x.as_ptr() as u64, 80);
    /// // The host has filled it.
    /// memory.mark_written(x.as_ptr() as u64, 80);
    /// ```
    pub fn mark_written(&self, address: u64, bytes: u64) {
        if let Some(buffer) = self.find(address) {
            buffer.tracked(address, bytes).iter().for_each(|byte| byte.set(true));
        }
    }

    /// Notes that the host has copied `bytes` bytes, each range within one buffer: what was not written
    /// before is not after.
    ///
    /// ```
    /// # use cuda_std::sim::Memory;
    /// # let (x, y) = (vec![0.0_f64; 10], vec![0.0_f64; 10]);
    /// # let mut memory = Memory::tracking_writes();
    /// # memory.register(x.as_ptr() as u64, 80);
    /// # memory.register(y.as_ptr() as u64, 80);
    /// // The host has copied x to y.
    /// memory.mark_copied(y.as_ptr() as u64, x.as_ptr() as u64, 80);
    /// ```
    pub fn mark_copied(&self, destination: u64, source: u64, bytes: u64) {
        let (Some(to), Some(from)) = (self.find(destination), self.find(source)) else { return };
        for (to, from) in to.tracked(destination, bytes).iter().zip(from.tracked(source, bytes)) {
            to.set(from.get());
        }
    }

    /// The name of an address in a buffer.
    pub(super) fn place(&self, address: u64) -> Place {
        let (buffer, bytes) = self.find(address).map_or((address, 0), |b| (b.start, b.bytes));
        Place::Global { buffer, bytes, offset: address - buffer }
    }

    /// The buffer that contains `address`, or ends there.
    fn find(&self, address: u64) -> Option<&Buffer> {
        let holds = |b: &Buffer| b.start <= address && address < b.end();
        if let Some(b) = self.buffers.get(self.last.get()).filter(|b| holds(b)) {
            return Some(b);
        }
        let at = self.buffers.partition_point(|b| b.start <= address).checked_sub(1)?;
        self.last.set(at);
        Some(&self.buffers[at]).filter(|b| address <= b.end())
    }

    /// Whether `size` bytes at `address` may be accessed through a pointer to `base`.
    ///
    /// The pointer tells which buffer was meant, so that an index which happens to reach another one is
    /// noticed too.
    pub(super) fn check(&self, access: Access, base: u64, address: u64, size: u64) -> Result<(), FaultKind> {
        if !address.is_multiple_of(size) {
            return Err(FaultKind::Misaligned { access, address, size });
        }
        let Some(buffer) = self.find(base).or_else(|| self.find(address)) else {
            return if self.open { Ok(()) } else { Err(FaultKind::Unregistered { access, address, size }) };
        };
        if buffer.start <= address && address < buffer.end() && size <= buffer.end() - address {
            return buffer.note(access, address, size);
        }
        let index = (address.wrapping_sub(buffer.start) as i64).div_euclid(size as i64);
        Err(FaultKind::OutOfBounds {
            access,
            address,
            size,
            buffer: buffer.start,
            bytes: buffer.bytes,
            index,
            length: buffer.bytes / size,
        })
    }
}

//! Long arrays in large pages.

use std::marker::PhantomData;

use cuda_std::Real;
use memmap2::MmapMut;

use crate::matrix::lanes::LANES;

/// An array of numbers or of arrays of numbers in memory of its own, for which the system is asked to use
/// large pages: a product that streams 100 MB takes a fifth less time when it needs 50 address translations
/// instead of 25,000.
#[derive(Debug)]
pub(super) struct Pages<E> {
    memory: MmapMut,
    len: usize,
    element: PhantomData<E>,
}

/// Types for which all bits, zeros too, are a valid value, and whose alignment a page has.
///
/// # Safety
/// The type is as the first sentence says.
pub(super) unsafe trait Plain: Copy {}
// SAFETY: integers have no invalid bits.
unsafe impl Plain for u32 {}
// SAFETY: at most 64 bytes of numbers.
unsafe impl<V: Number> Plain for [V; LANES] {}

/// Numbers of at most 8 bytes for which all bits, zeros too, are a valid value. Threads may share them.
///
/// # Safety
/// The type is as the first sentence says.
pub(super) unsafe trait Number: Copy + Send + Sync {}
// SAFETY: `Real` is f32 and f64.
unsafe impl<T: Real> Number for T {}

impl<E: Plain> Pages<E> {
    /// `len` zeros.
    pub(super) fn zeros(len: usize) -> std::io::Result<Self> {
        let memory = MmapMut::map_anon((len * size_of::<E>()).max(1))?;
        // The system may ignore this. Then everything works the same, but more slowly.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Ok(Pages { memory, len, element: PhantomData })
    }

    pub(super) fn as_slice(&self) -> &[E] {
        // SAFETY: len elements of any bits, mapped as long as self lives, at the start of a page.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), self.len) }
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [E] {
        // SAFETY: as above, and self is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), self.len) }
    }
}

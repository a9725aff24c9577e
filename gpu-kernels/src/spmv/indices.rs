//! The column indices of a matrix's entries: a word each, or 16 bits each where neighbouring rows have
//! neighbouring columns.

use cuda_std::memory::*;

use crate::sizes::SLICE;

/// Where the kernels find an entry's column.
pub trait Indices: Copy + Send + Sync + 'static {
    /// Whether an index has less than a word.
    const ARE_SHORT: bool;

    /// The column of entry `first + beyond`. With `STREAMED` it is the first to leave the caches.
    ///
    /// Apart, since what is beyond is a constant in most loops, and then part of the instruction that loads:
    /// the addresses of a batch would take registers from other warps. In slices it is a multiple of 32.
    ///
    /// # Safety
    /// The matrix has that entry.
    unsafe fn column<const STREAMED: bool>(self, first: usize, beyond: usize) -> u32;
}

/// 32 bits an entry.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Indices32 {
    /// Column of each entry.
    pub columns: *const u32,
}

/// 16 bits an entry of reduced SELL-32, and 32 for each place of a slice.
///
/// The j-th entries of a slice's 32 rows are next to each other in memory, and mostly in the matrix too:
/// entry i is in column `bases[i / 32] + distances[i]`. The product has the same bits as with whole indices.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Indices16 {
    /// The least column of 32 neighbouring entries.
    pub bases: *const u32,
    /// How far from it each entry is, two to a word, the one with the even number in the low half.
    pub distances: *const u32,
}

// SAFETY: plain addresses; the kernels say who may use them when.
unsafe impl Send for Indices32 {}
// SAFETY: as above.
unsafe impl Sync for Indices32 {}
// SAFETY: as above.
unsafe impl Send for Indices16 {}
// SAFETY: as above.
unsafe impl Sync for Indices16 {}

impl Indices for Indices32 {
    const ARE_SHORT: bool = false;

    #[inline(always)]
    unsafe fn column<const STREAMED: bool>(self, first: usize, beyond: usize) -> u32 {
        let i = first + beyond;
        // SAFETY: the caller's promise.
        unsafe { if STREAMED { self.columns.ld_cs(i) } else { self.columns.ld_nc(i) } }
    }
}

impl Indices for Indices16 {
    const ARE_SHORT: bool = true;

    #[inline(always)]
    unsafe fn column<const STREAMED: bool>(self, first: usize, beyond: usize) -> u32 {
        // SAFETY: the caller's promise.
        unsafe {
            let distances = self.distances.wrapping_add(first / 2);
            let word = if STREAMED { distances.ld_cs(beyond / 2) } else { distances.ld_nc(beyond / 2) };
            // The lanes of a warp ask for the same base.
            let base = self.bases.wrapping_add(first / SLICE).ld_nc(beyond / SLICE);
            base + (word >> (16 * (first as u32 & 1)) & 0xffff)
        }
    }
}

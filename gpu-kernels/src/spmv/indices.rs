//! The column indices of a matrix's entries: a word each, or 16 bits each where neighbouring rows have
//! neighbouring columns.

use cuda_std::memory::*;

use crate::sizes::SLICE;

/// Where the kernels find an entry's column.
pub trait Indices: Copy + Send + Sync + 'static {
    /// Whether an index has less than a word.
    const ARE_SHORT: bool;

    /// What of an index comes from memory.
    type Asked: Copy + Default;

    /// Asks for the index of entry `first + beyond`. With `STREAMED` it is the first to leave the caches.
    ///
    /// Apart, since what is beyond is a constant in most loops, and then part of the instruction that loads:
    /// the addresses of a batch would take registers from other warps. In slices it is a multiple of 32.
    ///
    /// # Safety
    /// The matrix has that entry.
    unsafe fn ask<const STREAMED: bool>(self, first: usize, beyond: usize) -> Self::Asked;

    /// The column that was asked for, with the same `first`.
    fn column_of(asked: Self::Asked, first: usize) -> u32;

    /// The column of entry `first + beyond`.
    ///
    /// # Safety
    /// As of [`Indices::ask`].
    #[inline(always)]
    unsafe fn column<const STREAMED: bool>(self, first: usize, beyond: usize) -> u32 {
        // SAFETY: the caller's promise.
        Self::column_of(unsafe { self.ask::<STREAMED>(first, beyond) }, first)
    }
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
    type Asked = u32;

    #[inline(always)]
    unsafe fn ask<const STREAMED: bool>(self, first: usize, beyond: usize) -> u32 {
        let i = first + beyond;
        // SAFETY: the caller's promise.
        unsafe { if STREAMED { self.columns.ld_cs(i) } else { self.columns.ld_nc(i) } }
    }

    #[inline(always)]
    fn column_of(asked: u32, _: usize) -> u32 {
        asked
    }
}

impl Indices for Indices16 {
    const ARE_SHORT: bool = true;
    /// The least column, and the word with the distance.
    type Asked = (u32, u32);

    #[inline(always)]
    unsafe fn ask<const STREAMED: bool>(self, first: usize, beyond: usize) -> (u32, u32) {
        // SAFETY: the caller's promise.
        unsafe {
            let distances = self.distances.wrapping_add(first / 2);
            let word = if STREAMED { distances.ld_cs(beyond / 2) } else { distances.ld_nc(beyond / 2) };
            // The lanes of a warp ask for the same base.
            (self.bases.wrapping_add(first / SLICE).ld_nc(beyond / SLICE), word)
        }
    }

    #[inline(always)]
    fn column_of((base, word): (u32, u32), first: usize) -> u32 {
        base + (word >> (16 * (first as u32 & 1)) & 0xffff)
    }
}

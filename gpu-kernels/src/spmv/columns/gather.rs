//! What the entries of a row contribute to the products of several columns.

use cuda_std::{Real, memory::*};

use crate::spmv::indices::Indices;
use crate::spmv::packed::Packed;
use crate::unroll::unroll;

/// Where the entries of a matrix are.
pub(super) trait Entries<T>: Copy {
    /// What of an entry comes from memory.
    type Asked: Copy + Default;

    /// Asks for entry `first + beyond`.
    ///
    /// # Safety
    /// The matrix has that entry.
    unsafe fn ask(self, first: usize, beyond: usize) -> Self::Asked;

    /// The column and the value that were asked for, with the same `first`.
    ///
    /// # Safety
    /// As of [`Entries::ask`].
    unsafe fn entry(self, asked: Self::Asked, first: usize) -> (u32, T);
}

/// Indices and values.
#[derive(Clone, Copy)]
pub(super) struct Plain<I, T, const STREAMED: bool> {
    pub indices: I,
    pub values: *const T,
}

impl<I: Indices, T: Real, const STREAMED: bool> Entries<T> for Plain<I, T, STREAMED> {
    type Asked = (I::Asked, T);

    #[inline(always)]
    unsafe fn ask(self, first: usize, beyond: usize) -> (I::Asked, T) {
        let i = first + beyond;
        // SAFETY: the caller's promise.
        unsafe {
            let index = self.indices.ask::<STREAMED>(first, beyond);
            (index, if STREAMED { self.values.ld_cs(i) } else { self.values.ld_nc(i) })
        }
    }

    #[inline(always)]
    unsafe fn entry(self, (index, value): (I::Asked, T), first: usize) -> (u32, T) {
        (I::column_of(index, first), value)
    }
}

/// Both in 32 bits.
#[derive(Clone, Copy)]
pub(super) struct InWords<P> {
    pub packed: P,
    pub words: *const u32,
    pub origin: usize,
}

impl<T, P: Packed<T>> Entries<T> for InWords<P> {
    type Asked = u32;

    #[inline(always)]
    unsafe fn ask(self, first: usize, beyond: usize) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { self.words.ld_cs(first + beyond) }
    }

    #[inline(always)]
    unsafe fn entry(self, word: u32, _: usize) -> (u32, T) {
        // SAFETY: the caller's promise.
        (self.packed.column(word, self.origin) as u32, unsafe { self.packed.value(word) })
    }
}

/// Adds to the sum of every column what the entries `first + stride j`, `j < count`, contribute, in order of
/// j.
///
/// # Safety
/// The matrix has these entries, and every vector its columns.
#[inline(always)]
pub(super) unsafe fn gather<T: Real, N: Entries<T>, const K: usize>(
    entries: N,
    vectors: [*const T; K],
    (first, count, stride): (usize, u32, usize),
    sums: &mut [T; K],
) {
    // SAFETY: the caller's promise.
    unsafe {
        // In flight is what 32 registers hold.
        match K * size_of::<T>() {
            ..=32 => gather_in::<T, N, K, 4>(entries, vectors, (first, count, stride), sums),
            _ => gather_in::<T, N, K, 2>(entries, vectors, (first, count, stride), sums),
        }
    }
}

/// [`gather`] in batches of B entries, all of which are loaded before the first is multiplied.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn gather_in<T: Real, N: Entries<T>, const K: usize, const B: usize>(
    entries: N,
    vectors: [*const T; K],
    (mut first, mut left, stride): (usize, u32, usize),
    sums: &mut [T; K],
) {
    let ask = |first: usize, left: u32| {
        let mut asked = [N::Asked::default(); B];
        unroll::<B>(|k| {
            if (k as u32) < left {
                // SAFETY: the caller's promise.
                asked[k] = unsafe { entries.ask(first, k * stride) };
            }
        });
        asked
    };
    let mut next = ask(first, left);
    while left > 0 {
        let asked = next;
        let behind = left.saturating_sub(B as u32);
        // The next ones come from memory while these are multiplied.
        next = ask(first + B * stride, behind);
        // SAFETY: the caller's promise.
        let batch = unsafe {
            match left >= B as u32 {
                true => Batch::load::<N, true>(entries, vectors, asked, (first, left)),
                false => Batch::load::<N, false>(entries, vectors, asked, (first, left)),
            }
        };
        // Always so. To the compiler it is a branch, in front of which all loads stay: else it loads and
        // multiplies one after the other, to save registers.
        if left != u32::MAX {
            batch.add_to(sums);
        }
        first += B * stride;
        left = behind;
    }
}

/// Entries of a row, and the elements of every column that they are multiplied by.
struct Batch<T, const K: usize, const B: usize> {
    values: [T; B],
    factors: [[T; K]; B],
}

impl<T: Real, const K: usize, const B: usize> Batch<T, K, B> {
    /// Those asked for, of which the first `left` are there: all where it is `FULL`.
    ///
    /// # Safety
    /// As of [`gather`].
    #[inline(always)]
    unsafe fn load<N: Entries<T>, const FULL: bool>(
        entries: N,
        vectors: [*const T; K],
        asked: [N::Asked; B],
        (first, left): (usize, u32),
    ) -> Self {
        let mut batch = Batch { values: [T::ZERO; B], factors: [[T::ZERO; K]; B] };
        unroll::<B>(|k| {
            if FULL || (k as u32) < left {
                // SAFETY: the caller's promise.
                unsafe {
                    let (column, value) = entries.entry(asked[k], first);
                    batch.values[k] = value;
                    unroll::<K>(|c| batch.factors[k][c] = vectors[c].ld_nc(column as usize));
                }
            }
        });
        batch
    }

    #[inline(always)]
    fn add_to(&self, sums: &mut [T; K]) {
        unroll::<B>(|k| unroll::<K>(|c| sums[c] = self.values[k].mul_add(self.factors[k][c], sums[c])));
    }
}

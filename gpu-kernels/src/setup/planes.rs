//! From CRS to blocks: the B rows of a node, merged into one row of blocks, whose values go to B^2 planes.
//!
//! Row k of node i is row `B i + k`, and an entry of it in column `B j + l` is the (k, l) entry of block (i,
//! j). A block is stored where one of its entries is. The others are 0.

use cuda_std::{Real, kernel, memory::*};

use super::blocks::Planes;
use super::interpolate::Rows;
use super::product::position;
use super::sub_warp::{Pattern, SubWarp};
use crate::unroll::unroll;

/// The column of what is not there. Columns, which are whole blocks, are less, and so are block columns.
const NONE: u32 = u32::MAX;

/// What one lane has to merge of the rows of a node: the blocks in a range of block columns.
struct Merged<const B: usize> {
    col_idx: *const u32,
    /// The next entry of each row, its column or [`NONE`], and the end of the row.
    next: [usize; B],
    columns: [u32; B],
    ends: [usize; B],
    /// The first block column of the next lane.
    bound: u32,
}

impl<const B: usize> Merged<B> {
    /// The block column of what is not there.
    const NO_BLOCK: u32 = NONE / B as u32;

    /// The part of this lane in node `i`. The lanes' parts follow each other, and each has about as many
    /// entries of the longest row.
    ///
    /// # Safety
    /// The matrix has the rows of that node.
    #[inline(always)]
    unsafe fn of(a: Pattern, i: usize, sub_warp: SubWarp) -> Self {
        // SAFETY: the caller's promise; entries are those of the rows.
        unsafe {
            let ranges: [_; B] = core::array::from_fn(|k| a.range(B * i + k));
            let (mut start, mut length) = (0, 0);
            unroll::<B>(|k| {
                if ranges[k].1 - ranges[k].0 > length {
                    (start, length) = (ranges[k].0, ranges[k].1 - ranges[k].0);
                }
            });
            // The first lane takes what is in front of the longest row too, the last one what is behind it.
            let first_of = |lane: u32| match lane {
                0 => 0,
                _ if lane == sub_warp.lanes || length == 0 => Self::NO_BLOCK,
                _ => a.col_idx.ld_nc(start + length * lane as usize / sub_warp.lanes as usize) / B as u32,
            };
            let (first, bound) = (first_of(sub_warp.lane), first_of(sub_warp.lane + 1));
            let mut merged = Merged {
                col_idx: a.col_idx,
                next: [0; B],
                columns: [NONE; B],
                ends: core::array::from_fn(|k| ranges[k].1),
                bound,
            };
            if first < bound {
                unroll::<B>(|k| {
                    merged.next[k] = position(a.col_idx, ranges[k].0, ranges[k].1, first * B as u32);
                    merged.columns[k] = merged.column(k);
                });
            }
            merged
        }
    }

    /// The column of the next entry of row `k`.
    ///
    /// # Safety
    /// That of [`Merged::of`].
    #[inline(always)]
    unsafe fn column(&self, k: usize) -> u32 {
        // SAFETY: an entry of the row.
        if self.next[k] < self.ends[k] { unsafe { self.col_idx.ld_nc(self.next[k]) } } else { NONE }
    }

    /// The column of the next block; `put(k B + l, entry)` gets each of its entries, or that there is none.
    ///
    /// # Safety
    /// That of [`Merged::of`].
    #[inline(always)]
    unsafe fn next(&mut self, mut put: impl FnMut(usize, Option<usize>)) -> Option<u32> {
        let mut block = Self::NO_BLOCK;
        unroll::<B>(|k| block = block.min(self.columns[k] / B as u32));
        if block >= self.bound {
            return None;
        }
        unroll::<B>(|k| {
            unroll::<B>(|l| {
                let is_here = self.columns[k] == block * B as u32 + l as u32;
                put(k * B + l, if is_here { Some(self.next[k]) } else { None });
                if is_here {
                    self.next[k] += 1;
                    // SAFETY: the caller's promise.
                    self.columns[k] = unsafe { self.column(k) };
                }
            });
        });
        Some(block)
    }

    /// How many blocks are left.
    ///
    /// # Safety
    /// That of [`Merged::of`].
    #[inline(always)]
    unsafe fn count(mut self) -> u32 {
        let mut count = 0;
        // SAFETY: the caller's promise.
        while unsafe { self.next(|_, _| ()) }.is_some() {
            count += 1;
        }
        count
    }
}

/// Blocks of each of the `n` nodes.
#[kernel(B = [2, 3])]
pub unsafe fn block_lengths<const B: usize>(n: u64, log2_lanes: u32, a: Pattern, lengths: *mut u32) {
    let sub_warp = SubWarp::of(log2_lanes);
    let mut i = sub_warp.first();
    // SAFETY: the launcher's arguments describe a valid CRS matrix of n B rows.
    unsafe {
        while i < n as usize {
            let length = sub_warp.reduce(Merged::<B>::of(a, i, sub_warp).count(), |a, b| a + b);
            if sub_warp.lane == 0 {
                lengths.st(i, length);
            }
            i += sub_warp.stride();
        }
    }
}

/// Block columns and values of each of the `n` nodes, whose blocks begin at `row_ptr`.
#[kernel(T = [f32, f64], B = [2, 3])]
pub unsafe fn block_entries<T: Real, const B: usize>(
    n: u64,
    log2_lanes: u32,
    a: Rows<T>,
    row_ptr: *const u32,
    columns: *mut u32,
    values: Planes<T>,
) {
    let sub_warp = SubWarp::of(log2_lanes);
    let mut i = sub_warp.first();
    // SAFETY: the launcher's arguments describe a valid CRS matrix of n B rows, and there is room for each
    // block.
    unsafe {
        while i < n as usize {
            let count = Merged::<B>::of(a.pattern, i, sub_warp).count();
            let mut to = row_ptr.ld_nc(i) as usize + sub_warp.sum_before(count) as usize;
            let mut merged = Merged::<B>::of(a.pattern, i, sub_warp);
            let put = |to: usize, kl: usize, entry: Option<usize>| {
                values.values[kl].st(to, entry.map_or(T::ZERO, |e| a.values.ld_nc(e)));
            };
            while let Some(column) = merged.next(|kl, entry| put(to, kl, entry)) {
                columns.st(to, column);
                to += 1;
            }
            i += sub_warp.stride();
        }
    }
}

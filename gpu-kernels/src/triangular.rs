//! Solutions with triangular matrices, level by level: the unknowns of a level do not depend on each other.

use cuda_std::{
    Real, kernel,
    memory::*,
    thread,
    warp::{self, FULL_MASK, WARP_SIZE},
};

use crate::monitor::Guard;
use crate::spmv::by_lanes;
use crate::unroll::unroll;

/// Threads of the block of `triangle_chain`.
pub const CHAIN_BLOCK: u32 = 512;

/// A triangle in the order in which it is solved, its right-hand side, and where its solution goes:
/// `y_p = d_p (r[source_p] - sum_q t_pq y_q)`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct TriangleRows<T> {
    /// Where the entries of each row begin, and the end.
    pub row_ptr: *const u32,
    /// Columns: unknowns of lower levels.
    pub col_idx: *const u32,
    /// t.
    pub values: *const T,
    /// d.
    pub diagonal: *const T,
    /// Where the right-hand side of each unknown is.
    pub source: *const u32,
    /// Where the solution goes in z; null where there is no z.
    pub target: *const u32,
    /// The right-hand side.
    pub r: *const T,
    /// Receives the solution.
    pub y: *mut T,
    /// Receives the solution too, in another order; may be null.
    pub z: *mut T,
}

// SAFETY: addresses of the device.
unsafe impl<T> Send for TriangleRows<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for TriangleRows<T> {}

/// Entries of a lane that are asked for before the unknowns in front are solved.
pub const AHEAD: usize = 4;

/// A lane's part of an unknown, but for the solutions that it depends on.
#[derive(Clone, Copy)]
struct Part<T> {
    /// The unknown; beyond the last one where the lane has none.
    p: usize,
    is_there: bool,
    columns: [u32; AHEAD],
    values: [T; AHEAD],
    /// Entries among these.
    count: u32,
    /// The lane's entries behind them.
    rest: usize,
    after: usize,
    /// d and the right-hand side, in the first lane.
    d: T,
    b: T,
}

/// The `2^log2_lanes` neighbouring lanes that share an unknown.
#[derive(Clone, Copy)]
struct Lanes {
    log2: u32,
    count: u32,
    /// This lane among them.
    lane: u32,
    /// The unknown among those that the grid has at once.
    unknown: usize,
    /// Unknowns that the grid has at once.
    at_once: usize,
}

impl Lanes {
    #[inline(always)]
    fn new(log2: u32) -> Lanes {
        let count = 1u32 << log2;
        Lanes {
            log2,
            count,
            lane: thread::thread_idx_x() & (count - 1),
            unknown: thread::index_x() >> log2,
            at_once: thread::stride() >> log2,
        }
    }
}

impl<T: Real> TriangleRows<T> {
    /// # Safety
    /// The arrays are valid for p.
    #[inline(always)]
    unsafe fn store(&self, p: usize, solution: T) {
        // SAFETY: the caller's promise.
        unsafe {
            self.y.st(p, solution);
            if !self.z.is_null() {
                self.z.st(self.target.ld_nc(p) as usize, solution);
            }
        }
    }

    /// Asks for the lane's part of unknown p, if that is before `end`.
    ///
    /// # Safety
    /// The arrays are valid for the unknowns before `end`.
    #[inline(always)]
    unsafe fn part(&self, p: usize, end: usize, lanes: Lanes) -> Part<T> {
        let mut part = Part {
            p,
            is_there: p < end,
            columns: [0; AHEAD],
            values: [T::ZERO; AHEAD],
            count: 0,
            rest: 0,
            after: 0,
            d: T::ZERO,
            b: T::ZERO,
        };
        if part.is_there {
            // SAFETY: the caller's promise.
            unsafe {
                let start = self.row_ptr.ld_nc(p) as usize + lanes.lane as usize;
                part.after = self.row_ptr.ld_nc(p + 1) as usize;
                let stride = lanes.count as usize;
                let entries = (part.after + stride - 1).saturating_sub(start) >> lanes.log2;
                part.count = entries as u32;
                part.rest = start + AHEAD * stride;
                unroll::<AHEAD>(|k| {
                    if (k as u32) < part.count {
                        part.columns[k] = self.col_idx.ld_nc(start + k * stride);
                        part.values[k] = self.values.ld_nc(start + k * stride);
                    }
                });
                if lanes.lane == 0 {
                    part.d = self.diagonal.ld_nc(p);
                    part.b = self.r.ld(self.source.ld_nc(p) as usize);
                }
            }
        }
        part
    }

    /// Solves for the unknowns of all lanes' parts; the sums of lanes are added as a binary tree.
    ///
    /// # Safety
    /// The solutions that they depend on are in y and visible, and the lanes of a warp call it together.
    #[inline(always)]
    unsafe fn solve(&self, part: Part<T>, lanes: Lanes) {
        let y = self.y.cast_const();
        let mut sum = T::ZERO;
        // SAFETY: the caller's promise.
        unsafe {
            unroll::<AHEAD>(|k| {
                if (k as u32) < part.count {
                    sum = part.values[k].mul_add(y.ld(part.columns[k] as usize), sum);
                }
            });
            let mut k = part.rest;
            while k < part.after {
                sum = self.values.ld_nc(k).mul_add(y.ld(self.col_idx.ld_nc(k) as usize), sum);
                k += lanes.count as usize;
            }
            let mut delta = lanes.count / 2;
            while delta > 0 {
                sum += warp::warp_shuffle_down(FULL_MASK, sum, delta, WARP_SIZE);
                delta /= 2;
            }
            if part.is_there && lanes.lane == 0 {
                self.store(part.p, part.d * (part.b - sum));
            }
        }
    }
}

/// One level: the unknowns from `first` to `end`.
#[kernel(T = [f32, f64])]
pub unsafe fn triangle_level<T: Real>(
    first: u64,
    end: u64,
    log2_lanes: u32,
    rows: TriangleRows<T>,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments are those of a valid triangle.
    unsafe {
        if guard.stopped() {
            return;
        }
        by_lanes(
            end - first,
            log2_lanes,
            |i| {
                let p = first as usize + i;
                (rows.diagonal.ld_nc(p), rows.r.ld(rows.source.ld_nc(p) as usize))
            },
            |i, lane, lanes| {
                let p = first as usize + i;
                let (mut k, after) =
                    (rows.row_ptr.ld_nc(p) as usize + lane, rows.row_ptr.ld_nc(p + 1) as usize);
                let mut sum = T::ZERO;
                while k < after {
                    let y = rows.y.cast_const().ld(rows.col_idx.ld_nc(k) as usize);
                    sum = rows.values.ld_nc(k).mul_add(y, sum);
                    k += lanes;
                }
                [sum]
            },
            |i, (d, b), [sum]| {
                rows.store(first as usize + i, d * (b - sum));
                [T::ZERO; 2]
            },
        );
    }
}

/// The levels from `first_level` to `end_level`, one after the other, by one block.
#[kernel(T = [f32, f64])]
pub unsafe fn triangle_chain<T: Real>(
    first_level: u32,
    end_level: u32,
    level_ptr: *const u32,
    log2_lanes: u32,
    rows: TriangleRows<T>,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments are those of a valid triangle.
    unsafe {
        if guard.stopped() {
            return;
        }
        let lanes = Lanes::new(log2_lanes);
        let (mut level, last) = (first_level as usize, end_level as usize - 1);
        // The block's unknowns of a round are `base` and those behind it, up to `end` of the level.
        let (mut base, mut end) = (level_ptr.ld_nc(level) as usize, level_ptr.ld_nc(level + 1) as usize);
        // The end of the level behind it.
        let mut following = if level < last { level_ptr.ld_nc(level + 2) as usize } else { end };
        let mut part = rows.part(base + lanes.unknown, end, lanes);
        loop {
            base += lanes.at_once;
            if base >= end {
                if level == last {
                    break;
                }
                level += 1;
                (base, end) = (end, following);
                if level < last {
                    following = level_ptr.ld_nc(level + 2) as usize;
                }
            }
            // What the next round needs is on its way while this one is solved.
            let next = rows.part(base + lanes.unknown, end, lanes);
            rows.solve(part, lanes);
            thread::sync_threads();
            part = next;
        }
        rows.solve(part, lanes);
    }
}

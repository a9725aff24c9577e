//! Solutions with triangular matrices, level by level: the unknowns of a level do not depend on each other.

use cuda_std::{
    Real, kernel,
    memory::*,
    thread,
    warp::{self, FULL_MASK, WARP_SIZE},
};

use crate::monitor::Guard;

/// Threads of the block of `triangle_chain`.
pub const CHAIN_BLOCK: u32 = 1024;

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

impl<T: Real> TriangleRows<T> {
    /// The unknowns from `first` to `end`, `2^log2_lanes` neighbouring lanes each, parts added as a binary
    /// tree.
    ///
    /// # Safety
    /// The arrays are valid for these unknowns, those of lower levels are in y and visible, and the lanes of
    /// a warp call it together.
    #[inline(always)]
    unsafe fn solve(&self, first: usize, end: usize, log2_lanes: u32) {
        let lanes = 1u32 << log2_lanes;
        let lane = thread::thread_idx_x() & (lanes - 1);
        let within = ((thread::thread_idx_x() % WARP_SIZE) >> log2_lanes) as usize;
        let mut base = first + thread::index_x() / WARP_SIZE as usize * (WARP_SIZE >> log2_lanes) as usize;
        while base < end {
            let p = base + within;
            // SAFETY: the caller's promise.
            unsafe {
                let mut sum = T::ZERO;
                let (mut d, mut b) = (T::ZERO, T::ZERO);
                if p < end {
                    if lane == 0 {
                        d = self.diagonal.ld_nc(p);
                        b = self.r.ld(self.source.ld_nc(p) as usize);
                    }
                    let mut k = self.row_ptr.ld_nc(p) as usize + lane as usize;
                    let after = self.row_ptr.ld_nc(p + 1) as usize;
                    while k < after {
                        let y = self.y.cast_const().ld(self.col_idx.ld_nc(k) as usize);
                        sum = self.values.ld_nc(k).mul_add(y, sum);
                        k += lanes as usize;
                    }
                }
                let mut delta = lanes / 2;
                while delta > 0 {
                    sum += warp::warp_shuffle_down(FULL_MASK, sum, delta, WARP_SIZE);
                    delta /= 2;
                }
                if p < end && lane == 0 {
                    let value = d * (b - sum);
                    self.y.st(p, value);
                    if !self.z.is_null() {
                        self.z.st(self.target.ld_nc(p) as usize, value);
                    }
                }
            }
            base += thread::stride() >> log2_lanes;
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
        rows.solve(first as usize, end as usize, log2_lanes);
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
        let mut level = first_level as usize;
        while level < end_level as usize {
            let (first, end) = (level_ptr.ld_nc(level) as usize, level_ptr.ld_nc(level + 1) as usize);
            rows.solve(first, end, log2_lanes);
            thread::sync_threads();
            level += 1;
        }
    }
}

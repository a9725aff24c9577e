//! Neighbouring lanes that share a row, so that a warp's loads stay within few cache lines.

use cuda_std::{
    memory::*,
    thread,
    warp::{self, WARP_SIZE, WarpShuffleValue},
};

/// The pattern of a matrix in CRS that no kernel writes meanwhile.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pattern {
    /// One more than rows.
    pub row_ptr: *const u32,
    /// Ascending within a row.
    pub col_idx: *const u32,
}

// SAFETY: plain addresses of device memory; the kernels say who may use them when.
unsafe impl Send for Pattern {}
// SAFETY: as above.
unsafe impl Sync for Pattern {}

impl Pattern {
    /// The first entry of row `i`, and the one behind its last.
    ///
    /// # Safety
    /// The matrix has a row `i`.
    #[inline(always)]
    pub unsafe fn range(self, i: usize) -> (usize, usize) {
        // SAFETY: the caller's promise.
        unsafe { (self.row_ptr.ld_nc(i) as usize, self.row_ptr.ld_nc(i + 1) as usize) }
    }
}

/// `2^log2_lanes` neighbouring lanes of a warp. They take every branch around what they do together as one.
///
/// Sub-warps of a warp that part, in loops of different lengths, hardly meet again, and then take turns.
/// Those [in step](SubWarp::in_step) go through loops together, as often as the one that has the most to do.
#[derive(Clone, Copy)]
pub struct SubWarp {
    /// The number of this thread in its sub-warp.
    pub lane: u32,
    /// Threads of the sub-warp.
    pub lanes: u32,
    log2_lanes: u32,
    /// The sub-warp's lanes in their warp.
    own: u32,
    /// The lanes that meet where its lanes do.
    mask: u32,
}

/// Whether this is so for any lane of the warp. All of them call it, and go on together.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn any(of_lane: bool) -> bool {
    // SAFETY: all lanes of the warp call this.
    unsafe { warp::warp_vote_any(warp::FULL_MASK, of_lane) }
}

impl SubWarp {
    /// This thread's sub-warp.
    #[inline(always)]
    pub fn of(log2_lanes: u32) -> Self {
        let lanes = 1 << log2_lanes;
        let lane_of_warp = thread::thread_idx_x() % WARP_SIZE;
        let lane = lane_of_warp & (lanes - 1);
        let own = u32::MAX >> (WARP_SIZE - lanes) << (lane_of_warp - lane);
        SubWarp { lane, lanes, log2_lanes, own, mask: own }
    }

    /// The same where all sub-warps of the warp do together what the lanes of each do together: their loops
    /// go on while [`any`] of them has something to do.
    #[inline(always)]
    pub fn in_step(log2_lanes: u32) -> Self {
        SubWarp { mask: warp::FULL_MASK, ..SubWarp::of(log2_lanes) }
    }

    /// The sub-warp's first row.
    #[inline(always)]
    pub fn first(self) -> usize {
        thread::index_x() >> self.log2_lanes
    }

    /// From one of its rows to the next.
    #[inline(always)]
    pub fn stride(self) -> usize {
        thread::stride() >> self.log2_lanes
    }

    /// Calls `f` with each of the sub-warp's rows, of `n` in all, and with nothing while only others
    /// [in step](SubWarp::in_step) with it have one left.
    #[inline(always)]
    pub fn for_each_row(self, n: usize, mut f: impl FnMut(Option<usize>)) {
        let mut i = self.first();
        while any(i < n) {
            f((i < n).then_some(i));
            i += self.stride();
        }
    }

    /// Calls `f(i, e)` for the entries `e` of the sub-warp's rows `i`, each entry in one lane.
    ///
    /// # Safety
    /// The matrix has `n` rows.
    #[inline(always)]
    pub unsafe fn for_each_entry(self, n: u64, a: Pattern, mut f: impl FnMut(usize, usize)) {
        let mut i = self.first();
        while i < n as usize {
            // SAFETY: the caller's promise.
            let (start, end) = unsafe { a.range(i) };
            let mut e = start + self.lane as usize;
            while e < end {
                f(i, e);
                e += self.lanes as usize;
            }
            i += self.stride();
        }
    }

    /// Waits until the sub-warp's lanes are here, and what they wrote is visible to all of them.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn sync(self) {
        // SAFETY: the sub-warp's lanes are here together.
        unsafe { warp::sync_warp(self.mask) }
    }

    /// The lanes of the sub-warp for which `predicate` holds, lane 0 in the lowest bit.
    #[inline(always)]
    pub fn ballot(self, predicate: bool) -> u32 {
        // Lanes with different masks would take turns.
        if self.lanes == 1 {
            return predicate as u32;
        }
        // SAFETY: the sub-warp's lanes are here together.
        let ballot = unsafe { warp::warp_vote_ballot(self.mask, predicate) };
        (ballot & self.own) >> (thread::thread_idx_x() % WARP_SIZE - self.lane)
    }

    /// The value of a lane of the sub-warp.
    #[inline(always)]
    pub fn from_lane<V: WarpShuffleValue>(self, value: V, lane: u32) -> V {
        // SAFETY: the sub-warp's lanes are here together, and their number is a power of two.
        unsafe { warp::warp_shuffle_idx(self.mask, value, lane, self.lanes) }
    }

    /// The value of `found` in the first lane that has it, `default` where none has.
    #[inline(always)]
    pub fn first_of<V: WarpShuffleValue>(self, found: bool, value: V, default: V) -> V {
        if self.lanes == 1 {
            return if found { value } else { default };
        }
        let lanes = self.ballot(found);
        if lanes == 0 { default } else { self.from_lane(value, lanes.trailing_zeros()) }
    }

    /// Calls `f` with the values of the lanes whose bits are set in `lanes`, in ascending order.
    #[inline(always)]
    pub fn in_order<V: WarpShuffleValue>(self, lanes: u32, value: V, mut f: impl FnMut(V)) {
        if self.lanes == 1 {
            if lanes != 0 {
                f(value);
            }
            return;
        }
        let mut left = lanes;
        while if self.mask == warp::FULL_MASK { any(left != 0) } else { left != 0 } {
            let next = self.from_lane(value, left.trailing_zeros() & (self.lanes - 1));
            if left != 0 {
                f(next);
            }
            left &= left.wrapping_sub(1);
        }
    }

    /// The sum of the values of the lanes before this one.
    #[inline(always)]
    pub fn sum_before(self, value: u32) -> u32 {
        let mut sum = value;
        let mut distance = 1;
        while distance < self.lanes {
            let before = self.from_lane(sum, self.lane.wrapping_sub(distance) & (self.lanes - 1));
            sum += if self.lane < distance { 0 } else { before };
            distance *= 2;
        }
        sum - value
    }

    /// Combines the values of all lanes by an operation that is commutative and associative; all get the
    /// result.
    #[inline(always)]
    pub fn reduce<V: WarpShuffleValue>(self, value: V, combine: impl Fn(V, V) -> V) -> V {
        let mut value = value;
        let mut distance = self.lanes / 2;
        while distance > 0 {
            value = combine(value, self.from_lane(value, self.lane ^ distance));
            distance /= 2;
        }
        value
    }
}

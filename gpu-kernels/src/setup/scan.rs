//! Exclusive prefix sums, from row lengths to row pointers, in two launches: sums of spans of the array,
//! which the block that finishes last turns into their prefix sums; then the prefix sums within each span.

use cuda_std::{
    atomic, kernel,
    memory::*,
    shared,
    shared::Shared,
    thread,
    warp::{self, FULL_MASK, WARP_SIZE},
};

use crate::sizes::BLOCK;
use crate::unroll::unroll;

/// Warps in a block.
const WARPS: usize = (BLOCK / WARP_SIZE) as usize;
/// Elements that a thread has in flight.
const ELEMENTS: usize = 8;
/// Elements that a block handles at once; a span is a multiple of it.
pub const TILE: usize = BLOCK as usize * ELEMENTS;

/// The sum over the lanes up to this one.
///
/// # Safety
/// All lanes of the warp call this.
#[inline(always)]
unsafe fn warp_scan(value: u64) -> u64 {
    let lane = warp::lane_id();
    let mut sum = value;
    let mut delta = 1;
    while delta < WARP_SIZE {
        // SAFETY: the caller's promise. What the lowest lanes read from the highest is not used.
        let below = unsafe { warp::warp_shuffle_idx(FULL_MASK, sum, lane.wrapping_sub(delta), WARP_SIZE) };
        if lane >= delta {
            sum += below;
        }
        delta *= 2;
    }
    sum
}

/// The sum over the threads in front of this one, and the sum over the block. Two barriers.
///
/// # Safety
/// All threads of a block of [`BLOCK`] call this; `scratch` has an element for each warp.
#[inline(always)]
pub(super) unsafe fn block_scan(value: u64, scratch: Shared<u64>) -> (u64, u64) {
    let lane = warp::lane_id();
    let warp_of_thread = (thread::thread_idx_x() / WARP_SIZE) as usize;
    // SAFETY: the caller's promise.
    unsafe {
        let up_to_here = warp_scan(value);
        if lane == WARP_SIZE - 1 {
            scratch.set(warp_of_thread, up_to_here);
        }
        thread::sync_threads();
        let (mut before, mut total) = (up_to_here - value, 0);
        unroll::<WARPS>(|w| {
            let sum = scratch.get(w);
            if w < warp_of_thread {
                before += sum;
            }
            total += sum;
        });
        // The scratch is free again.
        thread::sync_threads();
        (before, total)
    }
}

/// `sums[b]` = the sum of `lengths` in front of span `b`, `sums[blocks]` = the sum of all; block `b` has span
/// `b`.
#[kernel]
pub unsafe fn span_sums(n: u64, span: u64, lengths: *const u32, sums: *mut u64, counter: *mut u32) {
    let scratch = shared![u64; 8];
    let flag = shared![u32; 1];
    let (n, span, grid) = (n as usize, span as usize, thread::grid_dim_x() as usize);
    let t = thread::thread_idx_x() as usize;
    let first = thread::block_idx_x() as usize * span;
    let end = if first + span < n { first + span } else { n };
    let mut sum = 0;
    let mut tile = first + t;
    while tile < end {
        let mut lengths_here = [0; ELEMENTS];
        unroll::<ELEMENTS>(|j| {
            let i = tile + j * BLOCK as usize;
            if i < end {
                lengths_here[j] = lengths.ld_nc(i);
            }
        });
        unroll::<ELEMENTS>(|j| sum += u64::from(lengths_here[j]));
        tile += TILE;
    }
    let (_, total) = block_scan(sum, scratch);
    if t == 0 {
        sums.st(thread::block_idx_x() as usize, total);
        // The sum is out before the block is counted.
        thread::device_fence();
        let done = atomic::atomic_inc_u32(counter, grid as u32 - 1);
        thread::device_fence();
        flag.set(0, (done == grid as u32 - 1) as u32);
    }
    thread::sync_threads();
    if flag.get(0) == 0 {
        return;
    }
    let (mut before, mut base) = (0, 0);
    while base < grid {
        let b = base + t;
        let sum = if b < grid { sums.ld_volatile(b) } else { 0 };
        let (within, total) = block_scan(sum, scratch);
        if b < grid {
            sums.st(b, before + within);
        }
        before += total;
        base += BLOCK as usize;
    }
    if t == 0 {
        sums.st(grid, before);
    }
}

/// Replaces `lengths` by their exclusive prefix sums, given those of the spans, modulo 2^32; the total goes
/// to the end.
#[kernel]
pub unsafe fn span_scan(n: u64, span: u64, lengths: *mut u32, sums: *const u64) {
    let scratch = shared![u64; 8];
    let (n, span) = (n as usize, span as usize);
    let block = thread::block_idx_x() as usize;
    let first = block * span;
    let end = if first + span < n { first + span } else { n };
    // A warp's elements are neighbours: 32 of them for each of its rounds.
    let warp_start = (thread::thread_idx_x() / WARP_SIZE) as usize * WARP_SIZE as usize * ELEMENTS;
    let mut before = sums.ld_nc(block);
    let mut tile = first;
    while tile < end {
        let start = tile + warp_start + warp::lane_id() as usize;
        let mut here = [0; ELEMENTS];
        unroll::<ELEMENTS>(|j| {
            let i = start + j * WARP_SIZE as usize;
            if i < end {
                here[j] = lengths.ld(i);
            }
        });
        let mut own = 0;
        unroll::<ELEMENTS>(|j| own += u64::from(here[j]));
        let (in_front, total) = block_scan(own, scratch);
        // What is in front of this lane's warp is in front of its first lane.
        let mut running = before + warp::warp_shuffle_idx(FULL_MASK, in_front, 0, WARP_SIZE);
        unroll::<ELEMENTS>(|j| {
            let length = u64::from(here[j]);
            let up_to_here = warp_scan(length);
            let i = start + j * WARP_SIZE as usize;
            if i < end {
                lengths.st(i, (running + up_to_here - length) as u32);
            }
            running += warp::warp_shuffle_idx(FULL_MASK, up_to_here, WARP_SIZE - 1, WARP_SIZE);
        });
        before += total;
        tile += TILE;
    }
    if block as u32 == thread::grid_dim_x() - 1 && thread::thread_idx_x() == 0 {
        lengths.st(n, sums.ld_nc(block + 1) as u32);
    }
}

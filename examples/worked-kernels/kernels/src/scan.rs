//! Prefix sums

// ANCHOR: kernel
use cuda_std::warp::{FULL_MASK, lane_id, warp_shuffle_up};
use cuda_std::{kernel, memory::*, shared, thread};

pub const BLOCK: u32 = 1024;
const WARPS: usize = BLOCK as usize / 32;

/// `y_i = x_0 + .. + x_i` within each block, and the sum of each block
#[kernel]
pub unsafe fn scan_blocks(n: u32, x: *const u32, y: *mut u32, totals: *mut u32) {
    let i = thread::index_x();
    let sum = over_block(if i < n as usize { x.ld_nc(i) } else { 0 });
    if i < n as usize {
        y.st(i, sum);
    }
    if thread::thread_idx_x() == BLOCK - 1 {
        totals.st(thread::block_idx_x() as usize, sum);
    }
}

/// `x_i = x_0 + .. + x_i`, by one block
#[kernel]
pub unsafe fn scan_totals(n: u32, x: *mut u32) {
    let last = shared![u32; 1];
    let mut before = 0_u32;
    for first in (0..n as usize).step_by(BLOCK as usize) {
        let i = first + thread::thread_idx_x() as usize;
        let sum = before.wrapping_add(over_block(if i < n as usize { x.ld(i) } else { 0 }));
        if i < n as usize {
            x.st(i, sum);
        }
        if thread::thread_idx_x() == BLOCK - 1 {
            last.set(0, sum);
        }
        thread::sync_threads();
        before = last.get(0);
        thread::sync_threads();
    }
}

/// Adds to each block the sum of those before it.
#[kernel]
pub unsafe fn add_totals(n: u32, totals: *const u32, y: *mut u32) {
    let (i, block) = (thread::index_x(), thread::block_idx_x() as usize);
    if block > 0 && i < n as usize {
        y.st(i, y.ld(i).wrapping_add(totals.ld_nc(block - 1)));
    }
}

/// The sum of the values of this thread and those before it in the block. All threads of the block come.
#[inline(always)]
unsafe fn over_block(value: u32) -> u32 {
    let sums = shared![u32; WARPS];
    let (warp, lane) = (thread::thread_idx_x() as usize / 32, lane_id() as usize);
    let sum = over_warp(value);
    if lane == 31 {
        sums.set(warp, sum);
    }
    thread::sync_threads();
    if warp == 0 {
        let of_warps = over_warp(if lane < WARPS { sums.get(lane) } else { 0 });
        if lane < WARPS {
            sums.set(lane, of_warps);
        }
    }
    thread::sync_threads();
    if warp == 0 { sum } else { sum.wrapping_add(sums.get(warp - 1)) }
}

/// The sum of the values of this lane and those below.
#[inline(always)]
unsafe fn over_warp(value: u32) -> u32 {
    let mut sum = value;
    for k in 0..5 {
        let delta = 1 << k;
        let below = warp_shuffle_up(FULL_MASK, sum, delta, 32);
        if lane_id() >= delta {
            sum = sum.wrapping_add(below);
        }
    }
    sum
}
// ANCHOR_END: kernel

#[cfg(not(target_arch = "nvptx64"))]
pub fn on_host(x: &[u32]) -> Vec<u32> {
    let add = |sum: &mut u32, &x: &u32| {
        *sum = sum.wrapping_add(x);
        Some(*sum)
    };
    x.iter().scan(0, add).collect()
}

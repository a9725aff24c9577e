//! Who am I, and waiting for the others. Grids and blocks are one-dimensional.

use crate::platform;

/// The index of this thread within its block.
#[inline(always)]
pub fn thread_idx_x() -> u32 {
    platform::thread_idx_x()
}

/// The index of this thread's block.
#[inline(always)]
pub fn block_idx_x() -> u32 {
    platform::block_idx_x()
}

/// The number of threads in a block.
#[inline(always)]
pub fn block_dim_x() -> u32 {
    platform::block_dim_x()
}

/// The number of blocks.
#[inline(always)]
pub fn grid_dim_x() -> u32 {
    platform::grid_dim_x()
}

/// The index of this thread in the grid; right for grids of fewer than 2^32 threads.
#[inline(always)]
pub fn index_1d() -> u32 {
    block_idx_x() * block_dim_x() + thread_idx_x()
}

/// The index of this thread in the grid.
#[inline(always)]
pub fn index() -> usize {
    block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize
}

/// The number of threads in the grid: the step of a grid-stride loop.
#[inline(always)]
pub fn stride() -> usize {
    grid_dim_x() as usize * block_dim_x() as usize
}

/// Waits until every thread of the block is here, and what they wrote is visible to all of them.
///
/// Every thread of the block must come, to the same call.
#[inline(always)]
#[track_caller]
pub fn sync_threads() {
    platform::sync_threads()
}

/// Orders this thread's memory accesses before it and after it, as seen by the whole device.
#[inline(always)]
pub fn device_fence() {
    platform::device_fence()
}

/// Orders this thread's memory accesses before it and after it, as seen by the device and the host.
#[inline(always)]
pub fn system_fence() {
    platform::system_fence()
}

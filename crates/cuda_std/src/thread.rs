//! Who am I, and waiting for the others.
//!
//! Indices and sizes have up to three dimensions, x first: threads whose x are neighbours are neighbours in a
//! warp. The functions without a dimension in their name serve grids of one.

use crate::platform;
use crate::vector::{UVec2, UVec3};

/// The index of this thread within its block.
#[inline(always)]
pub fn thread_idx_x() -> u32 {
    platform::thread_idx_x()
}

/// The index of this thread within its block, along y.
#[inline(always)]
pub fn thread_idx_y() -> u32 {
    platform::thread_idx_y()
}

/// The index of this thread within its block, along z.
#[inline(always)]
pub fn thread_idx_z() -> u32 {
    platform::thread_idx_z()
}

/// The index of this thread within its block.
#[inline(always)]
pub fn thread_idx() -> UVec3 {
    UVec3::new(thread_idx_x(), thread_idx_y(), thread_idx_z())
}

/// The index of this thread's block.
#[inline(always)]
pub fn block_idx_x() -> u32 {
    platform::block_idx_x()
}

/// The index of this thread's block, along y.
#[inline(always)]
pub fn block_idx_y() -> u32 {
    platform::block_idx_y()
}

/// The index of this thread's block, along z.
#[inline(always)]
pub fn block_idx_z() -> u32 {
    platform::block_idx_z()
}

/// The index of this thread's block.
#[inline(always)]
pub fn block_idx() -> UVec3 {
    UVec3::new(block_idx_x(), block_idx_y(), block_idx_z())
}

/// The number of threads in a block.
#[inline(always)]
pub fn block_dim_x() -> u32 {
    platform::block_dim_x()
}

/// The number of threads in a block, along y.
#[inline(always)]
pub fn block_dim_y() -> u32 {
    platform::block_dim_y()
}

/// The number of threads in a block, along z.
#[inline(always)]
pub fn block_dim_z() -> u32 {
    platform::block_dim_z()
}

/// The numbers of threads in a block.
#[inline(always)]
pub fn block_dim() -> UVec3 {
    UVec3::new(block_dim_x(), block_dim_y(), block_dim_z())
}

/// The number of blocks.
#[inline(always)]
pub fn grid_dim_x() -> u32 {
    platform::grid_dim_x()
}

/// The number of blocks along y.
#[inline(always)]
pub fn grid_dim_y() -> u32 {
    platform::grid_dim_y()
}

/// The number of blocks along z.
#[inline(always)]
pub fn grid_dim_z() -> u32 {
    platform::grid_dim_z()
}

/// The numbers of blocks.
#[inline(always)]
pub fn grid_dim() -> UVec3 {
    UVec3::new(grid_dim_x(), grid_dim_y(), grid_dim_z())
}

/// The number of this thread in the grid, whatever their dimensions: 0, 1, 2, .., each thread another, block
/// by block. Right for grids of fewer than 2^32 threads.
#[inline(always)]
pub fn index() -> u32 {
    let (block, blocks) = (block_idx(), grid_dim());
    let (thread, threads) = (thread_idx(), block_dim());
    let block = block.x + blocks.x * (block.y + blocks.y * block.z);
    let thread = thread.x + threads.x * (thread.y + threads.y * thread.z);
    block * (threads.x * threads.y * threads.z) + thread
}

/// The index of this thread along x in the grid; right for grids of fewer than 2^32 threads.
#[inline(always)]
pub fn index_1d() -> u32 {
    block_idx_x() * block_dim_x() + thread_idx_x()
}

/// The index of this thread along x and y in the grid.
#[inline(always)]
pub fn index_2d() -> UVec2 {
    UVec2::new(index_1d(), block_idx_y() * block_dim_y() + thread_idx_y())
}

/// The index of this thread along x, y and z in the grid.
#[inline(always)]
pub fn index_3d() -> UVec3 {
    let UVec2 { x, y, .. } = index_2d();
    UVec3::new(x, y, block_idx_z() * block_dim_z() + thread_idx_z())
}

/// The index of this thread along x in the grid, as an index of an array.
#[inline(always)]
pub fn index_x() -> usize {
    block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize
}

/// The number of threads along x in the grid: the step of a grid-stride loop that starts at [`index_x`].
#[inline(always)]
pub fn stride() -> usize {
    grid_dim_x() as usize * block_dim_x() as usize
}

/// Whether this is thread 0 of block 0, which is true in one thread of the grid.
#[inline(always)]
pub fn first() -> bool {
    let indices =
        [block_idx_x(), block_idx_y(), block_idx_z(), thread_idx_x(), thread_idx_y(), thread_idx_z()];
    indices == [0; 6]
}

/// The number of threads in a warp, 32.
#[inline(always)]
pub fn warp_size() -> u32 {
    crate::lanes::WARP_SIZE
}

/// Waits until every thread of the block is here, and what they wrote is visible to all of them.
///
/// Every thread of the block must come, to the same call.
#[inline(always)]
#[track_caller]
pub fn sync_threads() {
    platform::sync_threads()
}

/// As [`sync_threads`]; returns the number of threads that gave a `predicate` other than 0.
#[inline(always)]
#[track_caller]
pub fn sync_threads_count(predicate: u32) -> u32 {
    platform::sync_threads_count(predicate != 0)
}

/// As [`sync_threads`]; returns 1 if all threads gave a `predicate` other than 0, else 0.
#[inline(always)]
#[track_caller]
pub fn sync_threads_and(predicate: u32) -> u32 {
    platform::sync_threads_and(predicate != 0).into()
}

/// As [`sync_threads`]; returns 1 if any thread gave a `predicate` other than 0, else 0.
#[inline(always)]
#[track_caller]
pub fn sync_threads_or(predicate: u32) -> u32 {
    platform::sync_threads_or(predicate != 0).into()
}

/// Waits until every thread of the grid is here, and what they wrote is visible to all of them.
///
/// `barrier` is a word in global memory that was 0 before its first use; it serves any number of these
/// barriers, and of launches one after the other. In the simulator it is not touched.
///
/// # Safety
/// The launch is cooperative, since otherwise the blocks that run may wait for ever for those that have no
/// place. Every thread of the grid comes, to the same call, with the same word, which nothing else uses.
#[inline(always)]
#[track_caller]
pub unsafe fn sync_grid(barrier: *mut u32) {
    // SAFETY: the caller's promise.
    unsafe { platform::sync_grid(barrier) }
}

/// Orders this thread's memory accesses before it and after it, as seen by its block.
///
/// In the published crate this fence waited for the whole system.
#[inline(always)]
pub fn block_fence() {
    platform::block_fence()
}

/// Orders this thread's memory accesses before it and after it, as seen by the grid: [`device_fence`] by
/// another name.
#[inline(always)]
pub fn grid_fence() {
    platform::device_fence()
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

/// Lets the thread pause for about this long: up to twice as long, or not at all, and at most a millisecond.
#[inline(always)]
pub fn nanosleep(nanoseconds: u32) {
    platform::nanosleep(nanoseconds)
}

/// Waits until the grid in front of this one has ended, and what it wrote is visible to this one.
///
/// `#[kernel]` calls it before the body, for every thread. A kernel under `#[kernel(.., waits)]` calls it
/// itself, later, and may load before it what no kernel writes: the entries of a matrix, say. For such a
/// kernel:
///
/// - A thread calls it before its first load of memory that another kernel writes, and before its first store
///   or atomic operation of any kind, since the grid in front may still read what is overwritten. Loading
///   early is wrong even where the value is then not used: it may leave the old value in a cache.
/// - Every thread calls it, on every path, also the one that returns at once. It would do if one thread of
///   the grid did, and every thread that accesses memory came behind that; but a grid of which no thread
///   calls it can end before the grid in front. The next grid waits for this one alone, and would then run
///   beside the one in front of this: only where each grid waits for its predecessor, "the predecessor has
///   ended" means that all have.
///
/// The simulator reports a thread that ends without it, and any access before it but a plain load
/// ([`ld`](crate::GlobalLoad::ld), `ld_nc`, `ld_cs`).
///
/// For a grid that starts when the one in front has ended (before compute capability 9.0, behind a copy, in
/// the simulator, or launched without the attribute) it does nothing. The instruction is
/// `griddepcontrol.wait`, "causes the executing thread to wait until all prerequisite grids in flight have
/// completed and all the memory operations from the prerequisite grids are performed and made visible to the
/// current grid" (PTX ISA, griddepcontrol).
#[inline(always)]
pub fn grid_dependency_wait() {
    platform::grid_dependency_wait()
}

/// Lets the grid behind this one start once every block of this grid has come here, or ended.
///
/// `#[kernel]` calls it first thing. That is as early as can be, and still takes nothing away: the next
/// grid's blocks come only after the last of this grid's has got its place, into places that are free, and
/// wait there without executing anything ([`grid_dependency_wait`]). So blocks always wait for blocks that
/// are running already, however many grids are queued, also where these wait for each other. A grid of more
/// blocks than the device holds overlaps with the next in its last round, a smaller one from its start.
///
/// It says nothing about memory: the wait does, at the end of this grid. Calls after the first do nothing.
#[inline(always)]
pub fn grid_dependency_launch() {
    platform::grid_dependency_launch()
}

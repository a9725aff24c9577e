//! Who am I, and waiting for the others.
//!
//! Indices and sizes have up to three dimensions, x first: threads whose x are neighbours are neighbours in a
//! warp. The functions without a dimension in their name serve grids of one.
//!
//! ```
//! use cuda_std::prelude::*;
//!
//! /// y_i = 2 x_i, however many threads there are.
//! #[kernel]
//! pub unsafe fn twice(x: &[f32], y: *mut f32) {
//!     for i in (thread::index_x()..x.len()).step_by(thread::stride()) {
//!         *y.add(i) = 2.0 * x[i];
//!     }
//! }
//!
//! let (x, mut y) = (Vec::from_iter((0..100).map(|i| i as f32)), vec![0.0; 100]);
//! // SAFETY: y is as long as x.
//! unsafe { cuda_std::sim::launch!(twice<<<2, 32>>>(&x, y.as_mut_ptr())) }?;
//! assert_eq!(y[99], 198.0);
//! # Ok::<(), cuda_std::sim::Fault>(())
//! ```

use crate::platform;
use crate::vector::{UVec2, UVec3};

/// The index of this thread within its block.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(2, 32), || unsafe {
/// // In blocks of 32 threads:
/// assert!(thread::thread_idx_x() < 32);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn thread_idx_x() -> u32 {
    platform::thread_idx_x()
}

/// The index of this thread within its block, along y.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(1, (8, 4)), || unsafe {
/// // In blocks of 8 x 4 threads:
/// assert!(thread::thread_idx_y() < 4);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn thread_idx_y() -> u32 {
    platform::thread_idx_y()
}

/// The index of this thread within its block, along z.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(1, (4, 4, 2)), || unsafe {
/// // In blocks of 4 x 4 x 2 threads:
/// assert!(thread::thread_idx_z() < 2);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn thread_idx_z() -> u32 {
    platform::thread_idx_z()
}

/// The index of this thread within its block.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(1, (8, 4)), || unsafe {
/// let place = thread::thread_idx();
/// assert_eq!((place.x, place.y), (thread::thread_idx_x(), thread::thread_idx_y()));
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn thread_idx() -> UVec3 {
    UVec3::new(thread_idx_x(), thread_idx_y(), thread_idx_z())
}

/// The index of this thread's block.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(3, 32), || unsafe {
/// // In a grid of 3 blocks:
/// assert!(thread::block_idx_x() < 3);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn block_idx_x() -> u32 {
    platform::block_idx_x()
}

/// The index of this thread's block, along y.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new((3, 2), 32), || unsafe {
/// // In a grid of 3 x 2 blocks:
/// assert!(thread::block_idx_y() < 2);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn block_idx_y() -> u32 {
    platform::block_idx_y()
}

/// The index of this thread's block, along z.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new((3, 2, 2), 8), || unsafe {
/// // In a grid of 3 x 2 x 2 blocks:
/// assert!(thread::block_idx_z() < 2);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn block_idx_z() -> u32 {
    platform::block_idx_z()
}

/// The index of this thread's block.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new((3, 2), 8), || unsafe {
/// let block = thread::block_idx();
/// // The number of the block, along x first.
/// let number = block.x + thread::grid_dim_x() * block.y;
/// assert_eq!(thread::index() / 8, number);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn block_idx() -> UVec3 {
    UVec3::new(block_idx_x(), block_idx_y(), block_idx_z())
}

/// The number of threads in a block.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(1, (8, 4)), || unsafe {
/// // In blocks of 8 x 4 threads:
/// assert_eq!(thread::block_dim_x(), 8);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn block_dim_x() -> u32 {
    platform::block_dim_x()
}

/// The number of threads in a block, along y.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(1, (8, 4)), || unsafe {
/// // In blocks of 8 x 4 threads:
/// assert_eq!(thread::block_dim_y(), 4);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn block_dim_y() -> u32 {
    platform::block_dim_y()
}

/// The number of threads in a block, along z.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(1, (4, 4, 2)), || unsafe {
/// // In blocks of 4 x 4 x 2 threads:
/// assert_eq!(thread::block_dim_z(), 2);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn block_dim_z() -> u32 {
    platform::block_dim_z()
}

/// The numbers of threads in a block.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(1, (8, 4)), || unsafe {
/// // In blocks of 8 x 4 threads:
/// assert_eq!(thread::block_dim().to_array(), [8, 4, 1]);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn block_dim() -> UVec3 {
    UVec3::new(block_dim_x(), block_dim_y(), block_dim_z())
}

/// The number of blocks.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new((3, 2), 8), || unsafe {
/// // In a grid of 3 x 2 blocks:
/// assert_eq!(thread::grid_dim_x(), 3);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn grid_dim_x() -> u32 {
    platform::grid_dim_x()
}

/// The number of blocks along y.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new((3, 2), 8), || unsafe {
/// // In a grid of 3 x 2 blocks:
/// assert_eq!(thread::grid_dim_y(), 2);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn grid_dim_y() -> u32 {
    platform::grid_dim_y()
}

/// The number of blocks along z.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new((3, 2, 2), 8), || unsafe {
/// // In a grid of 3 x 2 x 2 blocks:
/// assert_eq!(thread::grid_dim_z(), 2);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn grid_dim_z() -> u32 {
    platform::grid_dim_z()
}

/// The numbers of blocks.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new((3, 2), 8), || unsafe {
/// // In a grid of 3 x 2 blocks:
/// assert_eq!(thread::grid_dim().to_array(), [3, 2, 1]);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn grid_dim() -> UVec3 {
    UVec3::new(grid_dim_x(), grid_dim_y(), grid_dim_z())
}

/// The number of this thread in the grid, whatever their dimensions: 0, 1, 2, .., each thread another, block
/// by block. Right for grids of fewer than 2^32 threads.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new((3, 2), (4, 2)), || unsafe {
/// // The last of 6 blocks of 8 threads.
/// if thread::block_idx().to_array() == [2, 1, 0] && thread::thread_idx().to_array() == [3, 1, 0] {
///     assert_eq!(thread::index(), 6 * 8 - 1);
/// }
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn index() -> u32 {
    let (block, blocks) = (block_idx(), grid_dim());
    let (thread, threads) = (thread_idx(), block_dim());
    let block = block.x + blocks.x * (block.y + blocks.y * block.z);
    let thread = thread.x + threads.x * (thread.y + threads.y * thread.z);
    block * (threads.x * threads.y * threads.z) + thread
}

/// The index of this thread along x in the grid; right for grids of fewer than 2^32 threads.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(2, 32), || unsafe {
/// let i = thread::index_1d();
/// assert_eq!(i, 32 * thread::block_idx_x() + thread::thread_idx_x());
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn index_1d() -> u32 {
    block_idx_x() * block_dim_x() + thread_idx_x()
}

/// The index of this thread along x and y in the grid.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new((3, 2), (8, 4)), || unsafe {
/// // An element of a matrix of 20 columns and 7 rows, in 3 x 2 blocks of 8 x 4 threads.
/// let place = thread::index_2d();
/// if place.x < 20 && place.y < 7 {
///     let element = 20 * place.y + place.x;
///     assert!(element < 140);
/// }
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn index_2d() -> UVec2 {
    UVec2::new(index_1d(), block_idx_y() * block_dim_y() + thread_idx_y())
}

/// The index of this thread along x, y and z in the grid.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new((2, 2, 2), (4, 4, 2)), || unsafe {
/// // In 2 x 2 x 2 blocks of 4 x 4 x 2 threads:
/// let place = thread::index_3d();
/// assert!(place.x < 8 && place.y < 8 && place.z < 4);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn index_3d() -> UVec3 {
    let UVec2 { x, y, .. } = index_2d();
    UVec3::new(x, y, block_idx_z() * block_dim_z() + thread_idx_z())
}

/// The index of this thread along x in the grid, as an index of an array.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(2, 32), || unsafe {
/// let x = [0.5; 50];
/// let i = thread::index_x();
/// if i < x.len() {
///     assert_eq!(x[i], 0.5);
/// }
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn index_x() -> usize {
    block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize
}

/// The number of threads along x in the grid: the step of a grid-stride loop that starts at [`index_x`].
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(2, 32), || unsafe {
/// // 2 blocks of 32 threads add up 150 numbers, some threads 2 of them and some 3.
/// let mine = (thread::index_x()..150).step_by(thread::stride()).count();
/// assert!(mine == 2 || mine == 3);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn stride() -> usize {
    grid_dim_x() as usize * block_dim_x() as usize
}

/// Whether this is thread 0 of block 0, which is true in one thread of the grid.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(2, 32), || unsafe {
/// use cuda_std::println;
/// if thread::first() {
///     println!("printed once");
/// }
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn first() -> bool {
    let indices =
        [block_idx_x(), block_idx_y(), block_idx_z(), thread_idx_x(), thread_idx_y(), thread_idx_z()];
    indices == [0; 6]
}

/// The number of threads in a warp, 32.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(1, 64), || unsafe {
/// let warp = thread::thread_idx_x() / thread::warp_size();
/// assert!(warp < 2);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn warp_size() -> u32 {
    crate::lanes::WARP_SIZE
}

/// Waits until every thread of the block is here, and what they wrote is visible to all of them.
///
/// Every thread of the block must come, to the same call.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(1, 64), || unsafe {
/// # use cuda_std::shared;
/// let (tile, t) = (shared![u32; 64], thread::thread_idx_x());
/// tile.set(t as usize, t);
/// thread::sync_threads();
/// // What another thread has written.
/// assert_eq!(tile.get(63 - t as usize), 63 - t);
/// # }).unwrap();
/// ```
#[inline(always)]
#[track_caller]
pub fn sync_threads() {
    platform::sync_threads()
}

/// As [`sync_threads`]; returns the number of threads that gave a `predicate` other than 0.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(1, 64), || unsafe {
/// let small = thread::thread_idx_x() < 10;
/// assert_eq!(thread::sync_threads_count(small.into()), 10);
/// # }).unwrap();
/// ```
#[inline(always)]
#[track_caller]
pub fn sync_threads_count(predicate: u32) -> u32 {
    platform::sync_threads_count(predicate != 0)
}

/// As [`sync_threads`]; returns 1 if all threads gave a `predicate` other than 0, else 0.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(1, 64), || unsafe {
/// assert_eq!(thread::sync_threads_and((thread::thread_idx_x() < 64).into()), 1);
/// assert_eq!(thread::sync_threads_and((thread::thread_idx_x() < 63).into()), 0);
/// # }).unwrap();
/// ```
#[inline(always)]
#[track_caller]
pub fn sync_threads_and(predicate: u32) -> u32 {
    platform::sync_threads_and(predicate != 0).into()
}

/// As [`sync_threads`]; returns 1 if any thread gave a `predicate` other than 0, else 0.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(1, 64), || unsafe {
/// assert_eq!(thread::sync_threads_or((thread::thread_idx_x() == 63).into()), 1);
/// assert_eq!(thread::sync_threads_or((thread::thread_idx_x() == 64).into()), 0);
/// # }).unwrap();
/// ```
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
/// ```
/// use cuda_std::{host::Configuration, kernel, memory::*, sim, thread};
///
/// /// y_b = x of the block after this one, the last one's x of the first.
/// #[kernel]
/// pub unsafe fn turn(barrier: *mut u32, x: *mut u32, y: *mut u32) {
///     let (block, blocks) = (thread::block_idx_x(), thread::grid_dim_x());
///     x.st(block as usize, block);
///     thread::sync_grid(barrier);
///     y.st(block as usize, x.ld_volatile(((block + 1) % blocks) as usize));
/// }
///
/// let (mut barrier, mut x, mut y) = (0, [0; 4], [0; 4]);
/// let launch = turn { barrier: &raw mut barrier, x: x.as_mut_ptr(), y: y.as_mut_ptr() };
/// let configuration = Configuration { cooperative: true, ..Configuration::new(4, 1) };
/// sim::run_configured(&launch, configuration, &sim::Memory::open(), &sim::Options::default())?;
/// assert_eq!(y, [1, 2, 3, 0]);
/// # Ok::<(), sim::Fault>(())
/// ```
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
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// # use cuda_std::atomic::{BlockAtomicU32, Ordering};
/// # let (mut value, flag) = (0, BlockAtomicU32::new(0));
/// if thread::thread_idx_x() == 0 {
///     // Who sees the flag sees the value.
///     value = 7;
///     thread::block_fence();
///     flag.store(1, Ordering::Relaxed);
/// }
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn block_fence() {
    platform::block_fence()
}

/// Orders this thread's memory accesses before it and after it, as seen by the grid: [`device_fence`] by
/// another name.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(2, 1), || unsafe {
/// # use cuda_std::atomic::{AtomicU32, Ordering};
/// # let (mut sum, done) = (0.0, AtomicU32::new(0));
/// sum += 0.5;
/// // The block that counts last finds the sums of all others.
/// thread::grid_fence();
/// done.fetch_add(1, Ordering::Relaxed);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn grid_fence() {
    platform::device_fence()
}

/// Orders this thread's memory accesses before it and after it, as seen by the whole device.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(2, 1), || unsafe {
/// # use cuda_std::atomic::{AtomicU32, Ordering};
/// # let (mut value, flag) = (0, AtomicU32::new(0));
/// value = 7;
/// thread::device_fence();
/// flag.store(1, Ordering::Relaxed);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn device_fence() {
    platform::device_fence()
}

/// Orders this thread's memory accesses before it and after it, as seen by the device and the host.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(1, 1), || unsafe {
/// # use cuda_std::atomic::{Ordering, SystemAtomicU32};
/// # let (mut value, flag) = (0, SystemAtomicU32::new(0));
/// // A host that waits for the flag then reads the value, both in page-locked memory.
/// value = 7;
/// thread::system_fence();
/// flag.store(1, Ordering::Relaxed);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn system_fence() {
    platform::system_fence()
}

/// Lets the thread pause for about this long: up to twice as long, or not at all, and at most a millisecond.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(2, 1), || unsafe {
/// # use cuda_std::atomic::{AtomicU32, Ordering};
/// # let flag = AtomicU32::new(1);
/// while flag.load(Ordering::Acquire) == 0 {
///     thread::nanosleep(100);
/// }
/// # }).unwrap();
/// ```
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
///
/// ```
/// use cuda_std::{kernel, memory::*, sim, thread};
///
/// /// y = a x, where no kernel writes a.
/// #[kernel(waits)]
/// pub unsafe fn scale(a: *const f32, x: *const f32, y: *mut f32) {
///     let i = thread::index_x();
///     let a = a.ld_nc(i);
///     thread::grid_dependency_wait();
///     y.st(i, a * x.ld(i));
/// }
///
/// let mut y = [0.0; 2];
/// // SAFETY: all have 2 elements.
/// unsafe { sim::launch!(scale<<<1, 2>>>([2.0, 3.0].as_ptr(), [0.5, 0.5].as_ptr(), y.as_mut_ptr())) }?;
/// assert_eq!(y, [1.0, 1.5]);
/// # Ok::<(), sim::Fault>(())
/// ```
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
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::thread;
/// # sim::call("example", Configuration::new(2, 32), || unsafe {
/// // The first thing that `#[kernel]` does; once more changes nothing.
/// thread::grid_dependency_launch();
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn grid_dependency_launch() {
    platform::grid_dependency_launch()
}

//! Clusters of blocks, from compute capability 9.0 on: up to 8 blocks that run at the same time, wait for
//! each other, and reach each other's shared memory.
//!
//! The launch says how many blocks are a cluster: `stream.clusters(4)` in `cust`, `Configuration::cluster` in
//! the simulator. In other launches each block is a cluster of its own. Kernels that use this module say
//! `#[kernel(needs = sm_90)]`.
//!
//! ```
//! use cuda_std::host::Configuration;
//! use cuda_std::{cluster, kernel, memory::*, shared, sim, thread};
//!
//! /// y_b = the largest x of the blocks in the cluster of block b, an x for each.
//! #[kernel(needs = sm_90)]
//! pub unsafe fn largest(x: *const u32, y: *mut u32) {
//!     let (own, block) = (shared![u32; 1], thread::block_idx_x() as usize);
//!     own.set(0, x.ld(block));
//!     cluster::sync();
//!     let mut most = 0;
//!     for rank in 0..cluster::num_blocks() {
//!         most = most.max(cluster::map_shared_rank(own, rank).get(0));
//!     }
//!     y.st(block, most);
//!     // No block ends, and takes its memory with it, while others read there.
//!     cluster::sync();
//! }
//!
//! let (x, mut y) = ([3, 7, 5, 1, 2, 6], [0; 6]);
//! let launch = largest { x: x.as_ptr(), y: y.as_mut_ptr() };
//! let configuration = Configuration { cluster: 3.into(), ..Configuration::new(6, 1) };
//! sim::run_configured(&launch, configuration, &sim::Memory::open(), &sim::Options::default())?;
//! assert_eq!(y, [7, 7, 7, 6, 6, 6]);
//! # Ok::<(), sim::Fault>(())
//! ```
//!
//! The simulator runs the blocks of a cluster by turns, from one barrier of the cluster to the next. It
//! reports memory of a block that may not have begun or may have ended, barriers that somebody misses or that
//! are taken out of order, and, where it looks for races, accesses of different blocks with no barrier
//! between. It counts accesses to another block's memory as those to shared memory.

use crate::memory::Word;
use crate::platform::{self, SharedBase};
use crate::shared::Shared;
use crate::vector::UVec3;
use core::marker::PhantomData;

/// The number of this block in its cluster, counted along x first.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{cluster, shared};
/// # sim::call("example", Configuration { cluster: 2.into(), ..Configuration::new(6, 1) }, || unsafe {
/// # use cuda_std::thread;
/// // In clusters of 2 blocks:
/// assert_eq!(cluster::block_rank(), thread::block_idx_x() % 2);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn block_rank() -> u32 {
    platform::cluster_block_rank()
}

/// The number of blocks in a cluster.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{cluster, shared};
/// # sim::call("example", Configuration { cluster: (2, 3).into(), ..Configuration::new((4, 3), 1) }, || unsafe {
/// // In clusters of 2 x 3 blocks:
/// assert_eq!(cluster::num_blocks(), 6);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn num_blocks() -> u32 {
    platform::cluster_num_blocks()
}

/// The index of this block within its cluster.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{cluster, shared};
/// # sim::call("example", Configuration { cluster: (2, 3).into(), ..Configuration::new((4, 3), 1) }, || unsafe {
/// // In clusters of 2 x 3 blocks:
/// let place = cluster::block_idx();
/// assert_eq!(cluster::block_rank(), place.x + 2 * place.y);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn block_idx() -> UVec3 {
    let [x, y, z] = platform::cluster_block_idx();
    UVec3::new(x, y, z)
}

/// The numbers of blocks in a cluster.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{cluster, shared};
/// # sim::call("example", Configuration { cluster: (2, 3).into(), ..Configuration::new((4, 3), 1) }, || unsafe {
/// // In clusters of 2 x 3 blocks:
/// assert_eq!(cluster::block_dim().to_array(), [2, 3, 1]);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn block_dim() -> UVec3 {
    let [x, y, z] = platform::cluster_block_dim();
    UVec3::new(x, y, z)
}

/// Waits until every thread of the cluster is here or has ended, and what they wrote, also to each other's
/// shared memory, is visible to all of them.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{cluster, shared};
/// # sim::call("example", Configuration { cluster: 2.into(), ..Configuration::new(2, 1) }, || unsafe {
/// let own = shared![u32; 1];
/// own.set(0, cluster::block_rank());
/// cluster::sync();
/// let other = 1 - cluster::block_rank();
/// assert_eq!(cluster::map_shared_rank(own, other).get(0), other);
/// // Nobody ends while the other reads.
/// cluster::sync();
/// # }).unwrap();
/// ```
#[inline(always)]
#[track_caller]
pub fn sync() {
    arrive();
    wait();
}

/// The first half of [`sync`]: says that this thread is here, and goes on. What it did before is visible to
/// those who have waited.
///
/// Each thread calls [`wait`] before it arrives again.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{cluster, shared};
/// # sim::call("example", Configuration { cluster: 2.into(), ..Configuration::new(2, 1) }, || unsafe {
/// let own = shared![u32; 1];
/// own.set(0, 7);
/// cluster::arrive();
/// // What needs no other block goes on meanwhile.
/// cluster::wait();
/// # }).unwrap();
/// ```
#[inline(always)]
#[track_caller]
pub fn arrive() {
    platform::cluster_arrive()
}

/// The second half of [`sync`]: waits until every thread of the cluster has arrived or ended.
///
/// The thread has called [`arrive`].
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{cluster, shared};
/// # sim::call("example", Configuration { cluster: 2.into(), ..Configuration::new(2, 1) }, || unsafe {
/// cluster::arrive();
/// // Work that needs no other block.
/// cluster::wait();
/// # }).unwrap();
/// ```
#[inline(always)]
#[track_caller]
pub fn wait() {
    platform::cluster_wait()
}

/// The array of the block `rank` of the cluster that is what `array` is of this block.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{cluster, shared};
/// # sim::call("example", Configuration { cluster: 2.into(), ..Configuration::new(2, 1) }, || unsafe {
/// let own = shared![u32; 1];
/// own.set(0, 10 + cluster::block_rank());
/// cluster::sync();
/// let first = cluster::map_shared_rank(own, 0);
/// assert_eq!(first.get(0), 10);
/// cluster::sync();
/// # }).unwrap();
/// ```
///
/// # Safety
/// There is a block of that rank. Elements of it are accessed only while it runs: behind the first barrier of
/// the cluster, since it may not have begun before, and with a barrier of the cluster behind the last access.
#[inline(always)]
#[track_caller]
pub unsafe fn map_shared_rank<T: Word>(array: Shared<T>, rank: u32) -> ClusterShared<T> {
    // SAFETY: the caller's promise.
    ClusterShared { base: unsafe { platform::map_shared(array.base(), rank) }, element: PhantomData }
}

/// An array in the shared memory of a block of the cluster; made by [`map_shared_rank`].
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::{cluster, shared};
/// # sim::call("example", Configuration { cluster: 2.into(), ..Configuration::new(4, 1) }, || unsafe {
/// // The sum of a cluster, in the memory of its first block.
/// let sum = shared![u32; 1];
/// sum.set(0, 0);
/// cluster::sync();
/// cluster::map_shared_rank(sum, 0).add(0, 5);
/// cluster::sync();
/// assert_eq!(cluster::map_shared_rank(sum, 0).get(0), 10);
/// cluster::sync();
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ClusterShared<T> {
    base: SharedBase,
    element: PhantomData<T>,
}

impl<T: Word> ClusterShared<T> {
    /// Element `i`.
    ///
    /// ```
    /// # use cuda_std::{host::Configuration, sim};
    /// # use cuda_std::{cluster, shared};
    /// # sim::call("example", Configuration { cluster: 2.into(), ..Configuration::new(2, 1) }, || unsafe {
    /// # let own = shared![u32; 1];
    /// # own.set(0, cluster::block_rank());
    /// # cluster::sync();
    /// assert_eq!(cluster::map_shared_rank(own, 1).get(0), 1);
    /// # cluster::sync();
    /// # }).unwrap();
    /// ```
    ///
    /// # Safety
    /// As [`map_shared_rank`]. `i` is less than the length; somebody wrote the element, and a barrier of the
    /// cluster came since if it was another thread.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn get(self, i: usize) -> T {
        // SAFETY: the caller's promise.
        unsafe { T::load_cluster(self.base, i) }
    }

    /// Sets element `i`.
    ///
    /// ```
    /// # use cuda_std::{host::Configuration, sim};
    /// # use cuda_std::{cluster, shared};
    /// # sim::call("example", Configuration { cluster: 2.into(), ..Configuration::new(2, 1) }, || unsafe {
    /// # let own = shared![u32; 1];
    /// # cluster::sync();
    /// let rank = cluster::block_rank();
    /// cluster::map_shared_rank(own, 1 - rank).set(0, rank);
    /// cluster::sync();
    /// assert_eq!(own.get(0), 1 - rank);
    /// # }).unwrap();
    /// ```
    ///
    /// # Safety
    /// As [`map_shared_rank`]. `i` is less than the length, and no other thread touches the element without a
    /// barrier of the cluster between.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn set(self, i: usize, value: T) {
        // SAFETY: the caller's promise.
        unsafe { T::store_cluster(self.base, i, value) }
    }
}

impl ClusterShared<u32> {
    /// Adds to element `i`, wrapping; returns what was there. Atomic within the cluster, in no particular
    /// order.
    ///
    /// ```
    /// # use cuda_std::{host::Configuration, sim};
    /// # use cuda_std::{cluster, shared};
    /// # sim::call("example", Configuration { cluster: 2.into(), ..Configuration::new(2, 1) }, || unsafe {
    /// # let count = shared![u32; 1];
    /// # count.set(0, 0);
    /// # cluster::sync();
    /// cluster::map_shared_rank(count, 0).add(0, 1);
    /// cluster::sync();
    /// assert_eq!(cluster::map_shared_rank(count, 0).get(0), 2);
    /// # cluster::sync();
    /// # }).unwrap();
    /// ```
    ///
    /// # Safety
    /// As [`ClusterShared::get`], but that others may add at the same time.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn add(self, i: usize, value: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { platform::atomic_add_cluster(self.base, i, value) }
    }
}

//! What a kernel can do wrong.

use crate::host::Dim3;
use std::fmt;
use std::panic::Location;

/// A kernel did something that is an error on the device, noticed there or not.
///
/// ```
/// # use cuda_std::{kernel, sim, thread};
/// #[kernel]
/// pub unsafe fn half() {
///     if thread::thread_idx_x() < 16 {
///         thread::sync_threads();
///     }
/// }
///
/// // SAFETY: it has no arguments.
/// let fault = unsafe { sim::launch!(half<<<1, 32>>>()) }.unwrap_err();
/// assert_eq!(fault.kernel, "half");
/// assert!(matches!(fault.kind, sim::FaultKind::Divergence { exited: 16, .. }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("kernel {kernel}, block {block}, thread {thread}: {kind}{}", at(*place))]
pub struct Fault {
    /// Entry point.
    pub kernel: &'static str,
    /// Block of the thread that failed; with several dimensions its number, counted along x first.
    pub block: u32,
    /// The thread's index within the block; with several dimensions its number, counted along x first.
    pub thread: u32,
    /// Where in the source, of accesses to memory.
    pub place: Option<&'static Location<'static>>,
    /// What it did.
    pub kind: FaultKind,
}

impl Fault {
    /// What happened and where in the source, without kernel, block and thread.
    ///
    /// ```
    /// # use cuda_std::{kernel, sim, thread};
    /// # #[kernel]
    /// # pub unsafe fn divide(x: u32) {
    /// #     let _ = 1 / x;
    /// # }
    /// // SAFETY: it takes a number.
    /// let fault = unsafe { sim::launch!(divide<<<1, 1>>>(0)) }.unwrap_err();
    /// assert!(fault.cause().starts_with("panic: attempt to divide by zero"));
    /// ```
    pub fn cause(&self) -> String {
        format!("{}{}", self.kind, at(self.place))
    }
}

/// ", at src/lib.rs:3:5"
fn at(place: Option<&Location>) -> String {
    place.map(|place| format!(", at {place}")).unwrap_or_default()
}

/// What a thread was doing to memory.
///
/// ```
/// # use cuda_std::{kernel, sim, thread};
/// assert_eq!(sim::Access::VolatileRead.to_string(), "volatile read");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// A load that asks for what others wrote.
    VolatileRead,
    /// A store that others may read at once.
    VolatileWrite,
    /// A read-modify-write.
    Atomic,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::VolatileRead => "volatile read",
            Access::VolatileWrite => "volatile write",
            Access::Atomic => "atomic operation",
        })
    }
}

/// A memory cell, as a race report names it.
///
/// ```
/// # use cuda_std::{kernel, sim, thread};
/// let place = sim::Place::Shared { array: "tile", offset: 12 };
/// assert_eq!(place.to_string(), "byte 12 of tile");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Global memory: byte `offset` of the buffer of `bytes` bytes that starts at `buffer`.
    Global {
        /// Address of the buffer.
        buffer: u64,
        /// Its size.
        bytes: u64,
        /// Bytes from its start.
        offset: u64,
    },
    /// Byte `offset` of a shared array.
    Shared {
        /// Name of the array in the PTX.
        array: &'static str,
        /// Bytes from its start.
        offset: u64,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Global { buffer, bytes, offset } => {
                write!(f, "byte {offset} of the buffer of {bytes} bytes at {buffer:#x}")
            }
            Place::Shared { array, offset } => write!(f, "byte {offset} of {array}"),
        }
    }
}

/// The kinds of [`Fault`].
///
/// ```
/// # use cuda_std::{kernel, sim, thread};
/// # #[kernel]
/// # pub unsafe fn fail() {
/// #     cuda_std::panic!("no pivot");
/// # }
/// // SAFETY: it has no arguments.
/// let fault = unsafe { sim::launch!(fail<<<1, 1>>>()) }.unwrap_err();
/// match fault.kind {
///     sim::FaultKind::Panic { message, .. } => assert_eq!(message, "no pivot"),
///     other => unreachable!("{other}"),
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// The grid or the block is larger than a device takes, or the block is empty.
    #[error(
        "cannot launch {grid} blocks of {block} threads with {shared_bytes} bytes of dynamic shared memory; \
         use 1 block or more, 1 to 1024 threads in a block, 64 along z, and 227 KiB"
    )]
    Configuration {
        /// Blocks.
        grid: Dim3,
        /// Threads per block.
        block: Dim3,
        /// Bytes of dynamic shared memory.
        shared_bytes: u32,
    },
    /// The blocks cannot be put into clusters of that size.
    #[error(
        "cannot launch {grid} blocks in clusters of {cluster}; a cluster has 1 to 8 blocks, and each of its \
         sizes divides the grid's"
    )]
    Clusters {
        /// Blocks.
        grid: Dim3,
        /// Blocks in a cluster.
        cluster: Dim3,
    },
    /// An access outside of the buffer its pointer points into.
    #[error(
        "{access} of {size} bytes at {address:#x}, element {index} of a buffer of {length} \
         ({bytes} bytes at {buffer:#x})"
    )]
    OutOfBounds {
        /// Load, store, ...
        access: Access,
        /// Where.
        address: u64,
        /// Bytes accessed.
        size: u64,
        /// Address of the buffer.
        buffer: u64,
        /// Its size.
        bytes: u64,
        /// The index from the start of the buffer, in elements of `size` bytes.
        index: i64,
        /// The number of such elements the buffer has.
        length: u64,
    },
    /// An access to memory that is no buffer's.
    #[error("{access} of {size} bytes at {address:#x}, where no buffer is")]
    Unregistered {
        /// Load, store, ...
        access: Access,
        /// Where.
        address: u64,
        /// Bytes accessed.
        size: u64,
    },
    /// An address that is no multiple of the size accessed.
    #[error("{access} of {size} bytes at {address:#x}, which is not aligned to {size}")]
    Misaligned {
        /// Load, store, ...
        access: Access,
        /// Where.
        address: u64,
        /// Bytes accessed.
        size: u64,
    },
    /// A read of global memory that nobody wrote.
    #[error(
        "read of element {index}, which was never written, of the buffer of {bytes} bytes at {buffer:#x}"
    )]
    UnwrittenGlobal {
        /// Address of the buffer.
        buffer: u64,
        /// Its size.
        bytes: u64,
        /// The index from the start of the buffer, in elements of the size read.
        index: u64,
    },
    /// An access outside of a shared array.
    #[error("{access} of element {index} of {array}, which has {length}")]
    SharedOutOfBounds {
        /// Load or store.
        access: Access,
        /// Name of the array in the PTX.
        array: &'static str,
        /// The index.
        index: u64,
        /// Number of elements.
        length: u64,
    },
    /// A read of shared memory that no thread of the block wrote.
    #[error("read of element {index} of {array}, which no thread of this block has written")]
    UnwrittenShared {
        /// Name of the array in the PTX.
        array: &'static str,
        /// The index.
        index: u64,
    },
    /// Threads wait for each other at different places, or for threads that have exited.
    #[error("the threads of a block went different ways: {}", ways(waiting, *exited))]
    Divergence {
        /// The threads (first, last, and how many) that wait, by what they wait for.
        waiting: Vec<Waiting>,
        /// How many threads of the block have exited.
        exited: u32,
    },
    /// A barrier of the grid in a launch whose blocks need not all have a place at once.
    #[error("sync_grid in a launch that is not cooperative")]
    NotCooperative,
    /// Some blocks wait at a barrier of the grid, and others have ended.
    #[error("{waiting} blocks wait in sync_grid; {ended} have ended")]
    GridDivergence {
        /// Blocks that wait.
        waiting: u32,
        /// Blocks that have ended.
        ended: u32,
    },
    /// A rank that no block of the cluster has.
    #[error("there is no block of rank {rank} in a cluster of {blocks}")]
    ClusterRank {
        /// The rank.
        rank: u32,
        /// Blocks in the cluster.
        blocks: u32,
    },
    /// An access to the shared memory of another block of the cluster, which may not be there.
    #[error("{access} of {array} of the block of rank {rank} in the cluster, which {reason}")]
    ClusterMemory {
        /// Load, store, ...
        access: Access,
        /// Name of the array in the PTX.
        array: &'static str,
        /// The block.
        rank: u32,
        /// "has ended", "may not have begun: cluster::sync comes first".
        reason: &'static str,
    },
    /// A block ended, and nothing ensures that another has made its last access to its shared memory.
    #[error(
        "the block of rank {rank} in the cluster has ended, and others may still access its shared memory as \
         at {place}; cluster::sync comes between"
    )]
    ClusterEnd {
        /// The block.
        rank: u32,
        /// Where in the source another accessed it.
        place: &'static Location<'static>,
    },
    /// A thread arrives twice, or waits without having arrived.
    #[error("{call}; each thread calls cluster::arrive and cluster::wait in turn")]
    ClusterOrder {
        /// "cluster::arrive for the second time without cluster::wait", "cluster::wait without
        /// cluster::arrive".
        call: &'static str,
    },
    /// Some threads wait at a barrier of the cluster, and others wait elsewhere, so that they never arrive.
    #[error("{waiting} threads of the cluster wait in cluster::wait at {place}; {missing} wait elsewhere{}",
            at(*elsewhere))]
    ClusterDivergence {
        /// Threads that wait.
        waiting: u32,
        /// Where in the source, the first of them.
        place: &'static Location<'static>,
        /// Threads that have not arrived.
        missing: u32,
        /// Where in the source, the first of them.
        elsewhere: Option<&'static Location<'static>>,
    },
    /// A warp-wide operation without its caller among its lanes.
    #[error("lane {lane} calls {call} with mask {mask:#010x}, which does not contain it")]
    NotInMask {
        /// The call and its place.
        call: String,
        /// The caller.
        lane: u32,
        /// The mask it gave.
        mask: u32,
    },
    /// A shuffle width that is no power of two up to 32.
    #[error("shuffle of width {width}; use a power of two up to 32")]
    ShuffleWidth {
        /// The width given.
        width: u32,
    },
    /// A shuffle from a lane that has exited, never existed, or is not in the mask.
    #[error("lane {lane} takes the value of lane {source_lane}, which {reason} ({call})")]
    InactiveLane {
        /// The call and its place.
        call: String,
        /// The lane that reads.
        lane: u32,
        /// The lane read from.
        source_lane: u32,
        /// "has exited", "is not in the mask", "is beyond the block".
        reason: &'static str,
    },
    /// A word of shared memory that is no barrier of bulk copies.
    #[error("{array} is no barrier of copies: bulk::Barrier::init comes first")]
    NoBarrier {
        /// Name of the array in the PTX.
        array: &'static str,
    },
    /// A phase of bulk copies is closed, and nobody has waited for the one in front.
    #[error("bulk::Barrier::commit at {array} before anybody has waited for the phase in front")]
    PhaseNotWaitedFor {
        /// Name of the array of the barrier.
        array: &'static str,
    },
    /// Two accesses that nothing orders, at least one of them a write.
    #[error("{access} races with the {other_access} by block {other_block}, thread {other_thread}: {place}")]
    Race {
        /// What the thread did.
        access: Access,
        /// What the other had done.
        other_access: Access,
        /// The other thread's block.
        other_block: u32,
        /// The other thread.
        other_thread: u32,
        /// Where.
        place: Place,
    },
    /// Two accesses by different blocks, one of them an atomic operation that is one for its own block alone.
    #[error(
        "{access} and {other_access} by block {other_block}, thread {other_thread}, at least one of them of a \
         block's scope, which is not atomic for others: {place}"
    )]
    ScopeRace {
        /// What the thread did.
        access: Access,
        /// What the other had done.
        other_access: Access,
        /// The other thread's block.
        other_block: u32,
        /// The other thread.
        other_thread: u32,
        /// Where.
        place: Place,
    },
    /// A thread accesses memory without end, as one does that waits for a block that comes later.
    #[error(
        "{accesses} accesses to memory without an end: it seems to wait for what another thread has not \
         written. Options::blocks_at_once lets more blocks run at a time, and Options::patience allows more \
         accesses"
    )]
    Endless {
        /// How many there were while no thread waited or ended.
        accesses: u64,
    },
    /// A thread of a kernel under `#[kernel(.., waits)]` ended without waiting for the grid in front.
    #[error("ends without a call of grid_dependency_wait")]
    NoWait,
    /// An access to memory that the grid in front may still be using.
    #[error("{access} before grid_dependency_wait")]
    AccessBeforeWait {
        /// All but a plain load, which may be of memory that no kernel writes.
        access: Access,
    },
    /// A thread cannot be started.
    #[error("no memory for a thread's stack: {error}")]
    NoStack {
        /// What the operating system says.
        error: String,
    },
    /// The kernel's body panicked, as by an index out of bounds; on the device it traps.
    #[error("panic: {message}, at {place}")]
    Panic {
        /// Its message.
        message: String,
        /// Where in the source, with line and column.
        place: String,
    },
}

/// Threads that wait for the same thing.
///
/// ```
/// # use cuda_std::{kernel, sim, thread};
/// # #[kernel]
/// # pub unsafe fn half() {
/// #     if thread::thread_idx_x() < 16 {
/// #         thread::sync_threads();
/// #     }
/// # }
/// # // SAFETY: it has no arguments.
/// # let fault = unsafe { sim::launch!(half<<<1, 32>>>()) }.unwrap_err();
/// let sim::FaultKind::Divergence { waiting, .. } = fault.kind else { unreachable!() };
/// assert_eq!((waiting[0].call, waiting[0].threads.len()), ("sync_threads", 16));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The call: `sync_threads`, `warp_shuffle`, ...
    pub call: &'static str,
    /// Where in the source.
    pub place: &'static Location<'static>,
    /// The threads, ascending.
    pub threads: Vec<u32>,
}

/// The groups as text: "threads 0 to 31 (32) wait in sync_threads at a.rs:3:5; 16 have exited".
fn ways(waiting: &[Waiting], exited: u32) -> String {
    let mut text = String::new();
    for Waiting { call, place, threads } in waiting {
        let (first, last, count) = (threads[0], threads[threads.len() - 1], threads.len());
        text += &format!("{count} wait in {call} at {place} (threads {first} to {last}); ");
    }
    text + &format!("{exited} have exited")
}

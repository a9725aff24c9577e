//! The simulator: kernels on the host, thread by thread, for correctness on machines without a GPU.
//!
//! Blocks run one after another, in an order that can be chosen, or several at a time, by turns that change
//! at accesses to memory ([`Options::blocks_at_once`]). The threads of a block are coroutines that take turns
//! at barriers and warp-wide operations. The order of everything is the same in every run. What a GPU would
//! not notice ends the launch with a [`Fault`]: accesses outside of registered buffers, reads of shared
//! memory nobody wrote, barriers that some threads never reach, shuffles from lanes that have exited, and,
//! when asked for, races ([`Options`]) and reads of global memory nobody wrote ([`Memory::tracking_writes`]).
//!
//! Loads and stores of [`crate::memory`] and atomic operations are checked. What a kernel does to plain
//! references, slices and pointers is not, as in other Rust code; only that its indices are within a slice.
//!
//! [`explain`] counts what launches do, by the lines of the source: how many sectors of global memory the
//! accesses of warps touch, conflicts of banks, collisions of atomic operations, branches that part a warp.
//!
//! A kernel in which a block waits for a later one ends with a fault, unless they run at the same time, or it
//! does so in [`sync_grid`](crate::thread::sync_grid), for which all blocks of a cooperative launch have a
//! place at once, or for one of its [cluster](crate::cluster).
//!
//! ```
//! use cuda_std::{kernel, memory::*, sim, thread};
//!
//! /// y_i = x_i+1, also for the last one.
//! #[kernel]
//! pub unsafe fn shift(x: *const f32, y: *mut f32) {
//!     let i = thread::index_x();
//!     y.st(i, x.ld(i + 1));
//! }
//!
//! let (x, mut y) = ([1.0; 4], [0.0; 4]);
//! let mut memory = sim::Memory::new();
//! memory.register(x.as_ptr() as u64, 16);
//! memory.register(y.as_mut_ptr() as u64, 16);
//! let launch = shift { x: x.as_ptr(), y: y.as_mut_ptr() };
//! let fault = sim::run(&launch, 1, 4, &memory, &sim::Options::default()).unwrap_err();
//! assert_eq!((fault.block, fault.thread), (0, 3));
//! assert!(fault.to_string().contains("element 4 of a buffer of 4"));
//! ```

mod atomic;
mod block;
mod copies;
mod cost;
mod exchange;
mod fault;
mod function;
mod io;
mod loops;
mod memory;
mod occupancy;
mod options;
mod panic;
mod race;
mod report;
mod resident;
mod shared;
#[cfg(unix)]
mod stack;
pub(crate) mod thread;
mod trace;

pub use crate::__sim_launch as launch;
pub use fault::{Access, Fault, FaultKind, Place, Waiting};
#[doc(hidden)]
pub use function::call;
pub use function::with_options;
pub use io::captured;
pub use memory::Memory;
pub use occupancy::{Limit, Multiprocessor, Occupancy};
pub use options::{Options, Order};
pub use report::{KernelReport, Line, Operation, Report, explain};

use crate::host::{Configuration, Dim3, Kernel};

/// Threads in a block at most, as on every GPU.
pub const MAX_BLOCK: u32 = 1024;
/// Blocks in a cluster at most, as on every GPU that has clusters.
pub const MAX_CLUSTER: u32 = 8;
/// Bytes of dynamic shared memory at most, as on the largest GPU.
pub const MAX_SHARED_BYTES: u32 = 227 * 1024;

/// Runs `kernel` on `grid` blocks of `block` threads, which are numbers, pairs or triples.
///
/// On an error the launch stops where it is; what it wrote before stays written.
///
/// ```
/// # use cuda_std::{kernel, memory::*, sim, thread};
/// #[kernel]
/// pub unsafe fn fill(y: *mut f32) {
///     y.st(thread::index_x(), 1.5);
/// }
///
/// let mut y = [0.0; 8];
/// let mut memory = sim::Memory::new();
/// memory.register(y.as_mut_ptr() as u64, 32);
/// sim::run(&fill { y: y.as_mut_ptr() }, 2, 4, &memory, &sim::Options::default())?;
/// assert_eq!(y, [1.5; 8]);
/// # Ok::<(), sim::Fault>(())
/// ```
///
/// # Errors
/// The first fault.
pub fn run(
    kernel: &dyn Kernel,
    grid: impl Into<Dim3>,
    block: impl Into<Dim3>,
    memory: &Memory,
    options: &Options,
) -> Result<(), Fault> {
    run_configured(kernel, Configuration::new(grid, block), memory, options)
}

/// [`run`] with dynamic shared memory.
///
/// ```
/// # use cuda_std::{kernel, memory::*, sim, thread};
/// use cuda_std::{host::Configuration, shared};
///
/// #[kernel]
/// pub unsafe fn turn(y: *mut f32) {
///     let (tile, t) = (shared::dynamic_shared::<f32>(), thread::thread_idx_x() as usize);
///     tile.set(t, y.ld(t));
///     thread::sync_threads();
///     y.st(t, tile.get(3 - t));
/// }
///
/// let mut y = [1.0, 2.0, 3.0, 4.0];
/// let mut memory = sim::Memory::new();
/// memory.register(y.as_mut_ptr() as u64, 16);
/// let configuration = Configuration { shared_bytes: 16, ..Configuration::new(1, 4) };
/// let launch = turn { y: y.as_mut_ptr() };
/// sim::run_configured(&launch, configuration, &memory, &sim::Options::default())?;
/// assert_eq!(y, [4.0, 3.0, 2.0, 1.0]);
/// # Ok::<(), sim::Fault>(())
/// ```
///
/// # Errors
/// The first fault.
pub fn run_configured(
    kernel: &dyn Kernel,
    configuration: Configuration,
    memory: &Memory,
    options: &Options,
) -> Result<(), Fault> {
    let Configuration { grid, block, shared_bytes, cluster, .. } = configuration;
    let fits = (1..=u64::from(MAX_BLOCK)).contains(&block.count())
        && block.z <= 64
        && grid.count() <= i32::MAX as u64
        && grid.y.max(grid.z) <= 65535
        && shared_bytes <= MAX_SHARED_BYTES;
    let clusters_fit = (1..=u64::from(MAX_CLUSTER)).contains(&cluster.count())
        && [(grid.x, cluster.x), (grid.y, cluster.y), (grid.z, cluster.z)].iter().all(|(n, m)| n % m == 0);
    let fault = if !fits {
        Some(FaultKind::Configuration { grid, block, shared_bytes })
    } else {
        (!clusters_fit).then_some(FaultKind::Clusters { grid, cluster })
    };
    if let Some(kind) = fault {
        return Err(Fault { kernel: kernel.name(), block: 0, thread: 0, place: None, kind });
    }
    block::Grid::new(kernel, configuration, memory, options).run()
}

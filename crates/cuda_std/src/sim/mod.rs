//! The simulator: kernels on the host, thread by thread, for correctness on machines without a GPU.
//!
//! Blocks run one after another. The threads of a block are coroutines that take turns at barriers and
//! warp-wide operations only, so the order of everything is the same in every run. What a GPU would not
//! notice ends the launch with a [`Fault`]: accesses outside of registered buffers, reads of shared memory
//! nobody wrote, barriers that some threads never reach, shuffles from lanes that have exited, and, when
//! asked for, races ([`Options`]) and reads of global memory nobody wrote ([`Memory::tracking_writes`]).
//!
//! A kernel in which a block waits for a later one never ends here.

mod block;
mod exchange;
mod fault;
mod memory;
mod options;
mod race;
mod shared;
pub(crate) mod thread;

pub use fault::{Access, Fault, FaultKind, Place, Waiting};
pub use memory::Memory;
pub use options::Options;

use crate::host::Kernel;

/// Threads in a block at most, as on every GPU.
pub const MAX_BLOCK: u32 = 1024;

/// Runs `kernel` on `grid` blocks of `block` threads.
///
/// On an error the launch stops where it is; what it wrote before stays written.
///
/// # Errors
/// The first fault.
pub fn run(
    kernel: &dyn Kernel,
    grid: u32,
    block: u32,
    memory: &Memory,
    options: &Options,
) -> Result<(), Fault> {
    if block == 0 || block > MAX_BLOCK || grid > i32::MAX as u32 {
        let kind = FaultKind::Configuration { grid, block };
        return Err(Fault { kernel: kernel.name(), block: 0, thread: 0, kind });
    }
    block::Grid::new(kernel, grid, block, memory, options).run()
}

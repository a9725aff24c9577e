//! The GPU kernels of warpsolve.
//!
//! One source, three ways to run it: compiled to PTX for a GPU, run thread by thread in the simulator of
//! `cuda_std`, and, through the structs that `#[kernel]` makes, named and typed for whoever launches it.
//!
//! Conventions of every kernel:
//!
//! - One-dimensional grids and blocks; [`BLOCK`] threads a block wherever there is a reduction.
//! - The last argument of a kernel that a solver's loop launches is a [`monitor::Guard`], or a
//!   [`monitor::Monitor`] with one in it. Once it is raised the kernel does nothing: a solver raises it on
//!   the device the moment it has converged or broken down, and whatever the host queued before it learns
//!   of that leaves every vector as it is.
//! - On devices of compute capability 9.0 and later a kernel starts while the one in front of it on the
//!   stream still runs. `#[kernel]` makes every thread wait for that one's end before the body begins. A
//!   kernel under `#[kernel(.., waits)]` calls [`cuda_std::thread::grid_dependency_wait`] itself: every
//!   thread does, on every path, the early returns too, and before it loads nothing but what no kernel
//!   writes (matrix structure and values) and stores nothing at all.
//! - Reductions add in an order that depends on the sizes and the grid alone, so that every run on the same
//!   device gives the same bits.
#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, asm_experimental_arch))]
#![allow(clippy::missing_safety_doc, clippy::too_many_arguments)]

pub mod blas1;
pub mod coefficient;
pub mod epilogue;
pub mod gram_schmidt;
pub mod krylov;
pub mod monitor;
pub mod reduce;
pub mod spmv;
mod unroll;

/// Threads a block in every launch of these kernels.
pub const BLOCK: u32 = 256;

/// Most blocks that a kernel with a reduction is launched on; scratch memory is sized by it.
pub const MAX_REDUCTION_BLOCKS: u32 = 8192;

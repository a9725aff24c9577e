//! Device-side standard library for GPU kernels written in Rust.
//!
//! The same source compiles for three places: on `nvptx64` every function is an instruction or two of
//! PTX; on the host the same functions act on the simulated thread that is current ([`sim`]); and the
//! scalars ([`Real`]) serve host code too. A kernel is an `unsafe fn` under [`kernel`]:
//!
//! ```
//! use cuda_std::{kernel, memory::*, thread};
//!
//! /// y = x + y
//! #[kernel]
//! pub unsafe fn vadd(n: u32, x: *const f64, y: *mut f64) {
//!     let i = thread::index_x();
//!     if i < n as usize {
//!         y.st(i, x.ld_nc(i) + y.ld(i));
//!     }
//! }
//!
//! let (x, mut y) = (vec![1.0; 100], vec![2.0; 100]);
//! let mut memory = cuda_std::sim::Memory::new();
//! memory.register(x.as_ptr() as u64, 800);
//! memory.register(y.as_mut_ptr() as u64, 800);
//! let launch = vadd { n: 100, x: x.as_ptr(), y: y.as_mut_ptr() };
//! cuda_std::sim::run(&launch, 4, 32, &memory, &cuda_std::sim::Options::default())?;
//! assert_eq!(y, vec![3.0; 100]);
//! # Ok::<(), cuda_std::sim::Fault>(())
//! ```
//!
//! The names are those of the published crate `cuda_std`, and kernels written for it compile. With
//! [`memory`] and [`shared!`] in the place of plain pointers, as above, the simulator checks every access.
//!
//! On the device a crate of kernels is `no_std`; `cuda_builder` sees to it.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(abi_unadjusted, asm_experimental_arch, core_intrinsics, link_llvm_intrinsics, stdarch_nvptx),
    allow(internal_features)
)]

extern crate alloc;

pub mod atomic;
pub mod bulk;
mod caching;
pub mod cfg;
pub mod cluster;
#[cfg(target_arch = "nvptx64")]
mod device;
pub mod float;
#[cfg(not(target_arch = "nvptx64"))]
pub mod host;
pub mod intrinsics;
pub mod io;
mod lanes;
mod math;
pub mod mem;
pub mod memory;
pub mod misc;
pub mod mma;
mod ordering;
pub mod pipeline;
pub mod prelude;
pub mod ptr;
#[cfg(feature = "rand")]
pub mod rand;
mod real;
pub mod shared;
#[cfg(not(target_arch = "nvptx64"))]
pub mod sim;
mod space;
pub mod thread;
mod vector;
pub mod warp;

#[doc(inline)]
pub use cuda_std_macros::{address_space, externally_visible, gpu_only, kernel, shared, shared_array};
pub use float::{FloatExt, GpuFloat};
#[cfg(feature = "glam")]
pub use glam;
#[cfg(feature = "half")]
pub use half::{self, bf16, f16};
pub use memory::{GlobalLoad, GlobalStore};
pub use real::Real;
pub use shared::Shared;
pub use vector::{UVec2, UVec3};
#[cfg(feature = "vek")]
pub use vek;

/// What a thread does to the machine: instructions, or requests to the simulator.
#[cfg(target_arch = "nvptx64")]
use device as platform;
#[cfg(not(target_arch = "nvptx64"))]
use sim::thread as platform;

/// Launches of a `#[kernel(batched)]` that can be made at once, at most.
pub const BATCH: usize = 8;

/// Where the types of a kernel's parameters are checked.
#[doc(hidden)]
#[inline(always)]
pub fn must_be_copy<T: Copy>() {}

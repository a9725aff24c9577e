//! What a thread does to the machine: PTX instructions.
//!
//! Barriers, shuffles and votes are LLVM intrinsics, because LLVM knows them to be convergent: inline
//! assembly may be duplicated or moved into a branch. Loads and stores are inline assembly where Rust has
//! no word for the caching.

mod atomic;
mod bulk;
mod cluster;
mod io;
mod memory;
mod misc;
mod mma;
mod pipeline;
mod pointer;
mod shared;
mod thread;
mod warp;

pub use atomic::*;
pub use bulk::*;
pub use cluster::*;
pub use io::*;
pub use memory::*;
pub use misc::*;
pub use mma::*;
pub use pipeline::*;
pub use pointer::*;
pub use shared::*;
pub use thread::*;
pub use warp::*;

/// A panic ends the kernel with its message. Where none are wanted, and `cuda_builder` asks rustc for code
/// that aborts at once, nothing calls it.
#[panic_handler]
fn panic(panic: &core::panic::PanicInfo) -> ! {
    let (file, line) = panic.location().map_or(("", 0), |place| (place.file(), place.line()));
    io::fail_at(format_args!("{}", panic.message()), file, line)
}

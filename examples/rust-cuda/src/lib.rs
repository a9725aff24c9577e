//! Kernels in the way of rust-cuda: slices for what is read, pointers for what is written, and no attributes
//! for the device at the head of the crate.
#![allow(clippy::missing_safety_doc, clippy::too_many_arguments, improper_ctypes_definitions)]

mod collatz;
mod gemm;
mod gemm_tiled;
mod path_tracer;
mod sha256;
mod vecadd;

pub use collatz::collatz;
pub use gemm::gemm;
pub use gemm_tiled::gemm_tiled;
pub use path_tracer::{Material, Scene, Sphere, View, path_tracer, to_bytes};
pub use sha256::{sha256, sha512_of_two};
pub use vecadd::vecadd;

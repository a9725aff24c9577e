//! Device-side standard library for GPU kernels written in Rust.
#![cfg_attr(target_arch = "nvptx64", no_std)]

#[cfg(not(target_arch = "nvptx64"))]
pub mod host;
mod real;

pub use real::Real;

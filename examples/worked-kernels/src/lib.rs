//! What the host does for each kernel: data, launch, and a look at the result.

mod counted;
mod histogram;
mod matmul;
mod nbody;
mod pi;
mod saxpy;
mod scan;
mod stencil;
mod vadd;

pub use counted::{Counted, counted};
pub use histogram::Histogram;
pub use matmul::Matmul;
pub use nbody::Nbody;
pub use pi::Pi;
pub use saxpy::Saxpy;
pub use scan::Scan;
pub use stencil::Stencil;
pub use vadd::Vadd;

use cust::error::CudaResult;
use cust::prelude::*;
use std::error::Error;
use std::fmt::Display;
use std::process::ExitCode;

/// A kernel with its data on the device.
pub trait Worked {
    /// Its name, and that of the file with the same in CUDA C++.
    fn name(&self) -> &'static str;
    /// What a launch does: so many bytes, operations or points, and a billion of them a second.
    fn work(&self) -> (f64, &'static str);
    /// Makes the results what they are before the first launch.
    fn reset(&mut self) -> CudaResult<()>;
    /// Queues it. The module is that of Rust or of CUDA C++: both take the same arguments.
    fn launch(&self, module: &Module, stream: &Stream) -> CudaResult<()>;
    /// What differs from the host's result, behind one launch.
    fn fault(&self) -> CudaResult<Option<String>>;
}

/// The kernels in Rust. In PTX for 9.0 each would begin with a wait for the kernel in front, which is for
/// launches that overlap; these do not, and vadd would take a third longer.
pub fn rust_module() -> CudaResult<Module> {
    Module::from_ptx(include_str!(concat!(env!("OUT_DIR"), "/sm_75.ptx")), &[])
}

/// The kernels for compute capability 8.0 and newer.
pub fn newer_rust_module() -> CudaResult<Module> {
    Module::from_ptx(include_str!(concat!(env!("OUT_DIR"), "/sm_80.ptx")), &[])
}

/// The kernels for compute capability 9.0 and newer.
pub fn newest_rust_module() -> CudaResult<Module> {
    Module::from_ptx(include_str!(concat!(env!("OUT_DIR"), "/sm_90.ptx")), &[])
}

/// The exit status of a program that ended so, whose error goes to stderr.
pub fn end(outcome: Result<(), Box<dyn Error>>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The first of two lists' elements that are not `equal`.
fn difference<T: Copy + Display, U: Copy + Display>(
    found: &[T],
    expected: &[U],
    equal: impl Fn(T, U) -> bool,
) -> Option<String> {
    let wrong = found.iter().zip(expected).position(|(&found, &expected)| !equal(found, expected));
    wrong.map(|i| format!("element {i} is {}, not {}", found[i], expected[i]))
}

/// Fractions without a pattern, from -1/2 to 1/2.
fn fractions(n: usize, by: u32) -> Vec<f32> {
    integers(n, by).into_iter().map(|bits| (bits >> 8) as f32 / 16_777_216.0 - 0.5).collect()
}

/// Numbers without a pattern.
fn integers(n: usize, by: u32) -> Vec<u32> {
    let mixed = |i: u32| (i ^ i >> 15).wrapping_mul(by | 1).wrapping_mul(2_654_435_769);
    (0..n as u32).map(|i| mixed(i) ^ mixed(i) >> 13).collect()
}

//! gpu-kernels -> PTX -> `ptx.rs` in `OUT_DIR`, which `src/ptx.rs` includes.

use cuda_builder::{BuildError, CudaBuilder, Policy, embed};
use std::path::PathBuf;
use std::process::ExitCode;

/// Volta, for whatever runs today's drivers, and Hopper.
const TARGETS: [&str; 2] = ["sm_70", "sm_90"];

fn main() -> ExitCode {
    match write_ptx() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write_ptx() -> Result<(), BuildError> {
    println!("cargo:rerun-if-changed=build.rs");
    let files = CudaBuilder::new("../gpu-kernels").archs(&TARGETS).obtain(Policy::from_env()?)?;
    let path = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("ptx.rs");
    std::fs::write(&path, embed(&files)?).map_err(|source| BuildError::Io { action: "write", path, source })
}

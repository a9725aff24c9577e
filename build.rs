//! gpu-kernels -> PTX -> `ptx.rs` in `OUT_DIR`, which `host/src/ptx.rs` includes: the build script of `host`,
//! where `host/build.rs` is a link to this file.

use cuda_builder::{BuildError, CudaBuilder, Policy, embed};
use std::path::PathBuf;
use std::process::ExitCode;

/// Volta, for whatever runs today's drivers, and Hopper.
const TARGETS: [&str; 2] = ["sm_70", "sm_90"];

/// Where the kernels are: said by their own build script, for they may come from a registry.
const KERNELS: &str = "DEP_WARPSOLVE_GPU_KERNELS_FOLDER";

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
    let kernels = PathBuf::from(std::env::var_os(KERNELS).unwrap_or_default());
    let files = CudaBuilder::new(kernels).archs(&TARGETS).obtain(Policy::from_env()?)?;
    let path = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("ptx.rs");
    std::fs::write(&path, embed(&files)?).map_err(|source| BuildError::Io { action: "write", path, source })
}

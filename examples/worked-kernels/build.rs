//! kernels -> PTX -> `sm_75.ptx` and `sm_90.ptx` in `OUT_DIR`, which `src/lib.rs` includes.

use cuda_builder::CudaBuilder;
use std::process::ExitCode;

fn main() -> ExitCode {
    println!("cargo:rerun-if-changed=build.rs");
    let folder = std::env::var("OUT_DIR").unwrap_or_default();
    match CudaBuilder::new("kernels").archs(&["sm_75", "sm_90"]).copy_to(folder).build() {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

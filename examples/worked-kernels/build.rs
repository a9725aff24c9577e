//! kernels -> PTX -> `sm_75.ptx` in `OUT_DIR`, which `src/lib.rs` includes and every newer GPU runs, and
//! `sm_80.ptx`, which has copies by the machine.

use cuda_builder::CudaBuilder;
use std::process::ExitCode;

fn main() -> ExitCode {
    println!("cargo:rerun-if-changed=build.rs");
    let folder = std::env::var("OUT_DIR").unwrap_or_default();
    match CudaBuilder::new("kernels").archs(&["sm_75", "sm_80"]).copy_to(folder).build() {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

//! Compiles `kernels` to PTX, which `src/main.rs` includes.

use cuda_builder::CudaBuilder;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    println!("cargo:rerun-if-changed=build.rs");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    // For compute capability 7.5 and newer.
    let builder = CudaBuilder::new("kernels").arch("sm_75");
    match builder.copy_to(folder.join("kernels.ptx")).build() {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

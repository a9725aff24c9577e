//! kernels -> PTX -> `sm_75.ptx` in `OUT_DIR`, which `src/lib.rs` includes and every newer GPU runs, and
//! `sm_80.ptx`, which has copies by the machine, and `sm_90.ptx`, which has clusters of blocks. errors -> PTX
//! -> `errors/sm_80.ptx`.

use cuda_builder::CudaBuilder;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    println!("cargo:rerun-if-changed=build.rs");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let kernels = CudaBuilder::new("kernels").archs(&["sm_75", "sm_80", "sm_90"]).copy_to(&folder);
    // For tools that name the line of an instruction.
    let kernels = kernels.generate_line_info(true);
    let errors = CudaBuilder::new("errors").archs(&["sm_80"]).copy_to(folder.join("errors"));
    match kernels.build().and_then(|_| errors.build()) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

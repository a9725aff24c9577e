//! kernels -> PTX -> `sm_75.ptx` and `sm_90.ptx` in `OUT_DIR`, which `src/lib.rs` includes.

use cuda_builder::CudaBuilder;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    CudaBuilder::new("kernels").archs(&["sm_75", "sm_90"]).copy_to(std::env::var("OUT_DIR")?).build()?;
    Ok(())
}

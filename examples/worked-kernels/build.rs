//! kernels -> PTX -> `sm_75.ptx` in `OUT_DIR`, which `src/lib.rs` includes and every newer GPU runs.

use cuda_builder::CudaBuilder;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    CudaBuilder::new("kernels").arch("sm_75").copy_to(std::env::var("OUT_DIR")?).build()?;
    Ok(())
}

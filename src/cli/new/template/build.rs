//! Compiles `kernels` to PTX, which `src/main.rs` includes.

use cuda_builder::CudaBuilder;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let ptx = PathBuf::from(std::env::var("OUT_DIR")?).join("kernels.ptx");
    // Compute capability 7.5 and newer.
    CudaBuilder::new("kernels")
        .arch("sm_75")
        .copy_to(ptx)
        .build()?;
    Ok(())
}

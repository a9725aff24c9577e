//! Tells the build script of a crate that depends on the kernels where they are, as
//! `DEP_WARPSOLVE_GPU_KERNELS_FOLDER`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::metadata=folder={}", std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
}

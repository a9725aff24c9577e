//! The kernels as PTX.

use cuda_builder::{CudaBuilder, Ptxas, Toolchain};

#[test]
fn every_kernel_is_an_entry_point() {
    if let Err(why) = Toolchain::find() {
        println!("skipped: {why}");
        return;
    }
    // 7.5 is the oldest that all of 12.0 to 13.x of ptxas know; 9.0 is compiled for below.
    let files = CudaBuilder::new(env!("CARGO_MANIFEST_DIR")).arch("sm_75").build().unwrap();
    for file in &files {
        let text = std::fs::read_to_string(&file.path).unwrap();
        for entry in
            ["collatz", "gemm", "gemm_tiled", "path_tracer", "sha256", "sha512_of_two", "to_bytes", "vecadd"]
        {
            assert_eq!(text.matches(&format!(".visible .entry {entry}(")).count(), 1, "{entry}");
        }
        // Two tiles in shared memory, and what Rust says to print.
        assert_eq!(text.matches("\n.shared .align 4 .b8 cuda_std_shared_").count(), 2);
        assert!(text.contains("vprintf") && text.contains("malloc"));
    }
    match Ptxas::find().unwrap() {
        Some(ptxas) => ptxas.check(&files).unwrap(),
        None => println!("skipped: there is no ptxas"),
    }
}

#[test]
fn lines_and_messages_are_there_on_request() {
    if Toolchain::find().is_err() {
        return;
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let copy = folder.join("kernels.ptx");
    let builder = CudaBuilder::new(env!("CARGO_MANIFEST_DIR")).arch("sm_90").target_dir(folder.join("lines"));
    let builder = builder.generate_line_info(true).panic_messages(true).emit_llvm_ir(true);
    let files = builder.build_args(&["--quiet"]).copy_to(&copy).build().unwrap();
    let text = std::fs::read_to_string(copy).unwrap();
    assert!(text.contains(".loc\t") && text.contains("vecadd.rs"));
    assert!(text.contains("__assertfail"), "panics have a message");
    assert!(files[0].path.with_extension("ll").is_file());
    if let Some(ptxas) = Ptxas::find().unwrap() {
        ptxas.check(&files).unwrap();
    }
}

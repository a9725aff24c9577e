//! The fake driver, compiled and loaded.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// Compiles fake_driver/libcuda.rs into the folder. None, with a printed reason, where it cannot.
pub fn compile(folder: &tempfile::TempDir) -> Option<PathBuf> {
    let library = folder.path().join("fake.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake_driver/libcuda.rs");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition=2024", "--crate-type=cdylib", "-o"]).arg(&library).arg(source);
    match rustc.output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(library)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            println!("skipped: no rustc to compile the fake driver with: {error}");
            None
        }
        Err(error) => panic!("rustc does not run: {error}"),
    }
}

/// Loads the fake, once for all tests of the process. None, with a printed reason, where there is none.
#[allow(dead_code, reason = "not every test uses it")]
pub fn fake() -> Option<&'static PathBuf> {
    static LOADED: OnceLock<Option<PathBuf>> = OnceLock::new();
    let loaded = LOADED.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let library = compile(&folder)?;
        // SAFETY: the fake has the driver's signatures for the functions it has.
        unsafe { cust::driver::load_from(&library) }.unwrap();
        // The file stays, so that a test can look into the library.
        let _ = folder.keep();
        Some(library)
    });
    loaded.as_ref()
}

//! Arguments pass through the trampolines unharmed: a library made up here stands in for the driver.

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Three of the driver's names, two of them with signatures of their own: trampolines know of none.
const FAKE: &str = r#"
use std::ffi::c_void;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    f: *mut c_void, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32,
    stream: *mut c_void, arguments: *mut *mut c_void, extra: *mut *mut c_void,
) -> u32 {
    let numbers = [gx, gy, gz, bx, by, bz, shared] == [1, 2, 3, 4, 5, 6, 7];
    let pointers = f as usize == 8 && stream as usize == 9 && extra as usize == 10;
    unsafe { **(arguments as *mut *mut f64) = 0.125 };
    if numbers && pointers { 0 } else { 1 }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemAdvise(
    a: f64, i: u64, b: f32, c: f64, d: f64, j: i8, e: f64, f: f64, g: f64, h: f64, last: f64, k: u16,
) -> u32 {
    let floats = [a, b as f64, c, d, e, f, g, h, last] == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5];
    if floats && i == u64::MAX - 1 && j == -3 && k == 65_535 { 0 } else { 1 }
}

#[repr(C)]
pub struct Large([u64; 5]);

#[unsafe(no_mangle)]
pub extern "C" fn cuMemPrefetchAsync(large: Large, last: u32) -> Large {
    Large(large.0.map(|x| x * u64::from(last)))
}
"#;

#[repr(C)]
struct Large([u64; 5]);

unsafe extern "C" {
    fn cuInit(flags: u32) -> u32;
    #[allow(clippy::too_many_arguments)]
    fn cuLaunchKernel(
        f: *mut c_void,
        gx: u32,
        gy: u32,
        gz: u32,
        bx: u32,
        by: u32,
        bz: u32,
        shared: u32,
        stream: *mut c_void,
        arguments: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> u32;
    #[allow(clippy::too_many_arguments)]
    fn cuMemAdvise(
        a: f64,
        i: u64,
        b: f32,
        c: f64,
        d: f64,
        j: i8,
        e: f64,
        f: f64,
        g: f64,
        h: f64,
        last: f64,
        k: u16,
    ) -> u32;
    fn cuMemPrefetchAsync(large: Large, last: u32) -> Large;
}

/// The fake as a shared library; None, with a printed reason, where it cannot be compiled.
fn compile(folder: &Path) -> Option<PathBuf> {
    let (source, library) = (folder.join("fake.rs"), folder.join("fake.so"));
    std::fs::write(&source, FAKE).unwrap();
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition=2024", "--crate-type=cdylib", "-o"]).args([&library, &source]);
    match rustc.output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(library)
        }
        Err(e) => {
            println!("skipped: no rustc to compile the fake driver with: {e}");
            None
        }
    }
}

#[test]
fn arguments_pass_through_unharmed() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = compile(folder.path()) else { return };

    // SAFETY: nothing is loaded yet, so that the entry returns an error code.
    assert_eq!(unsafe { cuInit(0) }, libcuda::NOT_INITIALIZED);
    // SAFETY: the fake's functions have the signatures declared above.
    unsafe { libcuda::load_from(&library) }.unwrap();

    let pointer = |number: usize| number as *mut c_void;
    let mut written = 0.0_f64;
    let mut arguments = [(&raw mut written).cast::<c_void>()];
    // SAFETY: the fake reads numbers only, and writes through the first argument, which is an f64.
    let status = unsafe {
        let arguments = arguments.as_mut_ptr();
        cuLaunchKernel(pointer(8), 1, 2, 3, 4, 5, 6, 7, pointer(9), arguments, pointer(10).cast())
    };
    assert_eq!((status, written), (0, 0.125));

    // SAFETY: these functions take numbers only. The second thread finds the table filled.
    std::thread::spawn(|| unsafe {
        let status = cuMemAdvise(0.5, u64::MAX - 1, 1.5, 2.5, 3.5, -3, 4.5, 5.5, 6.5, 7.5, 8.5, 65_535);
        assert_eq!(status, 0);
        assert_eq!(cuMemPrefetchAsync(Large([1, 2, 3, 4, 5]), 7).0, [7, 14, 21, 28, 35]);
    })
    .join()
    .unwrap();

    // SAFETY: the fake has no cuInit, so that the entry returns an error code.
    assert_eq!(unsafe { cuInit(0) }, libcuda::SYMBOL_NOT_FOUND);

    // SAFETY: the first is loaded already, the second refused.
    unsafe {
        libcuda::load_from(&library).unwrap();
        let refused = libcuda::load_from("libm.so.6").unwrap_err();
        assert!(refused.to_string().contains("fake.so is loaded already"), "{refused}");
    }
    libcuda::load().expect("a driver is loaded");
}

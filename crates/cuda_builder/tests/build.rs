//! Compiles small kernel crates for real, where a toolchain is there to do it.

use cuda_builder::{BuildError, CudaBuilder, Policy, PtxFile, Toolchain};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// A branch before and the same branch after a barrier is what jump threading takes apart; the table,
/// the function and the bounds check are what could carry names of folders.
const KERNELS: &str = r#"
#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]
use core::arch::nvptx::{_syncthreads, _thread_idx_x, trap};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! { unsafe { trap() } }

static TABLE: [f64; 5] = [0.1, 0.7, 0.3, 0.9, 0.2];

#[inline(never)]
fn outlined(x: &[f64], i: usize) -> f64 { x[i] / 3.0 + TABLE[i % 5] }

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn table(n: u32, x: *const f64, y: *mut f64) {
    let i = unsafe { _thread_idx_x() } as usize;
    let x = unsafe { core::slice::from_raw_parts(x, n as usize) };
    unsafe { *y.add(i) = outlined(x, i) + outlined(x, i + 1) };
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn one_barrier(n: u32, x: *mut f64) {
    let i = unsafe { _thread_idx_x() } as u32;
    if i < n { unsafe { *x.add(i as usize) += 1.0 } }
    unsafe { _syncthreads() };
    if i < n { unsafe { *x.add(i as usize) *= *x.add((n - 1 - i) as usize) } }
}
"#;

fn kernel_crate(folder: &Path, source: &str) -> CudaBuilder {
    fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = "[package]\nname = \"some-kernels\"\nedition = \"2024\"\n[workspace]\n";
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/lib.rs"), source).unwrap();
    CudaBuilder::new(folder).archs(&["sm_90", "sm_70"])
}

/// The folder to compile in: one for all tests and kept between runs, so that `core` is compiled once.
fn target_dir() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cuda_builder")
}

/// Permission to compile in [`target_dir`], one test at a time; says why where nothing can be compiled.
fn can_compile() -> Option<MutexGuard<'static, ()>> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    match Toolchain::find() {
        Ok(toolchain) => {
            println!("compiling with {} ({})", toolchain.version, toolchain.rustc.display());
            Some(ONE_AT_A_TIME.lock().unwrap_or_else(|failed| failed.into_inner()))
        }
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

#[test]
fn ptx_does_not_depend_on_the_folder_and_has_no_doubled_barrier() {
    let Some(_alone) = can_compile() else { return };
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let texts = folders.each_ref().map(|folder| {
        let folder = folder.path();
        let copies = folder.join("copies");
        let builder =
            kernel_crate(&folder.join("kernels"), KERNELS).target_dir(target_dir()).copy_to(&copies);
        let files = builder.build().unwrap();
        assert_eq!(files.iter().map(|file| file.arch.as_str()).collect::<Vec<_>>(), ["sm_90", "sm_70"]);
        texts(&files, &copies)
    });
    assert_eq!(texts[0], texts[1]);
    for (arch, text) in &texts[0] {
        assert!(text.contains(&format!(".target {arch}")), "{text}");
        for entry in [".visible .entry table(", ".visible .entry one_barrier("] {
            assert!(text.contains(entry), "no {entry} in:\n{text}");
        }
        assert_eq!(text.matches("bar.sync").count(), 1, "{text}");
        for trace in ["//", "/src", "tmp", ".file", "lib.rs"] {
            assert!(!text.contains(trace), "{trace:?} in:\n{text}");
        }
    }
}

/// Target and text of every file, which must be that of its copy.
fn texts(files: &[PtxFile], copies: &Path) -> Vec<(String, String)> {
    let text = |file: &PtxFile| {
        let text = fs::read_to_string(&file.path).unwrap();
        assert_eq!(fs::read_to_string(copies.join(format!("{}.ptx", file.arch))).unwrap(), text);
        assert!(file.origin.starts_with("built by rustc 1."), "{}", file.origin);
        (file.arch.clone(), text)
    };
    files.iter().map(text).collect()
}

#[test]
fn kept_ptx_serves_until_the_sources_change() {
    let Some(_alone) = can_compile() else { return };
    let folder = tempfile::tempdir().unwrap();
    let builder = kernel_crate(folder.path(), KERNELS).target_dir(target_dir());
    assert!(matches!(builder.obtain(Policy::Kept), Err(BuildError::Kept { .. })));
    assert!(matches!(builder.current_stamp(), Err(BuildError::Kept { .. })));

    let stamp = builder.keep().unwrap();
    assert_eq!(builder.current_stamp().unwrap(), stamp);
    let origin = |policy| builder.obtain(policy).unwrap()[0].origin.clone();
    assert_eq!(origin(Policy::Auto), format!("kept, {}", stamp.compiler));
    assert_eq!(origin(Policy::Build), format!("built by {}", stamp.compiler));

    fs::write(folder.path().join("src/lib.rs"), KERNELS.replace("+= 1.0", "+= 1.5")).unwrap();
    assert!(builder.current_stamp().unwrap_err().to_string().contains("sources have changed"));
    assert_eq!(origin(Policy::Auto), format!("built by {}", stamp.compiler));
    assert_eq!(origin(Policy::Kept), format!("kept, {}", stamp.compiler));
}

#[test]
fn an_error_in_a_kernel_is_reported_as_rustc_says_it() {
    let Some(_alone) = can_compile() else { return };
    let folder = tempfile::tempdir().unwrap();
    let wrong = KERNELS.replace("let i = unsafe { _thread_idx_x() } as u32;", "let i = 1.5;");
    let builder = kernel_crate(folder.path(), &wrong).target_dir(target_dir());
    let message = builder.build().unwrap_err().to_string();
    for part in ["some-kernels for sm_90", "mismatched types", "lib.rs:"] {
        assert!(message.contains(part), "no {part:?} in:\n{message}");
    }
    // The kept PTX is missing too, and both reasons are given.
    let message = builder.obtain(Policy::Auto).unwrap_err().to_string();
    assert!(message.contains("stamp.txt") && message.contains("mismatched types"), "{message}");
}

/// Arithmetic of f32, a kernel an operation.
const ARITHMETIC: &str = r#"
#![no_std]
#![feature(abi_ptx, core_intrinsics)]
#![allow(internal_features)]

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn quotient(x: *mut f32) { unsafe { *x /= *x.add(1) } }
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn root(x: *mut f32) { unsafe { *x = core::intrinsics::sqrtf32(*x) } }
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn product_and_sum(x: *mut f32) { unsafe { *x = *x * *x.add(1) + *x.add(2) } }
"#;

#[test]
fn arithmetic_is_exact_unless_speed_is_asked_for() {
    let Some(_alone) = can_compile() else { return };
    let folder = tempfile::tempdir().unwrap();
    let text = |options: fn(CudaBuilder) -> CudaBuilder| {
        let builder = options(kernel_crate(folder.path(), ARITHMETIC).arch("sm_70"));
        fs::read_to_string(&builder.target_dir(target_dir()).build().unwrap()[0].path).unwrap()
    };
    let has = |text: &str, all: &[&str]| {
        for instruction in all {
            assert!(text.contains(&format!("\t{instruction} ")), "no {instruction} in:\n{text}");
        }
    };
    has(&text(|builder| builder), &["div.rn.f32", "sqrt.rn.f32", "mul.rn.f32", "add.rn.f32"]);
    has(&text(|builder| builder.fast_div(true)), &["div.approx.f32", "sqrt.rn.f32", "mul.rn.f32"]);
    has(&text(|builder| builder.fast_sqrt(true)), &["div.rn.f32", "sqrt.approx.f32", "mul.rn.f32"]);
    has(&text(|builder| builder.fma_contraction(true)), &["div.rn.f32", "sqrt.rn.f32", "fma.rn.f32"]);
    let flushed = ["div.rn.ftz.f32", "sqrt.rn.ftz.f32", "mul.rn.ftz.f32", "add.rn.ftz.f32"];
    has(&text(|builder| builder.ftz(true)), &flushed);
    let fast = text(|builder| builder.ftz(true).fast_div(true).fast_sqrt(true).fma_contraction(true));
    has(&fast, &["div.approx.ftz.f32", "sqrt.approx.ftz.f32", "fma.rn.ftz.f32"]);
}

#[test]
fn lines_and_llvm_code_are_written_on_request() {
    let Some(_alone) = can_compile() else { return };
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("one.ptx");
    let builder = kernel_crate(folder.path(), KERNELS).target_dir(target_dir()).copy_to(&copy);
    let files = builder.generate_line_info(true).emit_llvm_ir(true).build().unwrap();
    // A file receives the text for the oldest target.
    let text = fs::read_to_string(&copy).unwrap();
    assert_eq!(text, fs::read_to_string(&files[1].path).unwrap());
    assert!(text.contains("\t.loc\t") && text.contains("src/lib.rs\""), "{text}");
    for arch in ["sm_90", "sm_70"] {
        let code = fs::read_to_string(target_dir().join(format!("{arch}.ll"))).unwrap();
        assert!(code.contains("define ptx_kernel void @one_barrier"), "{arch}");
    }
}

//! `launch::Driver` on machines without a GPU, against the fake driver of ../fake_driver.

use cuda_std::host::{self, Kernel};
use cust::context::CurrentContext;
use cust::memory::DeviceBuffer;
use std::ffi::c_void;
use std::io::Write;
use std::process::Command;
use std::sync::{Arc, OnceLock};
use warpsolve_host::Error;
use warpsolve_host::backend::Memory;
use warpsolve_host::backend::gpu::{DeviceVector, Gpu};
use warpsolve_host::launch::driver::{self, Driver, MachineCode, PDL_VARIABLE, PtxImage};
use warpsolve_host::launch::profile::Profiled;
use warpsolve_host::launch::{Batch, Counts, KernelAttributes, Launch};

mod launches;
mod loading;
mod memory;
mod recordings;

/// Compiles and loads the fake, once for all tests. False, with a printed reason, where it cannot.
fn fake() -> bool {
    static LOADED: OnceLock<bool> = OnceLock::new();
    *LOADED.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libcuda.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake_driver/libcuda.rs");
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition=2024", "--crate-type=cdylib", "-O", "-o"]).arg(&library).arg(source);
        match rustc.output() {
            Ok(output) => {
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                // SAFETY: the fake has the driver's signatures for the functions it has.
                unsafe { cust::driver::load_from(&library) }.unwrap();
                true
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                println!("skipped: no rustc to compile the fake driver with: {error}");
                false
            }
            Err(error) => panic!("rustc does not run: {error}"),
        }
    })
}

fn image(target: (u32, u32), text: &'static str) -> PtxImage {
    PtxImage { target, text: text.into(), machine_code: Vec::new() }
}

/// Device 0 takes the second image, whose kernels wait for those in front of them; device 1 the first.
fn open(ordinal: u32) -> Driver {
    let plain = ".version 6.0 .visible .entry scale(...) { } .visible .entry scale_batch(...) { } \
                 .visible .entry fault(...) { }";
    let waiting = ".version 7.8\n.visible .entry scale(...)\n{ griddepcontrol.wait; }\n\
                   .visible .entry scale_batch(...)\n{ griddepcontrol.wait; }\n\
                   .visible .entry fault(...)\n{ griddepcontrol.wait; }\n";
    Driver::open(ordinal, &[image((7, 0), plain), image((9, 0), waiting)]).unwrap()
}

/// data[i] = factor * data[i] + shift
#[repr(C)]
struct Scale {
    data: u64,
    n: u32,
    factor: f64,
    shift: f32,
}

impl Kernel for Scale {
    fn name(&self) -> &'static str {
        "scale"
    }
    fn arguments(&self, use_them: &mut dyn FnMut(&mut [*mut c_void])) {
        let Scale { data, n, factor, shift } = self;
        use_them(&mut [
            (&raw const *data).cast_mut().cast(),
            (&raw const *n).cast_mut().cast(),
            (&raw const *factor).cast_mut().cast(),
            (&raw const *shift).cast_mut().cast(),
        ]);
    }
    fn batched(&self) -> Option<host::Batched<'_>> {
        Some(host::Batched::of(self, "scale_batch"))
    }
    unsafe fn run(&self) {
        unreachable!("the driver runs PTX")
    }
}

/// A kernel without arguments.
struct Named(&'static str);

impl Kernel for Named {
    fn name(&self) -> &'static str {
        self.0
    }
    fn arguments(&self, use_them: &mut dyn FnMut(&mut [*mut c_void])) {
        use_them(&mut []);
    }
    unsafe fn run(&self) {
        unreachable!("the driver runs PTX")
    }
}

/// Bytes without a period that could hide a misplaced piece.
fn noise(length: usize) -> Vec<u8> {
    (0..length as u64).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 37) as u8).collect()
}

fn counts(driver: &Driver) -> Counts {
    driver.counters().snapshot()
}

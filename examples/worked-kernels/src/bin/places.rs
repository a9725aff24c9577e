//! saxpy with the places of its source in the module, so that tools name its lines.
//!
//!     places right    a launch that computes, for ncu
//!     places wrong    a launch whose y is nowhere, for compute-sanitizer and cuda-gdb to find
//!
//! `scripts/places.sh` runs the three.

use cust::module::ModuleJitOption;
use cust::prelude::*;
use kernels::saxpy::BLOCK;
use std::error::Error;
use std::process::ExitCode;
use worked_kernels::end;

const N: usize = 1 << 20;

fn main() -> ExitCode {
    end(match std::env::args().nth(1).as_deref() {
        Some("right") => run(true),
        Some("wrong") => run(false),
        _ => Err("what is to be launched? right or wrong".into()),
    })
}

fn run(right: bool) -> Result<(), Box<dyn Error>> {
    let _context = cust::quick_init()?;
    let ptx = include_str!(concat!(env!("OUT_DIR"), "/sm_80.ptx"));
    // The driver's compiler forgets the lines that the PTX has, unless it is told not to.
    let module = Module::from_ptx(ptx, &[ModuleJitOption::GenerateLineInfo(true)])?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let (x, y) = (vec![1.0_f32; N].as_slice().as_dbuf()?, vec![2.0_f32; N].as_slice().as_dbuf()?);
    let y = if right { y.as_device_ptr() } else { DevicePointer::null() };
    let grid = (N as u32).div_ceil(BLOCK);
    // SAFETY: x and y are as long as they should be, or the fault is wanted.
    unsafe { launch!(module.saxpy<<<grid, BLOCK, 0, stream>>>(3.0_f32, x.as_device_ptr(), N, y)) }?;
    stream.synchronize()?;
    Ok(())
}

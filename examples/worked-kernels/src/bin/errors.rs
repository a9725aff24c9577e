//! The largest errors of the functions of `f32`, over all 4 billion of them, on a GPU: a table in Markdown.

use cust::prelude::*;
use errors::{BLOCK, MEASURED, Measured};
use std::error::Error;

/// Enough to fill a large GPU.
const BLOCKS: u32 = 2048;
/// Numbers of a launch.
const COUNT: u32 = 1 << 30;

fn main() -> Result<(), Box<dyn Error>> {
    let _context = cust::quick_init()?;
    let module = Module::from_ptx(include_str!(concat!(env!("OUT_DIR"), "/errors/sm_80.ptx")), &[])?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    println!("| function | for | largest error | at |\n|---|---|---:|---:|");
    for measured in MEASURED {
        let (error, x) = largest(measured, &module, &stream)?;
        let range = match measured.up_to {
            f32::MAX => "all".into(),
            most => format!("-{most} to {most}"),
        };
        let unit = if measured.absolute { "x 2^-23" } else { "ulp" };
        println!("| `{}` | {range} | {error:.3} {unit} | {x:e} |", measured.function);
    }
    Ok(())
}

/// The largest error, and where it is.
fn largest(measured: &Measured, module: &Module, stream: &Stream) -> Result<(f32, f32), Box<dyn Error>> {
    let function = module.get_function(measured.kernel)?;
    let worst = DeviceBuffer::<u64>::zeroed(1)?;
    for part in 0..4_u32 {
        let (first, place) = (part * COUNT, worst.as_device_ptr());
        let (up_to, absolute) = (measured.up_to, u32::from(measured.absolute));
        // SAFETY: there is room for the result.
        unsafe { launch!(function<<<BLOCKS, BLOCK, 0, stream>>>(first, COUNT, up_to, absolute, place)) }?;
    }
    stream.synchronize()?;
    let worst = worst.as_host_vec()?[0];
    Ok((f32::from_bits((worst >> 32) as u32), f32::from_bits(worst as u32)))
}

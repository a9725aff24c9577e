//! Times the kernels beside those of CUDA C++, launched alike, and compares both results with the host's.
//!
//!     speeds [FOLDER]     where nvcc has put vadd.cubin and so on; without it Rust's kernels alone
//!
//! `scripts/worked-kernels.sh` compiles them and calls this.

use cust::error::CudaResult;
use cust::memory::AsyncCopyDestination;
use cust::prelude::*;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use worked_kernels::{Histogram, Matmul, Nbody, Pi, Saxpy, Scan, Stencil, Vadd, Worked, end, rust_module};

/// Times that are taken of each, by turns; the median counts.
const RUNS: usize = 11;
/// Launches between two events.
const LAUNCHES: usize = 10;
/// Bytes of the copy that the others are compared with.
const COPIED: usize = 512 << 20;

type Make = fn() -> CudaResult<Box<dyn Worked>>;

const KERNELS: [Make; 8] = [
    || Ok(Box::new(Vadd::new(1 << 26)?)),
    || Ok(Box::new(Saxpy::new(1 << 26)?)),
    || Ok(Box::new(Matmul::new(1024, 1024, 1024)?)),
    || Ok(Box::new(Histogram::new(1 << 26)?)),
    || Ok(Box::new(Scan::new(1 << 26)?)),
    || Ok(Box::new(Stencil::new([512; 3])?)),
    || Ok(Box::new(Pi::new(4096, 64)?)),
    || Ok(Box::new(Nbody::new(1 << 15)?)),
];

fn main() -> ExitCode {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    end(run(folder.as_deref()))
}

/// Prints the table.
fn run(folder: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let _context = cust::quick_init()?;
    let device = Device::get_device(0)?;
    let rust = rust_module()?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let copy = copy_bandwidth(&stream)?;
    println!("{}: a copy moves {copy:.0} GB/s\n", device.name()?);
    println!("| kernel    |  Rust us |  CUDA us | ratio |     Rust |          | of copy |");
    println!("|-----------|---------:|---------:|------:|---------:|----------|--------:|");
    for make in KERNELS {
        let mut kernel = make()?;
        let cuda = folder.map(|folder| cuda_module(folder, kernel.name())).transpose()?;
        let modules: Vec<&Module> = [&rust].into_iter().chain(&cuda).collect();
        for (module, language) in modules.iter().zip(["Rust", "CUDA"]) {
            check(kernel.as_mut(), module, &stream).map_err(|why| format!("{language}: {why}"))?;
        }
        println!("{}", row(kernel.as_ref(), &times(kernel.as_ref(), &modules, &stream)?, copy));
    }
    Ok(())
}

/// What nvcc has made of a file.
fn cuda_module(folder: &Path, name: &str) -> Result<Module, Box<dyn Error>> {
    let path = folder.join(format!("{name}.cubin"));
    Module::from_file(&path).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Compares the result of one launch with the host's.
fn check(kernel: &mut dyn Worked, module: &Module, stream: &Stream) -> Result<(), Box<dyn Error>> {
    kernel.reset()?;
    kernel.launch(module, stream)?;
    stream.synchronize()?;
    match kernel.fault()? {
        Some(fault) => Err(format!("{}: {fault}", kernel.name()).into()),
        None => Ok(()),
    }
}

/// The microseconds of a launch from each module.
fn times(kernel: &dyn Worked, modules: &[&Module], stream: &Stream) -> CudaResult<Vec<f64>> {
    let mut times = vec![Vec::new(); modules.len()];
    for run in 0..=RUNS {
        for (module, times) in modules.iter().zip(&mut times) {
            let time = microseconds(stream, || kernel.launch(module, stream))?;
            // The first warms up.
            if run > 0 {
                times.push(time);
            }
        }
    }
    Ok(times.into_iter().map(median).collect())
}

/// The device's time for what `queue` queues, the mean of some in a row.
fn microseconds(stream: &Stream, mut queue: impl FnMut() -> CudaResult<()>) -> CudaResult<f64> {
    let [start, end] = [Event::new(EventFlags::DEFAULT)?, Event::new(EventFlags::DEFAULT)?];
    start.record(stream)?;
    for _ in 0..LAUNCHES {
        queue()?;
    }
    end.record(stream)?;
    end.synchronize()?;
    Ok(f64::from(end.elapsed_time_f32(&start)?) * 1e3 / LAUNCHES as f64)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Of a copy on the device, in GB/s: what is read and what is written.
fn copy_bandwidth(stream: &Stream) -> CudaResult<f64> {
    let from = DeviceBuffer::<u8>::zeroed(COPIED)?;
    let mut to = DeviceBuffer::<u8>::zeroed(COPIED)?;
    let mut times = Vec::new();
    for _ in 0..=RUNS {
        // SAFETY: both live on until it is done.
        times.push(microseconds(stream, || unsafe { to.async_copy_from(&from, stream) })?);
    }
    Ok(2.0 * COPIED as f64 / median(times.split_off(1)) * 1e-3)
}

/// A line of the table.
fn row(kernel: &dyn Worked, times: &[f64], copy: f64) -> String {
    let (amount, unit) = kernel.work();
    let rate = amount / times[0] * 1e-3;
    let (cuda, ratio) = match times.get(1) {
        Some(cuda) => (format!("{cuda:.1}"), format!("{:.2}", times[0] / cuda)),
        None => Default::default(),
    };
    let of_copy = if unit == "GB/s" { format!("{:.0} %", 100.0 * rate / copy) } else { String::new() };
    let (name, rust) = (kernel.name(), times[0]);
    format!("| {name:9} | {rust:8.1} | {cuda:>8} | {ratio:>5} | {rate:8.0} | {unit:8} | {of_copy:>7} |")
}

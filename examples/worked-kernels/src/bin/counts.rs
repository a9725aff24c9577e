//! What kernels do to memory: counted by the simulator, or launched for ncu to count.
//!
//!     counts sim      a line for each launch: what it shows, the kernel, and what was counted
//!     counts cuda     the same launches on the GPU
//!     counts lines    the tables of `sim::explain`
//!
//! `scripts/explain.sh` compares the two.

use cuda_std::sim::{self, KernelReport, Memory, Operation, Options};
use cust::prelude::*;
use std::error::Error;
use std::process::ExitCode;
use worked_kernels::{Counted, counted, end, rust_module};

/// Words between two addresses at which data may begin: 256 bytes.
const ALIGNMENT: usize = 64;

fn main() -> ExitCode {
    end(match std::env::args().nth(1).as_deref() {
        Some("sim") => simulated(|launch, report| println!("{}", csv(launch, report))),
        Some("lines") => simulated(|launch, report| println!("{}\n{report}", launch.title)),
        Some("cuda") => on_gpu(),
        _ => Err("what is to be done? sim, cuda or lines".into()),
    })
}

/// Launches in the simulator, and what it counted.
fn simulated(say: impl Fn(&Counted, &KernelReport)) -> Result<(), Box<dyn Error>> {
    let (mut memory, mut data) = (Memory::new(), Vec::new());
    let launches = counted(|words| {
        let mut place = vec![0_u32; words.len() + ALIGNMENT];
        let ahead = place.as_ptr().align_offset(4 * ALIGNMENT);
        let address = place[ahead..].as_mut_ptr();
        place[ahead..][..words.len()].copy_from_slice(&words);
        memory.register(address as u64, 4 * words.len() as u64);
        data.push(place);
        address
    });
    for launch in launches {
        let run = || sim::run_configured(&*launch.kernel, launch.configuration, &memory, &Options::default());
        let (result, report) = sim::explain(run);
        result?;
        report.kernels.iter().for_each(|kernel| say(&launch, kernel));
    }
    Ok(())
}

/// Title, kernel, accesses and sectors of loads and of stores, and wavefronts of loads and of stores.
fn csv(launch: &Counted, report: &KernelReport) -> String {
    let total = |operation| report.total(|other| other == operation);
    let (load, store) = (total(Operation::GlobalLoad), total(Operation::GlobalStore));
    let [from_shared, to_shared] = [Operation::SharedLoad, Operation::SharedStore].map(|it| total(it).moved);
    let counts = [load.requests, load.moved, store.requests, store.moved, from_shared, to_shared];
    format!("{},{},{}", launch.title, report.name, counts.map(|count| count.to_string()).join(","))
}

/// Launches on the GPU, once each.
fn on_gpu() -> Result<(), Box<dyn Error>> {
    let _context = cust::quick_init()?;
    let module = rust_module()?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let mut data = Vec::new();
    let mut fault = None;
    let launches = counted(|words| match words.as_slice().as_dbuf() {
        Ok(buffer) => {
            let address = buffer.as_device_ptr().as_raw() as *mut u32;
            data.push(buffer);
            address
        }
        Err(error) => {
            fault = Some(error);
            std::ptr::null_mut()
        }
    });
    if let Some(error) = fault {
        return Err(error.into());
    }
    for Counted { kernel, configuration, .. } in launches {
        let function = module.get_function(kernel.name())?;
        let [grid, block] = [configuration.grid, configuration.block].map(|size| (size.x, size.y, size.z));
        let mut outcome = Ok(());
        kernel.arguments(&mut |arguments| {
            // SAFETY: the arguments are the kernel's, and its data lives on until the stream is done.
            outcome = unsafe { stream.launch(&function, grid, block, configuration.shared_bytes, arguments) };
        });
        outcome?;
        stream.synchronize()?;
    }
    Ok(())
}

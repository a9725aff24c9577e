//! What kernels did in the simulator, and how many of their blocks a GPU holds.

use std::collections::BTreeMap;
use std::panic::Location;

use cuda_builder::{BuildError, Ptxas};
use serde::Serialize;
use warpsolve::launch::sim::{KernelReport, Line, Multiprocessor, Occupancy, Report};
use warpsolve::ptx;

/// The device whose occupancy is computed.
const DEVICE: (u32, u32) = (9, 0);

/// What the simulator counted, and the registers of each kernel as far as they are known.
pub struct Explained {
    report: Report,
    registers: Result<Option<BTreeMap<String, u32>>, BuildError>,
}

impl Explained {
    /// Of what was counted, with the registers that `ptxas` finds where there is one.
    pub fn new(report: Report) -> Self {
        let registers = registers(&report);
        Self { report, registers }
    }

    /// The tables of the kernels, and their occupancy.
    pub fn text(&self) -> String {
        let occupancy = match &self.registers {
            Ok(Some(_)) => {
                let lines = self.report.kernels.iter().filter_map(|kernel| {
                    let (registers, occupancy) = self.occupancy(kernel)?;
                    Some(format!("  {}: {registers} registers, {occupancy}\n", kernel.name))
                });
                let (major, minor) = DEVICE;
                let head = format!("Occupancy on a device of compute capability {major}.{minor}:\n");
                head + &lines.collect::<String>()
            }
            Ok(None) => "Occupancy: not computed; there is no ptxas to count registers.\n".into(),
            Err(error) => format!("Occupancy: not computed; {error}\n"),
        };
        format!("\n{}{occupancy}", self.report)
    }

    /// The same for JSON.
    pub fn kernels(&self) -> Vec<Kernel<'_>> {
        self.report.kernels.iter().map(|kernel| self.kernel(kernel)).collect()
    }

    /// Registers of a thread, and how many blocks with so many a multiprocessor holds.
    fn occupancy(&self, kernel: &KernelReport) -> Option<(u32, Occupancy)> {
        let registers = *self.registers.as_ref().ok()?.as_ref()?.get(kernel.name)?;
        Some((registers, kernel.occupancy(registers, &Multiprocessor::of(DEVICE)?)))
    }

    fn kernel<'a>(&self, kernel: &'a KernelReport) -> Kernel<'a> {
        let occupancy = self.occupancy(kernel);
        Kernel {
            name: kernel.name,
            launches: kernel.launches,
            block: [kernel.block.x, kernel.block.y, kernel.block.z],
            shared_bytes: kernel.shared_bytes,
            registers: occupancy.map(|(registers, _)| registers),
            blocks_at_once: occupancy.map(|(_, occupancy)| occupancy.blocks),
            warps_at_once: occupancy.map(|(_, occupancy)| occupancy.warps),
            lines: kernel.lines.iter().map(Counts::of).collect(),
        }
    }
}

/// A kernel, in all of its launches.
#[derive(Serialize)]
pub struct Kernel<'a> {
    name: &'a str,
    launches: u64,
    block: [u32; 3],
    shared_bytes: u32,
    registers: Option<u32>,
    blocks_at_once: Option<u32>,
    warps_at_once: Option<u32>,
    lines: Vec<Counts<'a>>,
}

/// A line of its source.
#[derive(Serialize)]
struct Counts<'a> {
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    operation: String,
    requests: u64,
    threads: u64,
    moved: u64,
    least: u64,
    collisions: u64,
    partings: u64,
}

impl<'a> Counts<'a> {
    fn of(line: &'a Line) -> Self {
        let &Line { place, operation, requests, threads, moved, least, collisions, partings } = line;
        Self {
            file: place.map(Location::file),
            line: place.map(Location::line),
            column: place.map(Location::column),
            operation: operation.to_string(),
            requests,
            threads,
            moved,
            least,
            collisions,
            partings,
        }
    }
}

/// The registers of a thread of each kernel.
fn registers(report: &Report) -> Result<Option<BTreeMap<String, u32>>, BuildError> {
    let (Some(ptxas), Some(ptx)) = (Ptxas::find()?, ptx::newest_for(DEVICE)) else { return Ok(None) };
    let names: Vec<&str> = report.kernels.iter().map(|kernel| kernel.name).collect();
    ptxas.registers(ptx.text, "sm_90", &names).map(Some)
}

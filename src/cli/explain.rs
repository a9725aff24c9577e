//! What kernels did in the simulator, and how many of their blocks a GPU holds.

use std::collections::BTreeMap;

use cuda_builder::{BuildError, Ptxas};
use warpsolve::launch::sim::{Multiprocessor, Report};
use warpsolve::ptx;

/// The device whose occupancy is computed.
const DEVICE: (u32, u32) = (9, 0);

/// The tables of the kernels, and their occupancy where there is a `ptxas` that counts their registers.
pub fn text(report: &Report) -> String {
    let occupancy = match registers(report) {
        Ok(Some(registers)) => occupancy(report, &registers),
        Ok(None) => "Occupancy: not computed; there is no ptxas to count registers.\n".into(),
        Err(error) => format!("Occupancy: not computed; {error}\n"),
    };
    format!("\n{report}{occupancy}")
}

fn occupancy(report: &Report, registers: &BTreeMap<String, u32>) -> String {
    let (major, minor) = DEVICE;
    let Some(multiprocessor) = Multiprocessor::of(DEVICE) else { return String::new() };
    let lines = report.kernels.iter().filter_map(|kernel| {
        let registers = *registers.get(kernel.name)?;
        let occupancy = kernel.occupancy(registers, &multiprocessor);
        Some(format!("  {}: {registers} registers, {occupancy}\n", kernel.name))
    });
    format!("Occupancy on a device of compute capability {major}.{minor}:\n{}", lines.collect::<String>())
}

/// The registers of a thread of each kernel.
fn registers(report: &Report) -> Result<Option<BTreeMap<String, u32>>, BuildError> {
    let (Some(ptxas), Some(ptx)) = (Ptxas::find()?, ptx::newest_for(DEVICE)) else { return Ok(None) };
    let names: Vec<&str> = report.kernels.iter().map(|kernel| kernel.name).collect();
    ptxas.registers(ptx.text, "sm_90", &names).map(Some)
}

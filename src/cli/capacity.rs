//! What a GPU can do at once, for `info -v` and the reports of `solve`.

use serde::Serialize;
use warpsolve::backend::gpu::Gpu;
use warpsolve::launch::DeviceInfo;
use warpsolve::launch::driver::{self, Limits};

use super::table::{Lines, bytes, thousands};

/// Multiprocessors, memory, clocks and limits of a GPU, or of the simulator.
#[derive(Serialize)]
pub struct Capacity {
    pub multiprocessors: u32,
    pub total_memory: u64,
    pub l2_bytes: u64,
    /// Clocks, bus and sizes; null where no driver tells.
    limits: Option<Limits>,
    /// How many threads of a product run at once, by threads of a block; empty where it cannot be used.
    resident: Vec<Resident>,
}

/// What of a launch runs at once.
#[derive(Serialize)]
struct Resident {
    block: u32,
    blocks: u32,
    threads: u32,
}

/// The kernel that is asked about: the product in reduced SELL.
const PROBED: &str = "spmv_sell_f64_indices16_product";
/// Threads of a block that are asked about.
const BLOCKS: [u32; 4] = [64, 128, 256, 512];

/// How many threads run at once in blocks of each size: what Rosenberger and Haase 2017, section 8.1,
/// find out by a kernel that counts.
fn resident(gpu: &Gpu) -> Vec<Resident> {
    let of = |block| {
        let blocks = gpu.device().resident_blocks(PROBED, block).ok()?;
        Some(Resident { block, blocks, threads: blocks * block })
    };
    BLOCKS.into_iter().filter_map(of).collect()
}

/// What solvers do not depend on.
fn describe_rest(limits: &Limits, lines: &mut Lines) {
    let by = |sizes: [u32; 3]| sizes.map(|size| thousands(size.into())).join(" x ");
    let (block, grid) = (by(limits.block_dimensions), by(limits.grid_dimensions));
    lines.add("", format!("blocks of {block} threads, grids of {grid} blocks at most"));
    let (constant, pitch) = (bytes(limits.constant_memory.into()), bytes(limits.pitch.into()));
    let texture = limits.texture_alignment;
    lines.add(
        "",
        format!("constant memory {constant}, pitch {pitch} at most, textures aligned to {texture} bytes"),
    );
    let yes = |has: bool| if has { "yes" } else { "no" };
    let (engines, concurrent) = (limits.copy_engines, yes(limits.has_concurrent_kernels));
    let (ecc, time_limit) = (yes(limits.has_ecc), yes(limits.has_time_limit));
    lines.add(
        "",
        format!(
            "{engines} copy engines; concurrent kernels: {concurrent}; ECC: {ecc}; time limit: {time_limit}"
        ),
    );
    let (addresses, memory) = (yes(limits.has_unified_addresses), yes(limits.has_unified_memory));
    let mode = match limits.compute_mode {
        0 => "any number of processes",
        2 => "no process",
        3 => "one process",
        _ => "one thread",
    };
    lines.add("", format!("unified addresses: {addresses}; unified memory: {memory}; open to {mode}"));
}

impl Capacity {
    /// Of a device, and what only opening it tells where it is `opened`.
    pub fn of(info: &DeviceInfo, opened: Option<&Gpu>) -> Capacity {
        let has_driver = !info.driver_version.is_empty();
        Capacity {
            multiprocessors: info.multiprocessors,
            total_memory: info.total_memory,
            l2_bytes: info.l2_bytes,
            limits: has_driver.then(|| driver::limits(info.ordinal).ok()).flatten(),
            resident: opened.map(resident).unwrap_or_default(),
        }
    }

    /// Multiprocessors and memory, in one line.
    pub fn in_short(&self) -> String {
        let (count, memory, l2) = (self.multiprocessors, bytes(self.total_memory), bytes(self.l2_bytes));
        format!("{count} multiprocessors, {memory} of memory, L2 cache {l2}")
    }

    /// Clocks, bus, shared memory, and what runs at once: a line each.
    pub fn describe(&self, lines: &mut Lines) {
        if let Some(limits) = &self.limits {
            let mhz = |khz: u32| f64::from(khz) * 1e-3;
            let (clock, memory, bus) = (mhz(limits.clock), mhz(limits.memory_clock), limits.memory_bus);
            let most = limits.memory_bandwidth() * 1e-9;
            lines.add(
                "",
                format!(
                    "{clock:.0} MHz, memory {memory:.0} MHz on a bus of {bus} bits: {most:.0} GB/s at most"
                ),
            );
            let shared = |size: u32| bytes(size.into());
            let (block, all) = (shared(limits.shared_a_block), shared(limits.shared_a_multiprocessor));
            lines.add("", format!("shared memory {block} a block, {all} a multiprocessor"));
            let (block, all) = (limits.threads_a_block, limits.threads_a_multiprocessor);
            let registers = limits.registers_a_multiprocessor;
            lines.add(
                "",
                format!("{block} threads a block, {all} and {registers} registers a multiprocessor at most"),
            );
            describe_rest(limits, lines);
        }
        for Resident { block, blocks, threads } in &self.resident {
            let (blocks, threads) = (thousands((*blocks).into()), thousands((*threads).into()));
            lines.add(
                "",
                format!("{PROBED} in blocks of {block}: {blocks} blocks, {threads} threads at once"),
            );
        }
    }
}

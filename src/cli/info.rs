//! `warpsolve info`: what this machine offers.

use std::path::Path;

use serde::Serialize;
use warpsolve::launch::driver::{self, Limits};
use warpsolve::ptx::PTX;
use warpsolve::{Error, Result};

use super::args::InfoArgs;
use super::json;
use super::output::{print, write};
use super::report::unavailable;
use super::status::SUCCESS;
use super::table::{Lines, bytes};

/// What `info` reports.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    version: &'static str,
    devices: Vec<Gpu>,
    /// Why there are none.
    no_gpu: Option<String>,
    kernels: Vec<Kernels>,
    threads: usize,
    cpu_features: Vec<&'static str>,
    /// What `--device auto` takes.
    auto: String,
}

#[derive(Serialize)]
struct Gpu {
    ordinal: u32,
    name: String,
    compute_capability: String,
    multiprocessors: u32,
    total_memory: u64,
    /// Bytes free, and the kernels in use; null where the device cannot be used.
    free_memory: Option<u64>,
    ptx_target: Option<String>,
    /// Whether they are machine code for it, which its driver need not translate.
    machine_code: Option<bool>,
    l2_bytes: u64,
    driver_version: String,
    /// Clocks, bus and sizes; null where the driver does not tell.
    limits: Option<Limits>,
    /// How many threads of a product run at once, by threads of a block; empty where it cannot be used.
    resident: Vec<Resident>,
    /// Why it cannot be used.
    error: Option<String>,
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
fn resident(gpu: &warpsolve::backend::gpu::Gpu) -> Vec<Resident> {
    let of = |block| {
        let blocks = gpu.device().resident_blocks(PROBED, block).ok()?;
        Some(Resident { block, blocks, threads: blocks * block })
    };
    BLOCKS.into_iter().filter_map(of).collect()
}

#[derive(Serialize)]
struct Kernels {
    target: String,
    origin: &'static str,
    /// The devices for which there is machine code.
    machine_code: Vec<String>,
}

/// Looks and reports; returns the exit status.
pub fn run(args: InfoArgs) -> Result<u8> {
    let report = look();
    if let Some(path) = &args.json {
        write(path, &json::text(&report))?;
    }
    if args.json.as_deref() != Some(Path::new("-")) {
        print(&text(&report, args.verbose))?;
    }
    Ok(SUCCESS)
}

fn look() -> Report {
    let (devices, no_gpu) = match driver::devices() {
        Ok(devices) => (devices.into_iter().map(gpu).collect(), None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let auto = match devices.first() {
        Some(Gpu { error: None, .. }) => "cuda:0",
        _ => "cpu",
    };
    Report {
        schema: "warpsolve.info/1",
        version: json::VERSION,
        no_gpu,
        kernels: PTX
            .iter()
            .map(|ptx| Kernels {
                target: sm(ptx.target),
                origin: ptx.origin,
                machine_code: ptx.machine_code.iter().map(|&(device, _)| sm(device)).collect(),
            })
            .collect(),
        threads: rayon::current_num_threads(),
        cpu_features: cpu_features(),
        auto: auto.into(),
        devices,
    }
}

/// "sm_90".
fn sm((major, minor): (u32, u32)) -> String {
    format!("sm_{major}{minor}")
}

/// What is known of a device, and what only opening it tells.
fn gpu(info: warpsolve::launch::DeviceInfo) -> Gpu {
    let opened = warpsolve::open_gpu(info.ordinal).and_then(|gpu| {
        let device = gpu.device();
        Ok((device.memory()?.0, (device.info().clone(), resident(&gpu))))
    });
    let (opened, error): (_, Option<Error>) = match opened {
        Ok(opened) => (Some(opened), None),
        Err(error) => (None, Some(error)),
    };
    let (free_memory, in_use) = opened.unzip();
    let (in_use, resident) = in_use.unzip();
    Gpu {
        ordinal: info.ordinal,
        name: info.name,
        compute_capability: format!("{}.{}", info.compute_capability.0, info.compute_capability.1),
        multiprocessors: info.multiprocessors,
        total_memory: info.total_memory,
        free_memory,
        machine_code: in_use.as_ref().map(|info| info.machine_code),
        ptx_target: in_use.map(|info| info.ptx_target),
        l2_bytes: info.l2_bytes,
        driver_version: info.driver_version,
        limits: driver::limits(info.ordinal).ok(),
        resident: resident.unwrap_or_default(),
        error: error.map(|error| error.to_string()),
    }
}

/// Vector instructions that matter here, as far as the CPU has them.
fn cpu_features() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        let features = [
            ("avx2", is_x86_feature_detected!("avx2")),
            ("fma", is_x86_feature_detected!("fma")),
            ("avx512f", is_x86_feature_detected!("avx512f")),
        ];
        features.into_iter().filter(|feature| feature.1).map(|feature| feature.0).collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}

/// Clocks, bus, shared memory, and what runs at once.
fn sizes(lines: &mut Lines, gpu: &Gpu) {
    if let Some(limits) = &gpu.limits {
        let mhz = |khz: u32| f64::from(khz) * 1e-3;
        let (clock, memory, bus) = (mhz(limits.clock), mhz(limits.memory_clock), limits.memory_bus);
        lines.add("", format!("{clock:.0} MHz, memory {memory:.0} MHz on a bus of {bus} bits"));
        let shared = |size: u32| bytes(size.into());
        let (block, all) = (shared(limits.shared_a_block), shared(limits.shared_a_multiprocessor));
        lines.add("", format!("shared memory {block} a block, {all} a multiprocessor"));
        let (block, all) = (limits.threads_a_block, limits.threads_a_multiprocessor);
        let registers = limits.registers_a_multiprocessor;
        lines.add(
            "",
            format!("{block} threads a block, {all} and {registers} registers a multiprocessor at most"),
        );
    }
    for Resident { block, blocks, threads } in &gpu.resident {
        lines.add("", format!("{PROBED} in blocks of {block}: {blocks} blocks, {threads} threads at once"));
    }
}

fn text(report: &Report, verbose: bool) -> String {
    let mut lines = Lines::default();
    lines.add("warpsolve", report.version);
    lines.gap();
    for gpu in &report.devices {
        let (capability, count) = (&gpu.compute_capability, gpu.multiprocessors);
        let name = format!("{}, compute capability {capability}, {count} multiprocessors", gpu.name);
        lines.add(&format!("cuda:{}", gpu.ordinal), name);
        let free = gpu.free_memory.map_or(String::new(), |free| format!("{} free of ", bytes(free)));
        let (total, l2, driver) = (bytes(gpu.total_memory), bytes(gpu.l2_bytes), &gpu.driver_version);
        lines.add("", format!("{free}{total}, L2 cache {l2}, driver {driver}"));
        if let Some(target) = &gpu.ptx_target {
            let how = if gpu.machine_code == Some(true) { ", as machine code" } else { ", from PTX" };
            lines.add("", format!("runs the kernels for {target}{how}"));
        }
        if verbose {
            sizes(&mut lines, gpu);
        }
        if let Some(error) = &gpu.error {
            lines.add("", format!("cannot be used: {error}"));
        }
    }
    if report.devices.is_empty() {
        let reason = report.no_gpu.as_deref().unwrap_or("the driver lists none");
        lines.add("GPU", unavailable(reason));
    }
    let features = match report.cpu_features.is_empty() {
        true => String::new(),
        false => format!(", {}", report.cpu_features.join(" ")),
    };
    lines.add("cpu", format!("{} threads{features}", report.threads));
    for (k, kernels) in report.kernels.iter().enumerate() {
        let code = match kernels.machine_code.as_slice() {
            [] => String::new(),
            devices => format!("; machine code for {}", devices.join(", ")),
        };
        let label = if k == 0 { "kernels" } else { "" };
        lines.add(label, format!("{}, {}{code}", kernels.target, kernels.origin));
    }
    lines.gap();
    lines.add("auto", format!("--device auto takes {}", report.auto));
    lines.text()
}

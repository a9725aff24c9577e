//! `warpsolve info`: what this machine offers.

use std::path::Path;

use serde::Serialize;
use warpsolve::launch::driver;
use warpsolve::ptx::PTX;
use warpsolve::{Error, Result};

use super::args::InfoArgs;
use super::capacity::Capacity;
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
    /// Bytes free, and the kernels in use; null where the device cannot be used.
    free_memory: Option<u64>,
    ptx_target: Option<String>,
    /// Whether they are machine code for it, which its driver need not translate.
    machine_code: Option<bool>,
    driver_version: String,
    #[serde(flatten)]
    capacity: Capacity,
    /// Why it cannot be used.
    error: Option<String>,
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
    let opened = warpsolve::open_gpu(info.ordinal).and_then(|gpu| Ok((gpu.device().memory()?.0, gpu)));
    let (opened, error): (_, Option<Error>) = match opened {
        Ok(opened) => (Some(opened), None),
        Err(error) => (None, Some(error)),
    };
    let (free_memory, opened) = opened.unzip();
    let in_use = opened.as_ref().map(|gpu| gpu.device().info());
    Gpu {
        capacity: Capacity::of(&info, opened.as_ref()),
        ordinal: info.ordinal,
        name: info.name,
        compute_capability: format!("{}.{}", info.compute_capability.0, info.compute_capability.1),
        free_memory,
        machine_code: in_use.map(|info| info.machine_code),
        ptx_target: in_use.map(|info| info.ptx_target.clone()),
        driver_version: info.driver_version,
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

fn text(report: &Report, verbose: bool) -> String {
    let mut lines = Lines::default();
    lines.add("warpsolve", report.version);
    lines.gap();
    for gpu in &report.devices {
        let (capability, count) = (&gpu.compute_capability, gpu.capacity.multiprocessors);
        let name = format!("{}, compute capability {capability}, {count} multiprocessors", gpu.name);
        lines.add(&format!("cuda:{}", gpu.ordinal), name);
        let free = gpu.free_memory.map_or(String::new(), |free| format!("{} free of ", bytes(free)));
        let (total, l2, driver) =
            (bytes(gpu.capacity.total_memory), bytes(gpu.capacity.l2_bytes), &gpu.driver_version);
        lines.add("", format!("{free}{total}, L2 cache {l2}, driver {driver}"));
        if let Some(target) = &gpu.ptx_target {
            let how = if gpu.machine_code == Some(true) { ", as machine code" } else { ", from PTX" };
            lines.add("", format!("runs the kernels for {target}{how}"));
        }
        if verbose {
            gpu.capacity.describe(&mut lines);
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

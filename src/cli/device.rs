//! Devices by name, and opening them.

use std::fmt;
use std::str::FromStr;

use warpsolve::backend::gpu::Gpu;
use warpsolve::job::{self, Device};
use warpsolve::launch::driver;
use warpsolve::{Error, Result};

use super::profile::Profiler;

/// What can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceName {
    /// The first GPU, or else the CPU.
    Auto,
    /// Threads of the host.
    Cpu,
    /// The GPU of this ordinal.
    Cuda(u32),
    /// The simulator.
    Sim,
}

impl DeviceName {
    /// Every name but those with an ordinal.
    pub const NAMES: &[&str] = &["auto", "cpu", "cuda", "sim"];
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            DeviceName::Auto => f.write_str("auto"),
            DeviceName::Cpu => f.write_str("cpu"),
            DeviceName::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
            DeviceName::Sim => f.write_str("sim"),
        }
    }
}

impl FromStr for DeviceName {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self> {
        let unknown = || {
            let devices = "auto, cpu, cuda, cuda:N with N counted from 0, sim";
            Error::Option(format!("unknown device '{name}'; there are {devices}"))
        };
        match name {
            "auto" => Ok(DeviceName::Auto),
            "cpu" => Ok(DeviceName::Cpu),
            "cuda" => Ok(DeviceName::Cuda(0)),
            "sim" => Ok(DeviceName::Sim),
            _ => {
                let ordinal = name.strip_prefix("cuda:").and_then(|n| n.parse().ok());
                ordinal.map(DeviceName::Cuda).ok_or_else(unknown)
            }
        }
    }
}

/// An opened device, and for the CPU in the place of a GPU, why.
pub struct Opened {
    pub device: Device,
    pub no_gpu: Option<Error>,
    /// The GPU or simulator as nobody watches it.
    unwatched: Option<Device>,
}

impl Opened {
    /// See [`job::copy_bandwidth`]; it is no part of a profile.
    pub fn copy_bandwidth(&self) -> Result<Option<f64>> {
        job::copy_bandwidth(self.unwatched.as_ref().unwrap_or(&self.device))
    }
}

/// Opens a device, which `profiler` may watch; `threads` are those of the CPU, 0 for one a core.
///
/// # Errors
/// [`Error::NoDevice`] where a GPU is asked for by name and there is none. `auto` never fails for that.
pub fn open(name: DeviceName, threads: usize, profiler: &Profiler) -> Result<Opened> {
    let cpu = |no_gpu| Ok(Opened { device: Device::cpu(threads)?, no_gpu, unwatched: None });
    let gpu = |gpu: Gpu| {
        let device = Device::Gpu(profiler.watch(gpu.clone())?);
        Ok(Opened { device, no_gpu: None, unwatched: Some(Device::Gpu(gpu)) })
    };
    match name {
        DeviceName::Cpu => cpu(None),
        DeviceName::Sim => gpu(Gpu::simulated()?),
        DeviceName::Cuda(ordinal) => gpu(warpsolve::open_gpu(ordinal)?),
        DeviceName::Auto => match warpsolve::open_gpu(0) {
            Ok(opened) => gpu(opened),
            Err(error) => cpu(Some(error)),
        },
    }
}

/// GPUs of this machine; 0 where there is no driver.
pub fn gpus() -> usize {
    driver::devices().map_or(0, |devices| devices.len())
}

/// The first clause of the reason why there is no GPU: "libcuda.so.1 not found".
pub fn in_short(error: &Error) -> String {
    let text = match error {
        Error::NoDevice(reason) => reason.clone(),
        other => other.to_string(),
    };
    let end = [": ", "; "].iter().filter_map(|mark| text.find(mark)).min().unwrap_or(text.len());
    text[..end].to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_printed() {
        for name in ["auto", "cpu", "cuda:0", "cuda:17", "sim"] {
            assert_eq!(name.parse::<DeviceName>().unwrap().to_string(), name);
        }
        assert_eq!("cuda".parse::<DeviceName>().unwrap(), DeviceName::Cuda(0));
        for name in ["", "gpu", "cuda:", "cuda:-1", "cuda:x", "CPU"] {
            let error = name.parse::<DeviceName>().unwrap_err().to_string();
            assert!(error.contains(&format!("'{name}'")) && error.contains("cuda:N"), "{error}");
        }
    }

    #[test]
    fn a_reason_is_cut_after_its_first_clause() {
        let long = "libcuda.so.1 not found: install the NVIDIA driver";
        assert_eq!(in_short(&Error::NoDevice(long.into())), "libcuda.so.1 not found");
        let other = Error::Device { call: "cuInit".into(), message: "out of memory".into() };
        assert_eq!(in_short(&other), "cuInit failed");
    }
}

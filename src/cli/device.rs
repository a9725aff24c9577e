//! Devices by name, and opening them.

use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use warpsolve::backend::gpu::Gpu;
use warpsolve::job::{self, Device};
use warpsolve::launch::driver;
use warpsolve::{Error, Result};

use super::capacity::Capacity;
use super::profile::Profiler;

/// What can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceName {
    /// The first GPU, or else the CPU; for a [small](open_for) file the CPU.
    Auto,
    /// Threads of the host.
    Cpu,
    /// The GPU of this ordinal.
    Cuda(u32),
    /// Several GPUs, a rank each.
    Gpus(Gpus),
    /// The simulator.
    Sim,
}

/// The GPUs of one machine that are to work together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gpus {
    /// As many as there are.
    All,
    /// Those of these ordinals, in this order.
    These([u32; Gpus::MOST], usize),
}

impl Gpus {
    /// How many can be named.
    const MOST: usize = 16;

    /// Reads "all", or ordinals with commas between, of which none comes twice.
    fn read(text: &str) -> Option<Gpus> {
        if text == "all" {
            return Some(Gpus::All);
        }
        let (mut ordinals, mut count) = ([0; Gpus::MOST], 0);
        for part in text.split(',') {
            let ordinal = part.parse().ok().filter(|ordinal| !ordinals[..count].contains(ordinal))?;
            *ordinals.get_mut(count)? = ordinal;
            count += 1;
        }
        (count > 1).then_some(Gpus::These(ordinals, count))
    }

    /// How many there are.
    pub fn count(self) -> usize {
        match self {
            Gpus::All => gpus(),
            Gpus::These(_, count) => count,
        }
    }

    /// The k-th, counted from 0 and over again.
    pub fn nth(self, k: usize) -> DeviceName {
        DeviceName::Cuda(match self {
            Gpus::All => (k % gpus().max(1)) as u32,
            Gpus::These(ordinals, count) => ordinals[k % count],
        })
    }
}

impl fmt::Display for Gpus {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Gpus::All => f.write_str("cuda:all"),
            Gpus::These(ordinals, count) => {
                let ordinals: Vec<String> = ordinals[..*count].iter().map(u32::to_string).collect();
                write!(f, "cuda:{}", ordinals.join(","))
            }
        }
    }
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
            DeviceName::Gpus(gpus) => gpus.fmt(f),
            DeviceName::Sim => f.write_str("sim"),
        }
    }
}

impl FromStr for DeviceName {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self> {
        let unknown = || {
            let devices =
                "auto, cpu, cuda, cuda:N with N counted from 0, cuda:N,M,.. and cuda:all for several, sim";
            Error::Option(format!("unknown device '{name}'; there are {devices}"))
        };
        match name {
            "auto" => Ok(DeviceName::Auto),
            "cpu" => Ok(DeviceName::Cpu),
            "cuda" => Ok(DeviceName::Cuda(0)),
            "sim" => Ok(DeviceName::Sim),
            _ => {
                let which = name.strip_prefix("cuda:").ok_or_else(unknown)?;
                let gpus = || Gpus::read(which).map(DeviceName::Gpus);
                which.parse().ok().map(DeviceName::Cuda).or_else(gpus).ok_or_else(unknown)
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
        job::copy_bandwidth(self.unwatched())
    }

    /// What a GPU or the simulator can do at once.
    pub fn capacity(&self) -> Option<Capacity> {
        self.unwatched().gpu().map(|gpu| Capacity::of(gpu.device().info(), Some(gpu)))
    }

    fn unwatched(&self) -> &Device {
        self.unwatched.as_ref().unwrap_or(&self.device)
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
        DeviceName::Gpus(gpus) => Err(Error::Option(format!(
            "--device {gpus} names several GPUs, which solve, bidomain and monodomain alone use together"
        ))),
        DeviceName::Auto => match warpsolve::open_gpu(0) {
            Ok(opened) => gpu(opened),
            Err(error) => cpu(Some(error)),
        },
    }
}

/// Below so many bytes a file is [small](open_for). The CPU beside an H200 takes less than 0.4 s for all but
/// five of 160 real matrices of up to 400,000 entries, most of them 20 ms, and the GPU as long to open.
const SMALL_FILE: u64 = 2 << 20;

/// Where the driver of a GPU shows itself: under Linux, and under that of Windows.
const DRIVER_FILES: [&str; 2] = ["/dev/nvidiactl", "/dev/dxg"];

/// [`open`] for the matrix in `file`, if it is in one. To open a GPU takes some tenths of a second, in which
/// the CPU solves small systems: for those `auto` takes no GPU.
///
/// # Errors
/// As of [`open`].
pub fn open_for(
    file: Option<&Path>,
    name: DeviceName,
    threads: usize,
    profiler: &Profiler,
) -> Result<Opened> {
    let has_driver = || DRIVER_FILES.iter().any(|path| Path::new(path).exists());
    if name == DeviceName::Auto && file.is_some_and(is_small) && has_driver() {
        let why = "the file is small, and the CPU done before a GPU is open: --device cuda takes one";
        let cpu = open(DeviceName::Cpu, threads, profiler)?;
        return Ok(Opened { no_gpu: Some(Error::NoDevice(why.into())), ..cpu });
    }
    open(name, threads, profiler)
}

fn is_small(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|file| file.is_file() && file.len() < SMALL_FILE)
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
        for name in ["auto", "cpu", "cuda:0", "cuda:17", "cuda:all", "cuda:2,0", "sim"] {
            assert_eq!(name.parse::<DeviceName>().unwrap().to_string(), name);
        }
        assert_eq!("cuda".parse::<DeviceName>().unwrap(), DeviceName::Cuda(0));
        for name in ["", "gpu", "cuda:", "cuda:-1", "cuda:x", "cuda:0,", "cuda:1,1", "CPU"] {
            let error = name.parse::<DeviceName>().unwrap_err().to_string();
            assert!(error.contains(&format!("'{name}'")) && error.contains("cuda:N"), "{error}");
        }
    }

    #[test]
    fn gpus_are_taken_in_their_order() {
        let DeviceName::Gpus(gpus) = "cuda:2,0,5".parse().unwrap() else { panic!("several GPUs") };
        assert_eq!(gpus.count(), 3);
        assert_eq!([0, 1, 2, 3].map(|k| gpus.nth(k)), [2, 0, 5, 2].map(DeviceName::Cuda));
    }

    #[test]
    fn files_are_small_by_their_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");
        assert!(!is_small(&path) && !is_small(folder.path()));
        let file = fs::File::create(&path).unwrap();
        for (bytes, expected) in [(0, true), (SMALL_FILE - 1, true), (SMALL_FILE, false)] {
            file.set_len(bytes).unwrap();
            assert_eq!(is_small(&path), expected);
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

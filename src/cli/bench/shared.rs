//! What all tables share: the setting, devices, the system, and how a row is made.

use std::sync::Arc;

use warpsolve::backend::cpu::{Cpu, check_threads};
use warpsolve::job::{Device, Precision, copy_bandwidth};
use warpsolve::matrix::{Csr, Format};
use warpsolve::problem::{Elements, Problem};
use warpsolve::{Error, Result};

use super::super::device::{DeviceName, Opened, open};
use super::super::json;
use super::super::load::{Source, start_threads};
use super::super::output::{check_outputs, warn};
use super::super::parameters::Amg;
use super::super::profile::Profiler;
use super::super::progress::Progress;
use super::super::values::Restart;
use super::args::Setting;
use super::kind::Kind;
use super::report::{self, Figures, Published, Row};

/// Formats of scalars.
pub const SCALAR: [Format; 3] = [Format::Crs, Format::Ell, Format::Sell];
/// Formats of blocks, beside those of scalars that they stand for.
pub const BLOCKS: [Format; 4] = [Format::Crs, Format::Sell, Format::BlockCrs(2), Format::BlockSell(2)];

/// Everything that the tables share.
pub struct Bench {
    pub setting: Setting,
    pub threads: Vec<usize>,
    pub devices: Vec<Device>,
    /// The same, for the report.
    pub described: Vec<report::Device>,
    /// Whether one of the devices is the simulator: sizes and repetitions are small then.
    pub simulated: bool,
    pub progress: Progress,
    /// The system that was read or generated last.
    pub system: Option<(Source, Arc<Csr<f64>>)>,
}

/// What is named twice is measured once.
fn once_each<V: PartialEq>(values: &mut Vec<V>) {
    for k in (1..values.len()).rev() {
        if values[..k].contains(&values[k]) {
            values.remove(k);
        }
    }
}

/// Numbers of threads without those that the cores are too few for, unless these are all.
///
/// # Errors
/// [`Error::Threads`] where they are all.
fn without_too_many(threads: Vec<usize>) -> Result<Vec<usize>> {
    let (taken, left_out): (Vec<usize>, Vec<usize>) =
        threads.into_iter().partition(|&n| check_threads(n).is_ok());
    let mut errors = left_out.into_iter().filter_map(|n| check_threads(n).err());
    match taken.is_empty() {
        true => errors.next().map_or(Ok(Vec::new()), Err),
        false => {
            errors.for_each(|error| warn(&format!("left out: {error}")));
            Ok(taken)
        }
    }
}

impl Bench {
    pub fn new(mut setting: Setting, profiler: &Profiler) -> Result<Bench> {
        if setting.rtol == 0.0 {
            return Err(Error::Option("--rtol 0 is no tolerance: rounding lets no residual become 0".into()));
        }
        once_each(&mut setting.format);
        once_each(&mut setting.precision);
        once_each(&mut setting.device);
        once_each(&mut setting.threads);
        let outputs = [&setting.json, &setting.csv, &setting.markdown, &setting.html];
        check_outputs(&outputs.map(|path| path.as_deref()), &[setting.file.as_deref()])?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = match &setting.threads[..] {
            [] => (0..).map(|k| 1 << k).take_while(|&n| n < cores).chain([cores]).collect(),
            given => given.iter().map(|&n| usize::from(n)).collect::<Vec<_>>(),
        };
        let threads = without_too_many(threads)?;
        start_threads(threads.iter().copied().max().unwrap_or(0))?;
        let last = threads.last().copied().unwrap_or(0);
        let opened = setting.device.iter().map(|&name| open(name, last, profiler));
        let opened = opened.collect::<Result<Vec<Opened>>>()?;
        let progress = Progress::new(setting.quiet);
        progress.stage("bandwidth");
        let described = opened.iter().map(|opened| Ok(describe(&opened.device, opened.copy_bandwidth()?)));
        let described = described.collect::<Result<_>>();
        progress.clear();
        let devices = opened.into_iter().map(|opened| opened.device).collect();
        let simulated = setting.device.contains(&DeviceName::Sim);
        Ok(Bench { setting, threads, devices, described: described?, simulated, progress, system: None })
    }

    pub fn title(&self, what: &str) -> String {
        format!("{what}, to a relative residual of {:e}", self.setting.rtol)
    }

    /// The title of a table that has multigrid, with the parameters that were asked for.
    pub fn multigrid_title(&self, what: &str) -> String {
        let preset = self.setting.preset.iter().map(|name| format!("{}={name}", Amg::PRESET));
        let others = self.setting.amg.iter().map(|setting| format!("{}={}", setting.key, setting.value));
        match preset.chain(others).collect::<Vec<String>>() {
            none if none.is_empty() => self.title(what),
            given => {
                let multigrid = if what.ends_with("multigrid") { "" } else { ", multigrid" };
                self.title(&format!("{what}{multigrid} with {}", given.join(",")))
            }
        }
    }

    /// GMRES with its cycle.
    pub fn gmres_title(&self) -> String {
        match self.setting.restart {
            Restart::After(n) => format!("GMRES({n})"),
            Restart::Never => "GMRES".into(),
        }
    }

    /// The system of a table. It is kept for the next.
    pub fn load(&mut self, kind: Kind) -> Result<Arc<Csr<f64>>> {
        let setting = &self.setting;
        let default = match (kind, self.simulated) {
            (Kind::Block | Kind::Loops, false) => Problem::Bidomain { n: 75 },
            (Kind::Block | Kind::Loops, true) => Problem::Bidomain { n: 4 },
            (Kind::Elasticity, false) => Problem::Elasticity { n: 42, elements: Elements::Tetrahedra },
            (Kind::Elasticity, true) => Problem::Elasticity { n: 3, elements: Elements::Tetrahedra },
            (_, false) => Problem::Tet { n: 96 },
            (_, true) => Problem::Tet { n: 6 },
        };
        let source = match &setting.file {
            Some(path) => Source::File(path.clone()),
            None => Source::Generated {
                problem: setting.generate.unwrap_or(default),
                seed: setting.seed,
                shuffled: setting.shuffle,
            },
        };
        if let Some((_, a)) = self.system.as_ref().filter(|(kept, _)| *kept == source) {
            return Ok(Arc::clone(a));
        }
        let a = Arc::new(source.matrix(&self.progress)?.0);
        self.progress.clear();
        self.system = Some((source, Arc::clone(&a)));
        Ok(a)
    }

    /// The CPU on each of these numbers of threads, known to the report.
    pub fn cpus(&self, threads: &[usize], report: &mut report::Report) -> Result<Vec<Device>> {
        let devices = threads.iter().map(|&n| Ok(Device::Cpu(Cpu::new(n)?)));
        let devices = devices.collect::<Result<Vec<Device>>>()?;
        for device in &devices {
            if report.devices.iter().all(|known| known.name != device.name()) {
                report.devices.push(describe(device, copy_bandwidth(device)?));
            }
        }
        Ok(devices)
    }

    pub fn formats(&self, default: &[Format]) -> Vec<Format> {
        if self.setting.format.is_empty() { default.to_vec() } else { self.setting.format.clone() }
    }
}

/// A row, with what was measured, or why it was refused.
///
/// # Errors
/// Those of the device: all others refuse this system in this format.
pub fn row(
    work: &str,
    device: &Device,
    format: Option<Format>,
    precision: Precision,
    published: Vec<Published>,
    measured: Result<Figures>,
) -> Result<Row> {
    let (refused, figures) = match measured {
        Ok(figures) => (None, Some(figures)),
        // Faults of the device, of files and of threads are no matter of this row.
        Err(error @ (Error::Device { .. } | Error::NoDevice(_) | Error::Io { .. })) => return Err(error),
        Err(error) => (Some(error.to_string()), None),
    };
    let threads = match device {
        Device::Cpu(cpu) => Some(cpu.threads()),
        Device::Gpu(_) => None,
    };
    Ok(Row {
        work: work.into(),
        device: device.name(),
        threads,
        format: format.map(|format| format.to_string()),
        precision: precision.to_string(),
        refused,
        figures,
        published,
    })
}

/// A device, for the report.
pub fn describe(device: &Device, copy_bandwidth: Option<f64>) -> report::Device {
    let info = match device {
        Device::Cpu(_) => None,
        Device::Gpu(gpu) => Some(gpu.device().info()),
    };
    report::Device {
        name: device.name(),
        kind: json::device_kind(info).into(),
        driver_version: info.map(|info| info.driver_version.clone()).filter(|version| !version.is_empty()),
        copy_bandwidth,
    }
}

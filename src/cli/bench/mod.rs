//! `warpsolve bench`: the source documents' tables, measured here.
//!
//! A table is a list of rows ([`report`]); [`products`] and [`solves`] measure them, [`text`], [`html`] and serde write
//! them, [`compare`] sets two reports side by side.

pub mod args;
mod compare;
mod html;
mod plots;
mod products;
mod published;
mod report;
mod solves;
mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use warpsolve::job::{Device, Precision};
use warpsolve::matrix::{Csr, Format};
use warpsolve::problem::Problem;
use warpsolve::{Error, Result};

use super::device::{DeviceName, Opened, open};
use super::load::{Source, start_threads};
use super::output::{print, write};
use super::profile::Profiler;
use super::progress::Progress;
use super::solve::check_outputs;
use super::{FAILURE, SUCCESS, UNCONVERGED, json};
use args::{BenchArgs, Setting, What};
use report::{Figures, Published, Report, Row, SCHEMA, System, Table};

const ALL: [Kind; 7] = [Kind::Dot, Kind::Spmv, Kind::Cg, Kind::Gmres, Kind::Amg, Kind::Block, Kind::Threads];

/// Formats of scalars.
const SCALAR: [Format; 3] = [Format::Crs, Format::Ell, Format::Sell];
/// Formats of blocks, beside those of scalars that they stand for.
const BLOCKS: [Format; 4] = [Format::Crs, Format::Sell, Format::BlockCrs(2), Format::BlockSell(2)];

/// Which table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Dot,
    Spmv,
    Cg,
    Gmres,
    Amg,
    Block,
    Threads,
}

/// Measures and reports, or compares; returns the exit status.
pub fn run(args: BenchArgs, profiler: &Profiler) -> Result<u8> {
    let (kinds, setting) = match args.what {
        What::Dot(setting) => (&[Kind::Dot][..], setting),
        What::Spmv(setting) => (&[Kind::Spmv][..], setting),
        What::Cg(setting) => (&[Kind::Cg][..], setting),
        What::Gmres(setting) => (&[Kind::Gmres][..], setting),
        What::Amg(setting) => (&[Kind::Amg][..], setting),
        What::Block(setting) => (&[Kind::Block][..], setting),
        What::Threads(setting) => (&[Kind::Threads][..], setting),
        What::All(setting) => (&ALL[..], setting),
        What::Compare(args) => return compare::run(&args),
    };
    Bench::new(setting, profiler)?.run(kinds)
}

/// Everything that the tables share.
struct Bench {
    setting: Setting,
    threads: Vec<usize>,
    devices: Vec<Device>,
    /// The same, for the report.
    described: Vec<report::Device>,
    /// Whether one of the devices is the simulator: sizes and repetitions are small then.
    simulated: bool,
    progress: Progress,
    /// The system that was read or generated last.
    system: Option<(Source, Arc<Csr<f64>>)>,
}

/// What is named twice is measured once.
fn once_each<V: PartialEq>(values: &mut Vec<V>) {
    for k in (1..values.len()).rev() {
        if values[..k].contains(&values[k]) {
            values.remove(k);
        }
    }
}

impl Bench {
    fn new(mut setting: Setting, profiler: &Profiler) -> Result<Bench> {
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

    /// Measures one table after the other. What is measured is printed and written at once: nothing is lost where a later
    /// table fails.
    fn run(mut self, kinds: &[Kind]) -> Result<u8> {
        let mut report = Report {
            schema: SCHEMA.into(),
            version: json::VERSION.into(),
            date: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            command: std::env::args().skip(1).fold("warpsolve".into(), |line, word| line + " " + &word),
            cpu: cpu_name(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            devices: std::mem::take(&mut self.described),
            tables: Vec::new(),
        };
        let quiet = self.setting.quiet || self.setting.report() == Some(Path::new("-"));
        let Setting { json, csv, markdown, html, .. } = self.setting.clone();
        // A system that cannot be had is no use to begin with.
        self.load(kinds.first() == Some(&Kind::Block))?;
        if !quiet {
            print(&text::heading(&report))?;
        }
        for (k, &kind) in kinds.iter().enumerate() {
            let measured = self.table(kind, &mut report);
            self.progress.clear();
            report.tables.push(measured?);
            if !quiet && let Some(table) = report.tables.last() {
                print(&text::table(&report, table))?;
            }
            // Stdout gets the whole at the end.
            let is_last = k + 1 == kinds.len();
            let due = |path: &&PathBuf| is_last || path.as_path() != Path::new("-");
            if let Some(path) = json.as_ref().filter(due) {
                write(path, &super::json::text(&report))?;
            }
            if let Some(path) = csv.as_ref().filter(due) {
                write(path, &text::csv(&report)?)?;
            }
            if let Some(path) = markdown.as_ref().filter(due) {
                write(path, &text::markdown(&report))?;
            }
            if let Some(path) = html.as_ref().filter(due) {
                write(path, &html::page(&report))?;
            }
        }
        Ok(status(&report))
    }

    fn table(&mut self, kind: Kind, report: &mut Report) -> Result<Table> {
        let (name, title, source) = match kind {
            Kind::Dot => ("dot", "scalar product".into(), format!("{}, section 4.1", published::REPORT)),
            Kind::Spmv => {
                ("spmv", "product y = A x".into(), format!("{}, sections 5.1 and 6.1", published::REPORT))
            }
            Kind::Cg => {
                ("cg", self.title("CG, Jacobi preconditioner"), format!("{}, section 7.1", published::REPORT))
            }
            Kind::Gmres => {
                let title = self.title("GMRES(30), Jacobi preconditioner");
                ("gmres", title, format!("{}, section 7.1", published::REPORT))
            }
            Kind::Amg => {
                let title = self.title("CG and GMRES(30), algebraic multigrid");
                ("amg", title, format!("{}, section 7.2", published::REPORT))
            }
            Kind::Block => ("block", self.title("blocks of unknowns beside scalars"), String::new()),
            Kind::Threads => {
                let source = format!("{}, section 7.3; {}", published::REPORT, published::ELASTICITY);
                ("threads", self.title("CG and GMRES(30) on threads of the host, CRS"), source)
            }
        };
        let a = self.load(kind == Kind::Block)?;
        let system = System {
            matrix: self.system.as_ref().map_or(String::new(), |(source, _)| source.name()),
            rows: a.n_rows(),
            nonzeros: a.nnz(),
        };
        let rows = match kind {
            Kind::Dot => self.dot(a.n_rows()),
            Kind::Spmv => self.spmv(&a, &self.formats(&SCALAR)),
            Kind::Cg => self.cg(&a),
            Kind::Gmres => self.gmres(&a),
            Kind::Amg => self.amg(&a),
            Kind::Block => self.block(&a),
            Kind::Threads => self.on_threads(&a, report),
        }?;
        Ok(Table { table: name.into(), title, source, system, rows })
    }

    fn title(&self, what: &str) -> String {
        format!("{what}, to a relative residual of {:e}", self.setting.rtol)
    }

    /// The system of a table. It is kept for the next.
    fn load(&mut self, of_blocks: bool) -> Result<Arc<Csr<f64>>> {
        let setting = &self.setting;
        let default = match (of_blocks, self.simulated) {
            (false, false) => Problem::Tet { n: 96 },
            (false, true) => Problem::Tet { n: 6 },
            (true, false) => Problem::Bidomain { n: 75 },
            (true, true) => Problem::Bidomain { n: 4 },
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

    fn formats(&self, default: &[Format]) -> Vec<Format> {
        if self.setting.format.is_empty() { default.to_vec() } else { self.setting.format.clone() }
    }
}

/// A row, with what was measured, or why it was refused.
///
/// # Errors
/// Those of the device: all others refuse this system in this format.
fn row(
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

/// The exit status: whether a product was wrong, or a solve did not converge.
fn status(report: &Report) -> u8 {
    let rows = report.tables.iter().flat_map(|table| &table.rows);
    let figures: Vec<&Figures> = rows.filter_map(|row| row.figures.as_ref()).collect();
    match () {
        _ if figures.iter().any(|f| !f.correct && f.stopped.is_none()) => FAILURE,
        _ if figures.iter().any(|f| f.stopped.is_some()) => UNCONVERGED,
        _ => SUCCESS,
    }
}

fn describe(device: &Device, copy_bandwidth: Option<f64>) -> report::Device {
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

/// The processor, as the system calls it.
fn cpu_name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or_else(|| std::env::consts::ARCH.into(), |(_, name)| name.trim().into())
}

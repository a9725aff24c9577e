//! `warpsolve bench`: the source documents' tables, measured here.
//!
//! A table is a list of rows ([`report`]); [`products`], [`patterns`], [`programs`], [`native`] and
//! [`solves`] measure them, [`text`], [`html`] and serde write them, [`compare`] sets two reports side by
//! side.

pub mod args;
mod compare;
mod html;
mod kind;
mod native;
/// The kernel in CUDA C++, which the example shows.
#[allow(dead_code)]
#[path = "../../../examples/native_cuda.rs"]
mod native_cuda;
mod patterns;
mod plots;
mod products;
mod programs;
mod published;
mod report;
mod shared;
mod solves;
mod text;

use std::path::{Path, PathBuf};

use warpsolve::{Error, Result};

use super::json;
use super::output::{print, write};
use super::parameters::Amg;
use super::profile::Profiler;
use super::status::{FAILURE, SUCCESS, UNCONVERGED};
use args::{BenchArgs, Setting, What};
use kind::{ALL, Kind};
use report::{Figures, Report, SCHEMA, System, Table};
use shared::{Bench, SCALAR};

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
        What::Elasticity(setting) => (&[Kind::Elasticity][..], setting),
        What::Exchange(setting) => (&[Kind::Exchange][..], setting),
        What::Patterns(setting) => (&[Kind::Patterns][..], setting),
        What::Unified(setting) => (&[Kind::Unified][..], setting),
        What::Loops(setting) => (&[Kind::Loops][..], setting),
        What::Programs(setting) => (&[Kind::Programs][..], setting),
        What::Native(setting) => (&[Kind::Native][..], setting),
        What::Shapes(setting) => (&[Kind::Shapes][..], setting),
        What::All(setting) => (&ALL[..], setting),
        What::Compare(args) => return compare::run(&args),
    };
    let has_multigrid =
        |kind: &Kind| matches!(kind, Kind::Amg | Kind::Block | Kind::Threads | Kind::Elasticity);
    if setting.preset.is_some() && setting.amg.iter().any(|setting| setting.key == Amg::PRESET) {
        return Err(Error::Option("--preset and --amg preset= say the same; give one of them".into()));
    }
    if (!setting.amg.is_empty() || setting.preset.is_some()) && !kinds.iter().any(has_multigrid) {
        let message =
            "--amg and --preset go with a table that has multigrid: amg, block, threads, elasticity or all";
        return Err(Error::Option(message.into()));
    }
    let multiplies = |kind: &Kind| matches!(kind, Kind::Spmv | Kind::Block | Kind::Shapes);
    if (!setting.slice.is_empty() || !setting.block.is_empty()) && !kinds.iter().any(multiplies) {
        let message = "--slice and --block go with a table of products alone: spmv, block, shapes or all";
        return Err(Error::Option(message.into()));
    }
    Bench::new(setting, profiler)?.run(kinds)
}

impl Bench {
    /// Measures one table after the other. What is measured is printed and written at once: nothing is lost
    /// where a later table fails.
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
        if !kinds[0].has_no_matrix() {
            self.load(kinds[0])?;
        }
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
                write(path, &json::text(&report))?;
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
        let gmres = self.gmres_title();
        let (name, title, source) = match kind {
            Kind::Dot => ("dot", "scalar product".into(), format!("{}, section 4.1", published::REPORT)),
            Kind::Spmv => {
                ("spmv", "product y = A x".into(), format!("{}, sections 5.1 and 6.1", published::REPORT))
            }
            Kind::Cg => {
                ("cg", self.title("CG, Jacobi preconditioner"), format!("{}, section 7.1", published::REPORT))
            }
            Kind::Gmres => {
                let title = self.title(&format!("{gmres}, Jacobi preconditioner"));
                ("gmres", title, format!("{}, section 7.1", published::REPORT))
            }
            Kind::Amg => {
                let title = self.multigrid_title(&format!("CG and {gmres}, algebraic multigrid"));
                ("amg", title, format!("{}, section 7.2", published::REPORT))
            }
            Kind::Block => {
                ("block", self.multigrid_title("blocks of unknowns beside scalars"), String::new())
            }
            Kind::Threads => {
                let source = format!("{}, section 7.3; {}", published::REPORT, published::ELASTICITY);
                (
                    "threads",
                    self.multigrid_title(&format!("CG and {gmres} on threads of the host, CRS")),
                    source,
                )
            }
            Kind::Elasticity => {
                ("elasticity", self.multigrid_title("elasticity, CG"), published::SECTION_7.into())
            }
            Kind::Exchange => {
                ("exchange", "product y = A x by several ranks, CRS".into(), published::SECTION_5.into())
            }
            Kind::Loops => ("loops", "a sweep of block Jacobi, CRS".into(), published::SECTION_8_4.into()),
            Kind::Patterns => ("patterns", "access patterns and branches".into(), String::new()),
            Kind::Shapes => ("shapes", "product y = A x by slices and blocks".into(), String::new()),
            Kind::Programs => ("programs", "small programs".into(), published::TUTORIALS.into()),
            Kind::Native => {
                let title = self.title("a kernel in CUDA C++ beside the one in Rust, CG");
                ("native", title, published::SECTION_4.into())
            }
            Kind::Unified => ("unified", "a kernel that reads unified memory".into(), String::new()),
        };
        let a = if kind.has_no_matrix() { None } else { Some(self.load(kind)?) };
        let system = System {
            matrix: self.system.as_ref().filter(|_| a.is_some()).map_or(String::new(), |(s, _)| s.name()),
            rows: match (kind, &a) {
                (_, Some(a)) => a.n_rows(),
                (Kind::Programs, None) => 0,
                (_, None) => self.elements(),
            },
            nonzeros: a.as_ref().map_or(0, |a| a.nnz()),
        };
        let rows = match (kind, &a) {
            (Kind::Unified, _) => self.unified(),
            (Kind::Programs, _) => self.programs(report),
            (Kind::Patterns, _) | (_, None) => self.patterns(),
            (Kind::Dot, Some(a)) => self.dot(a.n_rows()),
            (Kind::Shapes, Some(a)) => self.shapes(a),
            (Kind::Spmv, Some(a)) => self.spmv(a, &self.formats(&SCALAR)),
            (Kind::Cg, Some(a)) => self.cg(a),
            (Kind::Gmres, Some(a)) => self.gmres(a),
            (Kind::Amg, Some(a)) => self.amg(a),
            (Kind::Block, Some(a)) => self.block(a),
            (Kind::Threads, Some(a)) => self.on_threads(a, report),
            (Kind::Elasticity, Some(a)) => self.elasticity(a, report),
            (Kind::Loops, Some(a)) => self.loops(a, report),
            (Kind::Exchange, Some(a)) => self.exchange(a),
            (Kind::Native, Some(a)) => self.native(a),
        }?;
        Ok(Table { table: name.into(), title, source, system, rows })
    }
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

/// The processor, as the system calls it.
fn cpu_name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or_else(|| std::env::consts::ARCH.into(), |(_, name)| name.trim().into())
}

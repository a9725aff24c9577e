//! The tables of solves: CG and GMRES by preconditioner, format, block and thread count.

use std::sync::Arc;

use warpsolve::job::{self, Device, Method, Options, Precision, Precond, Timing};
use warpsolve::launch::Counts;
use warpsolve::matrix::{Csr, Format};
use warpsolve::precond::amg::NearNull;
use warpsolve::solver::{MAX_RESTART, Stop, StopReason};
use warpsolve::{Error, Result};

use super::super::parameters::{Amg, Setting};
use super::super::rigid::with_rigid_motions;
use super::super::values::Restart;
use super::published::{self, Solve};
use super::report::{Copies, Figures, Published, Report, Row, Spread};
use super::shared::{BLOCKS, Bench, SCALAR, row};

/// Solves, as the source documents count them, and in the simulator.
const SOLVES: (u32, u32) = (10, 1);
/// Norms of a history that a report keeps at most.
const HISTORY: usize = 200;

/// A work that is timed: its name, method, preconditioner, and where it is published.
type Work = (&'static str, Method, Precond, Solve);

const CG_JACOBI: Work = ("CG + Jacobi", Method::Cg, Precond::Jacobi, Solve::CgJacobi);
const GMRES_JACOBI: Work = ("GMRES + Jacobi", Method::Gmres, Precond::Jacobi, Solve::GmresJacobi);
const CG_AMG: Work = ("CG + AMG", Method::Cg, Precond::Amg, Solve::CgAmg);
const GMRES_AMG: Work = ("GMRES + AMG", Method::Gmres, Precond::Amg, Solve::GmresAmg);

impl Bench {
    pub fn cg(&self, a: &Arc<Csr<f64>>) -> Result<Vec<Row>> {
        self.in_formats(a, &self.formats(&SCALAR), &[CG_JACOBI])
    }

    pub fn gmres(&self, a: &Arc<Csr<f64>>) -> Result<Vec<Row>> {
        self.in_formats(a, &self.formats(&SCALAR), &[GMRES_JACOBI])
    }

    pub fn amg(&self, a: &Arc<Csr<f64>>) -> Result<Vec<Row>> {
        self.in_formats(a, &self.formats(&SCALAR), &[CG_AMG, GMRES_AMG])
    }

    /// Products and solves with blocks of unknowns, beside the same with scalars.
    pub fn block(&self, a: &Arc<Csr<f64>>) -> Result<Vec<Row>> {
        let formats = self.formats(&BLOCKS);
        let mut rows = self.spmv(a, &formats)?;
        rows.extend(self.in_formats(a, &formats, &[CG_JACOBI, CG_AMG])?);
        // What is published is of another system.
        rows.iter_mut().for_each(|row| row.published.clear());
        Ok(rows)
    }

    fn in_formats(&self, a: &Arc<Csr<f64>>, formats: &[Format], works: &[Work]) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for &work in works {
            for device in &self.devices {
                for &precision in &self.setting.precision {
                    for &format in formats {
                        let published = published::solve(work.3, format);
                        let measured = self.solve(a, work, device, format, precision);
                        rows.push(row(work.0, device, Some(format), precision, published, measured)?);
                    }
                }
            }
        }
        Ok(rows)
    }

    /// The host's threads, each number of them beside its own triad.
    pub fn on_threads(&self, a: &Arc<Csr<f64>>, report: &mut Report) -> Result<Vec<Row>> {
        self.by_threads(a, report, &[CG_AMG, GMRES_AMG, CG_JACOBI], published::on_threads)
    }

    /// Elasticity: on the host's threads where the CPU is asked for, then in the documents' two formats on
    /// each GPU.
    pub fn elasticity(&self, a: &Arc<Csr<f64>>, report: &mut Report) -> Result<Vec<Row>> {
        let works = [CG_JACOBI, CG_AMG];
        let mut rows = match self.devices.iter().any(|device| matches!(device, Device::Cpu(_))) {
            true => self.by_threads(a, report, &works, published::elasticity_on_threads)?,
            false => Vec::new(),
        };
        for work in works {
            for device in self.devices.iter().filter(|device| matches!(device, Device::Gpu(_))) {
                for &precision in &self.setting.precision {
                    for format in self.formats(&[Format::Crs, Format::Ell]) {
                        let published = published::elasticity(work.3, format);
                        let measured = self.solve(a, work, device, format, precision);
                        rows.push(row(work.0, device, Some(format), precision, published, measured)?);
                    }
                }
            }
        }
        Ok(rows)
    }

    /// Works on each number of threads of the host, in CRS and f64.
    fn by_threads(
        &self,
        a: &Arc<Csr<f64>>,
        report: &mut Report,
        works: &[Work],
        published: fn(Solve, usize) -> Vec<Published>,
    ) -> Result<Vec<Row>> {
        let devices = self.cpus(&self.threads, report)?;
        let (format, precision) = (Format::Crs, Precision::F64);
        let mut rows = Vec::new();
        for &work in works {
            for (device, &threads) in devices.iter().zip(&self.threads) {
                let published = published(work.3, threads);
                let measured = self.solve(a, work, device, format, precision);
                rows.push(row(work.0, device, Some(format), precision, published, measured)?);
            }
        }
        Ok(rows)
    }

    /// The parameters that were asked for, and for an elastic body its rigid motions.
    fn choose_multigrid(&self, options: &mut Options) -> Result<()> {
        let preset = self.setting.preset.iter().map(|name| Setting::new(Amg::PRESET, name.clone()));
        let settings: Vec<Setting<Amg>> = self.setting.amg.iter().cloned().chain(preset).collect();
        Amg::apply(&settings, options)?;
        let coordinates = self.system.as_ref().and_then(|(source, _)| source.coordinates());
        if let Some(coordinates) = coordinates {
            *options = with_rigid_motions(options.clone(), || NearNull::rigid_motions(&coordinates))?;
        }
        Ok(())
    }

    /// Solves `A x = 1` again and again, after once that does not count.
    fn solve(
        &self,
        a: &Arc<Csr<f64>>,
        (name, method, precond, _): Work,
        device: &Device,
        format: Format,
        precision: Precision,
    ) -> Result<Figures> {
        let mut options = Options {
            restart: match self.setting.restart {
                Restart::After(n) => n,
                Restart::Never => MAX_RESTART,
            },
            method: Some(method),
            precond: Some(precond),
            format: Some(format),
            block_size: format.block(),
            precision,
            stop: Stop { rtol: self.setting.rtol, atol: 0.0, max_iterations: self.setting.max_iter },
            ..Options::default()
        };
        if precond == Precond::Amg {
            self.choose_multigrid(&mut options)?;
        }
        let default = if self.simulated { SOLVES.1 } else { SOLVES.0 };
        let count = self.setting.solves.unwrap_or(default);
        let b = vec![1.0; a.n_rows()];
        let (mut solves, mut setups, mut first) = (Vec::new(), Vec::new(), None);
        for k in 0..=count {
            self.progress
                .working(format!("{name}, {format}, {precision}, {}, {k} of {count}", device.name()));
            let report = job::solve(a, &b, &options, device)?.report;
            if k == 0 {
                first = Some(report);
                continue;
            }
            solves.push(report.solve_seconds);
            setups.push(report.setup_seconds);
        }
        let report = first.ok_or_else(|| Error::Option("no solve was asked for".into()))?;
        let norm_b = if report.norm_b > 0.0 { report.norm_b } else { 1.0 };
        let history = &report.outcome.history;
        let every = history.len().div_ceil(HISTORY).max(1);
        let last = history.len().saturating_sub(1);
        let kept = |k: &usize| k.is_multiple_of(every) || *k == last;
        let copies = |counts: Counts| Copies { copies: counts.uploads + counts.downloads, calls: 1 };
        Ok(Figures {
            time: Spread::from(&Timing::of(solves)),
            setup: Some(Spread::from(&Timing::of(setups))),
            iterations: Some(report.outcome.iterations),
            error: report.relative_residual,
            correct: report.converged(),
            stopped: (report.outcome.reason != StopReason::Converged)
                .then(|| report.outcome.reason.to_string()),
            bytes: report.bytes_moved,
            operations: None,
            copies: report.counts.map(copies),
            kernels: Vec::new(),
            history: (0..history.len()).filter(kept).map(|k| (k as u32, history[k] / norm_b)).collect(),
        })
    }
}

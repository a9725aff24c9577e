//! The files of a simulation.
//!
//! Each is complete at any time: frames, lists, reports and checkpoints are renamed into place, and the table
//! of the steps grows by whole lines.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use warpsolve::backend::cells::Cells;
use warpsolve::cardiac::io::picture::write_activation;
use warpsolve::cardiac::io::vtk::{Series, VtuWriter, write_vtu};
use warpsolve::cardiac::mesh::Mesh;
use warpsolve::cardiac::{Simulation, StepReport};
use warpsolve::io::atomic::write_atomically;
use warpsolve::precond::amg::Assembles;
use warpsolve::solver::cg::CgSteps;
use warpsolve::{Error, Result};

use super::super::output::write;
use super::files::{ACTIVATION, ACTIVATION_LIST, DIAGONAL, FRAMES, PICTURE, REPORT, RUN, STEPS};
use super::niederer;
use super::plan::Plan;

const HEADING: &str = "time_ms,parabolic_iterations,elliptic_iterations,seconds\n";

/// Where results go; nowhere without `--out`.
pub struct Outputs<'a> {
    plan: &'a Plan,
    series: Option<Series>,
    /// Writes frames, where ranks do not write them in pieces.
    writer: Option<VtuWriter>,
    steps: Option<Table>,
    /// Spent on writing so far.
    pub seconds: f64,
}

/// A file that grows by lines.
struct Table {
    path: PathBuf,
    file: BufWriter<File>,
}

impl<'a> Outputs<'a> {
    /// Begins the files, or goes on with those of a run that is continued at `time` (ms): what they have of
    /// later times is left out.
    pub fn open<const C: usize>(
        plan: &'a Plan,
        mesh: &Mesh<C>,
        time: f64,
        continued: bool,
    ) -> Result<Outputs<'a>> {
        let mut outputs = Outputs { plan, series: None, writer: None, steps: None, seconds: 0.0 };
        if let Some(folder) = &plan.out {
            let path = folder.join(FRAMES);
            outputs.series = match plan.every {
                None => None,
                Some(_) if continued => Some(Series::resume(&path, time)?),
                Some(_) => Some(Series::create(&path)?),
            };
            let is_whole = outputs.series.is_some() && !plan.pieces;
            outputs.writer = is_whole.then(|| VtuWriter::new(mesh));
            outputs.steps = Some(Table::open(folder.join(STEPS), if continued { time } else { 0.0 })?);
        }
        Ok(outputs)
    }

    /// Frames written so far, those of the runs before included.
    pub fn frames(&self) -> usize {
        self.series.as_ref().map_or(0, |series| series.times().count())
    }

    /// Adds a line.
    pub fn step(&mut self, step: &StepReport) -> Result<()> {
        let StepReport { time, parabolic_iterations, elliptic_iterations, seconds } = step;
        match &mut self.steps {
            None => Ok(()),
            Some(table) => {
                let line = format!("{time},{parabolic_iterations},{elliptic_iterations},{seconds:e}\n");
                table.file.write_all(line.as_bytes()).map_err(|error| Error::io("write", &table.path, error))
            }
        }
    }

    /// Adds a frame, unless there is one of this time.
    pub fn frame<B: Cells + Assembles + CgSteps<f64> + Clone + 'static>(
        &mut self,
        simulation: &Simulation<B>,
    ) -> Result<()> {
        let start = Instant::now();
        if let Some(series) = &mut self.series
            && series.times().last().is_none_or(|last| last < simulation.time())
        {
            let time = simulation.time();
            match &self.writer {
                None => series.add(time, "pvtu", |path| simulation.write_frame(path))?,
                Some(writer) => {
                    let (v, phi_e) = (simulation.v()?, simulation.phi_e()?);
                    let data = [Some(("v_m", &v[..])), phi_e.as_deref().map(|phi_e| ("phi_e", phi_e))];
                    let data: Vec<_> = data.into_iter().flatten().collect();
                    series.add(time, "vtu", |path| writer.write(path, &data))?;
                }
            }
        }
        if let Some(table) = &mut self.steps {
            table.file.flush().map_err(|error| Error::io("write", &table.path, error))?;
        }
        self.seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Writes the state, where that is asked for.
    pub fn checkpoint<B: Cells + Assembles + CgSteps<f64> + Clone + 'static>(
        &mut self,
        simulation: &Simulation<B>,
    ) -> Result<()> {
        let start = Instant::now();
        if let Some(path) = &self.plan.checkpoint {
            simulation.checkpoint()?.save(path)?;
        }
        self.seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// The last frame and checkpoint, unless a step failed (`is_good`), and the activation times; whatever
    /// fails, the rest is tried.
    pub fn finish<B: Cells + Assembles + CgSteps<f64> + Clone + 'static, const C: usize>(
        &mut self,
        mesh: &Mesh<C>,
        simulation: &Simulation<B>,
        activation: &[f64],
        is_good: bool,
    ) -> Vec<Error> {
        let mut failures = Vec::new();
        if is_good {
            failures.extend(self.frame(simulation).err());
            failures.extend(self.checkpoint(simulation).err());
        }
        let start = Instant::now();
        if let Some(table) = &mut self.steps {
            failures.extend(table.file.flush().map_err(|error| Error::io("write", &table.path, error)).err());
        }
        if let Some(folder) = self.plan.out.as_ref().filter(|_| !activation.is_empty()) {
            let written = match self.plan.pieces {
                true => simulation.write_activation(&folder.join(ACTIVATION_LIST)),
                false => write_vtu(&folder.join(ACTIVATION), mesh, &[("activation", activation)]),
            };
            failures.extend(written.err());
            failures.extend(self.picture(&folder.join(PICTURE), mesh, activation).err());
            if self.plan.source.niederer().is_some() {
                failures.extend(write(&folder.join(DIAGONAL), &niederer::diagonal(mesh, activation)).err());
            }
        }
        self.seconds += start.elapsed().as_secs_f64();
        failures
    }
}

impl Outputs<'_> {
    /// A picture of the tissue. What is around it would hide it.
    fn picture<const C: usize>(&self, path: &Path, mesh: &Mesh<C>, activation: &[f64]) -> Result<()> {
        let view = self.plan.view;
        let Some((tissue, nodes)) = self.plan.params.tissue_of(mesh)? else {
            return write_activation(path, mesh, activation, view);
        };
        let times: Vec<f64> = nodes.iter().map(|&node| activation[node as usize]).collect();
        write_activation(path, &tissue, &times, view)
    }
}

impl Table {
    /// Opens a table with the lines up to `time` (ms) that are there, if it has our heading.
    fn open(path: PathBuf, time: f64) -> Result<Table> {
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        let lines = old.strip_prefix(HEADING).unwrap_or_default().split_inclusive('\n');
        let is_earlier = |line: &&str| {
            let first = line.split(',').next().and_then(|first| first.parse::<f64>().ok());
            // A killed run may have left half a line.
            line.ends_with('\n') && first.is_some_and(|first| first <= time)
        };
        let kept: String = lines.take_while(is_earlier).collect();
        write_atomically(&path, |to| to.write_all(format!("{HEADING}{kept}").as_bytes()))?;
        let file = OpenOptions::new().append(true).open(&path);
        let file = file.map_err(|error| Error::io("write", &path, error))?;
        Ok(Table { path, file: BufWriter::new(file) })
    }
}

/// The names of the files of results, in words.
pub fn names(plan: &Plan, frames: usize) -> String {
    let plural = if frames == 1 { "" } else { "s" };
    let frame_files =
        plan.every.map(|_| format!("{FRAMES} with {frames} frame{plural}, ")).unwrap_or_default();
    let diagonal = plan.source.niederer().map(|_| format!("{DIAGONAL}, ")).unwrap_or_default();
    let activation = if plan.pieces { ACTIVATION_LIST } else { ACTIVATION };
    format!("{frame_files}{activation}, {PICTURE}, {diagonal}{STEPS}, {RUN}, {REPORT}")
}

/// Writes what was reported into the folder of results.
pub fn write_reports(plan: &Plan, report: &str, run: &str) -> Result<()> {
    let Some(folder) = &plan.out else { return Ok(()) };
    let to = |name: &str| -> PathBuf { Path::new(folder).join(name) };
    write(&to(RUN), run)?;
    write(&to(REPORT), report)
}

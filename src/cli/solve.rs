//! `warpsolve solve`: from the arguments to the solution, and the files that were asked for.

use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use warpsolve::comm::{Comm, agree, agreed};
use warpsolve::io::matrix_market::write_vectors;
use warpsolve::job::{self, Builder, CancellationToken, Device, Ranks, Solution, Solver};
use warpsolve::matrix::{Csr, row_stats};
use warpsolve::precond::amg::NearNull;
use warpsolve::{Error, Result};

use super::args::SolveArgs;
use super::ended::{Ended, tell};
use super::facts::Pass;
use super::job::Job;
use super::load::{self, NearNullFile, System};
use super::output::{print, write};
use super::partition::PartitionName;
use super::profile::Profiler;
use super::progress::{Progress, show};
use super::rigid::with_rigid_motions;
use super::status::SUCCESS;
use super::{by_rows, device, json, ranks, report};

/// Solves and reports; returns the exit status.
///
/// Under a launcher `comm` is how this process, the first, talks to the others.
pub fn run(args: SolveArgs, comm: Option<&Arc<dyn Comm>>, profiler: &Profiler) -> Result<u8> {
    let start = Instant::now();
    let mut job = agreed(comm, Job::try_from(args))?;
    (job.device, job.threads) = ranks::device_and_threads(comm, job.ranks, job.device, job.threads)?;
    if comm.is_none() && job.ranks == 1 && job.partition.is_some() {
        return Err(Error::Option("--partition goes with --ranks, or a launcher that starts several".into()));
    }
    if job.by_rows {
        return by_rows::run(job, comm, profiler, start);
    }
    load::start_threads(job.threads)?;
    let partitioning = job.partition.as_ref().unwrap_or(&PartitionName::Blocks).read()?;
    job.options.near_null = job.near_null.as_ref().map(NearNullFile::read).transpose()?.map(Arc::new);
    if let Some(coordinates) = job.source.coordinates() {
        job.options = with_rigid_motions(job.options, || NearNull::rigid_motions(&coordinates))?;
    }
    let progress = Progress::new(job.quiet);

    // A GPU takes about as long to open as a matrix of a million rows to read: both at once.
    let reading = std::thread::spawn({
        let (source, rhs, progress) = (job.source.clone(), job.rhs.clone(), progress.clone());
        move || load::system(&source, rhs.as_deref(), &progress)
    });
    let first = ranks::device_of(job.device, 0);
    // Ranks are asked for where a system is large.
    let file = job.source.file().filter(|_| comm.is_none() && job.ranks == 1);
    let opened = device::open_for(file, first, job.threads, profiler).inspect_err(|_| progress.clear())?;
    let ranks = match comm {
        Some(comm) => Some(Ranks::processes(comm.clone(), partitioning)?),
        None if job.ranks > 1 => Some(ranks::start(job.ranks, partitioning, job.device, job.threads)?),
        None => None,
    };
    let device_seconds = start.elapsed().as_secs_f64();
    let system = reading.join().unwrap_or_else(|panic| resume_unwind(panic));
    progress.clear();
    let system = system?;
    if let (Some(file), Some(near_null)) = (&job.near_null, &job.options.near_null) {
        file.check(near_null, system.a.n_rows())?;
    }

    if job.plan {
        return prospect(&job, &system.a, &opened.device);
    }
    let cancellation = CancellationToken::new();
    let builder = Solver::builder()
        .options(job.options.clone())
        .device(opened.device.clone())
        .on_progress(show(progress.clone(), cancellation.clone()))
        .cancellation(cancellation.clone());
    let builder = match ranks {
        Some(ranks) => builder.ranks(Arc::new(ranks)),
        None => builder,
    };
    let solved = solve(&job, builder, &system, &cancellation);
    progress.clear();
    let Solved { x, reports, passes } = solved?;
    let total_seconds = start.elapsed().as_secs_f64();
    // Everything is tried, whatever fails before it: the solution may have taken hours.
    let written = job.out.as_ref().map_or(Ok(()), |path| write_vectors(path, &x));
    let (summary, rows) = (system.summary, row_stats(&system.a));
    let read_seconds = system.read_seconds;
    let ended =
        Ended { reports, passes, summary, rows, read_seconds, device_seconds, total_seconds, written };
    tell(job, opened, &progress, ended)
}

/// What came of all solves.
struct Solved {
    x: Vec<Vec<f64>>,
    reports: Vec<job::Report>,
    passes: Vec<Pass>,
}

/// Solves, as often as was asked for, or until a signal comes. What is reported is the first solve; the
/// others tell their times.
fn solve(job: &Job, builder: Builder, system: &System, cancellation: &CancellationToken) -> Result<Solved> {
    let start = Instant::now();
    let builder = if job.new_values { builder.reusable(true) } else { builder };
    let (mut solver, solutions) = builder.start(&system.a, &system.b)?;
    let unzip = |solutions: Vec<Solution>| -> (Vec<Vec<f64>>, Vec<job::Report>) {
        solutions.into_iter().map(|Solution { x, report }| (x, report)).unzip()
    };
    let (x, reports) = unzip(solutions);
    let mut passes = vec![Pass::of(&reports, start.elapsed().as_secs_f64())];
    while passes.len() < job.repeat as usize && !cancellation.is_cancelled() {
        let start = Instant::now();
        if job.new_values {
            solver.update_values(&system.a)?;
        }
        let (_, again) = unzip(solver.solve_many(&system.b)?);
        if !cancellation.is_cancelled() {
            passes.push(Pass::of(&again, start.elapsed().as_secs_f64()));
        }
    }
    Ok(Solved { x, reports, passes })
}

/// What every process of a launcher but the first does.
pub fn work(args: SolveArgs, comm: &Arc<dyn Comm>) -> Result<u8> {
    // The first writes.
    let args = SolveArgs { out: None, json: None, history: None, ..args };
    let job = agree(&**comm, Job::try_from(args))?;
    if job.by_rows {
        return by_rows::work(&job, comm);
    }
    ranks::work(comm, job.device, job.threads)
}

/// Says what would be done.
fn prospect(job: &Job, a: &Arc<Csr<f64>>, device: &Device) -> Result<u8> {
    let prospect = job::prospect(a.clone(), &job.options, device)?;
    let name = job.source.name();
    if let Some(path) = &job.json {
        write(path, &json::text(&json::Prospect::new(&name, &prospect)))?;
    }
    if job.json.as_deref() != Some(Path::new("-")) {
        print(&report::prospect(&name, &prospect))?;
    }
    Ok(SUCCESS)
}

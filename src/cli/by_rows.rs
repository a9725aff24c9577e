//! `warpsolve solve --by-rows`: no rank has more of the matrix than its rows.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use warpsolve::comm::{Comm, agree};
use warpsolve::io::binary::{self, RowFile};
use warpsolve::job::ranks::by_rows::{MarketRows, RowSource, Solver, own_rows, read_vector, write_vector};
use warpsolve::job::ranks::{caught, together};
use warpsolve::job::{CancellationToken, Device, Report, Solution};
use warpsolve::matrix::{Csr, RowStats, row_stats};
use warpsolve::problem::Rows;
use warpsolve::{Error, Result};

use super::device;
use super::ended::{Ended, tell};
use super::facts::Pass;
use super::job::Job;
use super::load::{self, Source};
use super::partition::PartitionName;
use super::profile::Profiler;
use super::progress::{Progress, show};
use super::ranks;
use super::status::{FAILURE, SUCCESS};

/// Solves on all ranks, of which this is the first, and reports; returns the exit status.
pub fn run(job: Job, comm: Option<&Arc<dyn Comm>>, profiler: &Profiler, start: Instant) -> Result<u8> {
    load::start_threads(threads_of_all(&job))?;
    let progress = Progress::new(job.quiet);
    let on_first = |comm: &Arc<dyn Comm>| {
        agree(&**comm, check(&job))?;
        let opening = Instant::now();
        let opened = device::open(ranks::device_of(job.device, 0), job.threads, profiler);
        let opened = agree(&**comm, opened.inspect_err(|_| progress.clear()))?;
        let device_seconds = opening.elapsed().as_secs_f64();
        let cancellation = CancellationToken::new();
        let show = show(progress.clone(), cancellation.clone());
        let watched = |solver: Solver| solver.on_progress(show).cancellation(cancellation);
        progress.stage("reading");
        let solved = solve(&job, comm, &opened.device, watched, start);
        progress.clear();
        Ok((solved?, opened, device_seconds))
    };
    let solved = match comm {
        Some(comm) => caught(comm, || on_first(comm)),
        None => together(job.ranks, on_first, |comm| solve_beside(&job, comm, job.threads)),
    };
    let (Solved { report, pass, rows, read_seconds, total_seconds, written }, opened, device_seconds) =
        solved?;
    let (reports, passes, summary) = (vec![report], vec![pass], None);
    let ended =
        Ended { reports, passes, summary, rows, read_seconds, device_seconds, total_seconds, written };
    tell(job, opened, &progress, ended)
}

/// Threads of the host, where ranks of one process make their rows at the same time: those of all ranks, as
/// far as there are cores.
fn threads_of_all(job: &Job) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    (job.threads * job.ranks).min(cores).max(job.threads)
}

/// What every process of a launcher but the first does: it says nothing.
pub fn work(job: &Job, comm: &Arc<dyn Comm>) -> Result<u8> {
    let (device, threads) = ranks::share(&**comm, job.device, job.threads);
    load::start_threads(threads)?;
    let solved = caught(comm, || solve_on(job, comm, || ranks::open(device, threads)));
    // What went wrong is said by rank 0, or has ended all.
    Ok(if solved.is_ok() { SUCCESS } else { FAILURE })
}

/// What every rank but the first does that is a thread of this process.
fn solve_beside(job: &Job, comm: &Arc<dyn Comm>, threads: usize) -> Result<()> {
    solve_on(job, comm, || ranks::open(ranks::device_of(job.device, comm.rank()), threads))
}

fn solve_on(job: &Job, comm: &Arc<dyn Comm>, open: impl FnOnce() -> Result<Device>) -> Result<()> {
    agree(&**comm, check(job))?;
    let device = agree(&**comm, open())?;
    solve(job, comm, &device, |solver| solver, Instant::now()).map(drop)
}

/// What came of the solve of all ranks.
struct Solved {
    report: Report,
    pass: Pass,
    rows: RowStats,
    read_seconds: f64,
    /// From the start of the program to the solution.
    total_seconds: f64,
    written: Result<()>,
}

/// Solves together with the other ranks.
fn solve(
    job: &Job,
    comm: &Arc<dyn Comm>,
    device: &Device,
    watched: impl FnOnce(Solver) -> Solver,
    begin: Instant,
) -> Result<Solved> {
    let start = Instant::now();
    let source = source(&**comm, device, job)?;
    let a = own_rows(&**comm, device, &*source, job.options.block_size)?;
    let rows = stats_of_all(&**comm, &a)?;
    let read_seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let mut solver = watched(Solver::new(comm, device, a, &job.options)?);
    let b = match &job.rhs {
        None => vec![1.0; solver.rows().len()],
        Some(path) => read_vector(&**comm, path, solver.n_rows(), solver.rows())?,
    };
    let Solution { x, report } = solver.solve(&b)?;
    let pass = Pass::of(std::slice::from_ref(&report), start.elapsed().as_secs_f64());
    let total_seconds = begin.elapsed().as_secs_f64();
    let written = match asked_of_first(&**comm, job.out.is_some())? {
        true => write_vector(&**comm, job.out.as_deref().unwrap_or(Path::new("")), x),
        false => Ok(()),
    };
    Ok(Solved { report, pass, rows, read_seconds, total_seconds, written })
}

/// What rank 0 was asked for, which alone writes. All ranks call this.
fn asked_of_first(comm: &dyn Comm, mine: bool) -> Result<bool> {
    Ok(comm.all_gather(&[f64::from(u8::from(mine))])?[0] > 0.0)
}

/// Refuses what needs the whole matrix, in the words of the options.
fn check(job: &Job) -> Result<()> {
    match job.partition {
        None | Some(PartitionName::Blocks) => Ok(()),
        Some(_) => Err(Error::Option(
            "--by-rows shares rows out in blocks, without the whole matrix; leave --partition out".into(),
        )),
    }
}

/// Where rows are from. All ranks call this.
fn source(comm: &dyn Comm, device: &Device, job: &Job) -> Result<Box<dyn RowSource>> {
    Ok(match &job.source {
        Source::File(path) if binary::is_binary(path) => Box::new(agree(comm, RowFile::open(path))?),
        Source::File(path) => Box::new(MarketRows::read(comm, device, path, job.options.block_size)?),
        Source::Generated { problem, seed, .. } => Box::new(agree(comm, Rows::of(problem, *seed))?),
    })
}

/// The lengths of the rows of all ranks.
fn stats_of_all(comm: &dyn Comm, a: &Csr<f64>) -> Result<RowStats> {
    let RowStats { min, max, empty, .. } = row_stats(a);
    let all = comm.all_gather(&[min, max, empty, a.nnz(), a.n_rows()].map(|count| count as f64))?;
    let ranks = || all.chunks_exact(5).filter(|of_rank| of_rank[4] > 0.0);
    let sum = |k: usize| ranks().map(|of_rank| of_rank[k]).sum::<f64>();
    let min = ranks().map(|of_rank| of_rank[0]).reduce(f64::min).unwrap_or(0.0) as usize;
    let max = ranks().map(|of_rank| of_rank[1]).fold(0.0, f64::max) as usize;
    Ok(RowStats { min, max, mean: sum(3) / sum(4).max(1.0), empty: sum(2) as usize })
}

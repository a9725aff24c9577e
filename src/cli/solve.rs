//! `warpsolve solve`: from the arguments to the solution, and the files that were asked for.

use std::fmt::Write;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use warpsolve::comm::Comm;
use warpsolve::io::matrix::Summary;
use warpsolve::io::matrix_market::write_vectors;
use warpsolve::job::{
    self, Builder, CancellationToken, Device, Options, Precond, Ranks, Solution, Solver, Stage,
};
use warpsolve::matrix::{Csr, RowStats, row_stats};
use warpsolve::precond::amg::NearNull;
use warpsolve::precond::schur::Split;
use warpsolve::solver::{MAX_RESTART, StopReason};
use warpsolve::{Error, Result};

use super::args::SolveArgs;
use super::device::{self, DeviceName, Opened};
use super::facts::{Facts, Pass, worst};
use super::load::{self, NearNullFile, Source, System};
use super::output::{check_outputs, check_solution_file, complain, print, warn, write};
use super::partition::PartitionName;
use super::profile::Profiler;
use super::progress::Progress;
use super::ranks;
use super::rigid::with_rigid_motions;
use super::status::{self, SUCCESS};
use super::values::Restart;
use super::{advice, by_rows, config, json, report, signals, split};

/// What is to be done, with every option checked.
pub struct Job {
    pub source: Source,
    pub rhs: Option<PathBuf>,
    near_null: Option<NearNullFile>,
    pub options: Options,
    unrestarted: bool,
    pub device: DeviceName,
    pub threads: usize,
    pub ranks: usize,
    pub partition: Option<PartitionName>,
    pub by_rows: bool,
    pub out: Option<PathBuf>,
    history: Option<PathBuf>,
    json: Option<PathBuf>,
    plan: bool,
    repeat: u32,
    new_values: bool,
    pub quiet: bool,
    verbose: bool,
    warnings: Vec<String>,
}

impl TryFrom<SolveArgs> for Job {
    type Error = Error;

    fn try_from(args: SolveArgs) -> Result<Job> {
        let given = args.settings.normalised()?;
        let (settings, options) = match &args.config {
            None => (given.clone(), given.options()?),
            Some(path) => {
                let named = |what: &str, error| Error::Option(format!("{what}{}: {error}", path.display()));
                let settings = given.over(config::read(path)?).map_err(|error| named("", error))?;
                let options = settings.options().map_err(|error| named("with ", error))?;
                (settings, options)
            }
        };
        let source: Source = args.matrix.into();
        let vectors = |path| NearNullFile::Vectors(path, options.block_size);
        let near_null = args.coordinates.map(NearNullFile::Coordinates).or(args.near_null.map(vectors));
        if let (Some(NearNullFile::Coordinates(_)), 2..) = (&near_null, options.block_size) {
            let message =
                "--block-size does not go with --coordinates, which say how many unknowns a node has";
            return Err(Error::Option(message.into()));
        }
        let options = if near_null.is_some() { with_near_null(options)? } else { options };
        let options = match &args.split {
            Some(name) => with_split(options, split::read(name)?)?,
            None => options,
        };
        let inputs = [
            source.file(),
            args.rhs.as_deref(),
            near_null.as_ref().map(NearNullFile::path),
            args.config.as_deref(),
        ];
        args.out.as_deref().map_or(Ok(()), check_solution_file)?;
        check_outputs(&[&args.out, &args.history, &args.json].map(|path| path.as_deref()), &inputs)?;
        let device = settings.device.unwrap_or(DeviceName::Auto);
        Ok(Job {
            source,
            rhs: args.rhs,
            near_null,
            warnings: settings.ignored(&options),
            options,
            unrestarted: settings.restart == Some(Restart::Never),
            device,
            threads: settings.threads.unwrap_or(0).into(),
            ranks: ranks::count(args.ranks.map(usize::from), device)?,
            partition: args.partition,
            by_rows: args.by_rows,
            out: args.out,
            history: args.history,
            json: args.json,
            plan: args.plan,
            repeat: args.repeat,
            new_values: args.new_values,
            quiet: args.quiet,
            verbose: args.verbose,
        })
    }
}

/// Multigrid that takes near-null vectors: it works on unknowns one by one, and aggregates nodes.
fn with_near_null(options: Options) -> Result<Options> {
    match options.precond {
        None | Some(Precond::Amg) => Ok(Options { precond: Some(Precond::Amg), block_size: 1, ..options }),
        Some(_) => Err(Error::Option("--coordinates and --near-null go with --precond amg".into())),
    }
}

/// The preconditioner that takes the two kinds of unknowns apart.
fn with_split(options: Options, split: Split) -> Result<Options> {
    match options.precond {
        None | Some(Precond::Schur) => Ok(Options { precond: Some(Precond::Schur), split, ..options }),
        Some(_) => Err(Error::Option("--split goes with --precond schur".into())),
    }
}

/// Solves and reports; returns the exit status.
///
/// Under a launcher `comm` is how this process, the first, talks to the others.
pub fn run(args: SolveArgs, comm: Option<&Arc<dyn Comm>>, profiler: &Profiler) -> Result<u8> {
    let start = Instant::now();
    let mut job = Job::try_from(args)?;
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
    let opened = device::open(first, job.threads, profiler).inspect_err(|_| progress.clear())?;
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

/// A solve that has come to its end.
pub struct Ended {
    /// Of each right-hand side.
    pub reports: Vec<job::Report>,
    /// Of each solve.
    pub passes: Vec<Pass>,
    /// What was found in the file.
    pub summary: Option<Summary>,
    /// Row lengths.
    pub rows: RowStats,
    /// See [`Facts`].
    pub read_seconds: f64,
    pub device_seconds: f64,
    pub total_seconds: f64,
    /// Whether the solution was, where that was asked for.
    pub written: Result<()>,
}

/// Tells what came of a solve, in all the ways that were asked for; returns the exit status.
pub fn tell(job: Job, opened: Opened, progress: &Progress, ended: Ended) -> Result<u8> {
    let Ended { reports, passes, summary, rows, read_seconds, device_seconds, total_seconds, written } =
        ended;
    let is_incomplete = passes.len() < job.repeat as usize;
    let Some(report) = worst(&reports) else { unreachable!("a file of vectors has a column") };

    let warnings = warnings(&job, &reports, &opened.no_gpu);
    warnings.iter().for_each(|message| warn(message));
    let reason = report.outcome.reason;
    let shows_text = !job.quiet && job.json.as_deref() != Some(Path::new("-"));
    if reason != StopReason::Converged && !shows_text {
        warn(&report::outcome(&report));
    }

    let mut failures: Vec<Error> = written.err().into_iter().collect();
    if let Some(path) = &job.history {
        failures.extend(write(path, &history_csv(&reports)).err());
    }
    if shows_text || job.json.is_some() {
        progress.stage("bandwidth");
        let copy_bandwidth = opened.copy_bandwidth();
        progress.clear();
        // To ask about a kernel loads it, which a short report need not wait for.
        let capacity = (job.verbose || job.json.is_some()).then(|| opened.capacity()).flatten();
        let facts = Facts {
            capacity,
            matrix: job.source.name(),
            summary,
            rows,
            options: job.options,
            gpu: opened.device.gpu().map(|gpu| gpu.device().info().clone()),
            no_gpu: opened.no_gpu,
            threads: rayon::current_num_threads(),
            report,
            passes,
            columns: if reports.len() > 1 { reports } else { Vec::new() },
            warnings,
            read_seconds,
            device_seconds,
            total_seconds,
            copy_bandwidth: copy_bandwidth.unwrap_or_else(|error| {
                warn(&format!("the copy bandwidth could not be measured: {error}"));
                None
            }),
        };
        if let Some(path) = &job.json {
            failures.extend(write(path, &json::text(&json::Solve::from(&facts))).err());
        }
        if shows_text {
            failures.extend(print(&report::solve(&facts, job.verbose)).err());
        }
    }
    failures.iter().for_each(complain);
    // The first solve may have converged before the signal came.
    let is_cut_short = reason == StopReason::Converged && is_incomplete;
    Ok(status::of_solve(if is_cut_short { StopReason::Interrupted } else { reason }, &failures))
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
    let job = Job::try_from(args)?;
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

/// Shows what is being done, and lets Ctrl-C cancel from the first iteration or factorisation on: before that
/// nothing would be lost.
pub fn show(progress: Progress, cancellation: CancellationToken) -> impl FnMut(Stage) + Send {
    let mut is_listening = false;
    move |stage| {
        let can_be_cancelled = matches!(stage, Stage::Solve | Stage::Factorisation { .. });
        if can_be_cancelled && !is_listening {
            is_listening = true;
            if let Err(error) = signals::raise(&cancellation.flag()) {
                warn(&format!("a signal will end the program at once: {error}"));
            }
        }
        match stage {
            Stage::SetUp => progress.stage("set-up"),
            Stage::Upload => progress.stage("upload"),
            Stage::Factorisation { seconds, bytes } => progress.factorising(seconds, bytes),
            Stage::Iteration { iterations, norm, norm_b, threshold } => {
                progress.solving(iterations, norm, norm_b, threshold);
            }
            _ => {}
        }
    }
}

/// The solve's own warnings, and what only the options tell.
fn warnings(job: &Job, reports: &[job::Report], no_gpu: &Option<Error>) -> Vec<String> {
    let mut warnings = job.warnings.clone();
    for message in reports.iter().flat_map(|report| &report.warnings).map(advice::warning) {
        // What is said of the matrix is said of every right-hand side.
        if !warnings.contains(&message) {
            warnings.push(message);
        }
    }
    if let Some(error) = no_gpu
        && !matches!(error, Error::NoDevice(_))
    {
        warnings.push(format!("the GPU cannot be used: {error}"));
    }
    let is_long = |report: &&job::Report| {
        let restarts = report.method.description().takes_parameter("restart");
        restarts && report.outcome.iterations as usize > MAX_RESTART
    };
    if let Some(report) = reports.iter().find(is_long).filter(|_| job.unrestarted) {
        let title = report.method.description().title;
        warnings.push(format!("{title} restarted after {MAX_RESTART} iterations, its longest cycle"));
    }
    warnings
}

/// `iteration,residual_norm,relative`: relative to `||b||`, or the norm again where b = 0; of several
/// right-hand sides behind the number of the column, from 1.
fn history_csv(reports: &[job::Report]) -> String {
    let several = reports.len() > 1;
    let mut text = String::from(if several { "column," } else { "" });
    text += "iteration,residual_norm,relative\n";
    for (column, report) in reports.iter().enumerate() {
        let scale = if report.norm_b == 0.0 { 1.0 } else { report.norm_b };
        let column = if several { format!("{},", column + 1) } else { String::new() };
        for (iteration, norm) in report.outcome.history.iter().enumerate() {
            let _ = writeln!(text, "{column}{iteration},{norm:e},{:e}", norm / scale);
        }
    }
    text
}

//! What came of a solve, told in all the ways that were asked for.

use std::fmt::Write;
use std::path::Path;

use warpsolve::io::matrix::Summary;
use warpsolve::job::{self, Method};
use warpsolve::matrix::RowStats;
use warpsolve::solver::{MAX_RESTART, StopReason};
use warpsolve::{Error, Result};

use super::device::Opened;
use super::facts::{Facts, Pass, worst};
use super::job::Job;
use super::output::{complain, print, warn, write};
use super::progress::Progress;
use super::values::Restart;
use super::{advice, json, report, settings, status};

/// Seconds of a solve whose bandwidth is compared with that of a triad, which takes a quarter of a second.
const LONG_SOLVE: f64 = 0.1;

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
        // For a triad a short report of a short solve does not wait.
        let is_compared = job.verbose
            || job.json.is_some()
            || opened.device.gpu().is_some()
            || report.solve_seconds >= LONG_SOLVE;
        progress.stage("bandwidth");
        let copy_bandwidth = if is_compared { opened.copy_bandwidth() } else { Ok(None) };
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
    let restarts = |method: Method| method.description().takes_parameter("restart");
    let is_long =
        |report: &&job::Report| restarts(report.method) && report.outcome.iterations as usize > MAX_RESTART;
    let methods = |report: &job::Report| {
        let left = report.attempts.iter().map(|attempt| attempt.method);
        left.chain([report.method]).collect::<Vec<_>>()
    };
    let is_ignored = job.restart.is_some() && !reports.iter().flat_map(methods).any(restarts);
    if let Some(report) = reports.first().filter(|_| is_ignored) {
        let (title, others) = (report.method.description().title, settings::takers("restart"));
        warnings.push(format!("--restart is ignored: {title} was chosen; it goes with {others}"));
    }
    if let Some(report) = reports.iter().find(is_long).filter(|_| job.restart == Some(Restart::Never)) {
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

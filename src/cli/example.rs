//! `warpsolve example`: a small program, whether its result is right, and how fast it was.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use warpsolve::examples::{Loops, Program, Report, Timing, Transfers, Way, run as compute};
use warpsolve::launch::sim;
use warpsolve::{Error, Result, job::Device};

use super::args::ExampleArgs;
use super::device::{DeviceName, Opened, in_short, open};
use super::explain::{Explained, Kernel};
use super::json;
use super::load::start_threads;
use super::output::{check_outputs, print, say_error, write};
use super::profile::Profiler;
use super::status::{SUCCESS, UNCONVERGED};
use super::table::{bytes, duration};

/// What `example` reports.
#[derive(Serialize)]
struct Example<'a> {
    schema: &'static str,
    version: &'static str,
    example: Program,
    what: &'a str,
    transfers: Transfers,
    loops: Loops,
    device: String,
    device_kind: &'static str,
    figures: BTreeMap<&'a str, f64>,
    correct: bool,
    check: &'a str,
    timings: Vec<Time<'a>>,
    copy_bandwidth: Option<f64>,
    published: Vec<Published<'a>>,
    lines: &'a [String],
    kernels: Option<Vec<Kernel<'a>>>,
}

#[derive(Serialize)]
struct Time<'a> {
    part: &'a str,
    seconds: f64,
    bytes_moved: u64,
    bandwidth: Option<f64>,
}

#[derive(Serialize)]
struct Published<'a> {
    seconds: f64,
    source: &'a str,
}

/// Runs the program and reports; the exit status.
pub fn run(args: ExampleArgs, profiler: &Profiler) -> Result<u8> {
    if args.explain && args.device != DeviceName::Sim {
        let why = "counts are made by the simulator; add --device sim";
        return Err(Error::Option(format!("--explain with --device {}: {why}", args.device)));
    }
    check_outputs(&[args.json.as_deref()], &[])?;
    let threads = args.threads.unwrap_or(0).into();
    start_threads(threads)?;
    let opened = open(args.device, threads, profiler)?;
    let way = Way { transfers: args.transfers, loops: args.loops, lines: args.lines };
    let (report, counted) = sim::explain(|| compute(args.name, &args.sizes, way, &opened.device));
    let report = report?;
    let explained = args.explain.then(|| Explained::new(counted));
    let copy = match &opened.device {
        Device::Cpu(_) => None,
        Device::Gpu(_) => opened.copy_bandwidth()?,
    };
    if let Some(path) = &args.json {
        let kernels = explained.as_ref().map(Explained::kernels);
        write(path, &json::text(&Example { kernels, ..example(&args, &report, &opened.device, copy) }))?;
    }
    if args.json.as_deref() != Some(Path::new("-")) {
        print(&text(args.name, &report, &opened, copy))?;
        if let Some(explained) = &explained {
            print(&explained.text())?;
        }
    }
    Ok(status(args.name, &report))
}

/// The exit status, and a line on stderr where the result is wrong.
fn status(name: Program, report: &Report) -> u8 {
    if report.passed {
        return SUCCESS;
    }
    say_error(&format!("the result of example {name} is wrong; it should be: {}", report.check));
    UNCONVERGED
}

fn example<'a>(args: &ExampleArgs, report: &'a Report, device: &Device, copy: Option<f64>) -> Example<'a> {
    let info = match device {
        Device::Cpu(_) => None,
        Device::Gpu(gpu) => Some(gpu.device().info()),
    };
    let time = |t: &Timing| Time {
        part: t.label,
        seconds: t.seconds,
        bytes_moved: t.bytes,
        bandwidth: bandwidth(t),
    };
    let published = |&(seconds, source)| Published { seconds, source };
    Example {
        schema: "warpsolve.example/1",
        version: json::VERSION,
        example: args.name,
        what: &report.what,
        transfers: args.transfers,
        loops: args.loops,
        device: device.name(),
        device_kind: json::device_kind(info),
        figures: report.figures.iter().map(|&(key, _, value, _)| (key, value)).collect(),
        correct: report.passed,
        check: &report.check,
        timings: report.timings.iter().map(time).collect(),
        copy_bandwidth: copy,
        published: report.published.iter().map(published).collect(),
        lines: &report.lines,
        kernels: None,
    }
}

/// Bytes a second; none where nothing has to be moved.
fn bandwidth(timing: &Timing) -> Option<f64> {
    (timing.bytes > 0).then_some(timing.bytes as f64 / timing.seconds)
}

fn text(name: Program, report: &Report, opened: &Opened, copy: Option<f64>) -> String {
    let mut lines = vec![("example", format!("{name}: {}", report.what))];
    let no_gpu = opened.no_gpu.as_ref().map(|error| format!(" (no GPU: {})", in_short(error)));
    lines.push(("device", opened.device.name() + &no_gpu.unwrap_or_default()));
    lines.push(("", String::new()));
    lines.extend(report.lines.iter().map(|line| ("step", line.clone())));
    lines.extend(report.figures.iter().map(|(_, label, _, text)| (*label, text.clone())));
    let verdict = if report.passed { "passed" } else { "FAILED" };
    lines.push(("check", format!("{verdict}: {}", report.check)));
    lines.push(("", String::new()));
    for timing in &report.timings {
        let part = if timing.label.is_empty() { String::new() } else { format!("    {}", timing.label) };
        let moved = bandwidth(timing)
            .map(|rate| format!("    {} to be moved, {:.1} GB/s", bytes(timing.bytes), rate * 1e-9));
        lines.push(("time", format!("{:>7}{}{part}", duration(timing.seconds), moved.unwrap_or_default())));
    }
    if let Some((copy, rate)) = copy.zip(report.timings.first().and_then(bandwidth)) {
        let share = 100.0 * rate / copy;
        lines.push(("copy", format!("{:.1} GB/s, of which this is {share:.0} %", copy * 1e-9)));
    }
    for (seconds, source) in &report.published {
        lines.push(("published", format!("{:>7}    {source}", duration(*seconds))));
    }
    lines
        .into_iter()
        .map(|(label, text)| format!("{label:<14}{text}").trim_end().to_string() + "\n")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_result_is_2() {
        let mut report = Report {
            what: String::new(),
            figures: vec![],
            timings: vec![],
            passed: true,
            check: "all is well".into(),
            published: vec![],
            lines: vec![],
        };
        assert_eq!(status(Program::Pi, &report), SUCCESS);
        report.passed = false;
        assert_eq!(status(Program::Pi, &report), UNCONVERGED);
    }
}

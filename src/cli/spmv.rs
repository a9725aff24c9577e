//! `warpsolve spmv`: a table of how fast each device multiplies in each format.

use std::path::Path;

use serde::Serialize;
use warpsolve::job::spmv::{Measurement, Oracle, measure};
use warpsolve::job::{Device, Precision};
use warpsolve::matrix::{Csr, Format};
use warpsolve::{Error, Result};

use super::args::SpmvArgs;
use super::load::{Source, start_threads};
use super::output::{check_outputs, complain, print, write};
use super::profile::Profiler;
use super::progress::Progress;
use super::status::{FAILURE, SUCCESS};
use super::table::{Align, duration, table, thousands};
use super::{device, json};

/// What `spmv` reports.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    version: &'static str,
    matrix: String,
    rows: usize,
    columns: usize,
    nonzeros: usize,
    repeat: u32,
    results: Vec<Row>,
}

/// One device, format and precision.
#[derive(Serialize)]
struct Row {
    device: String,
    format: String,
    sigma: usize,
    precision: String,
    /// Why there are no figures.
    refused: Option<String>,
    #[serde(flatten)]
    figures: Option<Figures>,
}

#[derive(Serialize)]
struct Figures {
    /// The format in which the device stores the matrix.
    stored_as: String,
    padding: f64,
    median_seconds: f64,
    min_seconds: f64,
    max_seconds: f64,
    batch: usize,
    /// Bytes that a product must move.
    bytes: u64,
    bandwidth: f64,
    copy_bandwidth: Option<f64>,
    flops: f64,
    error: f64,
    correct: bool,
}

/// Measures and reports; returns the exit status.
pub fn run(args: SpmvArgs, profiler: &Profiler) -> Result<u8> {
    check_outputs(&[args.json.as_deref()], &[args.matrix.file.as_deref()])?;
    let threads = args.threads.unwrap_or(0).into();
    start_threads(threads)?;
    let progress = Progress::new(args.quiet);
    let source = Source::from(args.matrix.clone());
    let loaded = source.matrix(&progress);
    progress.clear();
    let (a, _) = loaded?;
    let oracle = Oracle::new(&a);

    let mut results = Vec::new();
    let mut failed = false;
    for &name in &args.device {
        let opened = match device::open(name, threads, profiler) {
            Ok(opened) => opened,
            Err(error @ Error::NoDevice(_)) => {
                complain(&error);
                failed = true;
                continue;
            }
            Err(error) => return Err(error),
        };
        progress.stage("bandwidth");
        let copy = opened.copy_bandwidth()?;
        for &precision in &args.precision {
            for &format in &args.format {
                progress.stage("spmv");
                let sigma = if format.is_sliced() { args.sigma } else { 1 };
                let measured = measure_in(precision, &opened.device, &a, &oracle, format, sigma, args.repeat);
                let (refused, figures) = match measured {
                    Ok(m) => (None, Some(figures(&m, &a, copy))),
                    Err(e @ (Error::Padding { .. } | Error::DeviceMemory { .. } | Error::Option(_))) => {
                        (Some(super::advice::error(&e)), None)
                    }
                    Err(error) => {
                        progress.clear();
                        return Err(error);
                    }
                };
                failed |= figures.as_ref().is_some_and(|f| !f.correct);
                let (device, format, precision) =
                    (opened.device.name(), format.to_string(), precision.to_string());
                results.push(Row { device, format, sigma, precision, refused, figures });
            }
        }
    }
    progress.clear();

    let report = Report {
        schema: "warpsolve.spmv/2",
        version: json::VERSION,
        matrix: source.name(),
        rows: a.n_rows(),
        columns: a.n_cols(),
        nonzeros: a.nnz(),
        repeat: args.repeat,
        results,
    };
    if let Some(path) = &args.json {
        write(path, &json::text(&report))?;
    }
    if !args.quiet && args.json.as_deref() != Some(Path::new("-")) {
        print(&text(&report))?;
    }
    Ok(if failed { FAILURE } else { SUCCESS })
}

fn measure_in(
    precision: Precision,
    device: &Device,
    a: &Csr<f64>,
    oracle: &Oracle,
    format: Format,
    sigma: usize,
    repeat: u32,
) -> Result<Measurement> {
    match precision {
        Precision::F64 => measure::<f64>(device, a, oracle, format, sigma, repeat as usize),
        Precision::F32 => measure::<f32>(device, a, oracle, format, sigma, repeat as usize),
    }
}

fn figures(m: &Measurement, a: &Csr<f64>, copy: Option<f64>) -> Figures {
    let (seconds, median) = (&m.timing.seconds, m.timing.median());
    Figures {
        stored_as: m.storage.format.clone(),
        padding: m.storage.padding.factor() - 1.0,
        median_seconds: median,
        min_seconds: seconds.first().copied().unwrap_or(f64::NAN),
        max_seconds: seconds.last().copied().unwrap_or(f64::NAN),
        batch: m.timing.batch,
        bytes: m.bytes,
        bandwidth: m.bytes as f64 / median,
        copy_bandwidth: copy,
        // A product and a sum for each nonzero.
        flops: 2.0 * a.nnz() as f64 / median,
        error: m.error,
        correct: m.correct,
    }
}

/// The table, under a line about the matrix.
fn text(report: &Report) -> String {
    let (rows, nonzeros) = (thousands(report.rows as u64), thousands(report.nonzeros as u64));
    let heading = format!("{}: {rows} rows, {nonzeros} nonzeros\n\n", report.matrix);
    let columns = [
        ("device", Align::Left),
        ("format", Align::Left),
        ("type", Align::Left),
        ("padding", Align::Right),
        ("median", Align::Right),
        ("min", Align::Right),
        ("max", Align::Right),
        ("GB/s", Align::Right),
        ("of copy", Align::Right),
        ("GFLOP/s", Align::Right),
        ("check", Align::Left),
    ];
    let rows: Vec<Vec<String>> = report
        .results
        .iter()
        .map(|row| {
            let mut format = row.format.clone();
            if row.sigma > 1 {
                format += &format!(", sigma {}", row.sigma);
            }
            if let Some(figures) = row.figures.as_ref().filter(|figures| figures.stored_as != row.format) {
                format += &format!(" in {}", figures.stored_as);
            }
            let mut cells = vec![row.device.clone(), format, row.precision.clone()];
            match &row.figures {
                None => cells.push(format!("refused: {}", row.refused.as_deref().unwrap_or_default())),
                Some(f) => cells.extend([
                    format!("{:.1} %", 100.0 * f.padding),
                    duration(f.median_seconds),
                    duration(f.min_seconds),
                    duration(f.max_seconds),
                    format!("{:.1}", f.bandwidth * 1e-9),
                    f.copy_bandwidth
                        .map_or("-".into(), |copy| format!("{:.0} %", 100.0 * f.bandwidth / copy)),
                    format!("{:.2}", f.flops * 1e-9),
                    format!("{} {:.0e}", if f.correct { "ok" } else { "FAIL" }, f.error),
                ]),
            }
            cells
        })
        .collect();
    heading + &table(&columns, &rows)
}

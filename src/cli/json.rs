//! Reports for programs. docs/report-schema.md describes every key.

use serde::Serialize;
use warpsolve::analysis::Analysis;
use warpsolve::comm::Quality;
use warpsolve::job::{self, Method, Precond, ranks};
use warpsolve::launch::{Counts, DeviceInfo};
use warpsolve::matrix::RowStats;
use warpsolve::precond::{amg, ilu};
use warpsolve::solver::direct::{self, Kind, Prediction};

use super::advice;
use super::capacity::Capacity;
use super::facts::{Facts, Pass};

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// As JSON, indented, with a line end. NaN and infinities become null.
pub fn text(report: &impl Serialize) -> String {
    // These structs hold numbers, text and lists; nothing of that can fail.
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}

/// What `solve` reports.
#[derive(Serialize)]
pub struct Solve<'a> {
    schema: &'static str,
    version: &'static str,
    matrix: &'a str,
    rows: usize,
    nonzeros: usize,
    symmetry: Option<&'static str>,
    duplicates: Option<u64>,
    row_lengths: RowLengths,
    solver: String,
    precond: String,
    block_size: usize,
    singular_blocks: String,
    precision: String,
    restart: Option<usize>,
    sweeps: Option<usize>,
    omega: Option<f64>,
    rtol: f64,
    atol: f64,
    max_iterations: u32,
    format: &'a str,
    format_reason: &'a str,
    sigma: usize,
    padding: f64,
    device: &'a str,
    device_kind: &'static str,
    no_gpu: Option<String>,
    driver_version: Option<&'a str>,
    ptx_target: Option<&'a str>,
    capacity: Option<&'a Capacity>,
    threads: usize,
    #[serde(flatten)]
    ended: Ended,
    read_seconds: f64,
    device_seconds: f64,
    setup_seconds: f64,
    warm_up_seconds: f64,
    upload_seconds: f64,
    solve_seconds: f64,
    total_seconds: f64,
    device_bytes: u64,
    bytes_moved: u64,
    bandwidth: Option<f64>,
    copy_bandwidth: Option<f64>,
    counts: Option<DeviceCounts>,
    amg: Option<Amg<'a>>,
    ilu: Option<Ilu<'a>>,
    factorisation: Option<Factorisation>,
    ranks: Option<Ranks<'a>>,
    analysis: Option<&'a Analysis>,
    attempts: Vec<Attempt<'a>>,
    columns: Vec<Column>,
    passes: &'a [Pass],
    reordered: Option<Reordered>,
    scaled: Option<Scaled>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct Scaled {
    scaling: job::Scale,
    permute: job::Permute,
}

impl From<job::Scaled> for Scaled {
    fn from(job::Scaled { scaling, permute }: job::Scaled) -> Self {
        Scaled { scaling, permute }
    }
}

#[derive(Serialize)]
struct Reordered {
    lines_before: f64,
    lines_after: f64,
    seconds: f64,
}

impl From<job::Reordered> for Reordered {
    fn from(job::Reordered { lines_before, lines_after, seconds }: job::Reordered) -> Self {
        Reordered { lines_before, lines_after, seconds }
    }
}

/// How a solve ended.
#[derive(Serialize)]
struct Ended {
    stop_reason: &'static str,
    stop_message: String,
    iterations: u32,
    refinements: u32,
    relative_residual: f64,
    projected: bool,
    backward_error: f64,
    residual_norm: Option<f64>,
    threshold: f64,
}

impl From<&job::Report> for Ended {
    fn from(report: &job::Report) -> Self {
        Ended {
            stop_reason: report.outcome.reason.name(),
            stop_message: advice::stop(report),
            iterations: report.outcome.iterations,
            refinements: report.refinements,
            relative_residual: report.relative_residual,
            projected: report.projected,
            backward_error: report.backward_error,
            residual_norm: report.outcome.history.last().copied(),
            threshold: report.outcome.threshold,
        }
    }
}

/// One of several right-hand sides.
#[derive(Serialize)]
struct Column {
    #[serde(flatten)]
    ended: Ended,
    solve_seconds: f64,
    at_once: usize,
}

impl From<&job::Report> for Column {
    fn from(report: &job::Report) -> Self {
        Column { ended: Ended::from(report), solve_seconds: report.solve_seconds, at_once: report.columns }
    }
}

#[derive(Serialize)]
struct Ranks<'a> {
    count: usize,
    partition: &'a str,
    by_rows: bool,
    choice: Option<&'a str>,
    imbalance: f64,
    cut: u64,
    shared: u64,
    neighbours: usize,
    least_rows: usize,
    most_rows: usize,
    peer_memory: bool,
    exchanges: u64,
    exchanged_bytes: u64,
    reductions: u64,
    levels: Option<usize>,
    hierarchy_set_up_on: Option<&'static str>,
}

impl<'a> Ranks<'a> {
    fn of(info: &'a ranks::Info, hierarchy: Option<&amg::Info>) -> Self {
        let Quality { imbalance, cut, shared, neighbours, least_rows, most_rows } = info.quality;
        let &ranks::Info {
            ranks,
            ref partition,
            by_rows,
            ref choice,
            peer_memory,
            exchanges,
            exchanged_bytes,
            reductions,
            ..
        } = info;
        Ranks {
            count: ranks,
            partition,
            by_rows,
            choice: choice.as_deref(),
            imbalance,
            cut,
            shared,
            neighbours,
            least_rows,
            most_rows,
            peer_memory,
            exchanges,
            exchanged_bytes,
            reductions,
            levels: hierarchy.map(|info| info.on_ranks),
            hierarchy_set_up_on: hierarchy.map(set_up_on),
        }
    }
}

/// Who has set a hierarchy up.
pub fn set_up_on(hierarchy: &amg::Info) -> &'static str {
    if hierarchy.set_up_together { "ranks" } else { "rank 0" }
}

#[derive(Serialize)]
struct Factorisation {
    kind: Kind,
    entries: Option<usize>,
    predicted_entries: f64,
    predicted_flops: f64,
    predicted_bytes: f64,
    condition: Option<f64>,
    null_space: usize,
}

impl From<direct::Info> for Factorisation {
    fn from(info: direct::Info) -> Self {
        let direct::Info {
            prediction: Prediction { kind, entries: predicted_entries, flops, bytes, .. },
            ..
        } = info;
        let direct::Info { entries, condition, null_space, .. } = info;
        Factorisation {
            kind,
            entries,
            predicted_entries,
            predicted_flops: flops,
            predicted_bytes: bytes,
            condition,
            null_space,
        }
    }
}

#[derive(Serialize)]
struct Attempt<'a> {
    solver: Method,
    precond: Precond,
    iterations: u32,
    seconds: f64,
    relative_residual: Option<f64>,
    why: &'a str,
}

impl<'a> From<&'a job::Attempt> for Attempt<'a> {
    fn from(attempt: &'a job::Attempt) -> Self {
        let &job::Attempt { method, precond, iterations, seconds, relative_residual, ref why } = attempt;
        Attempt { solver: method, precond, iterations, seconds, relative_residual, why }
    }
}

/// What `solve --plan` reports.
#[derive(Serialize)]
pub struct Prospect<'a> {
    schema: &'static str,
    version: &'static str,
    matrix: &'a str,
    analysis: &'a Analysis,
    components: usize,
    plan: Vec<Rung<'a>>,
}

#[derive(Serialize)]
struct Rung<'a> {
    solver: Method,
    precond: Precond,
    block_size: usize,
    patience: Option<u32>,
    seconds: Option<f64>,
    bytes: Option<f64>,
    reason: &'a str,
}

impl<'a> Prospect<'a> {
    /// Of the matrix of this name.
    pub fn new(matrix: &'a str, prospect: &'a job::Prospect) -> Self {
        let job::Prospect { analysis, components, rungs } = prospect;
        let rung = |rung: &'a job::Rung| Rung {
            solver: rung.method,
            precond: rung.precond,
            block_size: rung.block_size,
            patience: rung.patience,
            seconds: rung.cost.map(|cost| cost.seconds),
            bytes: rung.cost.map(|cost| cost.bytes),
            reason: &rung.reason,
        };
        let plan = rungs.iter().map(rung).collect();
        let schema = "warpsolve.plan/1";
        Prospect { schema, version: VERSION, matrix, analysis, components: *components, plan }
    }
}

#[derive(Serialize)]
struct RowLengths {
    min: usize,
    mean: f64,
    max: usize,
    empty: usize,
}

impl From<RowStats> for RowLengths {
    fn from(rows: RowStats) -> Self {
        RowLengths { min: rows.min, mean: rows.mean, max: rows.max, empty: rows.empty }
    }
}

#[derive(Serialize)]
struct DeviceCounts {
    launches: u64,
    graph_launches: u64,
    allocations: u64,
    uploads: u64,
    uploaded_bytes: u64,
    downloads: u64,
    downloaded_bytes: u64,
    device_copies: u64,
}

impl From<Counts> for DeviceCounts {
    fn from(counts: Counts) -> Self {
        DeviceCounts {
            launches: counts.launches,
            graph_launches: counts.graph_launches,
            allocations: counts.allocations,
            uploads: counts.uploads,
            uploaded_bytes: counts.uploaded_bytes,
            downloads: counts.downloads,
            downloaded_bytes: counts.downloaded_bytes,
            device_copies: counts.device_copies,
        }
    }
}

#[derive(Serialize)]
struct Amg<'a> {
    parameters: &'a amg::Params,
    hierarchy_precision: &'static str,
    grid_complexity: f64,
    operator_complexity: f64,
    cycle_bytes: u64,
    levels: Vec<Level<'a>>,
    phases: Vec<Phase>,
}

#[derive(Serialize)]
struct Level<'a> {
    rows: usize,
    nonzeros: usize,
    format: &'a str,
    compressed: bool,
    sigma: usize,
    padding: f64,
    bytes: u64,
}

#[derive(Serialize)]
struct Phase {
    phase: &'static str,
    seconds: f64,
}

impl<'a> From<&'a amg::Info> for Amg<'a> {
    fn from(info: &'a amg::Info) -> Self {
        let level = |level: &'a amg::LevelInfo| Level {
            rows: level.rows,
            nonzeros: level.nnz,
            format: &level.format.format,
            compressed: level.format.compressed,
            sigma: level.format.sigma,
            padding: level.format.padding.factor() - 1.0,
            bytes: level.bytes,
        };
        Amg {
            parameters: &info.params,
            hierarchy_precision: info.precision,
            grid_complexity: info.grid_complexity(),
            operator_complexity: info.operator_complexity(),
            cycle_bytes: info.cycle_bytes,
            levels: info.levels.iter().map(level).collect(),
            phases: info.phases.iter().map(|(phase, seconds)| Phase { phase, seconds }).collect(),
        }
    }
}

#[derive(Serialize)]
struct Ilu<'a> {
    title: String,
    parameters: &'a ilu::Params,
    order: ilu::Order,
    matched: bool,
    entries: usize,
    changed_pivots: usize,
    shift: f64,
    solves: ilu::Solves,
    levels: [usize; 2],
    bytes: u64,
}

impl<'a> From<&'a ilu::Info> for Ilu<'a> {
    fn from(info: &'a ilu::Info) -> Self {
        let ilu::Info { params, is_matched, entries, changed_pivots, shift, solves, levels, bytes, .. } =
            info;
        Ilu {
            title: info.title(),
            parameters: params,
            order: params.order(),
            matched: *is_matched,
            entries: *entries,
            changed_pivots: *changed_pivots,
            shift: *shift,
            solves: *solves,
            levels: *levels,
            bytes: *bytes,
        }
    }
}

/// "cpu", "cuda" or "sim".
pub fn device_kind(gpu: Option<&DeviceInfo>) -> &'static str {
    match gpu {
        None => "cpu",
        Some(info) if info.compute_capability == (0, 0) => "sim",
        Some(_) => "cuda",
    }
}

/// The text, unless it is empty.
fn nonempty(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

impl<'a> From<&'a Facts> for Solve<'a> {
    fn from(facts: &'a Facts) -> Self {
        let Facts { report, options, gpu, .. } = facts;
        Solve {
            schema: "warpsolve.solve/2",
            version: VERSION,
            matrix: &facts.matrix,
            rows: report.n_rows,
            nonzeros: report.nnz,
            symmetry: facts.summary.as_ref().map(|s| s.symmetry.word()),
            duplicates: facts.summary.as_ref().map(|s| s.duplicates),
            row_lengths: facts.rows.into(),
            solver: report.method.to_string(),
            precond: report.precond.to_string(),
            block_size: report.block_size,
            singular_blocks: options.singular_blocks.to_string(),
            precision: options.precision.to_string(),
            restart: facts.restart(),
            sweeps: facts.sweeps(),
            omega: facts.omega(),
            rtol: options.stop.rtol,
            atol: options.stop.atol,
            max_iterations: options.stop.max_iterations,
            format: &report.format.format,
            format_reason: &report.format.reason,
            sigma: report.format.sigma,
            padding: report.format.padding.factor() - 1.0,
            device: &report.device,
            device_kind: device_kind(gpu.as_ref()),
            no_gpu: facts.no_gpu.as_ref().map(ToString::to_string),
            driver_version: gpu.as_ref().and_then(|info| nonempty(&info.driver_version)),
            ptx_target: gpu.as_ref().and_then(|info| nonempty(&info.ptx_target)),
            capacity: facts.capacity.as_ref(),
            threads: facts.threads,
            ended: Ended::from(report),
            read_seconds: facts.read_seconds,
            device_seconds: facts.device_seconds,
            setup_seconds: report.setup_seconds,
            warm_up_seconds: report.warm_up_seconds,
            upload_seconds: report.upload_seconds,
            solve_seconds: report.solve_seconds,
            total_seconds: facts.total_seconds,
            device_bytes: report.device_bytes,
            bytes_moved: report.bytes_moved,
            bandwidth: facts.bandwidth(),
            copy_bandwidth: facts.copy_bandwidth,
            counts: report.counts.map(DeviceCounts::from),
            amg: report.amg.as_ref().map(Amg::from),
            ilu: report.ilu.as_ref().map(Ilu::from),
            factorisation: report.factorisation.map(Factorisation::from),
            ranks: report.ranks.as_ref().map(|info| Ranks::of(info, report.amg.as_ref())),
            analysis: report.analysis.as_ref(),
            attempts: report.attempts.iter().map(Attempt::from).collect(),
            columns: facts.columns.iter().map(Column::from).collect(),
            passes: &facts.passes,
            reordered: report.reordered.map(Reordered::from),
            scaled: report.scaled.map(Scaled::from),
            warnings: &facts.warnings,
        }
    }
}

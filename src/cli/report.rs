//! Reports for people.

use warpsolve::comm::Quality;
use warpsolve::io::matrix::{Layout, Symmetry};
use warpsolve::job::{Attempt, Cost, Prospect, Reordered, Report, Rung, Scaled, Warning, ranks};
use warpsolve::precond::{amg, ilu};
use warpsolve::solver::direct::{Info, Kind, Prediction};

use super::advice;
use super::device::in_short;
use super::facts::{Facts, Pass};
use super::json::device_kind;
use super::table::{Align, Lines, bytes, duration, table, thousands};

/// "converged after 294 iterations", or why not.
pub fn outcome(report: &Report) -> String {
    let plural = if report.outcome.iterations == 1 { "" } else { "s" };
    let after = format!("after {} iteration{plural}", thousands(report.outcome.iterations.into()));
    if report.converged() && report.projected {
        format!("converged {after}, to the projected right-hand side")
    } else if report.converged() {
        format!("converged {after}")
    } else {
        format!("NOT converged {after}: {}", advice::stop(report))
    }
}

/// "no GPU: ..." as the text behind a label.
pub fn unavailable(reason: &str) -> String {
    format!("none: {}", reason.strip_prefix("no GPU: ").unwrap_or(reason))
}

/// How a file holds a matrix: one triangle may stand for both, but in a binary file.
pub fn stored(layout: Option<Layout>, symmetry: Symmetry) -> String {
    match layout {
        Some(_) => format!("stored as {}", symmetry.word()),
        None => format!("binary, {}", symmetry.word()),
    }
}

/// The report of `solve`.
pub fn solve(facts: &Facts, verbose: bool) -> String {
    let mut lines = Lines::default();
    what(&mut lines, facts);
    lines.gap();
    result(&mut lines, facts);
    lines.gap();
    times(&mut lines, facts);
    if facts.passes.len() > 1 {
        lines.gap();
        passes(&mut lines, facts);
    }
    lines.gap();
    memory(&mut lines, facts);
    if verbose {
        lines.gap();
        details(&mut lines, facts);
    }
    lines.text()
}

fn what(lines: &mut Lines, facts: &Facts) {
    let report = &facts.report;
    let stored = facts.summary.as_ref().map(|s| format!(", {}", stored(s.layout, s.symmetry)));
    let stored = stored.unwrap_or_default();
    lines.add("matrix", format!("{}{stored}", facts.matrix));
    let (rows, nonzeros) = (thousands(report.n_rows as u64), thousands(report.nnz as u64));
    lines.add("", format!("{rows} rows, {nonzeros} nonzeros, {:.1} a row", facts.rows.mean));
    if let Some(summary) = &facts.summary
        && summary.duplicates > 0
    {
        lines.add("", format!("{} duplicate entries summed", thousands(summary.duplicates)));
    }
    let reason = &report.format.reason;
    let format = if reason.starts_with("as asked") {
        let sigma = match report.format.sigma {
            1 => String::new(),
            sigma => format!(", sigma {sigma}"),
        };
        format!("{}{sigma}, {reason}", report.format.format.to_uppercase())
    } else {
        reason.clone()
    };
    lines.add("format", format);
    if let Some(Scaled { scaling, permute }) = report.scaled {
        lines.add(
            "system",
            format!("scaling {scaling}, permutation {permute}; what follows is of the given one"),
        );
    }
    if let Some(Reordered { lines_before, lines_after, seconds }) = report.reordered {
        let seconds = duration(seconds);
        lines.add(
            "numbering",
            format!(
                "RCM: {lines_after:.2} cache lines of x an entry, {lines_before:.2} in that given; {seconds}"
            ),
        );
    }
    let instead = facts.no_gpu.as_ref().map_or(String::new(), |e| format!(" (no GPU: {})", in_short(e)));
    lines.add("device", format!("{}{instead}", report.device));

    if let Some(info) = &report.ranks {
        ranks(lines, info, report.amg.as_ref());
    }

    attempts(lines, report);
    let description = report.method.description();
    let method = description.full_title(&facts.options.method_parameters());
    let precond = match description.is_stationary() {
        true => String::new(),
        false => format!(", {} preconditioner", report.precond.description().title),
    };
    let blocks = match report.block_size {
        1 => String::new(),
        b => format!(", {b} x {b} blocks"),
    };
    lines.add("solver", format!("{method}{precond}{blocks}, {}", facts.options.precision));
    if let (Some(sweeps), Some(omega)) = (facts.sweeps(), facts.omega()) {
        lines.add("sweeps", format!("{sweeps}, weight {omega}"));
    }
    if let Some(info) = &report.factorisation {
        lines.add("factors", factors(info));
    }
    if let Some(info) = &report.ilu {
        lines.add("factors", incomplete_factors(info, report.nnz));
    }
    if let Some(info) = &report.amg {
        let amg::Params { coarsening, smoother, splitting, omega, .. } = info.params;
        let greedy = if splitting == amg::Splitting::Greedy { ", greedy" } else { "" };
        let weight = omega.map_or(String::new(), |omega| format!(", omega {omega}"));
        let (count, cycle) = (info.levels.len(), info.params.cycle().to_string().to_uppercase());
        let levels = if count == 1 { "1 level".to_string() } else { format!("{count} levels") };
        let complexity = info.operator_complexity();
        lines.add(
            "amg",
            format!(
                "{coarsening}{greedy}, {smoother}{weight}, {cycle}-cycle, {levels}, {}, operator complexity {complexity:.2}",
                info.precision
            ),
        );
    }
}

/// How rows were shared out, and what the ranks told each other.
fn ranks(lines: &mut Lines, info: &ranks::Info, hierarchy: Option<&amg::Info>) {
    let Quality { imbalance, cut, shared, neighbours, least_rows, most_rows } = info.quality;
    let (least, most) = (thousands(least_rows as u64), thousands(most_rows as u64));
    let rows = if least_rows == most_rows { most } else { format!("{least} to {most}") };
    let own = if info.by_rows { ", each its own rows" } else { "" };
    let (count, how) = (info.ranks, &info.partition);
    lines.add("ranks", format!("{count} of {rows} rows, {how}, imbalance {imbalance:.2}{own}"));
    let (cut, shared) = (thousands(cut), thousands(shared));
    let plural = if neighbours == 1 { "" } else { "s" };
    let neighbours = format!("{neighbours} neighbour{plural} at most");
    lines.add("", format!("{cut} entries cut, {shared} elements shared, {neighbours}"));
    lines.add("", told(info.exchanges, info.exchanged_bytes, info.reductions, info.peer_memory));
    if let Some(hierarchy) = hierarchy {
        lines.add("", levels_on_ranks(hierarchy));
    }
    if let Some(why) = &info.choice {
        lines.add("chosen", why);
    }
}

/// What ranks told each other.
pub fn told(exchanges: u64, sent: u64, reductions: u64, peer_memory: bool) -> String {
    let (exchanges, sent, reductions) = (thousands(exchanges), bytes(sent), thousands(reductions));
    let way = if peer_memory { "peer memory" } else { "through the host" };
    format!("{exchanges} exchanges, {sent} sent, {reductions} reductions, {way}")
}

/// Which levels of a hierarchy are where.
pub fn levels_on_ranks(amg::Info { levels, on_ranks, set_up_together, .. }: &amg::Info) -> String {
    let by = if *set_up_together { "" } else { ", all set up there" };
    format!("{on_ranks} of {} levels on all ranks, the others on rank 0{by}", levels.len())
}

/// What was tried before, and why it was left.
fn attempts(lines: &mut Lines, report: &Report) {
    for (k, attempt) in report.attempts.iter().enumerate() {
        let Attempt { method, iterations, seconds, relative_residual, why, .. } = attempt;
        let precond = match method.description().is_stationary() {
            true => String::new(),
            false => format!(" + {}", attempt.precond),
        };
        let left = relative_residual.map_or(String::new(), |residual| format!(", residual {residual:.1e}"));
        let (count, time) = (thousands((*iterations).into()), duration(*seconds));
        let label = if k == 0 { "tried" } else { "" };
        // What could be done about it has been done: another way was tried.
        let why = why.split(". ").next().unwrap_or_default();
        lines.add(label, format!("{method}{precond}: {count} iterations{left}, {time}; left: {why}"));
    }
}

/// "cholesky, on the host, 3,265 entries, 114.4 KiB".
fn factors(info: &Info) -> String {
    let Prediction { kind, entries: predicted, bytes: held, .. } = info.prediction;
    let most = if kind == Kind::Lu && info.entries.is_none() { " at most" } else { "" };
    let entries = thousands(info.entries.map_or(predicted as u64, |entries| entries as u64));
    let null_space = match info.null_space {
        0 => String::new(),
        1 => ", 1 vector of a null space".into(),
        count => format!(", {count} vectors of a null space"),
    };
    let condition =
        info.condition.map_or(String::new(), |condition| format!(", condition about {condition:.1e}"));
    format!("{kind}, on the host, {entries} entries{most}, {}{condition}{null_space}", bytes(held as u64))
}

/// "ILU(0), multicolour, 3,265 entries (1.1 of the matrix's), 8 levels, 2 pivots changed", or "as sparse
/// inverses" in place of the levels.
fn incomplete_factors(info: &ilu::Info, nnz: usize) -> String {
    let order = info.params.order();
    let (entries, share) = (thousands(info.entries as u64), info.entries as f64 / nnz.max(1) as f64);
    let [lower, upper] = info.levels;
    let steps = match (info.solves, lower.max(upper)) {
        (ilu::Solves::Inverses, _) => "as sparse inverses".into(),
        (_, 1) => "1 level".into(),
        (_, levels) => format!("{} levels", thousands(levels as u64)),
    };
    let matched = if info.is_matched { ", rows permuted" } else { "" };
    let overlap = match info.params.overlap {
        0 => String::new(),
        layers => format!(", overlap {layers}"),
    };
    let changed = match info.changed_pivots {
        0 => String::new(),
        1 => ", 1 pivot changed".into(),
        count => format!(", {} pivots changed", thousands(count as u64)),
    };
    let shift =
        if info.shift > 0.0 { format!(", diagonal + {} %", 100.0 * info.shift) } else { String::new() };
    format!(
        "{}, {order}{matched}{overlap}, {entries} entries ({share:.1} of the matrix's), {steps}{shift}{changed}",
        info.title()
    )
}

/// What a matrix is, and what would be tried.
pub fn prospect(name: &str, prospect: &Prospect) -> String {
    let mut lines = Lines::default();
    lines.add("matrix", name);
    let Prospect { analysis, components, rungs } = prospect;
    let structure = &analysis.structure;
    let (rows, nonzeros) = (thousands(structure.rows as u64), thousands(structure.nonzeros as u64));
    let parts = if *components == 1 { String::new() } else { format!(", {components} separate parts") };
    lines.add("", format!("{rows} rows, {nonzeros} nonzeros{parts}"));
    lines.add("structure", structure.to_string());
    lines.add("values", analysis.values.to_string());
    lines.gap();
    let columns = ["way", "seconds", "memory", "iterations at most", "why"];
    let columns =
        columns.map(|name| (name, if name == "why" || name == "way" { Align::Left } else { Align::Right }));
    let row = |rung: &Rung| {
        let cost = |text: fn(Cost) -> String| rung.cost.map_or("?".into(), text);
        let seconds = cost(|cost| format!("{:.1e}", cost.seconds));
        let memory = cost(|cost| bytes(cost.bytes as u64));
        let patience = rung.patience.map_or("-".into(), |most| most.to_string());
        vec![rung.to_string(), seconds, memory, patience, rung.reason.clone()]
    };
    let rows: Vec<Vec<String>> = rungs.iter().map(row).collect();
    for (k, line) in table(&columns, &rows).lines().enumerate() {
        lines.add(if k == 0 { "plan" } else { "" }, line);
    }
    lines.text()
}

/// The levels, what they are made of, and how long that took.
fn hierarchy(lines: &mut Lines, info: &amg::Info) {
    let columns = [
        ("level", Align::Right),
        ("rows", Align::Right),
        ("nonzeros", Align::Right),
        ("a row", Align::Right),
        ("format", Align::Left),
        ("memory", Align::Right),
    ];
    let rows: Vec<Vec<String>> = info
        .levels
        .iter()
        .enumerate()
        .map(|(level, info)| {
            let a_row = info.nnz as f64 / info.rows.max(1) as f64;
            let compressed = if info.format.compressed { ", compressed" } else { "" };
            let format = match info.format.sigma {
                1 => format!("{}{compressed}", info.format.format),
                sigma => format!("{}{compressed}, sigma {sigma}", info.format.format),
            };
            let (rows, nonzeros) = (thousands(info.rows as u64), thousands(info.nnz as u64));
            vec![level.to_string(), rows, nonzeros, format!("{a_row:.1}"), format, bytes(info.bytes)]
        })
        .collect();
    for (k, line) in table(&columns, &rows).lines().enumerate() {
        lines.add(if k == 0 { "hierarchy" } else { "" }, line);
    }
    let (grid, operator) = (info.grid_complexity(), info.operator_complexity());
    let precision = info.precision;
    lines.add("", format!("grid complexity {grid:.2}, operator complexity {operator:.2}, in {precision}"));
    let phases = info.phases.iter().map(|(name, seconds)| vec![name.into(), format!("{:.2}", 1e3 * seconds)]);
    let phases: Vec<Vec<String>> = phases.collect();
    for (k, line) in table(&[("phase", Align::Left), ("ms", Align::Right)], &phases).lines().enumerate() {
        lines.add(if k == 0 { "its set-up" } else { "" }, line);
    }
}

fn result(lines: &mut Lines, facts: &Facts) {
    let (report, stop) = (&facts.report, &facts.options.stop);
    match facts.columns.len() {
        0 => lines.add("result", outcome(report)),
        _ => columns(lines, &facts.columns),
    }
    let asked = match stop.atol {
        0.0 => format!("{:e}", stop.rtol),
        atol => format!("{:e}, or ||b - A x|| = {atol:e}", stop.rtol),
    };
    let (ratio, of) = match report.projected {
        false => ("||b - A x|| / ||b||", ""),
        true => ("||P b - A x|| / ||P b||", " with P b the projected right-hand side"),
    };
    let residual = report.relative_residual;
    let is_careful = |warning: &Warning| matches!(warning, Warning::InTwiceTheDigits { .. });
    let digits =
        if report.warnings.iter().any(is_careful) { "with twice the digits of f64" } else { "in f64" };
    lines.add("residual", format!("{ratio} = {residual:.2e}{of}, recomputed {digits} (asked: {asked})"));
    let error = report.backward_error;
    lines.add("", format!("backward error ||b - A x|| / (||A|| ||x|| + ||b||) = {error:.2e}"));
}

/// The right-hand sides, a line each.
fn columns(lines: &mut Lines, reports: &[Report]) {
    let converged = reports.iter().filter(|report| report.converged()).count();
    lines.add("result", format!("{converged} of {} right-hand sides converged", reports.len()));
    let headings = [
        ("column", Align::Right),
        ("iterations", Align::Right),
        ("residual", Align::Right),
        ("solve", Align::Right),
        ("at once", Align::Right),
        ("", Align::Left),
    ];
    let row = |(column, report): (usize, &Report)| {
        let iterations = thousands(report.outcome.iterations.into());
        let residual = format!("{:.2e}", report.relative_residual);
        let failure = if report.converged() { String::new() } else { advice::stop(report) };
        let (time, at_once) = (duration(report.solve_seconds), report.columns.to_string());
        vec![(column + 1).to_string(), iterations, residual, time, at_once, failure]
    };
    let rows: Vec<Vec<String>> = reports.iter().enumerate().map(row).collect();
    table(&headings, &rows).lines().for_each(|line| lines.add("", line));
}

fn times(lines: &mut Lines, facts: &Facts) {
    let report = &facts.report;
    let iterations = report.outcome.iterations;
    let each = match iterations {
        0 => String::new(),
        _ if !facts.columns.is_empty() => {
            let each = report.solve_seconds / facts.columns.len() as f64;
            format!("    {} a right-hand side", duration(each))
        }
        n => format!("    {} an iteration", duration(report.solve_seconds / f64::from(n))),
    };
    for (label, seconds, note) in [
        ("read", facts.read_seconds, ""),
        ("set-up", report.setup_seconds, ""),
        ("upload", report.upload_seconds, ""),
        ("warm-up", report.warm_up_seconds, "    the driver's, for kernels on their first use"),
        ("solve", report.solve_seconds, each.as_str()),
        ("total", facts.total_seconds, ""),
    ] {
        // Only a GPU's driver needs one.
        if label != "warm-up" || seconds > 0.0 {
            lines.add(label, format!("{:>8}{note}", duration(seconds)));
        }
    }
}

/// Where the time from the system on the host to the solution there went: in the first solve, and in the
/// median of the later ones, phase by phase.
fn passes(lines: &mut Lines, facts: &Facts) {
    let Some((first, later)) = facts.passes.split_first() else { return };
    let heading = format!("{} later", later.len());
    let mut columns = vec![("phase", Align::Left), ("first", Align::Right)];
    columns.extend((!later.is_empty()).then_some((heading.as_str(), Align::Right)));
    let row = |name: &str, first: f64, later: Option<f64>| {
        [name.to_string(), duration(first)].into_iter().chain(later.map(duration)).collect::<Vec<_>>()
    };
    let phase = |(name, of): &(&str, fn(&Pass) -> f64)| row(name, of(first), median(later.iter().map(of)));
    let mut read = row("read", facts.read_seconds, None);
    read.extend((!later.is_empty()).then(|| "-".to_string()));
    let rows: Vec<Vec<String>> = std::iter::once(read).chain(Pass::PHASES.iter().map(phase)).collect();
    for (k, line) in table(&columns, &rows).lines().enumerate() {
        lines.add(if k == 0 { "passes" } else { "" }, line);
    }
}

/// The middle one, of an even number the larger of the two; `None` of nothing.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn memory(lines: &mut Lines, facts: &Facts) {
    let kind = device_kind(facts.gpu.as_ref());
    let of = match (kind, &facts.report.amg) {
        ("cpu", None) if facts.report.factorisation.is_some() || facts.report.ilu.is_some() => {
            "for matrix, vectors and factors"
        }
        ("cpu", None) => "for matrix and vectors",
        ("cpu", Some(_)) => "for matrix, vectors and hierarchy",
        _ => "on the device",
    };
    lines.add("memory", format!("{} {of}", bytes(facts.report.device_bytes)));
    let gigabytes = |bandwidth: f64| format!("{:.1} GB/s", bandwidth * 1e-9);
    match (facts.bandwidth(), facts.copy_bandwidth) {
        (Some(bandwidth), Some(copy)) => {
            // Where ranks write each other's memory each has a device of its own.
            let devices = match &facts.report.ranks {
                Some(ranks) if ranks.peer_memory => ranks.ranks,
                _ => 1,
            };
            let share = 100.0 * bandwidth / (devices as f64 * copy);
            let what = match (kind, devices) {
                ("cpu", _) => "a triad's".to_string(),
                (_, 1) => "a copy's".into(),
                (_, n) => format!("what {n} copies have together, each"),
            };
            // The measurements scatter by some per cent; more than that comes from the caches.
            let cached = if share > 130.0 { "; much of it stays in the caches" } else { "" };
            lines.add(
                "bandwidth",
                format!("{}, {share:.0} % of {what} {}{cached}", gigabytes(bandwidth), gigabytes(copy)),
            );
        }
        (Some(bandwidth), None) if kind == "cpu" => lines.add("bandwidth", gigabytes(bandwidth)),
        (Some(_), None) => lines.add("bandwidth", "not measured: it means nothing in the simulator"),
        (None, _) => lines.add("bandwidth", "none: no iteration was needed"),
    }
}

fn details(lines: &mut Lines, facts: &Facts) {
    let (rows, report) = (&facts.rows, &facts.report);
    if let Some(analysis) = &report.analysis {
        lines.add("structure", analysis.structure.to_string());
        lines.add("values", analysis.values.to_string());
        lines.gap();
    }
    if let Some(info) = &report.amg {
        hierarchy(lines, info);
        lines.gap();
    }
    lines.add(
        "rows",
        format!("{} to {} nonzeros, {} empty", rows.min, rows.max, thousands(rows.empty as u64)),
    );
    if let Some(summary) = &facts.summary {
        let rate = summary.bytes as f64 / facts.read_seconds * 1e-6;
        let size = bytes(summary.bytes);
        lines.add("file", format!("{} entries, {size}, {rate:.0} MB/s", thousands(summary.entries_in_file)));
        if summary.explicit_zeros > 0 {
            lines.add("", format!("{} explicit zeros", thousands(summary.explicit_zeros)));
        }
    }
    let norm = report.outcome.history.last().copied().unwrap_or(f64::NAN);
    let threshold = report.outcome.threshold;
    let text = format!("||r|| = {norm:.2e} as the method updates it, to be at most {threshold:.2e}");
    lines.add("solver's norm", text);
    if let Some(expected) = report.expected_bytes {
        lines.add("expected", format!("{} on the device at most, set-up and all", bytes(expected)));
    }
    lines.add("bytes moved", format!("{} in all iterations", bytes(report.bytes_moved)));
    let while_reading = duration(facts.device_seconds);
    lines
        .add("open device", format!("{while_reading}, while reading; {} threads on the host", facts.threads));
    if let Some(gpu) = &facts.gpu
        && !gpu.ptx_target.is_empty()
    {
        lines.add("kernels", format!("{}, driver {}", gpu.ptx_target, gpu.driver_version));
    }
    if let Some(capacity) = &facts.capacity {
        lines.add("capacity", capacity.in_short());
        capacity.describe(lines);
    }
    if let Some(error) = &facts.no_gpu {
        lines.add("GPU", unavailable(&error.to_string()));
    }
    if let Some(counts) = &report.counts {
        lines.add(
            "in the solve",
            format!(
                "{} launches, {} graphs, {} allocations",
                thousands(counts.launches),
                thousands(counts.graph_launches),
                counts.allocations
            ),
        );
        lines.add(
            "",
            format!(
                "copies: {} to the device ({}), {} to the host ({}), {} within the device",
                counts.uploads,
                bytes(counts.uploaded_bytes),
                counts.downloads,
                bytes(counts.downloaded_bytes),
                counts.device_copies
            ),
        );
    }
}

//! The tables as text, Markdown and CSV.

use std::fmt::Write;

use warpsolve::{Error, Result};

use super::super::table::{self, Align, duration, thousands};
use super::published::UNKNOWNS;
use super::report::{Figures, Published, Report, Row, Spread, Table};

/// Machine and devices.
pub fn heading(report: &Report) -> String {
    let mut text = format!("{}, {} cores; warpsolve {}\n", report.cpu, report.cores, report.version);
    for device in &report.devices {
        let copy = device.copy_bandwidth.map(|copy| format!(", a copy reaches {:.1} GB/s", copy * 1e-9));
        let driver = device.driver_version.as_ref().map(|version| format!(", driver {version}"));
        let _ = writeln!(text, "{}{}{}", device.name, driver.unwrap_or_default(), copy.unwrap_or_default());
    }
    text
}

/// One table under its heading, with notes below.
pub fn table(report: &Report, table: &Table) -> String {
    let grid = Grid::of(report, table);
    let mut text = format!("\n{}\n\n{}", title(table), table::table(&grid.columns(), &grid.rows));
    for (k, note) in notes(table).iter().enumerate() {
        let _ = writeln!(text, "{}{note}", if k == 0 { "\n" } else { "" });
    }
    text
}

/// All tables, for a document.
pub fn markdown(report: &Report) -> String {
    let mut text = format!("`{}`, {}\n\n", report.command, report.date);
    for line in heading(report).lines() {
        let _ = writeln!(text, "- {line}");
    }
    for table in &report.tables {
        let grid = Grid::of(report, table);
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = grid.columns.iter().map(|(_, align)| match align {
            Align::Left => "---",
            Align::Right => "---:",
        });
        let names: Vec<String> = grid.columns.iter().map(|(name, _)| name.clone()).collect();
        let _ = write!(
            text,
            "\n## {}\n\n{}| {} |\n",
            title(table),
            line(&names),
            rule.collect::<Vec<_>>().join(" | ")
        );
        for row in &grid.rows {
            let mut cells = row.clone();
            cells.resize(names.len(), String::new());
            text += &line(&cells);
        }
        for note in notes(table) {
            let _ = write!(text, "\n{note}\n");
        }
    }
    text
}

/// Every row of every table, one line each.
pub fn csv(report: &Report) -> Result<String> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| Error::io("write", "CSV", error.into());
    let heading = [
        "table",
        "matrix",
        "rows",
        "nonzeros",
        "work",
        "device",
        "threads",
        "format",
        "precision",
        "seconds",
        "first_quartile",
        "third_quartile",
        "count",
        "setup_seconds",
        "iterations",
        "error",
        "correct",
        "stopped",
        "bytes",
        "bandwidth",
        "copy_bandwidth",
        "flops",
        "copies",
        "calls",
        "kernel",
        "registers",
        "grid",
        "block",
        "refused",
        "published",
    ];
    out.write_record(heading).map_err(failed)?;
    for table in &report.tables {
        for row in &table.rows {
            out.write_record(record(report, table, row)).map_err(failed)?;
        }
    }
    let bytes = out.into_inner().map_err(|error| Error::io("write", "CSV", error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn record(report: &Report, table: &Table, row: &Row) -> Vec<String> {
    fn text<T: ToString>(value: Option<T>) -> String {
        value.map_or(String::new(), |value| value.to_string())
    }
    let f = row.figures.as_ref();
    let kernel = f.and_then(|f| f.kernels.first());
    let published: Vec<String> = row.published.iter().map(|p| format!("{}: {}", p.by, p.seconds)).collect();
    vec![
        table.table.clone(),
        table.system.matrix.clone(),
        table.system.rows.to_string(),
        table.system.nonzeros.to_string(),
        row.work.clone(),
        row.device.clone(),
        text(row.threads),
        text(row.format.as_ref()),
        row.precision.clone(),
        text(f.map(|f| f.time.median)),
        text(f.map(|f| f.time.quartiles.0)),
        text(f.map(|f| f.time.quartiles.1)),
        text(f.map(|f| f.time.count)),
        text(f.and_then(|f| f.setup).map(|setup| setup.median)),
        text(f.and_then(|f| f.iterations)),
        text(f.map(|f| f.error)),
        text(f.map(|f| f.correct)),
        text(f.and_then(|f| f.stopped.clone())),
        text(f.map(|f| f.bytes)),
        text(f.map(Figures::bandwidth)),
        text(report.copy_bandwidth(&row.device)),
        text(f.and_then(Figures::flops)),
        text(f.and_then(|f| f.copies).map(|c| c.copies)),
        text(f.and_then(|f| f.copies).map(|c| c.calls)),
        text(kernel.map(|k| &k.name)),
        text(kernel.and_then(|k| k.registers)),
        text(kernel.map(|k| k.grid)),
        text(kernel.map(|k| k.block)),
        text(row.refused.as_ref()),
        published.join("; "),
    ]
}

/// What a table is of.
pub fn title(table: &Table) -> String {
    let system = &table.system;
    let (rows, nonzeros) = (thousands(system.rows as u64), thousands(system.nonzeros as u64));
    if system.matrix.is_empty() {
        let vectors = if system.rows > 0 { format!("; vectors of {rows} elements") } else { String::new() };
        return format!("{}: {}{vectors}", table.table, table.title);
    }
    format!("{}: {}; {}, {rows} rows, {nonzeros} nonzeros", table.table, table.title, system.matrix)
}

/// What is said below a table.
pub fn notes(table: &Table) -> Vec<String> {
    let mut notes = Vec::new();
    let published = || table.rows.iter().flat_map(|row| row.published.iter().map(move |p| (row, p)));
    if published().next().is_some() {
        let unknowns = match TheirSize::of(table) {
            TheirSize::Unknown => ", for a system whose size is not given".into(),
            TheirSize::Row => String::new(),
            TheirSize::Unknowns(n) => format!(", for {} unknowns", thousands(n as u64)),
        };
        let ratio = if is_of_their_size(table) { " (how many times as long)" } else { "" };
        notes.push(format!("Published times{ratio}{unknowns}, from {}.", table.source));
    }
    let mut told = Vec::new();
    for (row, p) in published() {
        let Some(detail) = &p.detail else { continue };
        let format = row.format.as_ref().map(|format| format!(", {format}")).unwrap_or_default();
        let note = format!("{}{format}: {detail}.", p.by);
        if !told.contains(&note) {
            told.push(note);
        }
    }
    notes.extend(told);
    notes
}

/// The cells of a table. A row that is shorter than the others ends in a text.
pub struct Grid {
    pub columns: Vec<(String, Align)>,
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    /// Columns that no row has something for are left out.
    pub fn of(report: &Report, table: &Table) -> Grid {
        let rows = &table.rows;
        let any =
            |has: &dyn Fn(&Figures) -> bool| rows.iter().filter_map(|row| row.figures.as_ref()).any(has);
        let mut columns: Vec<Column> = vec![
            Column::text("work", Box::new(|row| row.work.clone())),
            Column::text("device", Box::new(|row| row.device.clone())),
        ];
        if rows.iter().any(|row| row.format.is_some()) {
            columns.push(Column::text("format", Box::new(|row| row.format.clone().unwrap_or_default())));
        }
        columns.push(Column::text("type", Box::new(|row| row.precision.clone())));
        if any(&|f| f.setup.is_some()) {
            columns.push(Column::of("set-up", |f| f.setup.map_or(String::new(), |s| duration(s.median))));
        }
        columns.push(Column::of("time", |f| duration(f.time.median)));
        columns.push(Column::of("middle half", |f| spread(&f.time)));
        columns.push(Column::of("times", |f| f.time.count.to_string()));
        if ["threads", "programs", "elasticity"].contains(&table.table.as_str()) {
            columns.push(Column::number("speed-up", Box::new(|row| speed_up(rows, row).unwrap_or_default())));
        }
        if any(&|f| f.iterations.is_some()) {
            let text = |f: &Figures| f.iterations.map_or(String::new(), |n| n.to_string());
            columns.push(Column::of("it", text));
        }
        columns.push(Column::of("GB/s", |f| format!("{:.1}", f.bandwidth() * 1e-9)));
        columns.push(Column::number(
            "of copy",
            Box::new(|row| {
                let copy = report.copy_bandwidth(&row.device);
                let share = row.figures.as_ref().zip(copy).map(|(f, copy)| 100.0 * f.bandwidth() / copy);
                share.map_or("-".into(), |share| format!("{share:.0} %"))
            }),
        ));
        if any(&|f| f.operations.is_some()) {
            let text = |f: &Figures| f.flops().map_or(String::new(), |n| format!("{:.2}", n * 1e-9));
            columns.push(Column::of("GFLOP/s", text));
        }
        if any(&|f| f.copies.is_some()) {
            columns.push(Column::of("copies", |f| {
                f.copies.map_or(String::new(), |c| format!("{} in {}", c.copies, c.calls))
            }));
        }
        if any(&|f| f.kernels.iter().any(|k| k.registers.is_some())) {
            columns.push(Column::of("registers", |f| kernels(f, |k| k.registers.map(|n| n.to_string()))));
        }
        if any(&|f| !f.kernels.is_empty()) {
            columns.push(Column::of("grid x block", |f| {
                kernels(f, |k| Some(format!("{} x {}", k.grid, k.block)))
            }));
        }
        columns.push(Column::text("check", Box::new(check)));
        let mut by: Vec<&str> = Vec::new();
        for p in rows.iter().flat_map(|row| &row.published) {
            if !by.contains(&p.by.as_str()) {
                by.push(&p.by);
            }
        }
        for name in by {
            let text = move |row: &Row| {
                let p = row.published.iter().find(|p| p.by == name);
                p.map_or(String::new(), |p| published(row, p, is_comparable(table, row)))
            };
            columns.push(Column::number(name, Box::new(text)));
        }
        let before_figures = columns.iter().position(|column| !column.names_row).unwrap_or(columns.len());
        let cells = |row: &Row| match &row.refused {
            Some(refused) => {
                let named = columns[..before_figures].iter().map(|column| (column.cell)(row));
                let published = row.published.iter().map(|p| format!("; {} {}", p.by, duration(p.seconds)));
                named.chain([format!("refused: {refused}{}", published.collect::<String>())]).collect()
            }
            None => columns.iter().map(|column| (column.cell)(row)).collect(),
        };
        let rows = rows.iter().map(cells).collect();
        Grid { columns: columns.iter().map(|c| (c.name.to_string(), c.align)).collect(), rows }
    }

    /// Names and alignments as [`table::table`] takes them.
    pub fn columns(&self) -> Vec<(&str, Align)> {
        self.columns.iter().map(|(name, align)| (name.as_str(), *align)).collect()
    }
}

type Cell<'a> = Box<dyn Fn(&Row) -> String + 'a>;

struct Column<'a> {
    name: &'a str,
    align: Align,
    /// Whether it says what a row is of, figures or not.
    names_row: bool,
    cell: Cell<'a>,
}

impl<'a> Column<'a> {
    fn text(name: &'a str, cell: Cell<'a>) -> Column<'a> {
        Column { name, align: Align::Left, names_row: name != "check", cell }
    }
    fn number(name: &'a str, cell: Cell<'a>) -> Column<'a> {
        Column { name, align: Align::Right, names_row: false, cell }
    }
    fn of(name: &'a str, text: impl Fn(&Figures) -> String + 'a) -> Column<'a> {
        Column::number(name, Box::new(move |row| row.figures.as_ref().map_or(String::new(), &text)))
    }
}

fn spread(time: &Spread) -> String {
    let (first, third) = time.quartiles;
    if time.count == 1 {
        return "-".into();
    }
    let percent = 100.0 * (third - first) / time.median;
    format!("{} ({percent:.1} %)", duration(third - first))
}

/// Seconds of the row with the fewest threads over those of this one.
fn speed_up(rows: &[Row], row: &Row) -> Option<String> {
    let is_same = |other: &&Row| other.work == row.work && other.threads.is_some() && other.figures.is_some();
    let same = rows.iter().filter(is_same);
    let first = same.min_by_key(|other| other.threads)?.figures.as_ref()?;
    Some(format!("{:.2}", first.time.median / row.figures.as_ref()?.time.median))
}

fn kernels(figures: &Figures, text: impl Fn(&super::report::Kernel) -> Option<String>) -> String {
    figures.kernels.iter().filter_map(text).collect::<Vec<_>>().join(", ")
}

fn check(row: &Row) -> String {
    let Some(f) = &row.figures else { return String::new() };
    match (&f.stopped, f.correct) {
        (Some(reason), _) => format!("NOT CONVERGED: {reason}"),
        (None, true) => format!("ok {:.0e}", f.error),
        (None, false) => format!("WRONG {:.0e}", f.error),
    }
}

/// The size for which the times of a table were published.
enum TheirSize {
    /// That of the row.
    Row,
    /// So many unknowns.
    Unknowns(usize),
    /// It is not given.
    Unknown,
}

impl TheirSize {
    fn of(table: &Table) -> TheirSize {
        match table.table.as_str() {
            "programs" => TheirSize::Row,
            "loops" | "exchange" | "native" => TheirSize::Unknown,
            _ => TheirSize::Unknowns(UNKNOWNS),
        }
    }
}

/// Whether times can be compared with the published ones: the systems differ by less than a tenth.
fn is_of_their_size(table: &Table) -> bool {
    match TheirSize::of(table) {
        TheirSize::Row => true,
        TheirSize::Unknowns(n) => table.system.rows.abs_diff(n) < n / 10,
        TheirSize::Unknown => false,
    }
}

/// Whether the time of a row can be compared with the published ones, which are in f64 but for programs.
fn is_comparable(table: &Table, row: &Row) -> bool {
    is_of_their_size(table) && (row.precision == "f64" || table.table == "programs")
}

fn published(row: &Row, p: &Published, comparable: bool) -> String {
    let times = row.figures.as_ref().filter(|_| comparable).map(|f| p.seconds / f.time.median);
    let times = times.map(|x| if x < 10.0 { format!(" ({x:.1}x)") } else { format!(" ({x:.0}x)") });
    format!("{}{}", duration(p.seconds), times.unwrap_or_default())
}

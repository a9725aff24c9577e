//! `bench compare`: two reports side by side.

use std::fs;
use std::path::Path;

use warpsolve::{Error, Result};

use super::super::output::print;
use super::super::status::{SUCCESS, UNCONVERGED};
use super::super::table::{Align, duration, table};
use super::args::CompareArgs;
use super::report::{Figures, Report, Row, SCHEMA, Spread, Table};

/// Prints every row of both; the exit status says whether something is slower.
pub fn run(args: &CompareArgs) -> Result<u8> {
    let (old, new) = (read(&args.old)?, read(&args.new)?);
    let (text, slower) = compare(&old, &new, args.threshold / 100.0)?;
    print(&text)?;
    Ok(if slower { UNCONVERGED } else { SUCCESS })
}

fn read(path: &Path) -> Result<Report> {
    let text = fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
    let parse = |error: serde_json::Error| {
        let message = format!("this is no report of `bench --json`: {error}");
        Error::parse(path, error.line() as u64, message)
    };
    let any: serde_json::Value = serde_json::from_str(&text).map_err(parse)?;
    match any.get("schema").and_then(|schema| schema.as_str()) {
        Some(SCHEMA) => serde_json::from_str(&text).map_err(parse),
        other => {
            let found = other.map_or("no schema".into(), |other| format!("the schema {other}"));
            let message =
                format!("it has {found}; `bench compare` takes {SCHEMA}, what `bench --json` writes");
            Err(Error::parse(path, 1, message))
        }
    }
}

/// How one time stands beside another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Same,
    Faster,
    Slower,
}

/// A change counts where the middle halves of the times do not touch, and it is more than a share of the
/// median. What was timed once has no spread that it could be beyond.
fn verdict(old: &Spread, new: &Spread, threshold: f64) -> Verdict {
    let change = (new.median - old.median) / old.median;
    match () {
        _ if old.count == 1 || new.count == 1 => Verdict::Same,
        _ if change > threshold && new.quartiles.0 > old.quartiles.1 => Verdict::Slower,
        _ if change < -threshold && new.quartiles.1 < old.quartiles.0 => Verdict::Faster,
        _ => Verdict::Same,
    }
}

fn compare(old: &Report, new: &Report, threshold: f64) -> Result<(String, bool)> {
    let columns = [
        ("table", Align::Left),
        ("work", Align::Left),
        ("device", Align::Left),
        ("format", Align::Left),
        ("type", Align::Left),
        ("old", Align::Right),
        ("new", Align::Right),
        ("change", Align::Right),
        ("", Align::Left),
    ];
    let (mut rows, mut faster, mut slower, mut once, mut common) = (Vec::new(), 0, 0, 0, false);
    let find = |report: &Report, table: &Table, row: &Row| {
        let same = report.tables.iter().filter(|t| t.table == table.table && t.system == table.system);
        same.flat_map(|t| &t.rows).find(|r| r.key() == row.key()).cloned()
    };
    let named = |table: &Table, row: &Row| {
        let format = row.format.clone().unwrap_or_default();
        vec![table.table.clone(), row.work.clone(), row.device.clone(), format, row.precision.clone()]
    };
    for table in &new.tables {
        for row in &table.rows {
            let Some(now) = &row.figures else { continue };
            let before = find(old, table, row).and_then(|row| row.figures);
            common |= before.is_some();
            for (part, old, new) in parts(before.as_ref(), now) {
                let mut cells = named(table, row);
                cells[1] += part;
                let Some(old) = old else {
                    cells.extend(["-".into(), duration(new.median), String::new(), "only in the new".into()]);
                    rows.push(cells);
                    continue;
                };
                once += usize::from(old.count == 1 || new.count == 1);
                let verdict = verdict(&old, &new, threshold);
                faster += usize::from(verdict == Verdict::Faster);
                slower += usize::from(verdict == Verdict::Slower);
                let word = match verdict {
                    Verdict::Same => "",
                    Verdict::Faster => "faster",
                    Verdict::Slower => "SLOWER",
                };
                let change = format!("{:+.1} %", 100.0 * (new.median - old.median) / old.median);
                cells.extend([duration(old.median), duration(new.median), change, word.into()]);
                rows.push(cells);
            }
            if before.as_ref().is_some_and(|before| before.correct) && !now.correct {
                let mut cells = named(table, row);
                let is = now.stopped.clone().unwrap_or_else(|| format!("error {:.0e}", now.error));
                cells.extend(["right".into(), is, String::new(), "NO LONGER RIGHT".into()]);
                rows.push(cells);
                slower += 1;
            }
            let iterations = |f: &Figures| f.iterations;
            if let Some((was, is)) = before.as_ref().and_then(iterations).zip(iterations(now))
                && was != is
            {
                let mut cells = named(table, row);
                cells.extend([
                    format!("{was} it"),
                    format!("{is} it"),
                    String::new(),
                    "iterations differ".into(),
                ]);
                rows.push(cells);
            }
        }
    }
    for table in &old.tables {
        for row in table.rows.iter().filter(|row| row.figures.is_some()) {
            let now = find(new, table, row);
            if now.as_ref().is_some_and(|now| now.figures.is_some()) {
                continue;
            }
            let mut cells = named(table, row);
            let refused = now.and_then(|now| now.refused);
            slower += usize::from(refused.is_some());
            let word = refused.map_or("only in the old".into(), |why| format!("REFUSED: {why}"));
            cells.extend(["".into(), "-".into(), String::new(), word]);
            rows.push(cells);
        }
    }
    if !common {
        let message =
            "the reports have no row in common: other tables, systems, devices or formats were measured";
        return Err(Error::Option(message.into()));
    }
    let about = |report: &Report| format!("{}, {}, {}", report.date, report.cpu, report.command);
    let unjudged = match once {
        0 => String::new(),
        n => format!("{n} times were taken only once: they have no spread and are not judged\n"),
    };
    let text = format!(
        "old: {}\nnew: {}\n\n{}\n{} faster, {} slower or no longer right, {} rows; a change counts beyond {} % and the middle halves of both\n{unjudged}",
        about(old),
        about(new),
        self::table(&columns, &rows),
        faster,
        slower,
        rows.len(),
        100.0 * threshold,
    );
    Ok((text, slower > 0))
}

/// What is compared of a row: the time, and the set-up's.
fn parts(old: Option<&Figures>, new: &Figures) -> Vec<(&'static str, Option<Spread>, Spread)> {
    let setup = new.setup.map(|setup| (", set-up", old.and_then(|old| old.setup), setup));
    [Some(("", old.map(|old| old.time), new.time)), setup].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_beyond_threshold_and_spread_count() {
        let spread =
            |median: f64, half: f64| Spread { median, quartiles: (median - half, median + half), count: 5 };
        let verdict = |old, new| verdict(&old, &new, 0.02);
        assert_eq!(verdict(spread(1.0, 0.01), spread(1.1, 0.01)), Verdict::Slower);
        assert_eq!(verdict(spread(1.1, 0.01), spread(1.0, 0.01)), Verdict::Faster);
        assert_eq!(verdict(spread(1.0, 0.06), spread(1.1, 0.06)), Verdict::Same);
        assert_eq!(verdict(spread(1.0, 0.0), spread(1.019, 0.0)), Verdict::Same);
        assert_eq!(verdict(spread(1.0, 0.0), spread(f64::NAN, f64::NAN)), Verdict::Same);
    }
}

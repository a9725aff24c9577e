//! Lines and columns of text, and numbers that read well.

use std::fmt::Write;

/// Where the text of a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// At its left edge.
    Left,
    /// At its right edge, as numbers do.
    Right,
}

/// Lines with aligned columns, two blanks apart. A row shorter than the heading ends in text that may run on
/// over the columns that it lacks.
pub fn table(columns: &[(&str, Align)], rows: &[Vec<String>]) -> String {
    let heading: Vec<String> = columns.iter().map(|(name, _)| name.to_string()).collect();
    let width = |column: usize| {
        let complete = rows.iter().filter(|row| row.len() == columns.len()).chain([&heading]);
        let partial = rows.iter().filter(|row| row.len() < columns.len() && column + 1 < row.len());
        complete.chain(partial).map(|row| row[column].chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut text = String::new();
    for row in std::iter::once(&heading).chain(rows) {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let runs_on = row.len() < columns.len() && column + 1 == row.len();
            let width = if runs_on { 0 } else { widths[column] };
            match columns[column].1 {
                Align::Left => line += &format!("{cell:<width$}  "),
                Align::Right => line += &format!("{cell:>width$}  "),
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// Width of the labels.
const LABEL: usize = 14;

/// Lines of a label and a text; a line without a label continues the one above.
#[derive(Default)]
pub struct Lines(String);

impl Lines {
    /// Adds a line.
    pub fn add(&mut self, label: &str, text: impl AsRef<str>) {
        let _ = writeln!(self.0, "{label:<LABEL$}{}", text.as_ref());
    }
    /// Adds an empty line.
    pub fn gap(&mut self) {
        self.0.push('\n');
    }
    /// All lines.
    pub fn text(self) -> String {
        self.0
    }
}

/// 12914298 as "12,914,298".
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in the unit that leaves one to four digits before the point: "12.3 MiB".
pub fn bytes(n: u64) -> String {
    let (mut value, mut units) = (n as f64, ["B", "KiB", "MiB", "GiB"].into_iter());
    let mut unit = units.next().unwrap_or_default();
    for next in units {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    if unit == "B" { format!("{n} B") } else { format!("{value:.1} {unit}") }
}

/// A duration in the unit that suits it, three digits: "1.23 s", "41.0 ms", "8.15 us".
pub fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "us"),
    };
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1000, 12914298].map(thousands), ["0", "999", "1,000", "12,914,298"]);
        let sizes = [17, 1024, 1536 * 1024, 5 << 40];
        assert_eq!(sizes.map(bytes), ["17 B", "1.0 KiB", "1.5 MiB", "5120.0 GiB"]);
        assert_eq!([1.234, 0.0412, 8.149e-6].map(duration), ["1.23 s", "41.2 ms", "8.15 us"]);
    }

    #[test]
    fn columns_line_up_and_short_rows_run_on() {
        let columns = [("name", Align::Left), ("n", Align::Right), ("note", Align::Left)];
        let rows = [vec!["crs", "1", "ok"], vec!["ell", "a long story that fits no column"]];
        let rows = rows.map(|row| row.into_iter().map(String::from).collect());
        let expected = "name  n  note\ncrs   1  ok\nell   a long story that fits no column\n";
        assert_eq!(table(&columns, &rows), expected);
    }
}

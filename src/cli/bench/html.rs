//! A page with the tables and plots, complete in itself.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::super::table::Align;
use super::plots;
use super::report::{Report, Table};
use super::text::{Grid, heading, notes, title};

const STYLE: &str = "
body { font: 15px/1.45 system-ui, sans-serif; color: #222; max-width: 80rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin-top: 2.2rem }
table { border-collapse: collapse; font-size: 13px } th, td { padding: .25rem .7rem; border-bottom: 1px solid #ddd }
th { text-align: left; background: #f4f4f4 } .right { text-align: right; font-variant-numeric: tabular-nums }
.wide { overflow-x: auto } .plots { display: flex; flex-wrap: wrap; gap: 1rem } figure { margin: 0 }
figcaption, .note { color: #555; font-size: 13px; max-width: 40rem } .bad { color: #b00020; font-weight: 600 }
";

/// The page.
pub fn page(report: &Report) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { "warpsolve bench, " (report.date) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "warpsolve bench" }
                p { code { (report.command) } ", " (report.date) }
                ul { @for line in heading(report).lines() { li { (line) } } }
                div.plots { @for plot in plots::all(report) { (figure(&plot)) } }
                @for table in &report.tables { (section(report, table)) }
                p.note {
                    "GB/s counts the bytes that a call must move, each array once, whatever caches keep; beside the bandwidth of a \
                     copy within the same device (on the CPU: of a triad) measured in the same run. Shares above 100 % mean that \
                     caches hold some of it. Times are medians; half of all times lie within the width named beside them."
                }
            }
        }
    };
    page.into_string()
}

fn figure(plot: &plots::Plot) -> Markup {
    html! {
        figure {
            // Made by the plotting crate from numbers and escaped text.
            (PreEscaped(&plot.svg))
            figcaption { (plot.caption) }
        }
    }
}

fn section(report: &Report, table: &Table) -> Markup {
    let grid = Grid::of(report, table);
    let class = |column: usize| match grid.columns[column].1 {
        Align::Left => "left",
        Align::Right => "right",
    };
    let is_bad = |cell: &str| ["NOT", "WRONG", "refused"].iter().any(|word| cell.starts_with(word));
    html! {
        h2 { (title(table)) }
        div.wide {
            table {
                tr { @for (k, (name, _)) in grid.columns.iter().enumerate() { th class=(class(k)) { (name) } } }
                @for row in &grid.rows {
                    tr {
                        @for (k, cell) in row.iter().enumerate() {
                            // A row that is shorter ends in a text over the columns that it lacks.
                            @let is_last = k + 1 == row.len() && k + 1 < grid.columns.len();
                            @let span = if is_last { grid.columns.len() - k } else { 1 };
                            td class=(if is_last { "left" } else { class(k) }) colspan=(span) {
                                @if is_bad(cell) { span.bad { (cell) } } @else { (cell) }
                            }
                        }
                    }
                }
            }
        }
        @for note in notes(table) { p.note { (note) } }
    }
}

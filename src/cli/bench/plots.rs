//! The plots of a report, as SVG.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::report::{Figures, Report, Row};

/// A plot and what it shows.
pub struct Plot {
    pub svg: String,
    pub caption: String,
}

const SIZE: (u32, u32) = (600, 380);
/// Room for the name of a point.
const NAME: (i32, i32) = (110, 12);
/// The colours of Okabe and Ito, which most people can tell apart.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];

type Drawn = std::result::Result<(), Box<dyn std::error::Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Those for which the report has figures.
pub fn all(report: &Report) -> Vec<Plot> {
    let mut plots = Vec::new();
    plots.extend(roofline(report));
    plots.extend(times(report));
    plots.extend(convergence(report));
    plots.extend(scaling(report));
    plots
}

/// Nothing that is drawn into a text can fail but by a fault of ours; the page then lacks the plot.
fn plot(caption: String, draw: impl FnOnce(&Area) -> Drawn) -> Option<Plot> {
    let mut svg = String::new();
    let drawn = |svg: &mut String| -> Drawn {
        let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        draw(&area)?;
        Ok(area.present()?)
    };
    drawn(&mut svg).ok().map(|()| Plot { svg, caption })
}

fn colour(k: usize) -> RGBColor {
    COLOURS[k % COLOURS.len()]
}

fn with_figures(rows: &[Row]) -> impl Iterator<Item = (&Row, &Figures)> {
    rows.iter().filter_map(|row| Some((row, row.figures.as_ref()?)))
}

/// "SpMV crs f64"
fn label(row: &Row) -> String {
    let words = [Some(row.work.as_str()), row.format.as_deref(), Some(row.precision.as_str())];
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Operations a second over operations a byte, below what memory allows.
fn roofline(report: &Report) -> Option<Plot> {
    let rows = report.tables.iter().flat_map(|table| with_figures(&table.rows));
    let mut points: Vec<(usize, String, f64, f64)> = Vec::new();
    for (row, figures) in rows {
        let device = report.devices.iter().position(|device| device.name == row.device);
        if let Some((flops, device)) = figures.flops().zip(device) {
            points.push((
                device,
                label(row),
                figures.operations? as f64 / figures.bytes as f64,
                flops * 1e-9,
            ));
        }
    }
    // Of a matrix without entries there is nothing to say, and axes of logarithms have no 0.
    points.retain(|p| [p.2, p.3].iter().all(|v| v.is_finite() && *v > 0.0));
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, 0.0f64), |(least, most), v| (least.min(v), most.max(v)))
    };
    if points.is_empty() {
        return None;
    }
    let x = range(&mut points.iter().map(|p| p.2));
    let x = (x.0 / 1.6, x.1 * 1.6);
    let roof = |device: usize, x: f64| Some(report.devices[device].copy_bandwidth? * 1e-9 * x);
    let roofs = points.iter().filter_map(|p| roof(p.0, x.1));
    let y = range(&mut points.iter().map(|p| p.3).chain(roofs));
    let y = (y.0 / 2.0, y.1 * 1.5);
    let caption = "Roofline: operations a second over operations for each byte that must be moved. The lines are a copy's \
                   bandwidth; a kernel on its line is as fast as memory allows, one above it lives from caches. (The roof of \
                   the arithmetic units is far above.)";
    plot(caption.into(), |area| {
        let mut chart = ChartBuilder::on(area)
            .caption("Roofline", ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(60)
            .build_cartesian_2d((x.0..x.1).log_scale(), (y.0..y.1).log_scale())?;
        let labels = |v: &f64| format!("{v:.3}");
        chart
            .configure_mesh()
            .x_desc("operations a byte")
            .y_desc("GFLOP/s")
            .x_label_formatter(&labels)
            .y_label_formatter(&|v| if *v < 1.0 { format!("{v:.2}") } else { format!("{v:.0}") })
            .light_line_style(WHITE)
            .draw()?;
        for (device, described) in report.devices.iter().enumerate() {
            let line: Vec<(f64, f64)> =
                [x.0, x.1].iter().filter_map(|&x| Some((x, roof(device, x)?))).collect();
            if line.len() == 2 && points.iter().any(|p| p.0 == device) {
                let style = colour(device).stroke_width(2);
                chart
                    .draw_series(LineSeries::new(line, style))?
                    .label(described.name.clone())
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
            }
        }
        // Where names are, in pixels: each goes to the first place beside its point that is free.
        let mut taken: Vec<(i32, i32)> = Vec::new();
        for (device, text, x, y) in &points {
            let marker = Circle::new((*x, *y), 4, colour(*device).filled());
            chart.draw_series([marker])?;
            let at = chart.backend_coord(&(*x, *y));
            let is_free = |shift: &i32| {
                taken.iter().all(|t| (t.0 - at.0).abs() > NAME.0 || (t.1 - at.1 - shift).abs() >= NAME.1)
            };
            let shifts = (0..20).map(|k| 5 + NAME.1 * k).chain([-14]);
            let shift = shifts.into_iter().find(is_free).unwrap_or(5);
            taken.push((at.0, at.1 + shift));
            let name = Text::new(text.clone(), (6, shift), ("sans-serif", 11));
            chart.draw_series([EmptyElement::at((*x, *y)) + name])?;
        }
        legend(&mut chart, SeriesLabelPosition::UpperLeft)
    })
}

fn legend<'a, X, Y>(
    chart: &mut ChartContext<'a, SVGBackend<'a>, Cartesian2d<X, Y>>,
    position: SeriesLabelPosition,
) -> Drawn
where
    X: Ranged,
    Y: Ranged,
{
    chart
        .configure_series_labels()
        .position(position)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200))
        .label_font(("sans-serif", 12))
        .draw()?;
    Ok(())
}

/// A bar for each row of a table.
fn times(report: &Report) -> Vec<Plot> {
    let bars = |table: &super::report::Table| {
        let rows: Vec<(&Row, &Figures)> = with_figures(&table.rows).collect();
        if rows.is_empty() || table.table == "threads" {
            return None;
        }
        let most = rows.iter().map(|(_, f)| f.time.median).fold(0.0, f64::max);
        let (scale, unit) = match most {
            s if s >= 1.0 => (1.0, "s"),
            s if s >= 1e-3 => (1e3, "ms"),
            _ => (1e6, "us"),
        };
        let count = rows.len();
        let caption = format!("{}: median times in {unit}, the whiskers span the middle half.", table.title);
        plot(caption, |area| {
            let mut chart = ChartBuilder::on(area)
                .caption(&table.table, ("sans-serif", 18))
                .margin(12)
                .x_label_area_size(36)
                .y_label_area_size(210)
                .build_cartesian_2d(0.0..most * scale * 1.12, (0..count - 1).into_segmented())?;
            let name = |k: usize| {
                let (row, _) = rows[count - 1 - k];
                format!("{}, {}", label(row), row.device)
            };
            chart
                .configure_mesh()
                .light_line_style(WHITE)
                .disable_y_mesh()
                .x_desc(unit)
                .y_labels(count)
                .y_label_formatter(&|y| match y {
                    SegmentValue::CenterOf(k) if *k < count => name(*k),
                    _ => String::new(),
                })
                .label_style(("sans-serif", 11))
                .draw()?;
            for (k, (row, figures)) in rows.iter().rev().enumerate() {
                let device = report.devices.iter().position(|device| device.name == row.device).unwrap_or(0);
                let end = figures.time.median * scale;
                let next = if k + 1 == count { SegmentValue::Last } else { SegmentValue::Exact(k + 1) };
                let mut bar = Rectangle::new(
                    [(0.0, SegmentValue::Exact(k)), (end, next)],
                    colour(device).mix(0.8).filled(),
                );
                let thickness = (SIZE.1 - 120) / count as u32;
                bar.set_margin(thickness / 6, thickness / 6, 0, 0);
                chart.draw_series([bar])?;
                let (first, third) = figures.time.quartiles;
                let whisker = [first, third].map(|t| (t * scale, SegmentValue::CenterOf(k)));
                chart.draw_series([PathElement::new(whisker, BLACK.stroke_width(2))])?;
            }
            Ok(())
        })
    };
    report.tables.iter().filter_map(bars).collect()
}

/// Residual norms over iterations, a line for each method; formats differ only by rounding.
fn convergence(report: &Report) -> Option<Plot> {
    let mut lines: Vec<(String, &[(u32, f64)])> = Vec::new();
    for (row, figures) in report.tables.iter().flat_map(|table| with_figures(&table.rows)) {
        let name = match row.format.as_deref() {
            Some(format) if format.starts_with('b') => format!("{} in blocks", row.work),
            _ => row.work.clone(),
        };
        if figures.history.len() > 1 && lines.iter().all(|line| line.0 != name) {
            lines.push((name, &figures.history));
        }
    }
    let points = || lines.iter().flat_map(|line| line.1).filter(|p| p.1 > 0.0 && p.1.is_finite());
    let last = points().map(|p| p.0).max()?;
    let (least, most) = points().fold((1.0f64, 1.0f64), |(least, most), p| (least.min(p.1), most.max(p.1)));
    let caption = "Convergence: the norm of the residual over that of b, from 1 at the start; both axes are logarithmic.";
    plot(caption.into(), |area| {
        let mut chart = ChartBuilder::on(area)
            .caption("Convergence", ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(60)
            .build_cartesian_2d((1..last.max(2)).log_scale(), (least / 2.0..most * 2.0).log_scale())?;
        chart
            .configure_mesh()
            .x_desc("iteration")
            .y_desc("||r|| / ||b||")
            .y_label_formatter(&|v| format!("{v:.0e}"))
            .light_line_style(WHITE)
            .draw()?;
        for (k, (name, history)) in lines.iter().enumerate() {
            let style = colour(k).stroke_width(2);
            let points = history.iter().copied().filter(|p| p.0 > 0 && p.1 > 0.0 && p.1.is_finite());
            chart
                .draw_series(LineSeries::new(points, style))?
                .label(name.clone())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
        }
        legend(&mut chart, SeriesLabelPosition::LowerLeft)
    })
}

/// Times on one thread over those on several.
fn scaling(report: &Report) -> Option<Plot> {
    let table = report.tables.iter().find(|table| table.table == "threads")?;
    let mut lines: Vec<(&str, Vec<(f64, f64)>)> = Vec::new();
    for (row, figures) in with_figures(&table.rows) {
        let threads = row.threads? as f64;
        match lines.iter_mut().find(|line| line.0 == row.work) {
            Some((_, points)) => points.push((threads, figures.time.median)),
            None => lines.push((&row.work, vec![(threads, figures.time.median)])),
        }
    }
    for (_, points) in &mut lines {
        points.sort_by(|p, q| p.0.total_cmp(&q.0));
        // One thread is taken to be as fast as the fewest that were measured are together.
        let (fewest, seconds) = points[0];
        points.iter_mut().for_each(|p| p.1 = fewest * seconds / p.1);
    }
    let most = lines.iter().flat_map(|line| &line.1).map(|p| p.0.max(p.1)).fold(1.0, f64::max);
    let caption = "Threads: how many times as fast as on one. The dashed line would be perfect; solves are bound by memory, \
                   which the threads share.";
    plot(caption.into(), |area| {
        let mut chart = ChartBuilder::on(area)
            .caption("Threads", ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(50)
            .build_cartesian_2d(0.0..most * 1.05, 0.0..most * 1.05)?;
        chart.configure_mesh().x_desc("threads").y_desc("times as fast").light_line_style(WHITE).draw()?;
        let perfect = DashedLineSeries::new([(0.0, 0.0), (most, most)], 5, 5, colour(6).stroke_width(1));
        chart.draw_series(perfect)?;
        for (k, (name, points)) in lines.iter().enumerate() {
            let style = colour(k).stroke_width(2);
            chart
                .draw_series(LineSeries::new(points.iter().copied(), style).point_size(4))?
                .label(*name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
        }
        legend(&mut chart, SeriesLabelPosition::UpperLeft)
    })
}

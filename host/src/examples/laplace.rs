//! The Laplace equation on a square plate (OpenACC workshop of the Pittsburgh Supercomputing Center: the
//! first exercise).

use super::stencil::{MEAN, Stencil, difference, fill, grid, len, sequential};
use gpu_kernels::examples::stencil::MARGIN;

use super::machine::{Iterated, Machine, Until, iterate};
use super::way::Way;
use super::report::{Report, Sizes, Timing};
use crate::error::Result;

pub(super) const SIZES: Sizes = Sizes {
    ranges: &[("N", 1, 60_000)],
    cpu: &[1000],
    cuda: &[1000],
    sim: &[60],
    travels: true,
    has_loops: false,
    has_lines: true,
};

/// Converged when no point changes by more than the threshold.
const UNTIL: Until = Until { threshold: 0.01, limit: 100_000 };
/// Points of a line: the last of the last row, as far as there are so many.
const SHOWN: usize = 5;
/// Steps to convergence, for the source's size.
const PUBLISHED: (usize, u32) = (1000, 3372);

/// N x N points, 0 on the left and the top edge, 0 to 100 down the right and along the bottom edge.
pub(super) fn run<M: Machine + Stencil>(m: &M, sizes: &[usize], way: Way) -> Result<Report> {
    let n = sizes[0];
    let grid = grid(n, n);
    m.room(2, len(grid))?;
    let edge = |i: usize| 100.0 / n as f64 * i as f64;
    let start = fill(grid, |i, j| match (i == n + 1, j == n + 1) {
        (true, _) => edge(j),
        (_, true) => edge(i),
        _ => 0.0,
    });
    let (both, s) = ([m.vector(&start)?, m.vector(&start)?], m.scalars(1)?);
    let shown = n.min(SHOWN);
    let last = n * grid.leading as usize + MARGIN + n - shown;
    let (mut lines, mut points) = (Vec::new(), vec![0.0; shown]);
    let sweep = |m: &M, monitor: &M::Monitor, u: &M::Vector, v: &mut M::Vector| {
        m.stencil_max(grid, MEAN, None, u, v, &s, monitor)
    };
    let mut look = |steps: u32, change: f64, u: &M::Vector| {
        m.update_host(u, last, &mut points)?;
        let values: Vec<String> = points.iter().map(|u| format!("{u:8.4}")).collect();
        lines.push(format!("{steps:>6}    change {change:.6}    last points {}", values.join(" ")));
        Ok(())
    };
    let Iterated { x: u, steps, change, converged, seconds } =
        iterate(m, way, UNTIL, both, &s, sweep, &mut look)?;

    // The mean of neighbours never amplifies a change: one more step, on the host, changes no point by more.
    let (u, mut next) = (m.to_host(&u)?, start);
    sequential(grid, MEAN, &vec![0.0; n], &u, &mut next);
    let after = difference(grid, &u, &next);
    let as_published = n != PUBLISHED.0 || steps == PUBLISHED.1;
    let expected = if n == PUBLISHED.0 { format!("{} steps; ", PUBLISHED.1) } else { String::new() };
    Ok(Report {
        what: format!("Laplace equation, Jacobi's iteration, {n} x {n} points"),
        figures: vec![
            ("steps", "steps", steps.into(), format!("{steps}")),
            ("change", "last change", change, format!("{change:.6} (asked: {})", UNTIL.threshold)),
        ],
        timings: vec![Timing { label: "", seconds, bytes: 16 * (n * n) as u64 * u64::from(steps) }],
        passed: converged && after <= UNTIL.threshold && as_published,
        check: format!(
            "{expected}one more step changes {after:.6} at most, to be within {}",
            UNTIL.threshold
        ),
        published: match n {
            1000 => vec![
                (1.5, "OpenACC, data resident; a GPU that is not named"),
                (29.0, "the same, data moved for each of a step's two loops"),
                (0.9, "OpenMP, 28 threads"),
                (18.0, "serial"),
            ],
            10_000 => vec![
                (103.0, "OpenACC, data resident; a GPU that is not named"),
                (162.0, "OpenMP, 28 threads"),
                (183.0, "OpenMP, 16 threads"),
                (2187.0, "serial"),
            ],
            _ => vec![],
        },
        lines,
    })
}

//! A dense system by Jacobi's iteration (programming GPUs with OpenMP, SC21 tutorial: the Jacobi solver).

use crate::parallel::*;

use super::dense::{Columns, Dense};
use super::machine::{Iterated, Machine, Until, iterate};
use super::way::Way;
use super::report::{Report, Sizes, Timing};
use crate::error::Result;
use crate::problem::random::uniform;

pub(super) const SIZES: Sizes = Sizes {
    ranges: &[("N", 1, 100_000)],
    cpu: &[2000],
    cuda: &[10_000],
    sim: &[60],
    travels: false,
    has_loops: false,
    has_lines: false,
};

/// Converged when `||x_k+1 - x_k||_2` is at most the threshold.
const UNTIL: Until = Until { threshold: 1e-10, limit: 100_000 };
/// The sum of a row's off-diagonal entries, where the diagonal is 1: the factor by which an iteration
/// contracts.
const DOMINANCE: f64 = 0.9;

/// A random matrix of N rows, diagonally dominant, and a random right-hand side; x = 0 at the start.
pub(super) fn run<M: Machine + Dense>(m: &M, sizes: &[usize], way: Way) -> Result<Report> {
    let n = sizes[0];
    let shape = Columns::new(n);
    m.room(1, (n + 4) * shape.leading)?;
    let entry = |i: usize, j: usize| if i == j { 0.0 } else { uniform(1, (i * n + j) as u64) };
    let sums: Vec<f64> =
        (0..n).into_par_iter().map(|i| (0..n).map(|j| entry(i, j)).sum::<f64>().max(1e-3)).collect();
    let matrix = shape.fill(|j, i| if i == j { 1.0 } else { DOMINANCE * entry(i, j) / sums[i] });
    let rhs: Vec<f64> = (0..n).map(|i| uniform(2, i as u64)).collect();

    let (a, b) = (m.vector(&matrix)?, m.vector(&rhs)?);
    let (both, s) = ([m.zeros(n)?, m.zeros(n)?], m.scalars(1)?);
    let sweep = |m: &M, monitor: &M::Monitor, x: &M::Vector, y: &mut M::Vector| {
        m.dense_sweep(shape, &a, &b, x, y, &s, monitor)
    };
    let Iterated { x, steps, change, converged, seconds } =
        iterate(m, way, UNTIL, both, &s, sweep, &mut |_, _, _| Ok(()))?;

    let x = m.to_host(&x)?;
    let residual = |i: usize| {
        let ax: f64 = shape.of(&matrix, i).iter().zip(&x).map(|(a, x)| a * x).sum();
        (rhs[i] - ax).abs()
    };
    let residual = (0..n).into_par_iter().map(residual).reduce(|| 0.0, cuda_std::Real::max_nan);
    // b - A x = -(L + U) (x_k+1 - x_k), and the rounding of sums of n products.
    let tolerance = DOMINANCE * UNTIL.threshold + n as f64 * f64::EPSILON;
    Ok(Report {
        what: format!("Jacobi's iteration for a dense system of {n} rows"),
        figures: vec![
            ("steps", "steps", steps.into(), format!("{steps}")),
            ("change", "last change", change, format!("{change:.3e} (asked: {:e})", UNTIL.threshold)),
            ("residual", "residual", residual, format!("max |b - A x| = {residual:.3e}")),
        ],
        timings: vec![Timing { label: "", seconds, bytes: 8 * (n * n) as u64 * u64::from(steps) }],
        passed: converged && residual <= tolerance,
        check: format!("max |b - A x|, computed on the host, is within {tolerance:.1e}"),
        published: vec![],
        lines: vec![],
    })
}

//! pi as the integral of `4 / (1 + x^2)` over [0, 1] (programming GPUs with OpenMP, SC21 tutorial: the pi program).

use std::f64::consts::PI;

use super::machine::Machine;
use super::report::{Report, Sizes, Timing};
use crate::backend::Slot;
use crate::error::Result;

pub(super) const SIZES: Sizes = Sizes {
    ranges: &[("N", 1, 1_000_000_000_000)],
    cpu: &[100_000_000],
    cuda: &[1_000_000_000],
    sim: &[100_000],
};

/// The midpoint rule's error is `h^2 / 12 + O(h^6)`, h being the step.
pub(super) fn run<M: Machine>(m: &M, sizes: &[usize]) -> Result<Report> {
    const SUM: Slot = Slot(0);
    let n = sizes[0];
    let step = 1.0 / n as f64;
    let s = m.scalars(1)?;
    m.heights(n, step, &s, SUM)?;
    m.synchronize()?;
    let seconds = m.seconds(&mut || m.heights(n, step, &s, SUM))?;

    let pi = step * m.read(&s, SUM)?;
    let (error, expected) = (pi - PI, step * step / 12.0);
    // Roundings of the sums add up like a random walk at worst.
    let rounding = 4.0 * f64::EPSILON * (n as f64).sqrt();
    let tolerance = step.powi(4) + rounding;
    Ok(Report {
        what: format!("pi by the midpoint rule, {n} intervals"),
        figures: vec![("pi", "pi", pi, format!("{pi:.15}")), ("error", "error", error, format!("{error:.3e}"))],
        timings: vec![Timing { label: "", seconds, bytes: 0 }],
        passed: (error - expected).abs() <= tolerance,
        check: format!("the error is that of the rule, {expected:.3e}, to {tolerance:.1e}"),
        published: vec![],
    })
}

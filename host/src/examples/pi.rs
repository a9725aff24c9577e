//! pi as the integral of `4 / (1 + x^2)` over [0, 1] (programming GPUs with OpenMP, SC21 tutorial: the pi
//! program).

use std::f64::consts::PI;

use arithmetic::pi::height;
use gpu_kernels::examples::pointwise::pi_sum;

use super::machine::Machine;
use super::way::Way;
use super::report::{Report, Sizes, Timing};
use crate::backend::cpu::Cpu;
use crate::backend::gpu::Gpu;
use crate::backend::{Backend, Slot};
use crate::error::Result;

pub(super) const SIZES: Sizes = Sizes {
    ranges: &[("N", 1, 1_000_000_000_000)],
    cpu: &[100_000_000],
    cuda: &[1_000_000_000],
    sim: &[100_000],
    travels: false,
    has_loops: false,
    has_lines: false,
};

/// Sums over the middles of intervals.
pub(super) trait Midpoints: Backend<f64> {
    /// `s[out] = sum_i 4 / (1 + x_i^2)` with `x_i = (i + 1/2) step`, i < n.
    fn heights(&self, n: usize, step: f64, s: &Self::Scalars, out: Slot) -> Result<()>;
}

impl Midpoints for Cpu {
    fn heights(&self, n: usize, step: f64, s: &Self::Scalars, out: Slot) -> Result<()> {
        // Running sums side by side, which the compiler makes vectors of.
        const LANES: usize = 8;
        let [sum] = self.sum_over(n, &|chunk| {
            let mut sums = [0.0; LANES];
            let whole = chunk.len() / LANES * LANES;
            for first in (chunk.start..chunk.start + whole).step_by(LANES) {
                for l in 0..LANES {
                    sums[l] += height(first + l, step);
                }
            }
            let rest: f64 = (chunk.start + whole..chunk.end).map(|i| height(i, step)).sum();
            [sums.into_iter().sum::<f64>() + rest]
        });
        s.set(out, sum);
        Ok(())
    }
}

impl Midpoints for Gpu {
    fn heights(&self, n: usize, step: f64, s: &Self::Scalars, out: Slot) -> Result<()> {
        // SAFETY: the arrays were made for this many elements.
        unsafe { self.launch_resident(n, &pi_sum { n: n as u64, step, reduction: self.reduction(s, out) }) }
    }
}

/// The midpoint rule's error is `h^2 / 12 + O(h^6)`, h being the step.
pub(super) fn run<M: Machine + Midpoints>(m: &M, sizes: &[usize], _: Way) -> Result<Report> {
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
        lines: vec![],
    })
}

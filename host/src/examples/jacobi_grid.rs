//! Sweeps of Jacobi's iteration over a grid, next to one thread of the host (S. Rosenberger, G. Haase:
//! OpenACC and CUDA parallelization for the elasticity problem in CARP, SFB-Report 2017-004, section 6.1).
//!
//! ```text
//! u_ij = (u_i-1,j + u_i+1,j + u_i,j-1 + u_i,j+1 + b_j) / 4,  b_j = sqrt(j),  u_ij = (-1)^i + (-1)^j at the start
//! ```

use std::time::Instant;

use super::stencil::{Stencil, MEAN, difference, fill, grid, len, sequential};
use super::machine::{Iterated, Machine, Until, iterate};
use super::way::Way;
use super::report::{ONE_THREAD, Report, Sizes, Timing};
use crate::error::Result;

pub(super) const SIZES: Sizes = Sizes {
    ranges: &[("N", 3, 60_000)],
    cpu: &[5000],
    cuda: &[5000],
    sim: &[60],
    travels: true,
    has_loops: false,
    has_lines: false,
};

const UNTIL: Until = Until { threshold: 1e-4, limit: 100 };

/// N x N points, those on the edges fixed.
pub(super) fn run<M: Machine + Stencil>(m: &M, sizes: &[usize], way: Way) -> Result<Report> {
    let n = sizes[0];
    let grid = grid(n - 2, n - 2);
    m.room(2, len(grid))?;
    let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let start = fill(grid, |i, j| sign(i) + sign(j));
    let source: Vec<f64> = (1..n - 1).map(|j| (j as f64).sqrt()).collect();
    let both = [m.vector(&start)?, m.vector(&start)?];
    let (b, s) = (m.vector(&source)?, m.scalars(1)?);
    let sweep = |m: &M, monitor: &M::Monitor, u: &M::Vector, v: &mut M::Vector| {
        m.stencil_max(grid, MEAN, Some(&b), u, v, &s, monitor)
    };
    let Iterated { x: u, steps, change, converged, seconds } =
        iterate(m, way, UNTIL, both, &s, sweep, &mut |_, _, _| Ok(()))?;
    let u = m.to_host(&u)?;

    let (mut x, mut y) = (start.clone(), start);
    let alone = Instant::now();
    for _ in 0..steps {
        sequential(grid, MEAN, &source, &x, &mut y);
        std::mem::swap(&mut x, &mut y);
    }
    let alone = alone.elapsed().as_secs_f64();
    let error = difference(grid, &x, &u);
    let bytes = 16 * ((n - 2) * (n - 2)) as u64 * u64::from(steps);
    let stopped = if converged { "converged" } else { "the limit" };
    Ok(Report {
        what: format!("Jacobi's iteration with a source, {n} x {n} points, {} sweeps at most", UNTIL.limit),
        figures: vec![
            ("steps", "sweeps", steps.into(), format!("{steps} ({stopped})")),
            ("change", "last change", change, format!("{change:.6}")),
            ("difference", "difference", error, format!("{error:e} from a sequential loop")),
            ("speedup", "speed-up", alone / seconds, format!("{:.1} (the source: up to 20)", alone / seconds)),
        ],
        timings: vec![
            Timing { label: "", seconds, bytes },
            Timing { label: ONE_THREAD, seconds: alone, bytes },
        ],
        passed: error == 0.0 && steps > 0,
        check: "every point has the bits of a sequential loop on the host".into(),
        published: vec![],
        lines: vec![],
    })
}

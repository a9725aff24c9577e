//! The heat equation on a square (programming GPUs with OpenMP, SC21 tutorial: the heat program).
//!
//! ```text
//! du/dt = alpha laplace(u),  u = 0 on the edges,  u(t, x, y) = exp(-2 alpha pi^2 t / L^2) sin(pi x / L) sin(pi y / L)
//! u_ij += r (u_i+1,j + u_i-1,j + u_i,j+1 + u_i,j-1 - 4 u_ij),  r = alpha dt / dx^2
//! ```

use std::f64::consts::PI;

use arithmetic::stencil::Weights;
use crate::parallel::*;

use super::stencil::{Stencil, fill, grid, len, points};
use super::machine::{Machine, travel};
use super::way::{Loops, Transfers, Way};
use super::report::{Report, Sizes, Timing};
use crate::error::Result;

pub(super) const SIZES: Sizes = Sizes {
    ranges: &[("N", 1, 60_000), ("STEPS", 1, 1_000_000)],
    cpu: &[8000, 10],
    cuda: &[8000, 10],
    sim: &[100, 10],
    travels: true,
    has_loops: true,
    has_lines: false,
};

const ALPHA: f64 = 0.1;
const LENGTH: f64 = 1000.0;
const TOTAL_TIME: f64 = 0.5;

/// `STEPS` steps from t = 0 to [`TOTAL_TIME`] on N x N points.
pub(super) fn run<M: Machine + Stencil>(m: &M, sizes: &[usize], way: Way) -> Result<Report> {
    let (n, steps) = (sizes[0], sizes[1]);
    let (dx, dt) = (LENGTH / (n + 1) as f64, TOTAL_TIME / steps as f64);
    let r = ALPHA * dt / (dx * dx);
    let weights = Weights { centre: 1.0 - 4.0 * r, side: r };

    let grid = grid(n, n);
    m.room(2, len(grid))?;
    // sin(pi x / L) at the points, 0 in the frame. As in the source, x is a running sum: its rounding is 4 %
    // of the error.
    let mut sines = vec![0.0; n + 2];
    let mut x = dx;
    for sine in &mut sines[1..=n] {
        *sine = (PI * x / LENGTH).sin();
        x += dx;
    }
    let mut u = m.vector(&fill(grid, |i, j| sines[i] * sines[j]))?;
    let mut v = m.zeros(len(grid))?;
    let step = |u: &M::Vector, v: &mut M::Vector| match way.loops {
        Loops::Coalesced => m.stencil(grid, weights, None, u, v),
        Loops::AsWritten => m.stencil_by_columns(grid, weights, u, v),
    };
    step(&u, &mut v)?;
    m.synchronize()?;
    let seconds = m.seconds(&mut || match way.transfers {
        Transfers::Resident => (0..steps).try_for_each(|_| {
            step(&u, &mut v)?;
            std::mem::swap(&mut u, &mut v);
            Ok(())
        }),
        Transfers::EveryStep => {
            travel(m, steps as u32, [&mut u, &mut v], |u, v| step(u, v).map(|()| true)).map(drop)
        }
    })?;

    let decay = (-2.0 * ALPHA * PI * PI * TOTAL_TIME / (LENGTH * LENGTH)).exp();
    let u = m.to_host(&u)?;
    let row_sum = |i: usize| -> f64 {
        let row = points(grid, &u, i).iter().enumerate();
        row.map(|(j, u)| (u - decay * sines[i + 1] * sines[j + 1]).powi(2)).sum()
    };
    let squares: Vec<f64> = (0..n).into_par_iter().map(row_sum).collect();
    let error = squares.iter().sum::<f64>().sqrt();
    let (expected, rounding) = errors(n, steps, r, decay);
    let figures = vec![
        ("r", "r", r, format!("{r:.6}{}", if r > 0.25 { ", unstable above 0.25 in many steps" } else { "" })),
        ("l2_error", "error (L2)", error, format!("{error:.6e}")),
    ];
    Ok(Report {
        what: format!("heat equation, explicit scheme, {n} x {n} points, {steps} steps"),
        figures,
        timings: vec![Timing { label: "", seconds, bytes: (16 * n * n * steps) as u64 }],
        passed: (error - expected).abs() <= rounding,
        check: format!("the error is that of the scheme, {expected:.3e}, to {rounding:.1e}"),
        published: match (n, steps) {
            (8000, 10) => vec![
                (0.161998, "OpenMP target, data resident; a GPU of Isambard (it has P100 and V100)"),
                (4.589534, "the same, data mapped in every step"),
            ],
            _ => vec![],
        },
        lines: vec![],
    })
}

/// The L2 norm of the scheme's own error, and a bound for what rounding adds to it.
///
/// The initial values are an eigenvector, except for the rounding of x. A step multiplies them by
/// `g = 1 - 8 r sin^2(pi / (2 (n + 1)))`. In a step, a rounding error grows by at most `|1 - 8 r|`, if that
/// is above 1.
fn errors(n: usize, steps: usize, r: f64, decay: f64) -> (f64, f64) {
    let s = (PI / (2.0 * (n + 1) as f64)).sin();
    let growth = (-8.0 * r * s * s).ln_1p() * steps as f64;
    // The norm of sin(pi x / L) sin(pi y / L) is (n + 1) / 2.
    let expected = (growth.exp() - decay).abs() * (n + 1) as f64 / 2.0;
    let amplified = (8.0 * r - 1.0).max(1.0).powi(steps as i32 - 1).max(steps as f64);
    (expected, n as f64 * f64::EPSILON * amplified)
}

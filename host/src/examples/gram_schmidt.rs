//! Gram and Schmidt's orthogonalisation of a random matrix (R. Farber: The OpenACC execution model, Dr.
//! Dobb's 2012).
//!
//! ```text
//! h = Q_j^T a_j,  w = a_j - Q_j h,  q_j = w / ||w||             classical
//! h = Q_j^T a_j,  w = a_j - Q_j h,  w -= Q_j (Q_j^T w), ...     twice: Giraud, Langou, Rozloznik 2005
//! ```
//!
//! The source's loop, which it calls classical, takes each product with what is left of a column: with `w`
//! for `a_j`.

use crate::parallel::*;

use super::dense::{Columns, Dense};
use super::machine::Machine;
use super::way::Way;
use super::report::{Report, Sizes, Timing};
use crate::error::Result;
use crate::problem::random::uniform;

pub(super) const SIZES: Sizes = Sizes {
    ranges: &[("N", 1, 50_000)],
    cpu: &[1000],
    cuda: &[5000],
    sim: &[40],
    travels: false,
    has_loops: false,
    has_lines: false,
};

/// The largest error of an element of Q^T Q that the source accepts.
const ACCEPTED: f64 = 0.1;
/// Columns that warm up.
const WARM_UP: usize = 4;

/// N vectors of N elements, uniform in [0, 1).
pub(super) fn run<M: Machine + Dense>(m: &M, sizes: &[usize], _: Way) -> Result<Report> {
    let n = sizes[0];
    let shape = Columns::new(n);
    m.room(1, 3 * n * shape.leading + shape.sums())?;
    let a = m.vector(&shape.fill(|i, k| uniform(1, (i * n + k) as u64)))?;
    let mut q = m.zeros(n * shape.leading)?;
    let mut work = Work { h: m.zeros(n)?, s: m.zeros(n)?, sums: m.zeros(shape.sums())? };
    m.copy(&a, &mut q)?;
    orthogonalise(m, shape, n.min(WARM_UP), 2, &mut q, &mut work)?;
    m.normalise(shape, &mut q, &work.s)?;

    let (mut figures, mut timings, mut errors) = (vec![], vec![], vec![]);
    for (passes, label, keys, names) in [
        (1, "classical", ["classical_max", "classical_norm"], ["classical", ""]),
        (2, "twice", ["twice_max", "twice_norm"], ["twice", ""]),
    ] {
        m.copy(&a, &mut q)?;
        m.synchronize()?;
        let seconds = m.seconds(&mut || {
            orthogonalise(m, shape, n, passes, &mut q, &mut work)?;
            m.normalise(shape, &mut q, &work.s)
        })?;
        let (max, norm) = loss(m, shape, &q)?;
        figures.push((keys[0], names[0], max, format!("max |Q^T Q - I| = {max:.2e}")));
        figures.push((keys[1], names[1], norm, format!("||Q^T Q - I||_F = {norm:.2e}")));
        // Column j twice reads the j columns in front of it, in each pass.
        timings.push(Timing { label, seconds, bytes: (8 * n * n * n * passes) as u64 });
        errors.push(max);
    }
    let tolerance = n as f64 * f64::EPSILON;
    Ok(Report {
        what: format!("Gram-Schmidt, {n} vectors of {n} elements"),
        figures,
        timings,
        passed: errors[0] <= ACCEPTED && errors[1] <= tolerance,
        check: format!("classical to the source's {ACCEPTED}, twice to {tolerance:.1e}"),
        published: match n {
            5000 => vec![(11.0075, "OpenACC, NVIDIA C2070, f32"), (87.3252, "OpenMP, 4 cores, f32")],
            1000 => vec![
                (0.227207, "OpenACC, NVIDIA C2070, f32"),
                (0.75971, "OpenMP, 4 cores, f32"),
                (2.39342, "serial, f32"),
            ],
            _ => vec![],
        },
        lines: vec![],
    })
}

/// What [`orthogonalise`] works with.
pub(super) struct Work<V> {
    /// A column of products.
    pub h: V,
    /// `s_k = (v_k, v_k)`
    pub s: V,
    /// [`Columns::sums`] elements.
    pub sums: V,
}

/// Makes the first `count` vectors orthogonal, not yet of length 1.
pub(super) fn orthogonalise<M: Machine + Dense>(
    m: &M,
    shape: Columns,
    count: usize,
    passes: usize,
    v: &mut M::Vector,
    Work { h, s, sums }: &mut Work<M::Vector>,
) -> Result<()> {
    for j in 0..count {
        for _ in 0..passes {
            m.dots(shape, v, j, s, j, h, 0)?;
            m.subtract(shape, v, j, h, s, sums)?;
        }
    }
    Ok(())
}

/// `max |Q^T Q - I|` and `||Q^T Q - I||_F`; NaN if any element is.
fn loss<M: Machine + Dense>(m: &M, shape: Columns, q: &M::Vector) -> Result<(f64, f64)> {
    let n = shape.n;
    let (mut gram, mut one) = (m.zeros(n * n)?, m.zeros(n)?);
    m.fill(1.0, &mut one)?;
    for j in 0..n {
        m.dots(shape, q, j, &one, n, &mut gram, j * n)?;
    }
    let gram = m.to_host(&gram)?;
    let column = |(j, g): (usize, &[f64])| {
        g.iter().enumerate().fold((0.0f64, 0.0f64), |(max, square), (k, &g)| {
            let error = if j == k { g - 1.0 } else { g };
            (cuda_std::Real::max_nan(error.abs(), max), square + error * error)
        })
    };
    let columns: Vec<(f64, f64)> = gram.par_chunks(n).enumerate().map(column).collect();
    let max = columns.iter().fold(0.0, |max, column| cuda_std::Real::max_nan(column.0, max));
    Ok((max, columns.iter().map(|column| column.1).sum::<f64>().sqrt()))
}

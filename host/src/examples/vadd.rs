//! `z = x + y` (programming GPUs with OpenMP, SC21 tutorial: the vector addition).

use rayon::prelude::*;

use super::machine::Machine;
use super::report::{Report, Sizes, Timing};
use crate::error::Result;

pub(super) const SIZES: Sizes = Sizes {
    ranges: &[("N", 1, 4_000_000_000)],
    cpu: &[10_000_000],
    cuda: &[100_000_000],
    sim: &[100_000],
};

/// Sums that are timed together.
const REPEAT: usize = 10;

/// `x_i = i`, `y_i = 2 i`, so that every sum is exact.
pub(super) fn run<M: Machine>(m: &M, sizes: &[usize]) -> Result<Report> {
    let n = sizes[0];
    m.room(3, n)?;
    let multiples = |a: f64| -> Vec<f64> { (0..n).into_par_iter().map(|i| a * i as f64).collect() };
    let (x, y) = (m.vector(&multiples(1.0))?, m.vector(&multiples(2.0))?);
    let mut z = m.zeros(n)?;
    m.fill(f64::NAN, &mut z)?;
    m.add(&x, &y, &mut z)?;
    m.synchronize()?;
    let seconds = m.seconds(&mut || (0..REPEAT).try_for_each(|_| m.add(&x, &y, &mut z)))? / REPEAT as f64;

    let wrong = m.to_host(&z)?.par_iter().enumerate().filter(|&(i, &z)| z != (3 * i) as f64).count();
    Ok(Report {
        what: format!("z = x + y, vectors of {n} elements"),
        figures: vec![("wrong", "wrong", wrong as f64, format!("{wrong} elements"))],
        timings: vec![Timing { label: "", seconds, bytes: 24 * n as u64 }],
        passed: wrong == 0,
        check: "every element is exactly 3 i".into(),
        published: vec![],
    })
}

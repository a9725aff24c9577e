//! `z = x + y` (programming GPUs with OpenMP, SC21 tutorial: the vector addition).

use gpu_kernels::examples::pointwise::vadd;
use crate::parallel::*;

use super::machine::Machine;
use super::way::Way;
use super::report::{Report, Sizes, Timing};
use crate::backend::Backend;
use crate::backend::cpu::Cpu;
use crate::backend::gpu::{Gpu, Work};
use crate::error::Result;

pub(super) const SIZES: Sizes = Sizes {
    ranges: &[("N", 1, 4_000_000_000)],
    cpu: &[10_000_000],
    cuda: &[100_000_000],
    sim: &[100_000],
    travels: false,
    has_loops: false,
    has_lines: false,
};

/// Sums that are timed together.
const REPEAT: usize = 10;
/// Elements of a task.
const CHUNK: usize = 1 << 14;

/// The sum of vectors.
pub(super) trait Add: Backend<f64> {
    /// `z = x + y`
    fn add(&self, x: &Self::Vector, y: &Self::Vector, z: &mut Self::Vector) -> Result<()>;
}

impl Add for Cpu {
    fn add(&self, x: &Vec<f64>, y: &Vec<f64>, z: &mut Vec<f64>) -> Result<()> {
        let chunks = z.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).zip(y.par_chunks(CHUNK));
        chunks.for_each(|((z, x), y)| {
            for ((z, x), y) in z.iter_mut().zip(x).zip(y) {
                *z = x + y;
            }
        });
        Ok(())
    }
}

impl Add for Gpu {
    fn add(&self, x: &Self::Vector, y: &Self::Vector, z: &mut Self::Vector) -> Result<()> {
        let n = z.len();
        // SAFETY: the arrays were made for this many elements.
        unsafe { self.launch(Work::on::<f64>(n, 3), &vadd { n: n as u64, x: x.ptr(), y: y.ptr(), z: z.ptr_mut() }) }
    }
}

/// `x_i = i`, `y_i = 2 i`, so that every sum is exact.
pub(super) fn run<M: Machine + Add>(m: &M, sizes: &[usize], _: Way) -> Result<Report> {
    let n = sizes[0];
    m.room(3, n)?;
    let multiples = |a: f64| -> Vec<f64> { (0..n).into_par_iter().map(|i| a * i as f64).collect() };
    let (x, y) = (m.vector(&multiples(1.0))?, m.vector(&multiples(2.0))?);
    let mut z = m.zeros(n)?;
    m.fill(f64::NAN, &mut z)?;
    m.add(&x, &y, &mut z)?;
    m.synchronize()?;
    let seconds = m.seconds(&mut || (0..REPEAT).try_for_each(|_| m.add(&x, &y, &mut z)))? / REPEAT as f64;

    let wrong: usize = m.to_host(&z)?.par_iter().enumerate().map(|(i, &z)| usize::from(z != (3 * i) as f64)).sum();
    Ok(Report {
        what: format!("z = x + y, vectors of {n} elements"),
        figures: vec![("wrong", "wrong", wrong as f64, format!("{wrong} elements"))],
        timings: vec![Timing { label: "", seconds, bytes: 24 * n as u64 }],
        passed: wrong == 0,
        check: "every element is exactly 3 i".into(),
        published: vec![],
        lines: vec![],
    })
}

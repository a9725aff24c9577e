//! Vectors element by element, without a matrix.

use gpu_kernels::examples::pointwise::{height, pi_sum, vadd};
use rayon::prelude::*;

use crate::backend::cpu::Cpu;
use crate::backend::gpu::{Gpu, Work};
use crate::backend::{Backend, Slot};
use crate::error::Result;

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
        self.launch(Work::on::<f64>(n, 3), &vadd { n: n as u64, x: x.ptr(), y: y.ptr(), z: z.ptr_mut() })
    }
}

/// Sums over the middles of intervals.
pub(super) trait Midpoints: Backend<f64> {
    /// `s[out] = sum_i 4 / (1 + x_i^2)` with `x_i = (i + 1/2) step`, i < n.
    fn heights(&self, n: usize, step: f64, s: &Self::Scalars, out: Slot) -> Result<()>;
}

impl Midpoints for Cpu {
    fn heights(&self, n: usize, step: f64, s: &Self::Scalars, out: Slot) -> Result<()> {
        // Running sums side by side, which the compiler makes vectors of.
        const LANES: usize = 8;
        let [sum] = self.sum_over(n, |chunk| {
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
        self.launch_reduction(n, &pi_sum { n: n as u64, step, reduction: self.reduction(s, out) })
    }
}

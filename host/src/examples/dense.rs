//! Vectors side by side in one array, `v_k` at `k leading`, and what Gram-Schmidt and a dense Jacobi
//! iteration do with them.

use crate::parallel::*;
use gpu_kernels::BLOCK;
use gpu_kernels::examples::dense::{
    MAX_PARTS, TILE, VECTORS, dense_dots, dense_normalise, dense_partial_sums, dense_subtract_sum,
    dense_sweep_sum,
};

use crate::backend::cpu::{Cpu, dot};
use crate::backend::gpu::{Gpu, Work};
use crate::backend::{Backend, Slot};
use crate::error::Result;

/// Rows of a task of the CPU.
const CHUNK: usize = 512;
/// Least vectors that a thread of a kernel adds up.
const PART: usize = 16;

/// The shape of an array of vectors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    /// Elements of a vector.
    pub n: usize,
    /// Elements from a vector to the next.
    pub leading: usize,
}

impl Columns {
    /// Vectors that begin at a whole number of cache lines.
    pub fn new(n: usize) -> Columns {
        Columns { n, leading: n.next_multiple_of(32) }
    }
    /// Elements that [`Dense::subtract`] needs to work with.
    pub fn sums(&self) -> usize {
        MAX_PARTS * self.leading
    }
    /// Vector `k`.
    pub fn of<'a>(&self, v: &'a [f64], k: usize) -> &'a [f64] {
        &v[k * self.leading..][..self.n]
    }
    /// An array of `n` vectors with these elements; what pads them is 0.
    pub fn fill(&self, value: impl Fn(usize, usize) -> f64 + Sync) -> Vec<f64> {
        let mut v = vec![0.0; self.n * self.leading];
        v.par_chunks_mut(self.leading).enumerate().for_each(|(k, column)| {
            for (i, x) in column[..self.n].iter_mut().enumerate() {
                *x = value(i, k);
            }
        });
        v
    }
}

/// Operations on arrays of `n` vectors of n elements. The vectors of Gram-Schmidt have `s_k = (v_k, v_k)`.
#[allow(clippy::too_many_arguments)]
pub(super) trait Dense: Backend<f64> {
    /// `h_k = (v_k, v_j) / s_k` for k < count, to `h[first..]`.
    fn dots(
        &self,
        shape: Columns,
        v: &Self::Vector,
        j: usize,
        s: &Self::Vector,
        count: usize,
        h: &mut Self::Vector,
        first: usize,
    ) -> Result<()>;
    /// `v_j -= sum_{k < j} h_k v_k`, `s_j = (v_j, v_j)`; `sums` is [`Columns::sums`] elements to work with.
    fn subtract(
        &self,
        shape: Columns,
        v: &mut Self::Vector,
        j: usize,
        h: &Self::Vector,
        s: &mut Self::Vector,
        sums: &mut Self::Vector,
    ) -> Result<()>;
    /// `v_k /= sqrt(s_k)` for all k.
    fn normalise(&self, shape: Columns, v: &mut Self::Vector, s: &Self::Vector) -> Result<()>;
    /// `y = x + D^-1 (b - A x)`, the rows of A being the vectors; observes `||y - x||_2`, and leaves its
    /// square in `s[0]`.
    fn dense_sweep(
        &self,
        shape: Columns,
        a: &Self::Vector,
        b: &Self::Vector,
        x: &Self::Vector,
        y: &mut Self::Vector,
        s: &Self::Scalars,
        monitor: &Self::Monitor,
    ) -> Result<()>;
}

impl Dense for Cpu {
    fn dots(
        &self,
        shape: Columns,
        v: &Vec<f64>,
        j: usize,
        s: &Vec<f64>,
        count: usize,
        h: &mut Vec<f64>,
        first: usize,
    ) -> Result<()> {
        let w = shape.of(v, j);
        let each = h[first..][..count].par_iter_mut().zip(s.par_iter()).enumerate();
        each.with_min_len(4).for_each(|(k, (h, s))| *h = dot(shape.of(v, k), w) / s);
        Ok(())
    }
    fn subtract(
        &self,
        shape: Columns,
        v: &mut Vec<f64>,
        j: usize,
        h: &Vec<f64>,
        s: &mut Vec<f64>,
        _: &mut Vec<f64>,
    ) -> Result<()> {
        let (before, w) = v.split_at_mut(j * shape.leading);
        let w = &mut w[..shape.n];
        w.par_chunks_mut(CHUNK).enumerate().for_each(|(c, w)| {
            for k in 0..j {
                let v = &shape.of(before, k)[c * CHUNK..][..w.len()];
                for (w, v) in w.iter_mut().zip(v) {
                    *w -= h[k] * v;
                }
            }
        });
        s[j] = dot(w, w);
        Ok(())
    }
    fn normalise(&self, shape: Columns, v: &mut Vec<f64>, s: &Vec<f64>) -> Result<()> {
        v.par_chunks_mut(shape.leading).zip(s.par_iter()).for_each(|(v, s)| {
            let norm = s.sqrt();
            v[..shape.n].iter_mut().for_each(|v| *v /= norm);
        });
        Ok(())
    }
    fn dense_sweep(
        &self,
        shape: Columns,
        a: &Vec<f64>,
        b: &Vec<f64>,
        x: &Vec<f64>,
        y: &mut Vec<f64>,
        s: &Self::Scalars,
        monitor: &Self::Monitor,
    ) -> Result<()> {
        let row = |(i, y): (usize, &mut f64)| {
            let a = shape.of(a, i);
            let change = (b[i] - dot(a, x)) / a[i];
            *y = x[i] + change;
            change * change
        };
        let squares: Vec<f64> = y.par_iter_mut().enumerate().with_min_len(4).map(row).collect();
        let square = squares.iter().sum::<f64>();
        s.set(Slot(0), square);
        monitor.observe(square.sqrt());
        Ok(())
    }
}

impl Dense for Gpu {
    fn dots(
        &self,
        shape: Columns,
        v: &Self::Vector,
        j: usize,
        s: &Self::Vector,
        count: usize,
        h: &mut Self::Vector,
        first: usize,
    ) -> Result<()> {
        let Columns { n, leading } = shape;
        let (v, w) = (v.ptr(), v.ptr().wrapping_add(j * leading));
        let h = h.ptr_mut().wrapping_add(first);
        let kernel =
            dense_dots { n: n as u64, leading: leading as u64, count: count as u32, v, w, s: s.ptr(), h };
        // SAFETY: the arrays were made for this many elements.
        unsafe { self.launch(work(count.div_ceil(VECTORS), n * (count + 1)), &kernel) }
    }
    fn subtract(
        &self,
        shape: Columns,
        v: &mut Self::Vector,
        j: usize,
        h: &Self::Vector,
        s: &mut Self::Vector,
        sums: &mut Self::Vector,
    ) -> Result<()> {
        let part = j.div_ceil(MAX_PARTS).max(PART);
        let parts = j.div_ceil(part);
        let (n, leading) = (shape.n as u64, shape.leading as u64);
        let blocks = parts * shape.n.div_ceil(BLOCK as usize);
        if blocks > 0 {
            let (count, part, v, h) = (j as u32, part as u32, v.ptr(), h.ptr());
            let kernel = dense_partial_sums { n, leading, count, part, v, h, sums: sums.ptr_mut() };
            // SAFETY: the arrays were made for this many elements.
            unsafe { self.launch(work(blocks, shape.n * (j + parts)), &kernel) }?;
        }
        let w = v.ptr_mut().wrapping_add(j * shape.leading);
        let (parts, sums, reduction) = (parts as u32, sums.ptr(), self.reduction(s, Slot(j)));
        let kernel = dense_subtract_sum { n, leading, parts, sums, w, reduction };
        // SAFETY: the arrays were made for this many elements.
        unsafe { self.launch_resident(work(shape.n.div_ceil(TILE), shape.n * (parts as usize + 2)), &kernel) }
    }
    fn normalise(&self, shape: Columns, v: &mut Self::Vector, s: &Self::Vector) -> Result<()> {
        let Columns { n, leading } = shape;
        let kernel = dense_normalise { n: n as u64, leading: leading as u64, s: s.ptr(), v: v.ptr_mut() };
        // SAFETY: the arrays were made for this many elements.
        unsafe { self.launch(work(n, 2 * n * n), &kernel) }
    }
    fn dense_sweep(
        &self,
        shape: Columns,
        a: &Self::Vector,
        b: &Self::Vector,
        x: &Self::Vector,
        y: &mut Self::Vector,
        s: &Self::Scalars,
        monitor: &Self::Monitor,
    ) -> Result<()> {
        let kernel = dense_sweep_sum {
            n: shape.n as u64,
            leading: shape.leading as u64,
            a: a.ptr(),
            b: b.ptr(),
            x: x.ptr(),
            y: y.ptr_mut(),
            reduction: self.reduction(s, Slot(0)),
            monitor: monitor.argument(),
        };
        // SAFETY: the arrays were made for this many elements.
        unsafe { self.launch_resident(work(shape.n, shape.n * (shape.n + 3)), &kernel) }
    }
}

/// This many blocks, which read or write this many numbers.
fn work(blocks: usize, numbers: usize) -> Work {
    Work::moving(blocks * BLOCK as usize, (numbers * size_of::<f64>()) as u64)
}

//! [`Vectors`] in chunks of rows.

use crate::parallel::*;
use cuda_std::Real;

use super::{CHUNK, Cpu};
use crate::backend::host::{HostBackend, HostScalars};
use crate::backend::memory::{Length, check_diagonal, check_lengths};
use crate::backend::{Coef, Slot, Vectors, check_slots};
use crate::error::Result;

/// `(x, y)`, y rounded to T, with eight running sums, which the compiler turns into vector registers.
pub(crate) fn dot<T: Real, S: Real>(x: &[T], y: &[S]) -> T {
    const LANES: usize = 8;
    let product = |x: T, y: S| x * T::from_f64(y.to_f64());
    let mut sums = [T::ZERO; LANES];
    let (x_chunks, y_chunks) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rest: T = x_chunks.remainder().iter().zip(y_chunks.remainder()).map(|(&x, &y)| product(x, y)).sum();
    for (x, y) in x_chunks.zip(y_chunks) {
        for k in 0..LANES {
            sums[k] += product(x[k], y[k]);
        }
    }
    sums.into_iter().sum::<T>() + rest
}

/// `z = a D x`, where `z` and `x` begin at row `first`, the first of a block, and `n` is the number of rows
/// of D.
pub(crate) fn scaled<T: Real>(a: T, d: &[T], n: usize, first: usize, x: &[T], z: &mut [T]) {
    let b = d.len() / n.max(1);
    if b == 1 {
        for ((z, &x), &d) in z.iter_mut().zip(x).zip(&d[first..]) {
            *z = a * d * x;
        }
        return;
    }
    let blocks = x.chunks_exact(b).zip(d[b * first..].chunks_exact(b * b));
    for (z, (x, d)) in z.chunks_exact_mut(b).zip(blocks) {
        for (z, d) in z.iter_mut().zip(d.chunks_exact(b)) {
            *z = a * d.iter().zip(x).fold(T::ZERO, |sum, (&d, &x)| sum + d * x);
        }
    }
}

impl Cpu {
    /// `(x, y)`, y rounded to T.
    pub(crate) fn dot_of<T: Real, S: Real>(&self, x: &[T], y: &[S]) -> T {
        let [sum] = self.sum_over(x.len(), &|rows| [dot(&x[rows.clone()], &y[rows])]);
        sum
    }

    /// `p = z + beta p`, z rounded to T.
    pub(crate) fn direction_of<T: Real, S: Real>(&self, z: &[S], beta: T, p: &mut [T]) {
        self.each(p, &|first, p| {
            for (p, &z) in p.iter_mut().zip(&z[first..]) {
                *p = T::from_f64(z.to_f64()) + beta * *p;
            }
        });
    }
}

impl<T: Real> Vectors<T> for Cpu {
    fn copy(&self, x: &Vec<T>, y: &mut Vec<T>) -> Result<()> {
        check_lengths("copy", y.len(), &[("x", x.len())])?;
        if !self.stopped() {
            self.each(y, &|first, y| y.copy_from_slice(&x[first..first + y.len()]));
        }
        Ok(())
    }
    fn fill(&self, value: T, x: &mut Vec<T>) -> Result<()> {
        if !self.stopped() {
            self.each(x, &|_, x| x.fill(value));
        }
        Ok(())
    }
    fn scale(&self, s: &HostScalars<T>, a: Coef, x: &mut Vec<T>) -> Result<()> {
        if let Some([a]) = self.guard.values(s, [a])? {
            self.each(x, &|_, x| x.iter_mut().for_each(|x| *x *= a));
        }
        Ok(())
    }
    fn axpby(&self, s: &HostScalars<T>, a: Coef, x: &Vec<T>, b: Coef, y: &mut Vec<T>) -> Result<()> {
        check_lengths("axpby", y.len(), &[("x", x.len())])?;
        let Some([a, b]) = self.guard.values(s, [a, b])? else { return Ok(()) };
        self.each(y, &|first, y| {
            for (y, &x) in y.iter_mut().zip(&x[first..]) {
                *y = if b == T::ZERO { a * x } else { a * x + b * *y };
            }
        });
        Ok(())
    }
    fn axpbypcz(
        &self,
        s: &HostScalars<T>,
        a: Coef,
        x: &Vec<T>,
        b: Coef,
        y: &Vec<T>,
        c: Coef,
        z: &mut Vec<T>,
    ) -> Result<()> {
        check_lengths("axpbypcz", z.len(), &[("x", x.len()), ("y", y.len())])?;
        let Some([a, b, c]) = self.guard.values(s, [a, b, c])? else { return Ok(()) };
        self.each(z, &|first, z| {
            for ((z, &x), &y) in z.iter_mut().zip(&x[first..]).zip(&y[first..]) {
                *z = a * x + b * y + c * *z;
            }
        });
        Ok(())
    }
    fn direction(
        &self,
        s: &HostScalars<T>,
        d: Option<&Vec<T>>,
        z: &Vec<T>,
        beta: Coef,
        p: &mut Vec<T>,
    ) -> Result<()> {
        check_lengths("direction", p.len(), &[("z", z.len()), ("d", d.map_or(p.len(), Vec::len))])?;
        let Some([beta]) = self.guard.values(s, [beta])? else { return Ok(()) };
        match d {
            Some(d) => self.each(p, &|first, p| {
                for ((p, &z), &d) in p.iter_mut().zip(&z[first..]).zip(&d[first..]) {
                    *p = d * z + beta * *p;
                }
            }),
            None => self.direction_of(z, beta, p),
        }
        Ok(())
    }
    fn scale_rows(&self, a: T, d: &Vec<T>, x: &Vec<T>, y: &mut Vec<T>) -> Result<()> {
        let n = x.len();
        check_lengths("scale_rows", n, &[("y", y.len())])?;
        let block = check_diagonal("scale_rows", n, d.len())?;
        if !self.stopped() && n > 0 {
            // Chunks of whole blocks.
            let chunk = CHUNK.next_multiple_of(block);
            self.install(|| {
                let chunks = y.par_chunks_mut(chunk).zip(x.par_chunks(chunk)).enumerate();
                chunks.for_each(|(c, (y, x))| scaled(a, d, n, c * chunk, x, y));
            });
        }
        Ok(())
    }

    fn dot(&self, x: &Vec<T>, y: &Vec<T>, s: &HostScalars<T>, out: Slot) -> Result<()> {
        check_lengths("dot", y.len(), &[("x", x.len())])?;
        check_slots("dot", s.length(), out, 1)?;
        if !self.stopped() {
            s.set(out, self.dot_of(x, y));
        }
        Ok(())
    }
    fn sum(&self, x: &Vec<T>, s: &HostScalars<T>, out: Slot) -> Result<()> {
        check_slots("sum", s.length(), out, 1)?;
        if !self.stopped() {
            let [sum] = self.sum_over(x.len(), &|rows| [x[rows].iter().copied().sum()]);
            s.set(out, sum);
        }
        Ok(())
    }
    fn norm_max(&self, x: &Vec<T>, s: &HostScalars<T>, out: Slot) -> Result<()> {
        check_slots("norm_max", s.length(), out, 1)?;
        if !self.stopped() {
            let max = |x: &[T]| x.iter().fold(T::ZERO, |max, x| max.max_nan(x.abs()));
            let max = self.install(|| x.par_chunks(CHUNK).map(max).reduce(|| T::ZERO, T::max_nan));
            s.set(out, max);
        }
        Ok(())
    }
    fn angle_step(&self, s: &HostScalars<T>, dots: Slot, square: Slot, out: Slot) -> Result<()> {
        HostBackend::angle_step(self, s, dots, square, out)
    }
}

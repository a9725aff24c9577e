//! [`Vectors`] in sequential loops.

use cuda_std::Real;

use super::Reference;
use crate::backend::host::{HostBackend, HostScalars};
use crate::backend::memory::{Length, check_diagonal, check_lengths};
use crate::backend::{Coef, Slot, Vectors, check_slots};
use crate::error::Result;

/// `(x, y)`.
pub(crate) fn dot<T: Real>(x: &[T], y: &[T]) -> T {
    x.iter().zip(y).map(|(&x, &y)| x * y).sum()
}

impl Reference {
    /// `(x, y)`, y rounded to T.
    pub(crate) fn dot_of<T: Real, S: Real>(&self, x: &[T], y: &[S]) -> T {
        x.iter().zip(y).fold(T::ZERO, |sum, (&x, &y)| sum + x * T::from_f64(y.to_f64()))
    }

    /// `p = z + beta p`, z rounded to T.
    pub(crate) fn direction_of<T: Real, S: Real>(&self, z: &[S], beta: T, p: &mut [T]) {
        p.iter_mut().zip(z).for_each(|(p, &z)| *p = T::from_f64(z.to_f64()) + beta * *p);
    }
}

/// `sum_l d_l x_l` over the row of `i` in its block of D; with a diagonal, `d_i x_i`.
pub(super) fn scaled<T: Real>(d: &[T], x: &[T], i: usize) -> T {
    let b = d.len() / x.len();
    let first = i - i % b;
    (0..b).fold(T::ZERO, |sum, l| sum + d[i * b + l] * x[first + l])
}

impl<T: Real> Vectors<T> for Reference {
    fn copy(&self, x: &Vec<T>, y: &mut Vec<T>) -> Result<()> {
        check_lengths("copy", y.len(), &[("x", x.len())])?;
        if !self.stopped() {
            y.copy_from_slice(x);
        }
        Ok(())
    }
    fn fill(&self, value: T, x: &mut Vec<T>) -> Result<()> {
        if !self.stopped() {
            x.fill(value);
        }
        Ok(())
    }
    fn scale(&self, s: &HostScalars<T>, a: Coef, x: &mut Vec<T>) -> Result<()> {
        if let Some([a]) = self.guard.values(s, [a])? {
            x.iter_mut().for_each(|x| *x *= a);
        }
        Ok(())
    }
    fn axpby(&self, s: &HostScalars<T>, a: Coef, x: &Vec<T>, b: Coef, y: &mut Vec<T>) -> Result<()> {
        check_lengths("axpby", y.len(), &[("x", x.len())])?;
        if let Some([a, b]) = self.guard.values(s, [a, b])? {
            for (y, &x) in y.iter_mut().zip(x) {
                *y = if b == T::ZERO { a * x } else { a * x + b * *y };
            }
        }
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
        if let Some([a, b, c]) = self.guard.values(s, [a, b, c])? {
            for ((z, &x), &y) in z.iter_mut().zip(x).zip(y) {
                *z = a * x + b * y + c * *z;
            }
        }
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
            Some(d) => (0..p.len()).for_each(|i| p[i] = d[i] * z[i] + beta * p[i]),
            None => self.direction_of(z, beta, p),
        }
        Ok(())
    }
    fn scale_rows(&self, a: T, d: &Vec<T>, x: &Vec<T>, y: &mut Vec<T>) -> Result<()> {
        check_lengths("scale_rows", y.len(), &[("x", x.len())])?;
        check_diagonal("scale_rows", y.len(), d.len())?;
        if !self.stopped() {
            for (i, y) in y.iter_mut().enumerate() {
                *y = a * scaled(d, x, i);
            }
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
            s.set(out, x.iter().copied().sum());
        }
        Ok(())
    }
    fn norm_max(&self, x: &Vec<T>, s: &HostScalars<T>, out: Slot) -> Result<()> {
        check_slots("norm_max", s.length(), out, 1)?;
        if !self.stopped() {
            s.set(out, x.iter().fold(T::ZERO, |max, x| max.max_nan(x.abs())));
        }
        Ok(())
    }
    fn angle_step(&self, s: &HostScalars<T>, dots: Slot, square: Slot, out: Slot) -> Result<()> {
        HostBackend::angle_step(self, s, dots, square, out)
    }
}

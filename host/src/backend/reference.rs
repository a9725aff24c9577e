//! Plain sequential loops: what every other backend is compared with.

use std::convert::Infallible;
use std::sync::Arc;

use cuda_std::Real;

use super::host::{self, HostGuard, HostMonitor, HostScalars, at};
use super::{Backend, Coef, GmresSlots, Progress, Slot};
use crate::error::Result;
use crate::matrix::rounding::{Pivot, Rounding};
use crate::matrix::{AnyMatrix, Csr, SLICE};

/// The sequential backend.
#[derive(Debug, Clone, Default)]
pub struct Reference {
    pub(super) guard: HostGuard,
}

impl Reference {
    /// The sequential backend.
    pub fn new() -> Self {
        Self::default()
    }

    /// The matrix in CRS with its values rounded.
    pub(super) fn rounded<S: Real, T: Real>(&self, a: &Arc<Csr<S>>) -> Arc<AnyMatrix<T>> {
        Arc::new(AnyMatrix::Crs(Csr::in_type(a)))
    }

    /// The rounded matrix in CRS.
    pub(super) fn packed<S: Real, T: Real>(&self, rounding: &Rounding<S>, _: Pivot) -> Arc<AnyMatrix<T>> {
        let rounded = rounding.matrix().with_rows(|rows, values| rounding.values(rows, values));
        Arc::new(AnyMatrix::Crs(Arc::new(rounded)))
    }
}

fn dot<T: Real>(x: &[T], y: &[T]) -> T {
    x.iter().zip(y).map(|(&x, &y)| x * y).sum()
}

/// `(A x)_i` for each row in turn.
fn for_each_row<T: Real>(a: &AnyMatrix<T>, x: &[T], mut row: impl FnMut(usize, T)) {
    match a {
        AnyMatrix::Crs(a) => {
            for i in 0..a.n_rows() {
                let (columns, values) = a.row(i);
                row(i, columns.iter().zip(values).fold(T::ZERO, |sum, (&c, &v)| sum + v * x[c as usize]));
            }
        }
        AnyMatrix::Ell(a) => {
            for i in 0..a.n_rows() {
                let entries = (0..a.width()).map(|j| i + j * a.stride());
                row(i, entries.fold(T::ZERO, |sum, e| sum + a.values()[e] * x[a.col_idx()[e] as usize]));
            }
        }
        AnyMatrix::Sell(a) => {
            for p in 0..a.n_rows() {
                let slice = p / SLICE;
                let entries = a.slice_ptr()[slice] as usize + p % SLICE..a.slice_ptr()[slice + 1] as usize;
                let entries = entries.step_by(SLICE);
                let i = a.permutation().map_or(p, |permutation| permutation[p] as usize);
                row(i, entries.fold(T::ZERO, |sum, e| sum + a.values()[e] * x[a.col_idx()[e] as usize]));
            }
        }
        AnyMatrix::BlockCrs(a) => {
            let b = a.block();
            for i in 0..b * a.block_rows() {
                let (columns, values) = a.row(i / b);
                let of_block = |(place, &j): (usize, &u32)| {
                    let values = &values[(place * b + i % b) * b..][..b];
                    values.iter().zip(&x[j as usize * b..]).map(|(&v, &x)| (v, x)).collect::<Vec<_>>()
                };
                let entries = columns.iter().enumerate().flat_map(of_block);
                row(i, entries.fold(T::ZERO, |sum, (v, x)| sum + v * x));
            }
        }
        AnyMatrix::BlockSell(a) => {
            let (b, pattern) = (a.block(), a.pattern());
            for p in 0..pattern.n_rows() {
                let slice = p / SLICE;
                let entries =
                    pattern.slice_ptr()[slice] as usize + p % SLICE..pattern.slice_ptr()[slice + 1] as usize;
                let i = pattern.permutation().map_or(p, |permutation| permutation[p] as usize);
                for k in 0..b {
                    let mut sum = T::ZERO;
                    for e in entries.clone().step_by(SLICE) {
                        for l in 0..b {
                            let value = a.values()[(k * b + l) * pattern.stored() + e];
                            sum += value * x[pattern.col_idx()[e] as usize * b + l];
                        }
                    }
                    row(i * b + k, sum);
                }
            }
        }
    }
}

impl Reference {
    /// `(x, y)`, y rounded to T.
    pub(super) fn dot_of<T: Real, S: Real>(&self, x: &[T], y: &[S]) -> T {
        x.iter().zip(y).fold(T::ZERO, |sum, (&x, &y)| sum + x * T::from_f64(y.to_f64()))
    }

    /// `p = z + beta p`, z rounded to T.
    pub(super) fn direction_of<T: Real, S: Real>(&self, z: &[S], beta: T, p: &mut [T]) {
        p.iter_mut().zip(z).for_each(|(p, &z)| *p = T::from_f64(z.to_f64()) + beta * *p);
    }
}

/// `sum_l d_l x_l` over the row of `i` in its block of D; with a diagonal, `d_i x_i`.
fn scaled<T: Real>(d: &[T], x: &[T], i: usize) -> T {
    let b = d.len() / x.len();
    let first = i - i % b;
    (0..b).fold(T::ZERO, |sum, l| sum + d[i * b + l] * x[first + l])
}

impl<T: Real> Backend<T> for Reference {
    type Vector = Vec<T>;
    type Matrix = Arc<AnyMatrix<T>>;
    type Scalars = HostScalars<T>;
    type Monitor = HostMonitor;
    type Recording = Infallible;

    fn zeros(&self, n: usize) -> Result<Vec<T>> {
        Ok(vec![T::ZERO; n])
    }
    fn vector(&self, values: &[T]) -> Result<Vec<T>> {
        Ok(values.to_vec())
    }
    fn vectors(&self, n: usize, count: usize) -> Result<Vec<Vec<T>>> {
        Ok(vec![vec![T::ZERO; n]; count])
    }
    fn to_host(&self, x: &Vec<T>) -> Result<Vec<T>> {
        Ok(x.clone())
    }
    fn scalars(&self, n: usize) -> Result<HostScalars<T>> {
        Ok(HostScalars::new(n))
    }
    fn read(&self, scalars: &HostScalars<T>, slot: Slot) -> Result<T> {
        Ok(scalars.get(slot))
    }
    fn read_all(&self, scalars: &HostScalars<T>) -> Result<Vec<T>> {
        Ok(scalars.all())
    }
    fn matrix(&self, matrix: &Arc<AnyMatrix<T>>) -> Result<Self::Matrix> {
        Ok(matrix.clone())
    }
    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn monitor(&self, limit: u32, threshold: f64) -> Result<HostMonitor> {
        Ok(HostMonitor::new(limit, threshold))
    }
    fn guarded(&self, monitor: &HostMonitor) -> Self {
        Reference { guard: HostGuard::new(monitor) }
    }
    fn wait(&self, monitor: &HostMonitor, _observed: u32) -> Result<Progress> {
        Ok(monitor.progress())
    }
    fn history(&self, monitor: &HostMonitor) -> Result<Vec<f64>> {
        Ok(monitor.history())
    }
    fn record(&self, _work: &mut dyn FnMut(&Self) -> Result<()>) -> Result<Option<Infallible>> {
        Ok(None)
    }
    unsafe fn replay(&self, recording: &Infallible) -> Result<()> {
        match *recording {}
    }
    fn observe(&self, s: &HostScalars<T>, square: Slot, monitor: &HostMonitor) -> Result<()> {
        if !self.guard.stopped() {
            monitor.observe(s.get(square).to_f64().sqrt());
        }
        Ok(())
    }

    fn copy(&self, x: &Vec<T>, y: &mut Vec<T>) -> Result<()> {
        if !self.guard.stopped() {
            y.copy_from_slice(x);
        }
        Ok(())
    }
    fn fill(&self, value: T, x: &mut Vec<T>) -> Result<()> {
        if !self.guard.stopped() {
            x.fill(value);
        }
        Ok(())
    }
    fn scale(&self, s: &HostScalars<T>, a: Coef, x: &mut Vec<T>) -> Result<()> {
        if self.guard.stopped() {
            return Ok(());
        }
        let Some([a]) = self.guard.values(s, [a]) else { return Ok(()) };
        for x in x.iter_mut() {
            *x *= a;
        }
        Ok(())
    }
    fn axpby(&self, s: &HostScalars<T>, a: Coef, x: &Vec<T>, b: Coef, y: &mut Vec<T>) -> Result<()> {
        if self.guard.stopped() {
            return Ok(());
        }
        let Some([a, b]) = self.guard.values(s, [a, b]) else { return Ok(()) };
        for (y, &x) in y.iter_mut().zip(x) {
            *y = if b == T::ZERO { a * x } else { a * x + b * *y };
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
        if self.guard.stopped() {
            return Ok(());
        }
        let Some([a, b, c]) = self.guard.values(s, [a, b, c]) else { return Ok(()) };
        for ((z, &x), &y) in z.iter_mut().zip(x).zip(y) {
            *z = a * x + b * y + c * *z;
        }
        Ok(())
    }
    fn scale_rows(&self, a: T, d: &Vec<T>, x: &Vec<T>, y: &mut Vec<T>) -> Result<()> {
        if !self.guard.stopped() {
            for (i, y) in y.iter_mut().enumerate() {
                *y = a * scaled(d, x, i);
            }
        }
        Ok(())
    }

    fn dot(&self, x: &Vec<T>, y: &Vec<T>, s: &HostScalars<T>, out: Slot) -> Result<()> {
        if !self.guard.stopped() {
            s.set(out, self.dot_of(x, y));
        }
        Ok(())
    }
    fn sum(&self, x: &Vec<T>, s: &HostScalars<T>, out: Slot) -> Result<()> {
        if !self.guard.stopped() {
            s.set(out, x.iter().copied().sum());
        }
        Ok(())
    }
    fn norm_max(&self, x: &Vec<T>, s: &HostScalars<T>, out: Slot) -> Result<()> {
        if !self.guard.stopped() {
            s.set(out, x.iter().fold(T::ZERO, |max, x| max.max_nan(x.abs())));
        }
        Ok(())
    }

    fn spmv(&self, a: &Self::Matrix, x: &Vec<T>, y: &mut Vec<T>) -> Result<()> {
        if !self.guard.stopped() {
            for_each_row(a, x, |i, product| y[i] = product);
        }
        Ok(())
    }
    fn spmv_add(&self, a: &Self::Matrix, x: &Vec<T>, y: &mut Vec<T>) -> Result<()> {
        if !self.guard.stopped() {
            for_each_row(a, x, |i, product| y[i] += product);
        }
        Ok(())
    }
    fn spmv_scaled(
        &self,
        a: &Self::Matrix,
        x: &Vec<T>,
        omega: T,
        d: &Vec<T>,
        y: &mut Vec<T>,
        z: &mut Vec<T>,
    ) -> Result<()> {
        self.spmv(a, x, y)?;
        self.scale_rows(omega, d, y, z)
    }
    fn residual(&self, a: &Self::Matrix, x: &Vec<T>, b: &Vec<T>, r: &mut Vec<T>) -> Result<()> {
        if !self.guard.stopped() {
            for_each_row(a, x, |i, product| r[i] = b[i] - product);
        }
        Ok(())
    }
    fn sweep(
        &self,
        a: &Self::Matrix,
        omega: T,
        d: &Vec<T>,
        b: &Vec<T>,
        x: &Vec<T>,
        y: &mut Vec<T>,
    ) -> Result<()> {
        if !self.guard.stopped() {
            let mut r = vec![T::ZERO; b.len()];
            for_each_row(a, x, |i, product| r[i] = b[i] - product);
            for (i, y) in y.iter_mut().enumerate() {
                *y = x[i] + omega * scaled(d, &r, i);
            }
        }
        Ok(())
    }
    fn sweep_add(
        &self,
        a: &Self::Matrix,
        omega: T,
        d: &Vec<T>,
        b: &Vec<T>,
        x: &Vec<T>,
        y: &mut Vec<T>,
    ) -> Result<()> {
        if !self.guard.stopped() {
            for_each_row(a, x, |i, product| y[i] += omega * d[i] * (b[i] - product));
        }
        Ok(())
    }
    fn sweep_norm(
        &self,
        a: &Self::Matrix,
        omega: T,
        d: &Vec<T>,
        b: &Vec<T>,
        x: &Vec<T>,
        y: &mut Vec<T>,
        s: &HostScalars<T>,
        out: Slot,
        monitor: &HostMonitor,
    ) -> Result<()> {
        if self.guard.stopped() {
            return Ok(());
        }
        let mut square = T::ZERO;
        for_each_row(a, x, |i, product| {
            let r = b[i] - product;
            y[i] = x[i] + omega * d[i] * r;
            square += r * r;
        });
        s.set(out, square);
        monitor.observe(square.to_f64().sqrt());
        Ok(())
    }
    fn spmv_dot(
        &self,
        a: &Self::Matrix,
        x: &Vec<T>,
        w: &Vec<T>,
        y: &mut Vec<T>,
        s: &HostScalars<T>,
        out: Slot,
    ) -> Result<()> {
        if !self.guard.stopped() {
            self.spmv(a, x, y)?;
            s.set(out, dot(w, y));
            s.set(at(out, 1), dot(y, y));
        }
        Ok(())
    }

    fn cg_step(
        &self,
        s: &HostScalars<T>,
        rho: Slot,
        p_ap: Slot,
        p: &Vec<T>,
        ap: &Vec<T>,
        d: Option<&Vec<T>>,
        x: &mut Vec<T>,
        r: &mut Vec<T>,
        out: Slot,
        monitor: &HostMonitor,
    ) -> Result<()> {
        if self.guard.stopped() {
            return Ok(());
        }
        let Some(alpha) = host::cg_alpha(s.get(rho), s.get(p_ap), monitor) else { return Ok(()) };
        let mut rho = T::ZERO;
        let mut square = T::ZERO;
        for i in 0..x.len() {
            x[i] += alpha * p[i];
            r[i] -= alpha * ap[i];
            rho += r[i] * d.map_or(r[i], |d| d[i] * r[i]);
            square += r[i] * r[i];
        }
        s.set(out, rho);
        s.set(at(out, 1), square);
        monitor.observe(square.to_f64().sqrt());
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
        if self.guard.stopped() {
            return Ok(());
        }
        let Some([beta]) = self.guard.values(s, [beta]) else { return Ok(()) };
        match d {
            Some(d) => (0..p.len()).for_each(|i| p[i] = d[i] * z[i] + beta * p[i]),
            None => self.direction_of(z, beta, p),
        }
        Ok(())
    }

    fn gram_schmidt(
        &self,
        basis: &[Vec<T>],
        w: &mut Vec<T>,
        s: &HostScalars<T>,
        slots: GmresSlots,
        h: Slot,
    ) -> Result<()> {
        if self.guard.stopped() {
            return Ok(());
        }
        for pass in 0..2 {
            for (j, v) in basis.iter().enumerate() {
                let product = dot(v, w);
                s.set(at(slots.dots(), j), product);
                s.set(at(h, j), if pass == 0 { product } else { s.get(at(h, j)) + product });
            }
            for (j, v) in basis.iter().enumerate() {
                let product = s.get(at(slots.dots(), j));
                for (w, &v) in w.iter_mut().zip(v) {
                    *w -= product * v;
                }
            }
        }
        s.set(GmresSlots::NORM2, dot(w, w));
        Ok(())
    }
    fn gmres_start(&self, s: &HostScalars<T>, slots: GmresSlots) -> Result<()> {
        if !self.guard.stopped() {
            host::gmres_start(s, slots);
        }
        Ok(())
    }
    fn gmres_rotate(
        &self,
        s: &HostScalars<T>,
        slots: GmresSlots,
        j: usize,
        monitor: &HostMonitor,
    ) -> Result<()> {
        if !self.guard.stopped() {
            host::gmres_rotate(s, slots, j, monitor);
        }
        Ok(())
    }
    fn gmres_solution(
        &self,
        s: &HostScalars<T>,
        slots: GmresSlots,
        basis: &[Vec<T>],
        u: &mut Vec<T>,
    ) -> Result<()> {
        let columns = host::gmres_solve(s, slots);
        u.fill(T::ZERO);
        for (j, v) in basis[..columns].iter().enumerate() {
            let y = -s.get(at(slots.y(), j));
            for (u, &v) in u.iter_mut().zip(v) {
                *u += y * v;
            }
        }
        Ok(())
    }
}

//! Threads of the host, through rayon.
//!
//! Rows are handled in chunks of a fixed size and partial sums are added in the order of the chunks, so that
//! results do not depend on the number of threads.

use std::convert::Infallible;
use std::sync::Arc;

use cuda_std::Real;
use rayon::prelude::*;

use super::host::{self, HostGuard, HostMonitor, HostScalars, at};
use super::{Backend, Coef, GmresSlots, Progress, Slot};
use crate::error::{Error, Result};
use crate::matrix::rounding::{Pivot, Rounding};
use crate::matrix::{AnyMatrix, Csr, SLICE, in_large_pages};

mod entry;
mod lanes;
mod matrix;
mod pages;
mod stripes;

pub use matrix::CpuMatrix;

/// Rows a task handles: a few tens of microseconds of work, so that stealing evens out uneven rows.
const CHUNK: usize = 64 * SLICE;

/// The threaded backend.
#[derive(Debug, Clone)]
pub struct Cpu {
    pool: Arc<rayon::ThreadPool>,
    pub(super) guard: HostGuard,
}

/// Threads for each core of the machine at most.
const THREADS_PER_CORE: usize = 8;

/// Refuses so many threads that waking them would take all the time: more than 8 for each core.
pub fn check_threads(threads: usize) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let most = THREADS_PER_CORE * cores;
    if threads <= most {
        return Ok(());
    }
    Err(Error::Option(format!(
        "{threads} threads on {cores} cores would only wait for each other; use --threads {cores}, at most {most}"
    )))
}

impl Cpu {
    /// A backend with `threads` threads of its own; 0 means one for each core.
    ///
    /// Too many are refused, see [`check_threads`].
    pub fn new(threads: usize) -> Result<Self> {
        check_threads(threads)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|e| {
            Error::Option(format!("cannot start {threads} threads: {e}; use fewer --threads"))
        })?;
        Ok(Cpu { pool: Arc::new(pool), guard: HostGuard::default() })
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Runs `work` on the pool. A solve inside it pays for waking the threads once, not at every primitive.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }

    /// The matrix in CRS with its values rounded, as [`Backend::matrix`] makes it.
    pub(super) fn rounded<S: Real, T: Real>(&self, a: &Arc<Csr<S>>) -> CpuMatrix<T> {
        self.pool.install(|| CpuMatrix::rounded(a))
    }

    /// The rounded matrix.
    pub(super) fn packed<S: Real, T: Real>(&self, rounding: &Rounding<S>, pivot: Pivot) -> CpuMatrix<T> {
        self.pool.install(|| CpuMatrix::packed(rounding, pivot))
    }

    /// `f(first row, chunk of y)` for every chunk of `y`.
    fn each<T: Real>(&self, y: &mut [T], f: impl Fn(usize, &mut [T]) + Sync) {
        self.pool.install(|| y.par_chunks_mut(CHUNK).enumerate().for_each(|(c, y)| f(c * CHUNK, y)));
    }

    /// Adds up `f(first row, chunk of y)` in the order of chunks.
    fn chunk_sums<T: Real, const K: usize>(
        &self,
        y: &mut [T],
        chunk: usize,
        f: impl Fn(usize, &mut [T]) -> [T; K] + Sync,
    ) -> [T; K] {
        let partials: Vec<[T; K]> =
            self.pool.install(|| y.par_chunks_mut(chunk).enumerate().map(|(c, y)| f(c * chunk, y)).collect());
        total(&partials)
    }

    /// Adds up `f` over the chunks of `0..n`, in their order.
    pub(crate) fn sum_over<T: Real, const K: usize>(
        &self,
        n: usize,
        f: impl Fn(std::ops::Range<usize>) -> [T; K] + Sync,
    ) -> [T; K] {
        let chunk = |c: usize| f(c * CHUNK..((c + 1) * CHUNK).min(n));
        let partials: Vec<[T; K]> =
            self.pool.install(|| (0..n.div_ceil(CHUNK)).into_par_iter().map(chunk).collect());
        total(&partials)
    }

    /// `(x, y)`, y rounded to T.
    pub(crate) fn dot_of<T: Real, S: Real>(&self, x: &[T], y: &[S]) -> T {
        let [sum] = self.sum_over(x.len(), |rows| [dot(&x[rows.clone()], &y[rows])]);
        sum
    }

    /// `p = z + beta p`, z rounded to T.
    pub(crate) fn direction_of<T: Real, S: Real>(&self, z: &[S], beta: T, p: &mut [T]) {
        self.each(p, |first, p| {
            for (p, &z) in p.iter_mut().zip(&z[first..]) {
                *p = T::from_f64(z.to_f64()) + beta * *p;
            }
        });
    }

    /// `f(first row, chunk of y)` for every chunk of `y = A x`, which `f` may change; the sums of what it
    /// returns.
    fn rows<T: Real, const K: usize>(
        &self,
        a: &CpuMatrix<T>,
        x: &[T],
        y: &mut [T],
        f: impl Fn(usize, &mut [T]) -> [T; K] + Sync,
    ) -> [T; K] {
        assert!(x.len() == a.n_cols() && y.len() == a.n_rows());
        self.chunk_sums(y, a.chunk(), |first, y| {
            a.multiply(x, first, y);
            f(first, y)
        })
    }

    /// `y = y + A x`, where `f(first row, chunk of A x)` may change the product before it is added.
    fn add_rows<T: Real>(&self, a: &CpuMatrix<T>, x: &[T], y: &mut [T], f: impl Fn(usize, &mut [T]) + Sync) {
        assert!(x.len() == a.n_cols() && y.len() == a.n_rows());
        let chunk = a.chunk();
        self.pool.install(|| {
            let scratch = || vec![T::ZERO; chunk];
            y.par_chunks_mut(chunk).enumerate().for_each_init(scratch, |product, (c, y)| {
                let product = &mut product[..y.len()];
                a.multiply(x, c * chunk, product);
                f(c * chunk, product);
                for (y, &product) in y.iter_mut().zip(&*product) {
                    *y += product;
                }
            });
        });
    }
}

fn total<T: Real, const K: usize>(partials: &[[T; K]]) -> [T; K] {
    let mut total = [T::ZERO; K];
    for partial in partials {
        for k in 0..K {
            total[k] += partial[k];
        }
    }
    total
}

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

/// `r = b - r`, where `r` begins at row `first`.
fn residual<T: Real>(b: &[T], first: usize, r: &mut [T]) {
    for (r, &b) in r.iter_mut().zip(&b[first..]) {
        *r = b - *r;
    }
}

/// `r = x + omega D r`, where `r` begins at row `first`, the first of a block.
fn correct<T: Real>(x: &[T], omega: T, d: &[T], first: usize, r: &mut [T]) {
    match d.len() / x.len().max(1) {
        2 => correct_blocks::<T, 2>(x, omega, d, first, r),
        3 => correct_blocks::<T, 3>(x, omega, d, first, r),
        _ => {
            for ((r, &x), &d) in r.iter_mut().zip(&x[first..]).zip(&d[first..]) {
                *r = x + omega * d * *r;
            }
        }
    }
}

fn correct_blocks<T: Real, const B: usize>(x: &[T], omega: T, d: &[T], first: usize, r: &mut [T]) {
    let of_blocks = x[first..].chunks_exact(B).zip(d[B * first..].chunks_exact(B * B));
    for (r, (x, d)) in r.chunks_exact_mut(B).zip(of_blocks) {
        let mut corrected = [T::ZERO; B];
        for k in 0..B {
            let sum = (0..B).fold(T::ZERO, |sum, l| sum + d[k * B + l] * r[l]);
            corrected[k] = x[k] + omega * sum;
        }
        r.copy_from_slice(&corrected);
    }
}

/// `z = a D x`, where `z` and `x` begin at row `first`, the first of a block, and `n` is the number of rows of D.
fn scaled<T: Real>(a: T, d: &[T], n: usize, first: usize, x: &[T], z: &mut [T]) {
    let b = d.len() / n.max(1);
    if b == 1 {
        for ((z, &x), &d) in z.iter_mut().zip(x).zip(&d[first..]) {
            *z = a * d * x;
        }
        return;
    }
    let of_blocks = x.chunks_exact(b).zip(d[b * first..].chunks_exact(b * b));
    for (z, (x, d)) in z.chunks_exact_mut(b).zip(of_blocks) {
        for (z, d) in z.iter_mut().zip(d.chunks_exact(b)) {
            *z = a * d.iter().zip(x).fold(T::ZERO, |sum, (&d, &x)| sum + d * x);
        }
    }
}

impl<T: Real> Backend<T> for Cpu {
    type Vector = Vec<T>;
    type Matrix = CpuMatrix<T>;
    type Scalars = HostScalars<T>;
    type Monitor = HostMonitor;
    type Recording = Infallible;

    fn zeros(&self, n: usize) -> Result<Vec<T>> {
        Ok(in_large_pages(vec![T::ZERO; n]))
    }
    fn vector(&self, values: &[T]) -> Result<Vec<T>> {
        Ok(values.to_vec())
    }
    fn vectors(&self, n: usize, count: usize) -> Result<Vec<Vec<T>>> {
        Ok((0..count).map(|_| in_large_pages(vec![T::ZERO; n])).collect())
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
        Ok(self.pool.install(|| CpuMatrix::new(matrix)))
    }
    fn worth_in_crs(&self, a: &Self::Matrix) -> Option<usize> {
        a.worth_in_crs()
    }
    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn monitor(&self, limit: u32, threshold: f64) -> Result<HostMonitor> {
        Ok(HostMonitor::new(limit, threshold))
    }
    fn guarded(&self, monitor: &HostMonitor) -> Self {
        Cpu { pool: self.pool.clone(), guard: HostGuard::new(monitor) }
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
            self.each(y, |first, y| y.copy_from_slice(&x[first..first + y.len()]));
        }
        Ok(())
    }
    fn fill(&self, value: T, x: &mut Vec<T>) -> Result<()> {
        if !self.guard.stopped() {
            self.each(x, |_, x| x.fill(value));
        }
        Ok(())
    }
    fn scale(&self, s: &HostScalars<T>, a: Coef, x: &mut Vec<T>) -> Result<()> {
        if self.guard.stopped() {
            return Ok(());
        }
        let Some([a]) = self.guard.values(s, [a]) else { return Ok(()) };
        self.each(x, |_, x| x.iter_mut().for_each(|x| *x *= a));
        Ok(())
    }
    fn axpby(&self, s: &HostScalars<T>, a: Coef, x: &Vec<T>, b: Coef, y: &mut Vec<T>) -> Result<()> {
        if self.guard.stopped() {
            return Ok(());
        }
        let Some([a, b]) = self.guard.values(s, [a, b]) else { return Ok(()) };
        self.each(y, |first, y| {
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
        if self.guard.stopped() {
            return Ok(());
        }
        let Some([a, b, c]) = self.guard.values(s, [a, b, c]) else { return Ok(()) };
        self.each(z, |first, z| {
            for ((z, &x), &y) in z.iter_mut().zip(&x[first..]).zip(&y[first..]) {
                *z = a * x + b * y + c * *z;
            }
        });
        Ok(())
    }
    fn scale_rows(&self, a: T, d: &Vec<T>, x: &Vec<T>, y: &mut Vec<T>) -> Result<()> {
        let n = x.len();
        if !self.guard.stopped() && n > 0 {
            // Chunks of whole blocks.
            let chunk = CHUNK.next_multiple_of(d.len() / x.len().max(1));
            self.pool.install(|| {
                let chunks = y.par_chunks_mut(chunk).zip(x.par_chunks(chunk)).enumerate();
                chunks.for_each(|(c, (y, x))| scaled(a, d, n, c * chunk, x, y));
            });
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
            let [sum] = self.sum_over(x.len(), |rows| [x[rows].iter().copied().sum()]);
            s.set(out, sum);
        }
        Ok(())
    }
    fn norm_max(&self, x: &Vec<T>, s: &HostScalars<T>, out: Slot) -> Result<()> {
        if !self.guard.stopped() {
            let max = |x: &[T]| x.iter().fold(T::ZERO, |max, x| max.max_nan(x.abs()));
            let max = self.pool.install(|| x.par_chunks(CHUNK).map(max).reduce(|| T::ZERO, T::max_nan));
            s.set(out, max);
        }
        Ok(())
    }

    fn spmv(&self, a: &Self::Matrix, x: &Vec<T>, y: &mut Vec<T>) -> Result<()> {
        if !self.guard.stopped() {
            self.rows(a, x, y, |_, _| []);
        }
        Ok(())
    }
    fn spmv_add(&self, a: &Self::Matrix, x: &Vec<T>, y: &mut Vec<T>) -> Result<()> {
        if !self.guard.stopped() {
            self.add_rows(a, x, y, |_, _| ());
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
        if self.guard.stopped() {
            return Ok(());
        }
        assert!(x.len() == a.n_cols() && y.len() == a.n_rows() && z.len() == a.n_rows());
        let chunk = a.chunk();
        self.pool.install(|| {
            let chunks = y.par_chunks_mut(chunk).zip(z.par_chunks_mut(chunk)).enumerate();
            chunks.for_each(|(c, (y, z))| {
                let first = c * chunk;
                a.multiply(x, first, y);
                scaled(omega, d, a.n_rows(), first, y, z);
            });
        });
        Ok(())
    }
    fn residual(&self, a: &Self::Matrix, x: &Vec<T>, b: &Vec<T>, r: &mut Vec<T>) -> Result<()> {
        if !self.guard.stopped() {
            self.rows(a, x, r, |first, r| {
                residual(b, first, r);
                []
            });
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
            self.rows(a, x, y, |first, y| {
                residual(b, first, y);
                correct(x, omega, d, first, y);
                []
            });
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
            self.add_rows(a, x, y, |first, product| {
                residual(b, first, product);
                for (r, &d) in product.iter_mut().zip(&d[first..]) {
                    *r = omega * d * *r;
                }
            });
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
        let [square] = self.rows(a, x, y, |first, y| {
            residual(b, first, y);
            let square = dot(y, y);
            correct(x, omega, d, first, y);
            [square]
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
        if self.guard.stopped() {
            return Ok(());
        }
        let [wy, yy] = self.rows(a, x, y, |first, y| [dot(&w[first..first + y.len()], y), dot(y, y)]);
        s.set(out, wy);
        s.set(at(out, 1), yy);
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
        let partials: Vec<[T; 2]> = self.pool.install(|| {
            let chunks = x.par_chunks_mut(CHUNK).zip(r.par_chunks_mut(CHUNK)).enumerate();
            chunks
                .map(|(c, (x, r))| {
                    let rows = c * CHUNK..c * CHUNK + x.len();
                    for (x, &p) in x.iter_mut().zip(&p[rows.clone()]) {
                        *x += alpha * p;
                    }
                    for (r, &ap) in r.iter_mut().zip(&ap[rows.clone()]) {
                        *r -= alpha * ap;
                    }
                    let square = dot(r, r);
                    [d.map_or(square, |d| dot3(r, &d[rows])), square]
                })
                .collect()
        });
        let [rho, square] = total(&partials);
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
            Some(d) => self.each(p, |first, p| {
                for ((p, &z), &d) in p.iter_mut().zip(&z[first..]).zip(&d[first..]) {
                    *p = d * z + beta * *p;
                }
            }),
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
            let products = self.products(basis, w);
            for (j, &product) in products.iter().enumerate() {
                s.set(at(slots.dots(), j), product);
                s.set(at(h, j), if pass == 0 { product } else { s.get(at(h, j)) + product });
            }
            self.combine(basis, |j| -products[j], w);
        }
        let [norm2] = self.sum_over(w.len(), |rows| [dot(&w[rows.clone()], &w[rows])]);
        s.set(GmresSlots::NORM2, norm2);
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
        let y: Vec<T> = (0..columns).map(|j| -s.get(at(slots.y(), j))).collect();
        u.fill(T::ZERO);
        self.combine(&basis[..columns], |j| y[j], u);
        Ok(())
    }
}

/// `(r, d .* r)`.
fn dot3<T: Real>(r: &[T], d: &[T]) -> T {
    const LANES: usize = 8;
    let mut sums = [T::ZERO; LANES];
    let (r_chunks, d_chunks) = (r.chunks_exact(LANES), d.chunks_exact(LANES));
    let rest: T = r_chunks.remainder().iter().zip(d_chunks.remainder()).map(|(&r, &d)| r * (d * r)).sum();
    for (r, d) in r_chunks.zip(d_chunks) {
        for k in 0..LANES {
            sums[k] += r[k] * (d[k] * r[k]);
        }
    }
    sums.into_iter().sum::<T>() + rest
}

impl Cpu {
    /// `(v_j, w)` for every basis vector, in one pass over `w`.
    fn products<T: Real>(&self, basis: &[Vec<T>], w: &[T]) -> Vec<T> {
        let partials: Vec<Vec<T>> = self.pool.install(|| {
            let chunk = |(c, w): (usize, &[T])| {
                let rows = c * CHUNK..c * CHUNK + w.len();
                basis.iter().map(|v| dot(&v[rows.clone()], w)).collect()
            };
            w.par_chunks(CHUNK).enumerate().map(chunk).collect()
        });
        let mut products = vec![T::ZERO; basis.len()];
        for partial in partials {
            for (product, partial) in products.iter_mut().zip(partial) {
                *product += partial;
            }
        }
        products
    }

    /// `w += sum_j coefficient(j) v_j`, in one pass over `w`.
    fn combine<T: Real>(&self, basis: &[Vec<T>], coefficient: impl Fn(usize) -> T + Sync, w: &mut [T]) {
        let coefficients: Vec<T> = (0..basis.len()).map(coefficient).collect();
        self.each(w, |first, w| {
            for (v, &c) in basis.iter().zip(&coefficients) {
                for (w, &v) in w.iter_mut().zip(&v[first..]) {
                    *w += c * v;
                }
            }
        });
    }
}

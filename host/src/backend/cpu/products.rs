//! [`Products`] in chunks of rows.

use std::sync::Arc;

use cuda_std::Real;
use rayon::prelude::*;

use super::Cpu;
use super::beside::Beside;
use super::matrix::CpuMatrix;
use super::vectors::{dot, scaled};
use crate::backend::host::HostBackend;
use crate::backend::{Operator, Products, Then};
use crate::error::Result;
use crate::matrix::AnyMatrix;

impl<T: Real> Products<T> for Cpu {
    type Matrix = CpuMatrix<T>;

    fn matrix(&self, matrix: &Arc<AnyMatrix<T>>) -> Result<CpuMatrix<T>> {
        Ok(self.install(|| CpuMatrix::new(matrix)))
    }

    fn multiply(&self, a: &CpuMatrix<T>, x: &Vec<T>, then: Then<T, Self>) -> Result<()> {
        self.multiply_beside(a, None, x, then)
    }
}

/// A matrix, and entries beside it.
#[derive(Clone, Copy)]
struct Factor<'a, T> {
    a: &'a CpuMatrix<T>,
    beside: Option<Beside<'a, T>>,
}

impl<T: Real> Factor<'_, T> {
    /// `y = A x` for the rows from `first` on.
    fn multiply(&self, x: &[T], first: usize, y: &mut [T]) {
        self.a.multiply(x, first, y);
        if let Some(beside) = &self.beside {
            beside.add(first, y);
        }
    }
}

impl Cpu {
    /// [`Products::multiply`] with entries beside A.
    pub(crate) fn multiply_beside<T: Real>(
        &self,
        a: &CpuMatrix<T>,
        beside: Option<Beside<T>>,
        x: &Vec<T>,
        then: Then<T, Self>,
    ) -> Result<()> {
        then.check((a.n_rows(), a.n_cols()), x)?;
        if self.stopped() {
            return Ok(());
        }
        let a = Factor { a, beside };
        match then {
            Then::Store { y } => {
                self.rows(a, x, y, &|_, _| []);
            }
            Then::Add { y } => self.add_rows(a, x, y, &|_, _| ()),
            Then::Scaled { omega, d, y, z } => self.scaled_rows(a, x, omega, d, y, z),
            Then::Residual { b, r } => {
                self.rows(a, x, r, &|first, r| {
                    residual(b, first, r);
                    []
                });
            }
            Then::Sweep { omega, d, b, y } => {
                self.rows(a, x, y, &|first, y| {
                    residual(b, first, y);
                    correct(x, omega, d, first, y);
                    []
                });
            }
            Then::SweepAdd { omega, d, b, y } => self.add_rows(a, x, y, &|first, product| {
                residual(b, first, product);
                for (r, &d) in product.iter_mut().zip(&d[first..]) {
                    *r = omega * d * *r;
                }
            }),
            Then::SweepNorm { omega, d, b, y, s, out, monitor } => {
                let [square] = self.rows(a, x, y, &|first, y| {
                    residual(b, first, y);
                    let square = dot(y, y);
                    correct(x, omega, d, first, y);
                    [square]
                });
                s.set(out, square);
                monitor.observe(square.to_f64().sqrt());
            }
            Then::Dot { w, y, s, out } => {
                let [wy, yy] =
                    self.rows(a, x, y, &|first, y| [dot(&w[first..first + y.len()], y), dot(y, y)]);
                s.set(out, wy);
                s.set(out.offset(1), yy);
            }
        }
        Ok(())
    }

    /// `f(first row, chunk of y)` for every chunk of `y = A x`, which `f` may change; the sums of what it
    /// returns.
    fn rows<T: Real, const K: usize>(
        &self,
        a: Factor<T>,
        x: &[T],
        y: &mut [T],
        f: &(dyn Fn(usize, &mut [T]) -> [T; K] + Sync),
    ) -> [T; K] {
        self.chunk_sums(y, a.a.chunk(), &|first, y| {
            a.multiply(x, first, y);
            f(first, y)
        })
    }

    /// `y = y + A x`, where `f(first row, chunk of A x)` may change the product before it is added.
    fn add_rows<T: Real>(&self, a: Factor<T>, x: &[T], y: &mut [T], f: &(dyn Fn(usize, &mut [T]) + Sync)) {
        let chunk = a.a.chunk();
        self.install(|| {
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

    /// `y = A x`, `z = omega D y`.
    fn scaled_rows<T: Real>(&self, a: Factor<T>, x: &[T], omega: T, d: &[T], y: &mut [T], z: &mut [T]) {
        let chunk = a.a.chunk();
        self.install(|| {
            let chunks = y.par_chunks_mut(chunk).zip(z.par_chunks_mut(chunk)).enumerate();
            chunks.for_each(|(c, (y, z))| {
                let first = c * chunk;
                a.multiply(x, first, y);
                scaled(omega, d, a.a.n_rows(), first, y, z);
            });
        });
    }
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
    let blocks = x[first..].chunks_exact(B).zip(d[B * first..].chunks_exact(B * B));
    for (r, (x, d)) in r.chunks_exact_mut(B).zip(blocks) {
        let mut corrected = [T::ZERO; B];
        for k in 0..B {
            let sum = (0..B).fold(T::ZERO, |sum, l| sum + d[k * B + l] * r[l]);
            corrected[k] = x[k] + omega * sum;
        }
        r.copy_from_slice(&corrected);
    }
}

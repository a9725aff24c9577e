//! [`Products`] in sequential loops.

use std::sync::Arc;

use cuda_std::Real;

use super::Reference;
use super::vectors::{dot, scaled};
use crate::backend::host::HostBackend;
use crate::backend::{Operator, Products, Then};
use crate::error::Result;
use crate::matrix::AnyMatrix;

impl<T: Real> Operator for Arc<AnyMatrix<T>> {
    fn n_rows(&self) -> usize {
        AnyMatrix::n_rows(self)
    }
    fn n_cols(&self) -> usize {
        AnyMatrix::n_cols(self)
    }
    fn format(&self) -> String {
        AnyMatrix::format(self).to_string()
    }
    fn sigma(&self) -> usize {
        AnyMatrix::sigma(self)
    }
    fn stored(&self) -> u64 {
        AnyMatrix::stored(self) as u64
    }
    fn bytes(&self) -> u64 {
        AnyMatrix::bytes(self)
    }
    fn traffic(&self) -> u64 {
        AnyMatrix::traffic(self)
    }
}

impl<T: Real> Products<T> for Reference {
    type Matrix = Arc<AnyMatrix<T>>;

    fn matrix(&self, matrix: &Arc<AnyMatrix<T>>) -> Result<Self::Matrix> {
        Ok(matrix.clone())
    }

    fn multiply(&self, a: &Self::Matrix, x: &Vec<T>, then: Then<T, Self>) -> Result<()> {
        then.check((a.n_rows(), a.n_cols()), x)?;
        if self.stopped() {
            return Ok(());
        }
        match then {
            Then::Store { y } => a.for_each_row(x, &mut |i, product| y[i] = product),
            Then::Add { y } => a.for_each_row(x, &mut |i, product| y[i] += product),
            Then::Scaled { omega, d, y, z } => {
                a.for_each_row(x, &mut |i, product| y[i] = product);
                z.iter_mut().enumerate().for_each(|(i, z)| *z = omega * scaled(d, y, i));
            }
            Then::Residual { b, r } => a.for_each_row(x, &mut |i, product| r[i] = b[i] - product),
            Then::Sweep { omega, d, b, y } => {
                let mut r = vec![T::ZERO; b.len()];
                a.for_each_row(x, &mut |i, product| r[i] = b[i] - product);
                y.iter_mut().enumerate().for_each(|(i, y)| *y = x[i] + omega * scaled(d, &r, i));
            }
            Then::SweepAdd { omega, d, b, y } => {
                a.for_each_row(x, &mut |i, product| y[i] += omega * d[i] * (b[i] - product));
            }
            Then::SweepNorm { omega, d, b, y, s, out, monitor } => {
                let mut square = T::ZERO;
                a.for_each_row(x, &mut |i, product| {
                    let r = b[i] - product;
                    y[i] = x[i] + omega * d[i] * r;
                    square += r * r;
                });
                s.set(out, square);
                monitor.observe(square.to_f64().sqrt());
            }
            Then::Dot { w, y, s, out } => {
                a.for_each_row(x, &mut |i, product| y[i] = product);
                s.set(out, dot(w, y));
                s.set(out.offset(1), dot(y, y));
            }
        }
        Ok(())
    }
}

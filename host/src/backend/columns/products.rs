//! [`Products`] of columns, which share the reading of the matrix.

use std::sync::Arc;

use cuda_std::Real;

use super::{ColumnVector, Columns};
use crate::backend::products::{Column, Products, Then};
use crate::backend::{Memory, Monitoring};
use crate::error::Result;
use crate::matrix::AnyMatrix;

impl<T: Real, B: Products<T>> Products<T> for Columns<B> {
    type Matrix = B::Matrix;

    fn matrix(&self, matrix: &Arc<AnyMatrix<T>>) -> Result<B::Matrix> {
        self.backends[0].matrix(matrix)
    }

    fn multiply(
        &self,
        a: &B::Matrix,
        x: &ColumnVector<<B as Memory<T>>::Vector>,
        then: Then<T, Self>,
    ) -> Result<()> {
        let each = self.backends.iter().zip(of_columns(then)).enumerate();
        let column = |(c, (backend, then))| Column { backend, x: x.column(c), then };
        B::multiply_columns(a, each.map(column).collect())
    }
}

/// What becomes of the product of each column.
fn of_columns<T: Real, B: Monitoring<T>>(then: Then<'_, T, Columns<B>>) -> Vec<Then<'_, T, B>> {
    match then {
        Then::Store { y } => y.columns_mut().iter_mut().map(|y| Then::Store { y }).collect(),
        Then::Add { y } => y.columns_mut().iter_mut().map(|y| Then::Add { y }).collect(),
        Then::Scaled { omega, d, y, z } => {
            let each = y.columns_mut().iter_mut().zip(z.columns_mut()).enumerate();
            each.map(|(c, (y, z))| Then::Scaled { omega, d: d.column(c), y, z }).collect()
        }
        Then::Residual { b, r } => {
            let each = r.columns_mut().iter_mut().enumerate();
            each.map(|(c, r)| Then::Residual { b: b.column(c), r }).collect()
        }
        Then::Sweep { omega, d, b, y } => {
            let each = y.columns_mut().iter_mut().enumerate();
            each.map(|(c, y)| Then::Sweep { omega, d: d.column(c), b: b.column(c), y }).collect()
        }
        Then::SweepAdd { omega, d, b, y } => {
            let each = y.columns_mut().iter_mut().enumerate();
            each.map(|(c, y)| Then::SweepAdd { omega, d: d.column(c), b: b.column(c), y }).collect()
        }
        Then::SweepNorm { omega, d, b, y, s, out, monitor } => {
            let each = y.columns_mut().iter_mut().enumerate();
            let column = |(c, y)| {
                let (d, b, s, monitor) = (d.column(c), b.column(c), &s.0[c], &monitor[c]);
                Then::SweepNorm { omega, d, b, y, s, out, monitor }
            };
            each.map(column).collect()
        }
        Then::Dot { w, y, s, out } => {
            let each = y.columns_mut().iter_mut().enumerate();
            each.map(|(c, y)| Then::Dot { w: w.column(c), y, s: &s.0[c], out }).collect()
        }
    }
}

//! [`Products`] on a device: what is done with `A x` is an epilogue of the kernel.

use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::epilogue;
use gpu_kernels::spmv::columns;

use super::buffer::DeviceVector;
use super::matrix::DeviceMatrix;
use super::{Gpu, block_of, distinct};
use crate::backend::{Column, Products, Then};
use crate::error::Result;
use crate::matrix::AnyMatrix;

impl<T: Real> Products<T> for Gpu {
    type Matrix = DeviceMatrix<T>;

    fn matrix(&self, matrix: &Arc<AnyMatrix<T>>) -> Result<DeviceMatrix<T>> {
        self.shorten(DeviceMatrix::upload(&self.device, matrix)?)
    }

    fn multiply(&self, a: &DeviceMatrix<T>, x: &DeviceVector<T>, then: Then<T, Self>) -> Result<()> {
        then.check((a.n_rows, a.n_cols), x)?;
        let vectors = vectors(x, &then);
        match self.epilogue(x, then) {
            Ending::Product(e) => self.product(a, x, vectors, e),
            Ending::Accumulate(e) => self.product(a, x, vectors, e),
            Ending::ProductScaled(e) => self.product(a, x, vectors, e),
            Ending::BlockProductScaled(e) => self.block_product(a, x, vectors, e),
            Ending::Residual(e) => self.product(a, x, vectors, e),
            Ending::Sweep(e) => self.product(a, x, vectors, e),
            Ending::BlockSweep(e) => self.block_product(a, x, vectors, e),
            Ending::SweepNorm(e) => self.product(a, x, vectors, e),
            Ending::ProductDot(e) => self.product(a, x, vectors, e),
        }
    }

    /// As many columns in a launch as there are registers for.
    fn multiply_columns(a: &DeviceMatrix<T>, mut columns: Vec<Column<T, Self>>) -> Result<()> {
        let reduces = columns.first().is_some_and(|column| matches!(column.then, Then::Dot { .. }));
        let at_once = a.columns_at_once(reduces);
        while !columns.is_empty() {
            let later = columns.split_off(columns.len().min(at_once));
            multiply_together(a, columns)?;
            columns = later;
        }
        Ok(())
    }
}

/// Several columns in one launch, where there is a kernel for that.
fn multiply_together<T: Real>(a: &DeviceMatrix<T>, columns: Vec<Column<T, Gpu>>) -> Result<()> {
    let has_kernel = |then: &Then<T, Gpu>| match then {
        Then::SweepNorm { .. } => false,
        Then::Scaled { d, y, .. } => block_of(d, y) == 1,
        Then::Sweep { d, b, .. } => block_of(d, b) == 1,
        _ => true,
    };
    if columns.len() == 1 || !a.takes_columns() || !columns.iter().all(|column| has_kernel(&column.then)) {
        return columns.into_iter().try_for_each(|Column { backend, x, then }| backend.multiply(a, x, then));
    }
    columns.iter().try_for_each(|column| column.then.check((a.n_rows, a.n_cols), column.x))?;
    let (gpu, vectors) = (columns[0].backend, vectors(columns[0].x, &columns[0].then));
    let column =
        |Column { backend, x, then }: Column<T, Gpu>| (x.ptr(), backend.guard(), backend.epilogue(x, then));
    let columns: Vec<_> = columns.into_iter().map(column).collect();
    /// The launch of columns that all have the same ending.
    macro_rules! launch {
        ($($ending:ident),*) => {
            match columns[0].2 {
                $(Ending::$ending(_) => {
                    let column = |(x, guard, ending)| match ending {
                        Ending::$ending(e) => Some(columns::Column { x, e, guard }),
                        _ => None,
                    };
                    gpu.product_of_columns(a, vectors, columns.into_iter().filter_map(column).collect())
                })*
                _ => unreachable!("sorted out above"),
            }
        };
    }
    launch!(Product, Accumulate, ProductScaled, Residual, Sweep, ProductDot)
}

/// Vectors of A's rows that are read or written, apart from x.
fn vectors<T: Real>(x: &DeviceVector<T>, then: &Then<T, Gpu>) -> usize {
    match then {
        Then::Store { .. } => 1,
        Then::Add { .. } | Then::Residual { .. } => 2,
        Then::Scaled { d, y, .. } => 2 + block_of(d, y),
        Then::Sweep { d, b, .. } => 2 + block_of(d, b),
        Then::SweepAdd { .. } => 4,
        Then::SweepNorm { .. } => 3,
        Then::Dot { w, .. } => distinct(x, w),
    }
}

/// An epilogue.
enum Ending<T> {
    Product(epilogue::Product<T>),
    Accumulate(epilogue::Accumulate<T>),
    ProductScaled(epilogue::ProductScaled<T>),
    BlockProductScaled(epilogue::BlockProductScaled<T>),
    Residual(epilogue::Residual<T>),
    Sweep(epilogue::Sweep<T>),
    BlockSweep(epilogue::BlockSweep<T>),
    SweepNorm(epilogue::SweepNorm<T>),
    ProductDot(epilogue::ProductDot<T>),
}

impl Gpu {
    fn epilogue<T: Real>(&self, x: &DeviceVector<T>, then: Then<T, Self>) -> Ending<T> {
        match then {
            Then::Store { y } => Ending::Product(epilogue::Product { y: y.ptr_mut() }),
            Then::Add { y } => Ending::Accumulate(epilogue::Accumulate { y: y.ptr_mut() }),
            Then::Scaled { omega, d, y, z } => {
                let block = block_of(d, y);
                let (d, y, z) = (d.ptr(), y.ptr_mut(), z.ptr_mut());
                match block {
                    1 => Ending::ProductScaled(epilogue::ProductScaled { omega, d, y, z }),
                    _ => Ending::BlockProductScaled(epilogue::BlockProductScaled { omega, d, y, z }),
                }
            }
            Then::Residual { b, r } => Ending::Residual(epilogue::Residual { b: b.ptr(), r: r.ptr_mut() }),
            Then::Sweep { omega, d, b, y } => {
                let block = block_of(d, b);
                let (d, b, x, y) = (d.ptr(), b.ptr(), x.ptr(), y.ptr_mut());
                match block {
                    1 => Ending::Sweep(epilogue::Sweep { omega, d, b, x, y }),
                    _ => Ending::BlockSweep(epilogue::BlockSweep { omega, d, b, x, y }),
                }
            }
            Then::SweepAdd { omega, d, b, y } => {
                let y = y.ptr_mut();
                Ending::Sweep(epilogue::Sweep { omega, d: d.ptr(), b: b.ptr(), x: y, y })
            }
            Then::SweepNorm { omega, d, b, y, s, out, monitor } => {
                let sweep = epilogue::Sweep { omega, d: d.ptr(), b: b.ptr(), x: x.ptr(), y: y.ptr_mut() };
                let (reduction, monitor) = (self.reduction(s, out), monitor.argument());
                Ending::SweepNorm(epilogue::SweepNorm { sweep, reduction, monitor })
            }
            Then::Dot { w, y, s, out } => {
                let reduction = self.reduction(s, out);
                Ending::ProductDot(epilogue::ProductDot { y: y.ptr_mut(), w: w.ptr(), reduction })
            }
        }
    }
}

//! [`Products`] on a device: what is done with `A x` is an epilogue of the kernel.

use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::epilogue;

use super::buffer::DeviceVector;
use super::matrix::DeviceMatrix;
use super::{Gpu, block_of, distinct};
use crate::backend::{Products, Then};
use crate::error::Result;
use crate::matrix::AnyMatrix;

impl<T: Real> Products<T> for Gpu {
    type Matrix = DeviceMatrix<T>;

    fn matrix(&self, matrix: &Arc<AnyMatrix<T>>) -> Result<DeviceMatrix<T>> {
        DeviceMatrix::upload(&self.device, matrix)
    }

    // With each epilogue: how many vectors of A's rows it reads or writes, apart from x.
    fn multiply(&self, a: &DeviceMatrix<T>, x: &DeviceVector<T>, then: Then<T, Self>) -> Result<()> {
        then.check((a.n_rows, a.n_cols), x)?;
        match then {
            Then::Store { y } => self.product(a, x, 1, epilogue::Product { y: y.ptr_mut() }),
            Then::Add { y } => self.product(a, x, 2, epilogue::Accumulate { y: y.ptr_mut() }),
            Then::Scaled { omega, d, y, z } => {
                let block = block_of(d, y);
                let (d, y, z) = (d.ptr(), y.ptr_mut(), z.ptr_mut());
                match block {
                    1 => self.product(a, x, 3, epilogue::ProductScaled { omega, d, y, z }),
                    _ => self.block_product(a, x, 2 + block, epilogue::BlockProductScaled { omega, d, y, z }),
                }
            }
            Then::Residual { b, r } => {
                self.product(a, x, 2, epilogue::Residual { b: b.ptr(), r: r.ptr_mut() })
            }
            Then::Sweep { omega, d, b, y } => {
                let block = block_of(d, b);
                let (d, b, old, y) = (d.ptr(), b.ptr(), x.ptr(), y.ptr_mut());
                match block {
                    1 => self.product(a, x, 3, epilogue::Sweep { omega, d, b, x: old, y }),
                    _ => self.block_product(a, x, 2 + block, epilogue::BlockSweep { omega, d, b, x: old, y }),
                }
            }
            Then::SweepAdd { omega, d, b, y } => {
                let y = y.ptr_mut();
                self.product(a, x, 4, epilogue::Sweep { omega, d: d.ptr(), b: b.ptr(), x: y, y })
            }
            Then::SweepNorm { omega, d, b, y, s, out, monitor } => {
                let sweep = epilogue::Sweep { omega, d: d.ptr(), b: b.ptr(), x: x.ptr(), y: y.ptr_mut() };
                let reduction = self.reduction(s, out);
                let monitor = monitor.argument();
                self.product(a, x, 3, epilogue::SweepNorm { sweep, reduction, monitor })
            }
            Then::Dot { w, y, s, out } => {
                let reduction = self.reduction(s, out);
                let dot = epilogue::ProductDot { y: y.ptr_mut(), w: w.ptr(), reduction };
                self.product(a, x, distinct(x, w), dot)
            }
        }
    }
}

//! [`Vectors`] on a device.

use cuda_std::Real;
use gpu_kernels::{blas1, krylov, reduce};

use super::buffer::DeviceVector;
use super::{DeviceScalars, Gpu, Work, block_of, coefficient, constant, distinct, pointer_or_null, slot};
use crate::backend::memory::{check_diagonal, check_lengths};
use crate::backend::{Coef, Slot, Vectors, check_slots};
use crate::error::Result;

impl<T: Real> Vectors<T> for Gpu {
    fn copy(&self, x: &DeviceVector<T>, y: &mut DeviceVector<T>) -> Result<()> {
        check_lengths("copy", y.len, &[("x", x.len)])?;
        let (one, zero) = (constant(1.0), constant(0.0));
        let guard = self.guard();
        let (x, z) = (x.ptr(), y.ptr_mut());
        let work = Work::on::<T>(y.len, 2);
        // SAFETY: the lengths are checked above, and vectors live until what is queued is done.
        unsafe { self.launch(work, &blas1::axpby { n: y.len as u64, a: one, x, b: zero, y: z, z, guard }) }
    }
    fn fill(&self, value: T, x: &mut DeviceVector<T>) -> Result<()> {
        let work = Work::on::<T>(x.len, 1);
        // SAFETY: there is one vector, which lives until what is queued is done.
        unsafe {
            self.launch(work, &blas1::fill { n: x.len as u64, value, x: x.ptr_mut(), guard: self.guard() })
        }
    }
    fn scale(&self, s: &DeviceScalars<T>, a: Coef, x: &mut DeviceVector<T>) -> Result<()> {
        let (a, zero, guard) = (coefficient(s, a)?, constant(0.0), self.guard());
        let z = x.ptr_mut();
        let work = Work::on::<T>(x.len, 2);
        // SAFETY: there is one vector, which lives until what is queued is done.
        unsafe { self.launch(work, &blas1::axpby { n: x.len as u64, a, x: z, b: zero, y: z, z, guard }) }
    }
    fn axpby(
        &self,
        s: &DeviceScalars<T>,
        a: Coef,
        x: &DeviceVector<T>,
        b: Coef,
        y: &mut DeviceVector<T>,
    ) -> Result<()> {
        check_lengths("axpby", y.len, &[("x", x.len)])?;
        let z = y.ptr_mut();
        let (a, b) = (coefficient(s, a)?, coefficient(s, b)?);
        let guard = self.guard();
        let work = Work::on::<T>(y.len, 3);
        // SAFETY: the lengths are checked above, and vectors live until what is queued is done.
        unsafe { self.launch(work, &blas1::axpby { n: y.len as u64, a, x: x.ptr(), b, y: z, z, guard }) }
    }
    fn axpbypcz(
        &self,
        s: &DeviceScalars<T>,
        a: Coef,
        x: &DeviceVector<T>,
        b: Coef,
        y: &DeviceVector<T>,
        c: Coef,
        z: &mut DeviceVector<T>,
    ) -> Result<()> {
        check_lengths("axpbypcz", z.len, &[("x", x.len), ("y", y.len)])?;
        let kernel = blas1::axpbypcz {
            n: z.len as u64,
            a: coefficient(s, a)?,
            x: x.ptr(),
            b: coefficient(s, b)?,
            y: y.ptr(),
            c: coefficient(s, c)?,
            z: z.ptr_mut(),
            guard: self.guard(),
        };
        // SAFETY: the lengths are checked above, and vectors live until what is queued is done.
        unsafe { self.launch(Work::on::<T>(z.len, 4), &kernel) }
    }
    fn direction(
        &self,
        s: &DeviceScalars<T>,
        d: Option<&DeviceVector<T>>,
        z: &DeviceVector<T>,
        beta: Coef,
        p: &mut DeviceVector<T>,
    ) -> Result<()> {
        check_lengths("direction", p.len, &[("z", z.len), ("d", d.map_or(p.len, |d| d.len))])?;
        let work = Work::on::<T>(p.len, 3 + usize::from(d.is_some()));
        let (d, beta, guard) = (pointer_or_null(d), coefficient(s, beta)?, self.guard());
        let kernel = krylov::direction { n: p.len as u64, d, z: z.ptr(), beta, p: p.ptr_mut(), guard };
        // SAFETY: the lengths are checked above, and vectors live until what is queued is done.
        unsafe { self.launch(work, &kernel) }
    }
    fn scale_rows(
        &self,
        a: T,
        d: &DeviceVector<T>,
        x: &DeviceVector<T>,
        y: &mut DeviceVector<T>,
    ) -> Result<()> {
        check_lengths("scale_rows", y.len, &[("x", x.len)])?;
        check_diagonal("scale_rows", y.len, d.len)?;
        let (block, n, guard) = (block_of(d, x), y.len as u64, self.guard());
        let work = Work::on::<T>(y.len, 2 + block);
        let (d, x, z) = (d.ptr(), x.ptr(), y.ptr_mut());
        match block {
            // SAFETY: the lengths are checked above, and vectors live until what is queued is done.
            2 => unsafe {
                self.launch(work, &blas1::scale_blocks::<T, 2> { n: n / 2, a, d, x, y: z, guard })
            },
            // SAFETY: the lengths are checked above, and vectors live until what is queued is done.
            3 => unsafe {
                self.launch(work, &blas1::scale_blocks::<T, 3> { n: n / 3, a, d, x, y: z, guard })
            },
            // SAFETY: the lengths are checked above, and vectors live until what is queued is done.
            _ => unsafe { self.launch(work, &blas1::scale_rows { n, a, d, x, y: z, guard }) },
        }
    }

    fn dot(&self, x: &DeviceVector<T>, y: &DeviceVector<T>, s: &DeviceScalars<T>, out: Slot) -> Result<()> {
        check_lengths("dot", x.len, &[("y", y.len)])?;
        check_slots("dot", s.len, out, 1)?;
        let (reduction, guard) = (self.reduction(s, out), self.guard());
        let kernel = reduce::dot { n: x.len as u64, x: x.ptr(), y: y.ptr(), reduction, guard };
        // SAFETY: the lengths are checked above, and vectors live until what is queued is done.
        unsafe { self.launch_resident(Work::on::<T>(x.len, distinct(x, y)), &kernel) }
    }
    fn sum(&self, x: &DeviceVector<T>, s: &DeviceScalars<T>, out: Slot) -> Result<()> {
        check_slots("sum", s.len, out, 1)?;
        let (reduction, guard) = (self.reduction(s, out), self.guard());
        let kernel = reduce::sum { n: x.len as u64, x: x.ptr(), reduction, guard };
        // SAFETY: the lengths are checked above, and vectors live until what is queued is done.
        unsafe { self.launch_resident(Work::on::<T>(x.len, 1), &kernel) }
    }
    fn norm_max(&self, x: &DeviceVector<T>, s: &DeviceScalars<T>, out: Slot) -> Result<()> {
        check_slots("norm_max", s.len, out, 1)?;
        let (reduction, guard) = (self.reduction(s, out), self.guard());
        let kernel = reduce::norm_max { n: x.len as u64, x: x.ptr(), reduction, guard };
        // SAFETY: the lengths are checked above, and vectors live until what is queued is done.
        unsafe { self.launch_resident(Work::on::<T>(x.len, 1), &kernel) }
    }
    fn angle_step(&self, s: &DeviceScalars<T>, dots: Slot, square: Slot, out: Slot) -> Result<()> {
        check_slots("angle_step", s.len, dots, 2)?;
        check_slots("angle_step", s.len, square, 1)?;
        check_slots("angle_step", s.len, out, 1)?;
        let (dots, square, out) = (slot(s, dots), slot(s, square), slot(s, out));
        let kernel = krylov::angle_step { dots, square, out, guard: self.guard() };
        // SAFETY: the slots are checked above.
        unsafe { self.launch_block(&kernel) }
    }
}

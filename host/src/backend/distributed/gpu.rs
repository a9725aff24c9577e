//! Borders on a device: a kernel adds their entries to what the product left, before anything else is done
//! with it. Elements that are sent and received go through the host.

use std::sync::{Arc, Mutex, PoisonError};

use cuda_std::Real;
use gpu_kernels::border;

use super::border::{BorderRows, Borders};
use crate::backend::gpu::{
    Buffer, DeviceMatrix, DeviceScalars, DeviceVector, Gpu, bytes_of, pointer_or_null,
};
use crate::backend::memory::check_lengths;
use crate::backend::{Coef, Memory, Products, Then, Vectors};
use crate::error::Result;

/// A border in device memory.
pub struct DeviceBorder<T: Real> {
    rows: usize,
    /// Rows, row pointers and columns.
    index: [Arc<Buffer>; 3],
    values: DeviceVector<T>,
    /// Places of the elements that others need, and room for these.
    places: Arc<Buffer>,
    sent: DeviceVector<T>,
    received: DeviceVector<T>,
    /// A vector to work with, and scalars for coefficients without slots.
    scratch: Mutex<(DeviceVector<T>, DeviceScalars<T>)>,
}

impl<T: Real> Borders<T> for Gpu {
    type Border = DeviceBorder<T>;

    fn border(&self, border: BorderRows<T>, n: usize) -> Result<DeviceBorder<T>> {
        let BorderRows { rows, entries, sent } = border;
        let row_ptr: Vec<u64> = entries.row_ptr().iter().map(|&p| p as u64).collect();
        let device = self.device();
        Ok(DeviceBorder {
            rows: rows.len(),
            index: [
                Buffer::from_slice(device, &rows)?,
                Buffer::from_slice(device, &row_ptr)?,
                Buffer::from_slice(device, entries.col_idx())?,
            ],
            values: self.vector(entries.values())?,
            places: Buffer::from_slice(device, &sent)?,
            sent: self.allocate(sent.len())?,
            received: self.allocate(entries.n_cols())?,
            scratch: Mutex::new((self.allocate(n)?, self.allocate(1)?)),
        })
    }

    fn sent(&self, border: &DeviceBorder<T>, x: &DeviceVector<T>, elements: &mut Vec<T>) -> Result<()> {
        let n = border.sent.len();
        let (places, out) = (border.places.address as *const u32, border.sent.address() as *mut T);
        let kernel = border::gather { n: n as u64, places, x: x.ptr(), out, guard: self.guard() };
        // SAFETY: the places are those of elements of x: `DistributedMatrix::new` has checked that.
        unsafe { self.launch(n, &kernel)? };
        *elements = border.sent.to_host()?;
        Ok(())
    }

    fn multiply_with_border(
        &self,
        a: &DeviceMatrix<T>,
        border: &DeviceBorder<T>,
        received: &[T],
        x: &DeviceVector<T>,
        then: Then<T, Self>,
    ) -> Result<()> {
        check_lengths("a product", border.received.len(), &[("the elements received", received.len())])?;
        // SAFETY: the lengths are the same.
        unsafe { self.device().upload(border.received.address(), bytes_of(received))? };
        let mut scratch = border.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let (rest, s) = &mut *scratch;
        match then {
            Then::Store { y } => {
                self.multiply(a, x, Then::Store { y: &mut *y })?;
                self.add_border(border, T::ONE, None, y)
            }
            Then::Add { y } => {
                self.multiply(a, x, Then::Add { y: &mut *y })?;
                self.add_border(border, T::ONE, None, y)
            }
            Then::Scaled { omega, d, y, z } => {
                self.multiply(a, x, Then::Store { y: &mut *y })?;
                self.add_border(border, T::ONE, None, y)?;
                self.scale_rows(omega, d, y, z)
            }
            Then::Residual { b, r } => {
                self.multiply(a, x, Then::Residual { b, r: &mut *r })?;
                self.add_border(border, -T::ONE, None, r)
            }
            Then::Sweep { omega, d, b, y } if d.len() == b.len() => {
                self.multiply(a, x, Then::Sweep { omega, d, b, y: &mut *y })?;
                self.add_border(border, -omega, Some(d), y)
            }
            Then::SweepAdd { omega, d, b, y } => {
                self.multiply(a, x, Then::SweepAdd { omega, d, b, y: &mut *y })?;
                self.add_border(border, -omega, Some(d), y)
            }
            Then::Sweep { omega, d, b, y } => {
                self.multiply(a, x, Then::Residual { b, r: &mut *rest })?;
                self.add_border(border, -T::ONE, None, rest)?;
                self.scale_rows(omega, d, rest, y)?;
                self.axpby(s, Coef::ONE, x, Coef::ONE, y)
            }
            Then::SweepNorm { omega, d, b, y, s: scalars, out, .. } => {
                self.multiply(a, x, Then::Residual { b, r: &mut *rest })?;
                self.add_border(border, -T::ONE, None, rest)?;
                self.dot(rest, rest, scalars, out)?;
                self.scale_rows(omega, d, rest, y)?;
                self.axpby(s, Coef::ONE, x, Coef::ONE, y)
            }
            Then::Dot { w, y, s, out } => {
                self.multiply(a, x, Then::Store { y: &mut *y })?;
                self.add_border(border, T::ONE, None, y)?;
                self.dot(w, y, s, out)?;
                self.dot(y, y, s, out.offset(1))
            }
        }
    }
}

impl Gpu {
    /// `y += a D E x` with E the entries of the border and x what was received; `d = None` means D = I.
    fn add_border<T: Real>(
        &self,
        border: &DeviceBorder<T>,
        a: T,
        d: Option<&DeviceVector<T>>,
        y: &mut DeviceVector<T>,
    ) -> Result<()> {
        let [rows, row_ptr, columns] = &border.index;
        let kernel = border::add_border {
            n: border.rows as u64,
            rows: rows.address as *const u32,
            row_ptr: row_ptr.address as *const u64,
            columns: columns.address as *const u32,
            values: border.values.ptr(),
            x: border.received.ptr(),
            a,
            d: pointer_or_null(d),
            y: y.ptr_mut(),
            guard: self.guard(),
        };
        // SAFETY: rows are those of y and d, and columns those of what was received: `DistributedMatrix::new`
        // and the matrix's own checks have seen to that.
        unsafe { self.launch(border.rows, &kernel) }
    }
}

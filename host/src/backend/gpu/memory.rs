//! [`Memory`] on a device.

use std::marker::PhantomData;

use cuda_std::Real;

use super::buffer::{Buffer, DeviceScalars, DeviceVector};
use super::{Gpu, slot, transfer};
use crate::backend::{Memory, Slot, check_slots};
use crate::error::Result;
use crate::launch::Address;

impl<T: Real> Memory<T> for Gpu {
    type Vector = DeviceVector<T>;
    type Scalars = DeviceScalars<T>;

    fn zeros(&self, n: usize) -> Result<DeviceVector<T>> {
        self.allocate(n)
    }
    fn vector(&self, values: &[T]) -> Result<DeviceVector<T>> {
        let buffer = Buffer::from_slice(&self.device, values)?;
        Ok(DeviceVector { buffer, offset: 0, len: values.len(), element: PhantomData })
    }
    fn vectors(&self, n: usize, count: usize) -> Result<Vec<DeviceVector<T>>> {
        // Each vector starts at a whole number of cache lines.
        let leading = n.next_multiple_of(32);
        let all: DeviceVector<T> = self.allocate(leading * count)?;
        let column = |j| DeviceVector {
            buffer: all.buffer.clone(),
            offset: j * leading,
            len: n,
            element: PhantomData,
        };
        Ok((0..count).map(column).collect())
    }
    fn copy_to_host(&self, x: &DeviceVector<T>, values: &mut [T]) -> Result<()> {
        x.copy_to_host(values)
    }
    fn scalars(&self, n: usize) -> Result<DeviceScalars<T>> {
        self.allocate(n)
    }
    fn read_all(&self, scalars: &DeviceScalars<T>) -> Result<Vec<T>> {
        scalars.to_host()
    }
    fn read(&self, scalars: &DeviceScalars<T>, slot: Slot) -> Result<T> {
        check_slots("read", scalars.len, slot, 1)?;
        let buffer = scalars.buffer.clone();
        let one = DeviceVector { buffer, offset: scalars.offset + slot.0, len: 1, element: PhantomData };
        Ok(one.to_host()?[0])
    }
    fn write(&self, scalars: &DeviceScalars<T>, first: Slot, values: &[T]) -> Result<()> {
        check_slots("write", scalars.len, first, values.len())?;
        let address = slot(scalars, first) as Address;
        // SAFETY: the slots are checked above.
        unsafe { transfer::upload(&*self.device, address, values) }
    }
    fn synchronize(&self) -> Result<()> {
        self.device.synchronize()
    }
}

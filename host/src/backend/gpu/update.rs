//! Parts of a vector in device memory that the host reads and changes in place, as directives have it:
//! `update device`, `update self`, `exit data copyout`.

use cuda_std::Real;

use super::{DeviceVector, transfer};
use crate::error::{Error, Result};
use crate::launch::Address;

impl<T: Real> DeviceVector<T> {
    /// Changes the elements from `first` on to `values`, behind everything queued before; returns when
    /// `values` may be reused. Nothing is allocated.
    ///
    /// # Errors
    /// [`Error::Length`] where the vector ends before; those of the device.
    #[track_caller]
    pub fn update_device(&mut self, first: usize, values: &[T]) -> Result<()> {
        let to = self.part("update_device", first, values.len())?;
        // SAFETY: the vector has these elements.
        unsafe { transfer::upload(&**self.buffer.device(), to, values) }
    }

    /// Copies the elements from `first` on into `values`, as they are after everything queued before.
    ///
    /// # Errors
    /// As of [`DeviceVector::update_device`].
    #[track_caller]
    pub fn update_host(&self, first: usize, values: &mut [T]) -> Result<()> {
        let from = self.part("update_host", first, values.len())?;
        // SAFETY: the vector has these elements.
        unsafe { transfer::download(&**self.buffer.device(), values, from) }
    }

    /// The elements, and the end of the vector in device memory.
    ///
    /// # Errors
    /// Those of the device.
    #[track_caller]
    pub fn detach(self) -> Result<Vec<T>> {
        self.to_host()
    }

    /// Where `count` elements from `first` on are.
    fn part(&self, operation: &'static str, first: usize, count: usize) -> Result<Address> {
        match first.checked_add(count) {
            Some(end) if end <= self.len => Ok(self.address() + (first * size_of::<T>()) as Address),
            end => {
                let found = end.unwrap_or(usize::MAX);
                Err(Error::Length { operation, vector: "values", found, expected: self.len })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Gpu;
    use super::*;
    use crate::backend::Memory;

    #[test]
    fn ranges_are_changed_and_read_in_place() {
        let gpu = Gpu::simulated().unwrap();
        let mut columns: Vec<DeviceVector<f64>> = gpu.vectors(7, 2).unwrap();
        columns[1].update_device(2, &[0.5, -1.25, 3.0]).unwrap();
        let before = gpu.device().counters().snapshot();
        let mut part = [f64::NAN; 4];
        columns[1].update_host(1, &mut part).unwrap();
        assert_eq!(part, [0.0, 0.5, -1.25, 3.0]);
        let counts = gpu.device().counters().snapshot().since(&before);
        assert_eq!((counts.downloads, counts.downloaded_bytes, counts.allocations), (1, 32, 0));
        for (first, count) in [(5, 3), (8, 0), (usize::MAX, 2)] {
            let refused = columns[1].update_host(first, &mut vec![0.0; count]);
            assert!(matches!(refused, Err(Error::Length { expected: 7, .. })), "{first} {count}");
        }
        columns[1].update_device(7, &[]).unwrap();
        let held = gpu.device().counters().snapshot().allocated_bytes;
        assert_eq!(columns.pop().unwrap().detach().unwrap(), [0.0, 0.0, 0.5, -1.25, 3.0, 0.0, 0.0]);
        assert_eq!(columns.pop().unwrap().detach().unwrap(), [0.0; 7]);
        assert!(gpu.device().counters().snapshot().allocated_bytes < held);
    }
}

//! Borders on the CPU: their entries are added where a chunk of rows has been multiplied.

use cuda_std::Real;

use super::border::{BorderRows, Borders};
use crate::backend::Then;
use crate::backend::cpu::{Beside, Cpu, CpuMatrix};
use crate::error::Result;

impl<T: Real> Borders<T> for Cpu {
    type Border = BorderRows<T>;

    fn border(&self, rows: BorderRows<T>, _n: usize) -> Result<BorderRows<T>> {
        Ok(rows)
    }
    fn sent(&self, border: &BorderRows<T>, x: &Vec<T>, elements: &mut Vec<T>) -> Result<()> {
        elements.clear();
        elements.extend(border.sent.iter().map(|&i| x[i as usize]));
        Ok(())
    }
    fn multiply_with_border(
        &self,
        a: &CpuMatrix<T>,
        border: &BorderRows<T>,
        received: &[T],
        x: &Vec<T>,
        then: Then<T, Self>,
    ) -> Result<()> {
        let BorderRows { rows, entries, .. } = border;
        self.multiply_beside(a, Some(Beside { rows, entries, x: received }), x, then)
    }
}

//! Borders on the CPU: their entries are added where a chunk of rows has been multiplied.

use std::sync::Arc;

use cuda_std::Real;

use super::border::{BorderRows, Borders};
use super::peers::{OverRanks, Peers};
use crate::backend::Then;
use crate::backend::cpu::{Beside, Cpu, CpuMatrix};
use crate::backend::host::HostScalars;
use crate::comm::Links;
use crate::error::{Error, Result};
use crate::launch::Launch;

impl<T: Real> Borders<T> for Cpu {
    type Border = BorderRows<T>;

    /// None: what ranks exchange is on the host already.
    fn shared_device(&self) -> Option<&Arc<dyn Launch>> {
        None
    }
    fn border(
        &self,
        rows: BorderRows<T>,
        _n: usize,
        _links: &Links,
        _peers: Option<&Arc<Peers>>,
    ) -> Result<BorderRows<T>> {
        Ok(rows)
    }
    fn put(&self, _border: &BorderRows<T>, _x: &Vec<T>) -> Result<bool> {
        Ok(false)
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
        received: Option<&[T]>,
        x: &Vec<T>,
        then: Then<T, Self>,
    ) -> Result<()> {
        let BorderRows { rows, entries, .. } = border;
        self.multiply_beside(a, Some(Beside { rows, entries, x: received.unwrap_or_default() }), x, then)
    }
    fn reduce_over(&self, _: &Peers, _: &HostScalars<T>, _: OverRanks) -> Result<()> {
        Err(Error::Option("threads of the host have no peers: a mistake of this library".into()))
    }
}

//! Borders on the CPU: their entries are added where a chunk of rows has been multiplied.

use std::sync::Arc;

use cuda_std::Real;

use super::border::{BorderRows, Borders};
use super::peers::{OverRanks, Peers};
use crate::backend::Then;
use crate::backend::cpu::{Beside, Cpu, CpuMatrix};
use crate::backend::host::HostScalars;
use crate::comm::{Links, Runs};
use crate::error::{Error, Result};
use crate::launch::Launch;

impl<T: Real> Borders<T> for Cpu {
    /// The places of the elements, one rank after the other.
    type Outgoing = Vec<u32>;
    type Border = BorderRows<T>;
    type Sources = Vec<u32>;

    /// None: what ranks exchange is on the host already.
    fn shared_device(&self) -> Option<&Arc<dyn Launch>> {
        None
    }
    fn outgoing(&self, links: &Links, _peers: Option<&Arc<Peers>>) -> Result<Vec<u32>> {
        Ok(links.places_sent().expanded())
    }
    fn border(&self, rows: BorderRows<T>, _n: usize) -> Result<BorderRows<T>> {
        Ok(rows)
    }
    fn sources(&self, sources: &Runs, _n_own: usize) -> Result<Vec<u32>> {
        Ok(sources.expanded())
    }
    fn put(&self, _outgoing: &Vec<u32>, _x: &Vec<T>) -> Result<bool> {
        Ok(false)
    }
    fn sent(&self, outgoing: &Vec<u32>, x: &Vec<T>, elements: &mut Vec<T>) -> Result<()> {
        elements.clear();
        elements.extend(outgoing.iter().map(|&i| x[i as usize]));
        Ok(())
    }
    fn multiply_with_border(
        &self,
        a: &CpuMatrix<T>,
        (border, _): (&BorderRows<T>, &Vec<u32>),
        received: Option<&[T]>,
        x: &Vec<T>,
        then: Then<T, Self>,
    ) -> Result<()> {
        let BorderRows { rows, entries } = border;
        self.multiply_beside(a, Some(Beside { rows, entries, x: received.unwrap_or_default() }), x, then)
    }
    fn arrange(
        &self,
        (sources, _): (&Vec<u32>, &Vec<u32>),
        received: Option<&[T]>,
        x: &Vec<T>,
        y: &mut Vec<T>,
    ) -> Result<()> {
        let received = received.unwrap_or_default();
        let element = |source: usize| if source < x.len() { x[source] } else { received[source - x.len()] };
        y.iter_mut().zip(sources).for_each(|(y, &source)| *y = element(source as usize));
        Ok(())
    }
    fn reduce_over(&self, _: &Peers, _: &HostScalars<T>, _: OverRanks) -> Result<()> {
        Err(Error::Option("threads of the host have no peers: a mistake of this library".into()))
    }
}

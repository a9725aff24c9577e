//! The near-null space of the first level that rank 0 has alone.

use cuda_std::Real;

use crate::backend::Memory;
use crate::backend::distributed::{Borders, Distributed};
use crate::comm::{Numbering, Reader, Runs, Writer};
use crate::error::Result;
use crate::precond::amg::coarsening::near_null::{Nodes, Space, SpaceOf, vectors};
use crate::setup::{Matrices, Parts};

/// A near-null space on the host.
pub struct OnHost {
    vectors: Vec<Vec<f64>>,
    /// The node of each unknown, where they are not nodes themselves, and how many nodes there are.
    nodes: Option<(Vec<u32>, usize)>,
    is_general: bool,
}

impl OnHost {
    /// The space of a level with these rows, at rank 0; nothing elsewhere. All ranks call this.
    pub fn at_root<T: Real, B: Parts<T> + Borders<T>>(
        backend: &Distributed<B>,
        space: &SpaceOf<T, Distributed<B>>,
        rows: &Numbering,
    ) -> Result<Option<OnHost>> {
        let (comm, inner) = (&**backend.comm(), backend.inner());
        let own = |v: &B::Vector| {
            let v = Memory::<T>::to_host(inner, v)?;
            Ok(v.into_iter().map(Real::to_f64).collect::<Vec<f64>>())
        };
        let own: Vec<Vec<f64>> = backend.agreed(space.vectors.iter().map(own).collect())?;
        let nodes = space.nodes.as_ref().map(|nodes| backend.numbers_of::<T>(&nodes.of)).transpose();
        let nodes = backend.agreed(nodes)?;
        let message = Writer::new().put(&rows.own_numbers().sent()).put(nodes.as_deref().unwrap_or_default());
        let message = own.iter().fold(message, |message, v| message.put(v));
        let Some(messages) = comm.gather(message.bytes())? else { return Ok(None) };
        let mut all = vec![vec![0.0; rows.total()]; own.len()];
        let mut of = vec![0; rows.total()];
        for message in &messages {
            let mut message = Reader::new(message);
            let numbers = Runs::received(message.take()?);
            let nodes: Vec<u32> = message.take()?;
            numbers.iter().zip(nodes).for_each(|(number, node)| of[number as usize] = node);
            for v in &mut all {
                let elements: Vec<f64> = message.take()?;
                numbers.iter().zip(elements).for_each(|(number, element)| v[number as usize] = element);
            }
        }
        let nodes = space.nodes.as_ref().map(|nodes| (of, nodes.count));
        Ok(Some(OnHost { vectors: all, nodes, is_general: space.is_general }))
    }

    /// Where a backend computes.
    pub fn on<T: Real, B: Parts<T>>(&self, backend: &B) -> Result<SpaceOf<T, B>> {
        let nodes = self
            .nodes
            .as_ref()
            .map(|(of, count)| Ok(Nodes { of: Matrices::<T>::indices(backend, of)?, count: *count }));
        let (nodes, is_general) = (nodes.transpose()?, self.is_general);
        Ok(Space { vectors: vectors::<T, B>(backend, &self.vectors)?, nodes, is_general })
    }
}

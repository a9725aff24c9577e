//! Vectors that ranks have in parts, as rank 0 has all of them.

use cuda_std::Real;

use super::Distributed;
use super::border::Borders;
use super::exchange::Exchange;
use crate::backend::Length;
use crate::backend::memory::check_lengths;
use crate::comm::{Links, Partition, Reader, Runs, Writer};
use crate::error::Result;

/// The way of vectors that are shared out to rank 0, which computes with the whole ones, and back.
pub(crate) struct WayToRoot<T: Real, B: Borders<T>> {
    gather: Move<T, B>,
    scatter: Move<T, B>,
}

impl<T: Real, B: Borders<T>> WayToRoot<T, B> {
    /// Of vectors of `total` elements, of which each rank has these. All ranks call this.
    pub fn new(backend: &Distributed<B>, own: &Runs, total: usize) -> Result<Self> {
        let comm = &**backend.comm();
        let of_ranks = comm.gather(Writer::new().put(&own.sent()).bytes())?;
        let of_ranks = of_ranks.map(|messages| {
            let runs = |message: &Vec<u8>| Ok(Runs::received(Reader::new(message).take()?));
            messages.iter().map(runs).collect::<Result<Vec<_>>>()
        });
        let of_ranks = backend.agreed(of_ranks.transpose())?;
        let (there, back) = match &of_ranks {
            Some(of_ranks) => (gathered(of_ranks, total), scattered(of_ranks, total)),
            None => (given(own.len()), taken(own.len())),
        };
        Ok(WayToRoot { gather: Move::new(backend, there)?, scatter: Move::new(backend, back)? })
    }

    /// The same of vectors that are shared out as rank 0 knows; the others give `None`. All ranks call this.
    pub fn of_partition(backend: &Distributed<B>, partition: Option<&Partition>) -> Result<Self> {
        let comm = &**backend.comm();
        let Some(partition) = partition else {
            let message = comm.receive(0)?;
            let mut message = Reader::new(&message);
            let (own, total) = (Runs::received(message.take()?), message.one::<u64>()?);
            return WayToRoot::new(backend, &own, total as usize);
        };
        let total = partition.n_rows();
        for rank in 1..comm.size() {
            let message = Writer::new().put(&partition.rows(rank).sent()).put(&[total as u64]);
            comm.send(rank, &message.bytes())?;
        }
        WayToRoot::new(backend, partition.rows(0), total)
    }

    /// `whole` of `x`; elsewhere than on rank 0 it has no elements. All ranks call this.
    pub fn gather(&self, backend: &Distributed<B>, x: &B::Vector, whole: &mut B::Vector) -> Result<()> {
        self.gather.run(backend, x, whole)
    }

    /// The way back.
    pub fn scatter(&self, backend: &Distributed<B>, whole: &B::Vector, x: &mut B::Vector) -> Result<()> {
        self.scatter.run(backend, whole, x)
    }
}

/// How a vector becomes another that is shared out otherwise.
struct Move<T: Real, B: Borders<T>> {
    exchange: Exchange<T, B>,
    sources: B::Sources,
    n_own: usize,
    n: usize,
}

/// What a rank does for that, where its vector has so many elements.
struct Moved {
    n_own: usize,
    links: Links,
    /// Of each element; what is counted on behind the own ones comes from others.
    sources: Runs,
}

impl<T: Real, B: Borders<T>> Move<T, B> {
    /// All ranks call this.
    fn new(backend: &Distributed<B>, Moved { n_own, links, sources }: Moved) -> Result<Self> {
        let inner = backend.inner();
        let here = backend.agreed(inner.sources(&sources, n_own))?;
        let exchange = Exchange::new(inner, &links, n_own, backend.peers.as_ref())?;
        Ok(Move { exchange, sources: here, n_own, n: sources.len() })
    }

    fn run(&self, backend: &Distributed<B>, x: &B::Vector, y: &mut B::Vector) -> Result<()> {
        check_lengths("a vector", x.length(), &[("elements of this rank", self.n_own)])?;
        check_lengths("a vector", y.length(), &[("elements that it gets", self.n)])?;
        self.exchange.around(backend, x, |outgoing, received| {
            backend.inner().arrange((&self.sources, outgoing), received, x, y)
        })
    }
}

/// What rank 0 does on the way there, where ranks have these elements.
fn gathered(of_ranks: &[Runs], total: usize) -> Moved {
    // Elements come from one rank after the other, behind those of rank 0.
    let sources = of_ranks.iter().flat_map(Runs::iter_runs).collect::<Runs>().order();
    debug_assert_eq!(sources.len(), total);
    let receives = of_ranks.iter().map(Runs::len).enumerate().skip(1).filter(|&(_, count)| count > 0);
    let links = Links { sends: Vec::new(), receives: receives.collect() };
    Moved { n_own: of_ranks[0].len(), links, sources }
}

/// What rank 0 does on the way back.
fn scattered(of_ranks: &[Runs], total: usize) -> Moved {
    let sends = of_ranks.iter().cloned().enumerate().skip(1);
    let sends = sends.filter(|(_, places)| !places.is_empty()).collect();
    Moved { n_own: total, links: Links { sends, receives: Vec::new() }, sources: of_ranks[0].clone() }
}

/// What another rank does on the way there: it gives rank 0 so many elements.
fn given(own: usize) -> Moved {
    let sends = Some((0, Runs::from(0..own))).filter(|_| own > 0);
    let links = Links { sends: sends.into_iter().collect(), receives: Vec::new() };
    Moved { n_own: own, links, sources: Runs::default() }
}

/// What another rank does on the way back.
fn taken(own: usize) -> Moved {
    let receives = Some((0, own)).filter(|_| own > 0).into_iter().collect();
    Moved { n_own: 0, links: Links { sends: Vec::new(), receives }, sources: Runs::from(0..own) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::backend::cpu::Cpu;
    use crate::backend::gpu::Gpu;
    use crate::comm::{Comm, Team};
    use crate::launch::sim::Sim;

    /// There and back on every rank of a partition, twice: the windows of ranks change hands between.
    fn check<B: Borders<f64>>(open: &(dyn Fn() -> B + Sync), is_connected: bool, partition: &Partition) {
        let on_rank = |team: Team| {
            let (rank, comm) = (team.rank(), Arc::new(team) as Arc<dyn Comm>);
            let backend = match is_connected {
                true => Distributed::connected::<f64>(open(), comm).unwrap(),
                false => Distributed::new(open(), comm),
            };
            let root = Some(partition).filter(|_| rank == 0);
            let way = WayToRoot::<f64, B>::of_partition(&backend, root).unwrap();
            let (own, inner) = (partition.rows(rank), backend.inner());
            let of = |factor: f64, i: u32| factor * (f64::from(i) + 0.5);
            let mut whole = inner.vector(&vec![f64::NAN; root.map_or(0, Partition::n_rows)]).unwrap();
            let mut back = inner.vector(&vec![f64::NAN; own.len()]).unwrap();
            for factor in [0.3, -1.7] {
                let x: Vec<f64> = own.iter().map(|i| of(factor, i)).collect();
                way.gather(&backend, &inner.vector(&x).unwrap(), &mut whole).unwrap();
                let all = inner.to_host(&whole).unwrap();
                assert!(all.iter().copied().eq((0..all.len() as u32).map(|i| of(factor, i))));
                way.scatter(&backend, &whole, &mut back).unwrap();
                assert_eq!(inner.to_host(&back).unwrap(), x);
            }
            assert!(way.gather(&backend, &inner.vector(&[1.5; 400]).unwrap(), &mut whole).is_err());
        };
        std::thread::scope(|scope| {
            Team::new(partition.size()).into_iter().for_each(|team| drop(scope.spawn(|| on_rank(team))));
        });
    }

    #[test]
    fn vectors_come_to_rank_0_and_back() {
        let strict = || Gpu::new(Arc::new(Sim::strict())).unwrap();
        for (total, size) in [(0, 2), (1, 3), (301, 1), (301, 2), (67, 5)] {
            let in_rows = (0..total).map(|i| (i * size / total.max(1)) as u32).collect::<Vec<_>>();
            let mixed = (0..total).map(|i| (i * i * 7 / 3 % size) as u32).collect::<Vec<_>>();
            for owners in [in_rows, mixed] {
                let partition = Partition::of_owners(&owners, size);
                check(&|| Cpu::new(1).unwrap(), false, &partition);
                check(&strict, false, &partition);
                check(&strict, true, &partition);
            }
        }
    }
}

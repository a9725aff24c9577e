//! A backend of several ranks, each with a part of every vector, over a backend that computes with its own.
//!
//! A vector here is the part of this rank. Reductions are those of the parts, which every rank then adds up
//! in the order of ranks, so that all have the same scalars, to the same bits, and decide alike. A product
//! first exchanges the elements that others need. Every method that is written over
//! [`Backend`](super::Backend), and every preconditioner that works element by element, runs on it as it is.
//!
//! All ranks make the same calls in the same order.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cuda_std::Real;

use super::{Memory, Monitoring, Progress, Slot};
use crate::comm::{self, Comm, Reader, Writer};
use crate::error::{Error, Result};

mod border;
mod cells;
mod channel;
mod cpu;
mod exchange;
mod exchanged;
mod gpu;
mod neighbours;
mod outgoing;
mod peers;
mod products;
mod root;
mod vectors;
mod windows;

pub use border::{BorderRows, Borders};
pub use exchanged::Exchanged;
pub use gpu::DeviceBorder;
pub(crate) use neighbours::Neighbours;
pub use peers::{OverRanks, PEERS_VARIABLE, Peers};
pub use products::DistributedMatrix;
pub(crate) use root::WayToRoot;

/// The backend of one of several ranks.
#[derive(Clone)]
pub struct Distributed<B> {
    inner: B,
    comm: Arc<dyn Comm>,
    /// Where nothing between ranks goes through the host.
    peers: Option<Arc<Peers>>,
    traffic: Arc<Counters>,
}

#[derive(Default)]
struct Counters {
    exchanges: AtomicU64,
    exchanged_bytes: AtomicU64,
    reductions: AtomicU64,
}

impl<B> Distributed<B> {
    /// One of the ranks of `comm`, which computes on `inner`, and exchanges through the host.
    pub fn new(inner: B, comm: Arc<dyn Comm>) -> Self {
        Distributed { inner, comm, peers: None, traffic: Arc::default() }
    }

    /// The same, exchanging without the host where the devices of all ranks can write each other's memory.
    /// All ranks call this.
    ///
    /// # Errors
    /// [`Error::Rank`] where a rank has no memory for that, or has failed.
    pub fn connected<T: Real>(inner: B, comm: Arc<dyn Comm>) -> Result<Self>
    where
        B: Borders<T>,
    {
        let peers = Peers::of(&comm, inner.shared_device())?;
        Ok(Distributed { peers, ..Distributed::new(inner, comm) })
    }

    /// Whether nothing between ranks goes through the host.
    pub fn is_connected(&self) -> bool {
        self.peers.is_some()
    }

    /// What this rank computes on.
    pub fn inner(&self) -> &B {
        &self.inner
    }

    /// The others as its device reaches them, where nothing between ranks goes through the host.
    pub(crate) fn peers(&self) -> Option<&Arc<Peers>> {
        self.peers.as_ref()
    }

    /// How it talks to the others.
    pub fn comm(&self) -> &Arc<dyn Comm> {
        &self.comm
    }

    /// What was exchanged so far, by this rank.
    ///
    /// # Errors
    /// Those of a device that counts it.
    pub fn exchanged(&self) -> Result<Exchanged> {
        if let Some(peers) = &self.peers {
            return peers.exchanged();
        }
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let Counters { exchanges, exchanged_bytes, reductions } = &*self.traffic;
        Ok(Exchanged { exchanges: of(exchanges), bytes: of(exchanged_bytes), reductions: of(reductions) })
    }

    fn count_exchange(&self, bytes: usize) {
        self.traffic.exchanges.fetch_add(1, Ordering::Relaxed);
        self.traffic.exchanged_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Replaces the `count` scalars from `first` on by their sums over ranks; nothing where the guard has
    /// stopped, which is so on every rank or on none.
    pub(crate) fn sum_over_ranks<T: Real>(&self, s: &B::Scalars, first: Slot, count: usize) -> Result<()>
    where
        B: Borders<T>,
    {
        self.reduce(s, OverRanks { first, count, total: None, is_max: false })
    }

    /// The same for sums or maxima, which may be added to other scalars too.
    pub(crate) fn reduce<T: Real>(&self, s: &B::Scalars, over: OverRanks) -> Result<()>
    where
        B: Borders<T>,
    {
        let OverRanks { first, count, total, is_max } = over;
        if count == 0 {
            return Ok(());
        }
        if let Some(peers) = &self.peers {
            return self.inner.reduce_over(peers, s, over);
        }
        if self.inner.has_stopped()? {
            return Ok(());
        }
        let scalars = match (count, total) {
            (1, None) => vec![self.inner.read(s, first)?],
            _ => self.inner.read_all(s)?,
        };
        let of = |first: Slot| if scalars.len() == 1 { 0..1 } else { first.0..first.0 + count };
        self.traffic.reductions.fetch_add(1, Ordering::Relaxed);
        let combine = if is_max { comm::maxima } else { comm::sums };
        let combined = combine(&*self.comm, &scalars[of(first)])?;
        self.inner.write(s, first, &combined)?;
        let Some(total) = total else { return Ok(()) };
        let sums: Vec<T> = scalars[of(total)].iter().zip(&combined).map(|(&a, &b)| a + b).collect();
        self.inner.write(s, total, &sums)
    }
}

impl<T: Real, B: Memory<T>> Memory<T> for Distributed<B> {
    type Vector = B::Vector;
    type Scalars = B::Scalars;

    fn zeros(&self, n: usize) -> Result<B::Vector> {
        self.inner.zeros(n)
    }
    fn vector(&self, values: &[T]) -> Result<B::Vector> {
        self.inner.vector(values)
    }
    fn vectors(&self, n: usize, count: usize) -> Result<Vec<B::Vector>> {
        self.inner.vectors(n, count)
    }
    fn copy_to_host(&self, x: &B::Vector, values: &mut [T]) -> Result<()> {
        self.inner.copy_to_host(x, values)
    }
    fn scalars(&self, n: usize) -> Result<B::Scalars> {
        self.inner.scalars(n)
    }
    fn read_all(&self, scalars: &B::Scalars) -> Result<Vec<T>> {
        self.inner.read_all(scalars)
    }
    fn read(&self, scalars: &B::Scalars, slot: Slot) -> Result<T> {
        self.inner.read(scalars, slot)
    }
    fn write(&self, scalars: &B::Scalars, first: Slot, values: &[T]) -> Result<()> {
        self.inner.write(scalars, first, values)
    }
    fn synchronize(&self) -> Result<()> {
        self.inner.synchronize()
    }
}

impl<T: Real, B: Borders<T>> Monitoring<T> for Distributed<B> {
    type Monitor = B::Monitor;
    type Recording = B::Recording;

    fn monitor(&self, limit: u32, threshold: f64) -> Result<B::Monitor> {
        self.inner.monitor(limit, threshold)
    }
    fn guarded(&self, monitor: &B::Monitor) -> Self {
        self.over(self.inner.guarded(monitor))
    }
    fn silent(&self, monitor: &B::Monitor) -> B::Monitor {
        self.inner.silent(monitor)
    }
    fn has_stopped(&self) -> Result<bool> {
        self.inner.has_stopped()
    }
    /// As far as rank 0 knows, so that no rank knows more than another: they go on alike.
    fn wait(&self, monitor: &B::Monitor, observed: u32) -> Result<Progress> {
        if self.peers.is_none() {
            // When everything queued is done all know the same.
            self.inner.synchronize()?;
            return self.inner.wait(monitor, observed);
        }
        // Every rank looks at its own device, where a fault may have come up.
        let Progress { status, observed, norm } = self.inner.wait(monitor, observed)?;
        let mut message = Writer::new().put(&[status, observed]).put(&[norm]).bytes();
        self.comm.broadcast(&mut message)?;
        let mut message = Reader::new(&message);
        let (counts, norm) = (message.take::<u32>()?, message.one::<f64>()?);
        match counts[..] {
            [status, observed] => Ok(Progress { status, observed, norm }),
            _ => Err(Error::Option("rank 0 tells something else".into())),
        }
    }
    fn history(&self, monitor: &B::Monitor) -> Result<Vec<f64>> {
        self.inner.history(monitor)
    }
    fn observe(&self, scalars: &B::Scalars, square: Slot, monitor: &B::Monitor) -> Result<()> {
        self.inner.observe(scalars, square, monitor)
    }
    /// Nothing where reductions go through the host, or a rank records nothing.
    fn record(&self, work: &mut dyn FnMut(&Self) -> Result<()>) -> Result<Option<B::Recording>> {
        if self.peers.is_none() {
            return Ok(None);
        }
        let recorded = self.inner.record(&mut |inner| work(&self.over(inner.clone())))?;
        let all = self.comm.all_gather(&[f64::from(u8::from(recorded.is_some()))])?;
        Ok(recorded.filter(|_| all.iter().all(|&recorded| recorded > 0.0)))
    }
    unsafe fn replay(&self, recording: &B::Recording) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.inner.replay(recording) }
    }
}

impl<B> Distributed<B> {
    /// The same rank on another backend of its device.
    fn over(&self, inner: B) -> Self {
        let (comm, peers, traffic) = (self.comm.clone(), self.peers.clone(), self.traffic.clone());
        Distributed { inner, comm, peers, traffic }
    }
}

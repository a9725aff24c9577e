//! A backend of several ranks, each with a part of every vector, over a backend that computes with its own.
//!
//! A vector here is the part of this rank. Reductions are those of the parts, which every rank then adds up
//! in the order of ranks, so that all have the same scalars, to the same bits, and decide alike. A product
//! first exchanges the elements that others need. Every method that is written over
//! [`Backend`](super::Backend), and every preconditioner that works element by element, runs on it as it is.
//!
//! All ranks make the same calls in the same order.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cuda_std::Real;

use super::{Memory, Monitoring, Progress, Slot};
use crate::comm::{self, Comm};
use crate::error::Result;

mod border;
mod cpu;
mod gpu;
mod products;
mod root;
mod vectors;

pub use border::{BorderRows, Borders};
pub use products::DistributedMatrix;

/// The backend of one of several ranks.
#[derive(Clone)]
pub struct Distributed<B> {
    inner: B,
    comm: Arc<dyn Comm>,
    traffic: Arc<Counters>,
}

#[derive(Default)]
struct Counters {
    exchanges: AtomicU64,
    exchanged_bytes: AtomicU64,
    reductions: AtomicU64,
}

/// What a rank told others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exchanged {
    /// Exchanges of elements, one for each product with a matrix that has columns of others.
    pub exchanges: u64,
    /// Bytes that were sent in them.
    pub bytes: u64,
    /// Reductions over ranks.
    pub reductions: u64,
}

impl Exchanged {
    /// What came since `before`.
    pub(crate) fn since(self, before: Exchanged) -> Exchanged {
        Exchanged {
            exchanges: self.exchanges - before.exchanges,
            bytes: self.bytes - before.bytes,
            reductions: self.reductions - before.reductions,
        }
    }
    pub(crate) fn add(&mut self, more: Exchanged) {
        self.exchanges += more.exchanges;
        self.bytes += more.bytes;
        self.reductions += more.reductions;
    }
}

impl<B> Distributed<B> {
    /// One of the ranks of `comm`, which computes on `inner`.
    pub fn new(inner: B, comm: Arc<dyn Comm>) -> Self {
        Distributed { inner, comm, traffic: Arc::default() }
    }

    /// What this rank computes on.
    pub fn inner(&self) -> &B {
        &self.inner
    }

    /// How it talks to the others.
    pub fn comm(&self) -> &Arc<dyn Comm> {
        &self.comm
    }

    /// What was exchanged so far, by this rank.
    pub fn exchanged(&self) -> Exchanged {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let Counters { exchanges, exchanged_bytes, reductions } = &*self.traffic;
        Exchanged { exchanges: of(exchanges), bytes: of(exchanged_bytes), reductions: of(reductions) }
    }

    fn count_exchange(&self, bytes: usize) {
        self.traffic.exchanges.fetch_add(1, Ordering::Relaxed);
        self.traffic.exchanged_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Replaces the `count` scalars from `first` on by their sums over ranks; nothing where the guard has
    /// stopped, which is so on every rank or on none.
    pub(crate) fn sum_over_ranks<T: Real>(&self, s: &B::Scalars, first: Slot, count: usize) -> Result<()>
    where
        B: Monitoring<T>,
    {
        self.reduce(s, first, count, comm::sums)
    }

    fn reduce<T: Real>(
        &self,
        s: &B::Scalars,
        first: Slot,
        count: usize,
        over_ranks: impl FnOnce(&dyn Comm, &[T]) -> Result<Vec<T>>,
    ) -> Result<()>
    where
        B: Monitoring<T>,
    {
        if count == 0 || self.inner.has_stopped()? {
            return Ok(());
        }
        let mine = match count {
            1 => vec![self.inner.read(s, first)?],
            _ => self.inner.read_all(s)?[first.0..first.0 + count].to_vec(),
        };
        self.traffic.reductions.fetch_add(1, Ordering::Relaxed);
        self.inner.write(s, first, &over_ranks(&*self.comm, &mine)?)
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
    fn to_host(&self, x: &B::Vector) -> Result<Vec<T>> {
        self.inner.to_host(x)
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

impl<T: Real, B: Monitoring<T>> Monitoring<T> for Distributed<B> {
    type Monitor = B::Monitor;
    type Recording = Infallible;

    fn monitor(&self, limit: u32, threshold: f64) -> Result<B::Monitor> {
        self.inner.monitor(limit, threshold)
    }
    fn guarded(&self, monitor: &B::Monitor) -> Self {
        let (comm, traffic) = (self.comm.clone(), self.traffic.clone());
        Distributed { inner: self.inner.guarded(monitor), comm, traffic }
    }
    fn silent(&self, monitor: &B::Monitor) -> B::Monitor {
        self.inner.silent(monitor)
    }
    fn has_stopped(&self) -> Result<bool> {
        self.inner.has_stopped()
    }
    /// When everything queued is done: so no rank knows more than another.
    fn wait(&self, monitor: &B::Monitor, observed: u32) -> Result<Progress> {
        self.inner.synchronize()?;
        self.inner.wait(monitor, observed)
    }
    fn history(&self, monitor: &B::Monitor) -> Result<Vec<f64>> {
        self.inner.history(monitor)
    }
    fn observe(&self, scalars: &B::Scalars, square: Slot, monitor: &B::Monitor) -> Result<()> {
        self.inner.observe(scalars, square, monitor)
    }
    /// Nothing: reductions go through the host.
    fn record(&self, _work: &mut dyn FnMut(&Self) -> Result<()>) -> Result<Option<Infallible>> {
        Ok(None)
    }
    unsafe fn replay(&self, recording: &Infallible) -> Result<()> {
        match *recording {}
    }
}

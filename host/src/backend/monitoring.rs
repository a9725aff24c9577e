//! Iterations that run ahead of the host: the decision to stop is taken where the vectors are.

pub use arithmetic::status;
use cuda_std::Real;

use super::memory::Memory;
use super::scalars::Slot;
use crate::error::Result;

/// How far an iteration has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// One of [`status`].
    pub status: u32,
    /// Residual norms observed, the initial one included.
    pub observed: u32,
    /// The newest of them; NaN before the first.
    pub norm: f64,
}

impl Progress {
    /// Whether the iteration goes on.
    pub fn running(self) -> bool {
        self.status == status::RUNNING
    }
}

/// Stopping, and recorded work that is queued repeatedly.
pub trait Monitoring<T: Real>: Memory<T> {
    /// The state of one iteration.
    type Monitor;
    /// Recorded work.
    type Recording;

    /// A monitor which stops at `norm <= threshold` or after `limit` iterations.
    fn monitor(&self, limit: u32, threshold: f64) -> Result<Self::Monitor>;
    /// This backend under the guard of `monitor`: once that has stopped, no primitive changes anything.
    ///
    /// So the host may queue iterations ahead; neither the iterate nor the count depends on when it learns
    /// of the stop.
    fn guarded(&self, monitor: &Self::Monitor) -> Self;
    /// The same monitor for a step on a part of the vectors: such a step stops it, but does not tell it the
    /// norm, which is that of the part.
    fn silent(&self, monitor: &Self::Monitor) -> Self::Monitor;
    /// Whether what guards this backend has stopped, everything queued before being done. Waits for that.
    fn has_stopped(&self) -> Result<bool>;
    /// Waits until `observed` norms are known or the iteration has stopped.
    fn wait(&self, monitor: &Self::Monitor, observed: u32) -> Result<Progress>;
    /// The norms observed so far.
    fn history(&self, monitor: &Self::Monitor) -> Result<Vec<f64>>;
    /// Enters `sqrt(scalars[square])` as the next residual norm.
    #[track_caller]
    fn observe(&self, scalars: &Self::Scalars, square: Slot, monitor: &Self::Monitor) -> Result<()>;

    /// Records the primitives of `work` instead of queueing them, so that [`Monitoring::replay`] queues all
    /// of them at once.
    ///
    /// `None` where there is no recording: on the host, and where `work` asked for a primitive that allocates
    /// or waits, which a recording cannot do. Then nothing of `work` is carried out.
    fn record(&self, work: &mut dyn FnMut(&Self) -> Result<()>) -> Result<Option<Self::Recording>>;
    /// Queues the primitives of a recording of this backend.
    ///
    /// # Safety
    /// A recording holds addresses: every vector, matrix, array of scalars and monitor that its primitives
    /// were given is still there.
    unsafe fn replay(&self, recording: &Self::Recording) -> Result<()>;
}

//! What the backends on the host share: vectors are `Vec`s, scalars are in cells, the monitor is a lock.

use std::cell::Cell;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use arithmetic::angle::step;
use cuda_std::Real;

use super::memory::{Length, Memory, check_lengths};
use super::monitoring::{Monitoring, Progress, status};
use super::products::check_slots;
use super::scalars::{Coef, Slot};
use crate::error::Result;

/// A backend on the host.
pub trait HostBackend: Sized {
    /// What stops its primitives.
    #[doc(hidden)]
    fn guard(&self) -> &HostGuard;
    /// The same backend under another guard.
    #[doc(hidden)]
    fn with_guard(&self, guard: HostGuard) -> Self;
    /// `n` zeros.
    #[doc(hidden)]
    fn zeros_in_memory<T: Real>(&self, n: usize) -> Vec<T>;

    /// [`Vectors::angle_step`](super::Vectors::angle_step).
    #[doc(hidden)]
    fn angle_step<T: Real>(&self, s: &HostScalars<T>, dots: Slot, square: Slot, out: Slot) -> Result<()> {
        check_slots("angle_step", s.length(), dots, 2)?;
        check_slots("angle_step", s.length(), square, 1)?;
        check_slots("angle_step", s.length(), out, 1)?;
        if !self.stopped() {
            s.set(out, step(s.get(dots), s.get(dots.offset(1)), s.get(square)));
        }
        Ok(())
    }

    /// Whether a monitor has stopped the primitives.
    #[doc(hidden)]
    fn stopped(&self) -> bool {
        self.guard().stopped()
    }
}

impl<T: Real, H: HostBackend> Memory<T> for H {
    type Vector = Vec<T>;
    type Scalars = HostScalars<T>;

    fn zeros(&self, n: usize) -> Result<Vec<T>> {
        Ok(self.zeros_in_memory(n))
    }
    fn vector(&self, values: &[T]) -> Result<Vec<T>> {
        Ok(values.to_vec())
    }
    fn vectors(&self, n: usize, count: usize) -> Result<Vec<Vec<T>>> {
        Ok((0..count).map(|_| self.zeros_in_memory(n)).collect())
    }
    fn copy_to_host(&self, x: &Vec<T>, values: &mut [T]) -> Result<()> {
        check_lengths("a copy to the host", x.len(), &[("values", values.len())])?;
        values.copy_from_slice(x);
        Ok(())
    }
    fn scalars(&self, n: usize) -> Result<HostScalars<T>> {
        Ok(HostScalars::new(n))
    }
    fn read_all(&self, scalars: &HostScalars<T>) -> Result<Vec<T>> {
        Ok(scalars.all())
    }
    fn read(&self, scalars: &HostScalars<T>, slot: Slot) -> Result<T> {
        check_slots("read", scalars.length(), slot, 1)?;
        Ok(scalars.get(slot))
    }
    fn write(&self, scalars: &HostScalars<T>, first: Slot, values: &[T]) -> Result<()> {
        check_slots("write", scalars.length(), first, values.len())?;
        values.iter().enumerate().for_each(|(k, &value)| scalars.set(first.offset(k), value));
        Ok(())
    }
    fn synchronize(&self) -> Result<()> {
        Ok(())
    }
}

impl<T: Real, H: HostBackend> Monitoring<T> for H {
    type Monitor = HostMonitor;
    type Recording = Infallible;

    fn monitor(&self, limit: u32, threshold: f64) -> Result<HostMonitor> {
        Ok(HostMonitor::new(limit, threshold))
    }
    fn guarded(&self, monitor: &HostMonitor) -> Self {
        self.with_guard(HostGuard::new(monitor))
    }
    fn silent(&self, monitor: &HostMonitor) -> HostMonitor {
        HostMonitor { is_silent: true, ..monitor.clone() }
    }
    fn has_stopped(&self) -> Result<bool> {
        Ok(self.stopped())
    }
    fn wait(&self, monitor: &HostMonitor, _observed: u32) -> Result<Progress> {
        Ok(monitor.progress())
    }
    fn history(&self, monitor: &HostMonitor) -> Result<Vec<f64>> {
        Ok(monitor.history())
    }
    fn observe(&self, s: &HostScalars<T>, square: Slot, monitor: &HostMonitor) -> Result<()> {
        check_slots("observe", s.length(), square, 1)?;
        if !self.stopped() {
            monitor.observe(s.get(square).to_f64().sqrt());
        }
        Ok(())
    }
    fn record(&self, _work: &mut dyn FnMut(&Self) -> Result<()>) -> Result<Option<Infallible>> {
        Ok(None)
    }
    unsafe fn replay(&self, recording: &Infallible) -> Result<()> {
        match *recording {}
    }
}

/// Scalars of a host backend.
pub struct HostScalars<T>(Vec<Cell<T>>);

impl<T> Length for HostScalars<T> {
    fn length(&self) -> usize {
        self.0.len()
    }
}

impl<T: Real> HostScalars<T> {
    pub(crate) fn new(n: usize) -> Self {
        HostScalars(vec![Cell::new(T::ZERO); n])
    }
    pub(crate) fn get(&self, slot: Slot) -> T {
        self.0[slot.0].get()
    }
    pub(crate) fn all(&self) -> Vec<T> {
        self.0.iter().map(Cell::get).collect()
    }
    pub(crate) fn set(&self, slot: Slot, value: T) {
        self.0[slot.0].set(value);
    }
    /// In the order of factors that the kernels use, so that the values agree to the last bit.
    fn value(&self, coef: Coef) -> T {
        let mut value = T::from_f64(coef.scale);
        for k in 0..2 {
            if let Some(num) = coef.num[k] {
                value *= self.get(num);
            }
            if let Some(den) = coef.den[k] {
                value /= self.get(den);
            }
        }
        value
    }
}

#[derive(Debug)]
struct State {
    status: AtomicU32,
    history: Mutex<Vec<f64>>,
    limit: u32,
    threshold: f64,
}

/// The monitor of a host backend.
#[derive(Debug, Clone)]
pub struct HostMonitor {
    state: Arc<State>,
    /// Whether norms are not taken.
    is_silent: bool,
}

impl HostMonitor {
    pub(crate) fn new(limit: u32, threshold: f64) -> Self {
        let (status, history) = (AtomicU32::new(status::RUNNING), Mutex::new(Vec::new()));
        HostMonitor { state: Arc::new(State { status, history, limit, threshold }), is_silent: false }
    }

    /// As [`gpu_kernels::monitor::Monitor::observe`].
    pub(crate) fn observe(&self, norm: f64) {
        if self.is_silent {
            return;
        }
        let state = &*self.state;
        let observed = {
            let mut history = self.norms();
            history.push(norm);
            history.len() as u32 - 1
        };
        if !norm.is_finite() {
            self.raise(status::NOT_FINITE);
        } else if norm <= state.threshold {
            self.raise(status::CONVERGED);
        } else if observed >= state.limit {
            self.raise(status::LIMIT);
        }
    }

    fn norms(&self) -> std::sync::MutexGuard<'_, Vec<f64>> {
        self.state.history.lock().expect("no holder panics")
    }

    pub(crate) fn raise(&self, status: u32) {
        self.state.status.store(status, Ordering::Relaxed);
    }
    pub(crate) fn progress(&self) -> Progress {
        let history = self.norms();
        Progress {
            status: self.state.status.load(Ordering::Relaxed),
            observed: history.len() as u32,
            norm: history.last().copied().unwrap_or(f64::NAN),
        }
    }
    pub(crate) fn history(&self) -> Vec<f64> {
        self.norms().clone()
    }
}

/// The guard of a host backend: none, or a monitor.
#[derive(Debug, Clone, Default)]
pub struct HostGuard(Option<HostMonitor>);

impl HostGuard {
    pub(crate) fn new(monitor: &HostMonitor) -> Self {
        HostGuard(Some(monitor.clone()))
    }
    pub(crate) fn stopped(&self) -> bool {
        self.0.as_ref().is_some_and(|m| !m.progress().running())
    }
    /// The coefficients' values; `None` where they must not be used: after a stop, and where one is not
    /// finite, which is a breakdown.
    pub(crate) fn values<T: Real, const K: usize>(
        &self,
        s: &HostScalars<T>,
        coefs: [Coef; K],
    ) -> Result<Option<[T; K]>> {
        let slots = coefs.iter().flat_map(|coef| coef.num.iter().chain(&coef.den).flatten());
        slots.into_iter().try_for_each(|&slot| check_slots("a coefficient", s.length(), slot, 1))?;
        if self.stopped() {
            return Ok(None);
        }
        let values = coefs.map(|c| s.value(c));
        if values.iter().all(|v| v.is_finite()) {
            return Ok(Some(values));
        }
        if let Some(monitor) = &self.0 {
            monitor.raise(status::BREAKDOWN);
        }
        Ok(None)
    }
}

//! What the backends on the host share: scalars in cells, the monitor, the small dense part of GMRES.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use cuda_std::Real;
use gpu_kernels::gram_schmidt::SINGULAR;

use crate::backend::{Coef, GmresSlots, Progress, Slot, status};

/// Scalars of a host backend.
pub struct HostScalars<T>(Vec<Cell<T>>);

impl<T: Real> HostScalars<T> {
    pub(super) fn new(n: usize) -> Self {
        HostScalars(vec![Cell::new(T::ZERO); n])
    }
    pub(super) fn get(&self, slot: Slot) -> T {
        self.0[slot.0].get()
    }
    pub(super) fn all(&self) -> Vec<T> {
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

/// Slot `base + i`.
pub(super) fn at(base: Slot, i: usize) -> Slot {
    Slot(base.0 + i)
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
pub struct HostMonitor(Arc<State>);

impl HostMonitor {
    pub(super) fn new(limit: u32, threshold: f64) -> Self {
        HostMonitor(Arc::new(State {
            status: AtomicU32::new(status::RUNNING),
            history: Mutex::new(Vec::new()),
            limit,
            threshold,
        }))
    }

    /// As [`gpu_kernels::monitor::Monitor::observe`].
    pub(crate) fn observe(&self, norm: f64) {
        let state = &*self.0;
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
        self.0.history.lock().expect("no holder panics")
    }

    pub(super) fn raise(&self, status: u32) {
        self.0.status.store(status, Ordering::Relaxed);
    }
    pub(super) fn progress(&self) -> Progress {
        let history = self.norms();
        Progress {
            status: self.0.status.load(Ordering::Relaxed),
            observed: history.len() as u32,
            norm: history.last().copied().unwrap_or(f64::NAN),
        }
    }
    pub(super) fn history(&self) -> Vec<f64> {
        self.norms().clone()
    }
}

/// The guard of a host backend: none, or a monitor.
#[derive(Debug, Clone, Default)]
pub(super) struct HostGuard(Option<HostMonitor>);

impl HostGuard {
    pub(super) fn new(monitor: &HostMonitor) -> Self {
        HostGuard(Some(monitor.clone()))
    }
    pub(super) fn stopped(&self) -> bool {
        self.0.as_ref().is_some_and(|m| !m.progress().running())
    }
    /// The coefficients' values, or `None` after a breakdown.
    pub(super) fn values<T: Real, const K: usize>(
        &self,
        s: &HostScalars<T>,
        coefs: [Coef; K],
    ) -> Option<[T; K]> {
        let values = coefs.map(|c| s.value(c));
        if values.iter().all(|v| v.is_finite()) {
            return Some(values);
        }
        if let Some(monitor) = &self.0 {
            monitor.raise(status::BREAKDOWN);
        }
        None
    }
}

/// `alpha` of CG, or `None` after stopping the monitor because a quadratic form is not positive.
pub(super) fn cg_alpha<T: Real>(rho: T, p_ap: T, monitor: &HostMonitor) -> Option<T> {
    if !rho.is_finite() || !p_ap.is_finite() {
        monitor.raise(status::NOT_FINITE);
    } else if rho <= T::ZERO {
        monitor.raise(status::INDEFINITE_PRECONDITIONER);
    } else if p_ap <= T::ZERO {
        monitor.raise(status::INDEFINITE_OPERATOR);
    } else {
        return Some(rho / p_ap);
    }
    None
}

/// As [`gpu_kernels::gram_schmidt::gmres_start`].
pub(super) fn gmres_start<T: Real>(s: &HostScalars<T>, slots: GmresSlots) {
    let beta = s.get(GmresSlots::NORM2).sqrt();
    s.set(GmresSlots::BETA, beta);
    s.set(slots.g(), beta);
    s.set(GmresSlots::COLUMNS, T::ZERO);
}

/// As [`gpu_kernels::gram_schmidt::gmres_rotate`].
pub(super) fn gmres_rotate<T: Real>(s: &HostScalars<T>, slots: GmresSlots, j: usize, monitor: &HostMonitor) {
    let h = slots.column(j);
    let (cs, sn, g) = (slots.cosines(), slots.sines(), slots.g());
    let below = s.get(GmresSlots::NORM2).sqrt();
    s.set(GmresSlots::LENGTH, below);
    let square = (0..=j).fold(below * below, |sum, i| sum + s.get(at(h, i)) * s.get(at(h, i)));
    let rounding = T::from_f64(SINGULAR * T::EPSILON.to_f64()) * square.sqrt();
    for i in 0..j {
        let (upper, lower) = (s.get(at(h, i)), s.get(at(h, i + 1)));
        let (c, sine) = (s.get(at(cs, i)), s.get(at(sn, i)));
        s.set(at(h, i), c * upper + sine * lower);
        s.set(at(h, i + 1), c * lower - sine * upper);
    }
    let upper = s.get(at(h, j));
    let radius = (upper * upper + below * below).sqrt();
    s.set(at(h, j), radius);
    if !radius.is_finite() {
        monitor.raise(status::NOT_FINITE);
    } else if radius <= rounding {
        monitor.raise(status::BREAKDOWN);
    } else {
        let (c, sine) = (upper / radius, below / radius);
        s.set(at(cs, j), c);
        s.set(at(sn, j), sine);
        let last = s.get(at(g, j));
        s.set(at(g, j), c * last);
        s.set(at(g, j + 1), -(sine * last));
        s.set(GmresSlots::COLUMNS, T::from_f64((j + 1) as f64));
        monitor.observe((sine * last).abs().to_f64());
    }
}

/// As [`gpu_kernels::gram_schmidt::gmres_solve`]; returns how many columns there are.
pub(super) fn gmres_solve<T: Real>(s: &HostScalars<T>, slots: GmresSlots) -> usize {
    let done = s.get(GmresSlots::COLUMNS).to_f64() as usize;
    let y = slots.y();
    let mut rest: Vec<T> = (0..done).map(|i| s.get(at(slots.g(), i))).collect();
    for j in (0..done).rev() {
        let column = slots.column(j);
        let value = rest[j] / s.get(at(column, j));
        s.set(at(y, j), -value);
        for (i, g) in rest[..j].iter_mut().enumerate() {
            *g -= value * s.get(at(column, i));
        }
    }
    done
}

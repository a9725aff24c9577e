//! Orders and factors of a matrix, as long as nobody cancels that.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::apart::unless_cancelled;
use super::factorisation::Factorisation;
use super::kind::kinds;
use super::ordered::{FEW, Ordered};
use super::symbolic::{Care, Effort};
use crate::error::Result;
use crate::matrix::Csr;

/// Seconds below which a factorisation is not worth a thread of its own.
const SHORT: f64 = 2e-3;

/// Factorises one matrix, as long as nobody cancels that.
pub struct Attempts {
    a: Arc<Csr<f64>>,
    cancelled: Arc<AtomicBool>,
}

impl Attempts {
    /// Of a matrix, until the flag is raised.
    pub fn new(a: Arc<Csr<f64>>, cancelled: Arc<AtomicBool>) -> Attempts {
        Attempts { a, cancelled }
    }

    /// The factorisation that is tried first, of what may be ordered already; `None` where it was cancelled.
    pub fn first(&self, ordered: Option<Ordered>, excess: f64) -> Result<Option<Factorisation>> {
        let ordered = match ordered {
            Some(ordered) => Some(ordered),
            None => self.ordered(|a| Ordered::of(a, &kinds(a)))?,
        };
        self.factorised(ordered, Care::Usual, excess)
    }

    /// Orders; `None` where it was cancelled.
    pub fn ordered(
        &self,
        order: impl FnOnce(&Csr<f64>) -> Result<Ordered> + Send + 'static,
    ) -> Result<Option<Ordered>> {
        let a = self.a.clone();
        unless_cancelled(a.nnz() < FEW, &self.cancelled, move || order(&a))
    }

    /// Factorises what was ordered; `None` where it was cancelled.
    pub fn factorised(
        &self,
        ordered: Option<Ordered>,
        care: Care,
        excess: f64,
    ) -> Result<Option<Factorisation>> {
        let Some(ordered) = ordered else { return Ok(None) };
        let is_short = ordered.prediction().seconds() < SHORT;
        let (a, cancelled, effort) = (self.a.clone(), self.cancelled.clone(), Effort { care, excess });
        let work = move || Factorisation::of(&a, ordered, effort, &cancelled);
        unless_cancelled(is_short, &self.cancelled, work).map(Option::flatten)
    }

    /// By normal equations, in so many seconds at most, after factors that took `seconds`; `None` where those
    /// do not serve, or it was cancelled.
    pub fn normal(&self, seconds: f64, most: f64) -> Result<Option<Factorisation>> {
        let (a, cancelled) = (self.a.clone(), self.cancelled.clone());
        let work = move || Factorisation::normal(&a, most, &cancelled);
        unless_cancelled(seconds < SHORT, &self.cancelled, work).map(Option::flatten)
    }
}

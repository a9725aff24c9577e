//! The time that a set-up takes.

use std::time::Instant;

use cuda_std::Real;

use crate::backend::Backend;
use crate::error::Result;

/// Seconds of the set-up's phases, over all levels, in the order in which they first came.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Phases(Vec<(&'static str, f64)>);

impl Phases {
    /// (phase, seconds).
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.0.iter().copied()
    }

    /// Adds those of another part of the set-up.
    pub(super) fn add(&mut self, others: &Phases) {
        others.iter().for_each(|(phase, seconds)| self.add_to(phase, seconds));
    }

    fn add_to(&mut self, phase: &'static str, seconds: f64) {
        match self.0.iter_mut().find(|(name, _)| *name == phase) {
            Some((_, sum)) => *sum += seconds,
            None => self.0.push((phase, seconds)),
        }
    }

    /// Runs `work`, waits for it, and adds its time.
    pub(super) fn time<T: Real, B: Backend<T>, R>(
        &mut self,
        backend: &B,
        phase: &'static str,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        let start = Instant::now();
        let result = work()?;
        backend.synchronize()?;
        self.add_to(phase, start.elapsed().as_secs_f64());
        Ok(result)
    }
}

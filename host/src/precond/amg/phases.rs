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
        let seconds = start.elapsed().as_secs_f64();
        match self.0.iter_mut().find(|(name, _)| *name == phase) {
            Some((_, sum)) => *sum += seconds,
            None => self.0.push((phase, seconds)),
        }
        Ok(result)
    }
}

//! Who watches an iteration that all ranks make together.

use crate::comm::Comm;
use crate::solver::Observer;

/// Lets rank 0 decide for all whether to go on.
pub(super) struct Agreed<'a, 'b> {
    pub comm: &'a dyn Comm,
    /// Of rank 0.
    pub observer: Option<&'b mut dyn Observer>,
}

impl Observer for Agreed<'_, '_> {
    fn observe(&mut self, iterations: u32, norm: f64) {
        if let Some(observer) = &mut self.observer {
            observer.observe(iterations, norm);
        }
    }

    fn is_cancelled(&self) -> bool {
        let cancelled = self.observer.as_ref().is_some_and(|observer| observer.is_cancelled());
        let mut message = vec![u8::from(cancelled)];
        // A rank that cannot be heard ends the iteration, and the next message brings its error.
        self.comm.broadcast(&mut message).is_err() || message == [1]
    }
}

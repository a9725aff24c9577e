//! What every iterative method does.

use cuda_std::Real;

use super::direct::Info;
use super::outcome::{Outcome, Stop};
use crate::backend::Backend;
use crate::error::Result;
use crate::precond::{Preconditioner, Traffic};

/// Watches an iteration, from the host. A closure is one that never cancels.
pub trait Observer {
    /// Called with the iterations done and the newest residual norm, every now and then.
    fn observe(&mut self, iterations: u32, norm: f64);
    /// Whether to end: after the iterations that are queued already, with
    /// [`StopReason::Interrupted`](super::StopReason::Interrupted).
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl<F: FnMut(u32, f64)> Observer for F {
    fn observe(&mut self, iterations: u32, norm: f64) {
        self(iterations, norm);
    }
}

/// Whom a solver tells how far it is.
pub type OnProgress<'a> = &'a mut dyn Observer;

/// Bytes that the parts of an iteration must move through memory, whatever the caches keep.
#[derive(Debug, Clone, Copy)]
pub struct Parts {
    /// `y = A x`, both vectors among it.
    pub product: u64,
    /// A vector, once.
    pub vector: u64,
    /// The preconditioner.
    pub m: Traffic,
}

/// A method with its workspace.
pub trait IterativeSolver<T: Real, B: Backend<T>>: Send {
    /// Solves `A x = b` starting from the given `x`.
    #[allow(clippy::too_many_arguments)]
    fn solve(
        &mut self,
        backend: &B,
        a: &B::Matrix,
        m: &mut dyn Preconditioner<T, B>,
        b: &B::Vector,
        x: &mut B::Vector,
        stop: &Stop,
        on_progress: OnProgress,
    ) -> Result<Outcome>;

    /// Bytes that so many iterations must move, each vector of each fused pass counted once for reading and
    /// once for writing. Unless it is said, the least: a product each.
    fn traffic(&self, iterations: u32, parts: &Parts) -> u64 {
        u64::from(iterations) * parts.product
    }

    /// Seconds of the solves since this was asked last that belong to the set-up: factorisations of which
    /// only a solve has shown that they are needed.
    fn take_set_up_seconds(&mut self) -> f64 {
        0.0
    }

    /// What is known of a factorisation, where the method is one.
    fn factorisation(&self) -> Option<Info> {
        None
    }
}

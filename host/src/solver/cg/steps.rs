//! The step of CG that is one pass over its vectors.

use cuda_std::Real;

use crate::backend::memory::check_lengths;
use crate::backend::{Backend, Length, Slot, check_slots};
use crate::error::Result;

/// What an iteration of CG does after its product with A works on.
pub struct CgStep<'a, T: Real, B: Backend<T>> {
    /// Holds the slots.
    pub s: &'a B::Scalars,
    /// `(r, M r)` of the old r.
    pub rho: Slot,
    /// `(p, A p)`.
    pub p_ap: Slot,
    /// The direction.
    pub p: &'a mut B::Vector,
    /// A times it.
    pub ap: &'a B::Vector,
    /// The iterate.
    pub x: &'a mut B::Vector,
    /// The residual.
    pub r: &'a mut B::Vector,
    /// Receives `(r, M r)` of the new r, and in the slot behind `(r, r)`.
    pub out: Slot,
    /// To work with.
    pub scratch: Slot,
    /// Observes `||r||`.
    pub monitor: &'a B::Monitor,
}

impl<T: Real, B: Backend<T>> CgStep<'_, T, B> {
    /// [`Error::Length`](crate::Error::Length) where vectors or slots do not fit together, or `d` with them.
    pub(crate) fn check(&self, d: Option<&B::Vector>) -> Result<()> {
        let n = self.x.length();
        let d = d.map_or(n, Length::length);
        let lengths = [("p", self.p.length()), ("A p", self.ap.length()), ("r", self.r.length()), ("d", d)];
        check_lengths("a step of CG", n, &lengths)?;
        let slots = [(self.rho, 1), (self.p_ap, 1), (self.out, 2), (self.scratch, 1)];
        slots.iter().try_for_each(|&(slot, n)| check_slots("a step of CG", self.s.length(), slot, n))
    }
}

/// A backend with the steps of CG.
pub trait CgSteps<T: Real>: Backend<T> {
    /// The middle of an iteration: `alpha = s[rho] / s[p_ap]`, `x += alpha p`, `r -= alpha A p`,
    /// `s[out] = (r, d .* r)`, `s[out + 1] = (r, r)`, and `||r||` is observed. `d = None` means 1.
    ///
    /// Where `s[rho]` or `s[p_ap]` is not positive, nothing changes and the monitor stops.
    #[track_caller]
    fn cg_step(&self, step: &mut CgStep<T, Self>, d: Option<&Self::Vector>) -> Result<()>;
}

//! The steps of GMRES on several ranks: the dense problem is the same on each, and each has its part of the
//! basis.

use cuda_std::Real;

use super::steps::{GmresSlots, GmresSteps};
use crate::backend::distributed::{Borders, Distributed, OverRanks};
use crate::backend::{Slot, Vectors};
use crate::error::Result;

impl<T: Real, B: Borders<T> + GmresSteps<T>> GmresSteps<T> for Distributed<B> {
    fn gram_schmidt(
        &self,
        basis: &[B::Vector],
        w: &mut B::Vector,
        s: &B::Scalars,
        slots: GmresSlots,
        h: Slot,
    ) -> Result<()> {
        // The sums of the first pass are h, to which those of the second are added.
        self.basis_products(basis, w, s, h)?;
        self.subtract_combination(basis, s, h, w)?;
        let dots = slots.dots();
        self.inner().basis_products(basis, w, s, dots)?;
        self.reduce(s, OverRanks { first: dots, count: basis.len(), total: Some(h), is_max: false })?;
        self.subtract_combination(basis, s, dots, w)?;
        self.dot(w, w, s, GmresSlots::NORM2)
    }
    fn basis_products(&self, basis: &[B::Vector], w: &B::Vector, s: &B::Scalars, out: Slot) -> Result<()> {
        self.inner().basis_products(basis, w, s, out)?;
        self.sum_over_ranks(s, out, basis.len())
    }
    fn subtract_combination(
        &self,
        basis: &[B::Vector],
        s: &B::Scalars,
        c: Slot,
        w: &mut B::Vector,
    ) -> Result<()> {
        self.inner().subtract_combination(basis, s, c, w)
    }
    fn gmres_start(&self, s: &B::Scalars, slots: GmresSlots) -> Result<()> {
        self.inner().gmres_start(s, slots)
    }
    fn gmres_rotate(&self, s: &B::Scalars, slots: GmresSlots, j: usize, monitor: &B::Monitor) -> Result<()> {
        self.inner().gmres_rotate(s, slots, j, monitor)
    }
    fn gmres_solution(
        &self,
        s: &B::Scalars,
        slots: GmresSlots,
        basis: &[B::Vector],
        u: &mut B::Vector,
    ) -> Result<()> {
        self.inner().gmres_solution(s, slots, basis, u)
    }
}

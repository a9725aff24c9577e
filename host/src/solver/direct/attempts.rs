//! Which factorisations are tried, one after the other, and how they are left where nobody waits any longer.

use super::Direct;
use super::apart::unless_cancelled;
use super::factorisation::Factorisation;
use super::kind::{Kind, kinds};
use super::ordered::{FEW, Ordered};
use super::refine::Refinement;
use super::symbolic::{Care, Effort};
use crate::error::{Error, Result};
use crate::matrix::Csr;

/// Seconds below which a factorisation is not worth a thread of its own.
const SHORT: f64 = 2e-3;

/// How many times as long as predicted a factorisation may take where what there is has left no more than
/// rounding.
pub(super) const LOOK: f64 = 4.0;

/// Multiply-adds that LU must not take where a symmetric factorisation has left no more than rounding: it
/// would hardly leave less.
const HOPELESS_FLOPS: f64 = 2e10;

impl Direct {
    /// The factorisation that is tried first, of what may be ordered already; `None` where it was cancelled.
    pub(super) fn first(&self, ordered: Option<Ordered>) -> Result<Option<Factorisation>> {
        let ordered = match ordered {
            Some(ordered) => Some(ordered),
            None => self.ordered(|a| Ordered::of(a, &kinds(a)))?,
        };
        self.factorised(ordered, Care::Usual, self.excess)
    }

    /// Orders; `None` where it was cancelled.
    pub(super) fn ordered(
        &self,
        order: impl FnOnce(&Csr<f64>) -> Result<Ordered> + Send + 'static,
    ) -> Result<Option<Ordered>> {
        let a = self.a.clone();
        unless_cancelled(a.nnz() < FEW, &self.cancelled, move || order(&a))
    }

    /// Factorises what was ordered; `None` where it was cancelled.
    pub(super) fn factorised(
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

    /// Factorises by LU, or with more care; whether that was worth it.
    pub(super) fn factorise_better(&mut self, run: &Refinement) -> Result<bool> {
        let was_lu = self.factorisation.as_ref().is_some_and(|f| f.prediction.kind == Kind::Lu);
        let order = if was_lu { Ordered::by_means } else { |a: &_| Ordered::of(a, &[Kind::Lu]) };
        let lu = self.ordered(order)?;
        let is_hopeless = |lu: &Ordered| lu.prediction().flops > HOPELESS_FLOPS;
        if run.is_rounding() && lu.as_ref().is_some_and(is_hopeless) {
            return Ok(false);
        }
        let care = if was_lu { Care::Most } else { Care::Usual };
        let excess = if run.is_rounding() { LOOK } else { self.excess };
        self.factorisation = match self.factorised(lu, care, excess) {
            Err(Error::Outgrown { .. }) if run.is_rounding() => {
                self.is_out_of_hand = was_lu;
                return Ok(false);
            }
            made => made?,
        };
        (self.condition, self.null, self.null_space, self.is_best) = (None, None, 0, was_lu);
        Ok(true)
    }

    /// Solves by normal equations, where LU has neither solved nor proven anything; whether they serve.
    pub(super) fn factorise_normal(&mut self) -> Result<bool> {
        let Some(factorisation) = self.factorisation.as_ref().filter(|_| !self.has_tried_normal) else {
            return Ok(false);
        };
        self.has_tried_normal = true;
        let seconds = factorisation.prediction.seconds();
        let most = Effort { care: Care::Usual, excess: self.excess }.most_seconds(seconds);
        let a = self.a.clone();
        let work = move || Factorisation::normal(&a, most);
        let made = unless_cancelled(seconds < SHORT, &self.cancelled, work)?;
        let Some(made) = made.flatten() else { return Ok(false) };
        self.factorisation = Some(made);
        (self.condition, self.null, self.null_space, self.is_best) = (None, None, 0, true);
        Ok(true)
    }
}

//! [`Cells`] of parts: every rank has its own, which know nothing of others.

use super::{Borders, Distributed};
use crate::backend::cells::{Cells, Model};
use crate::error::Result;

impl<B: Cells + Borders<f64>> Cells for Distributed<B> {
    fn react(
        &self,
        model: Model,
        dt: f64,
        substeps: u32,
        stimulus: Option<(f64, &B::Vector)>,
        v: &mut B::Vector,
        states: &mut B::Vector,
    ) -> Result<()> {
        self.inner.react(model, dt, substeps, stimulus, v, states)
    }

    fn activate(
        &self,
        t: f64,
        dt: f64,
        threshold: f64,
        before: &B::Vector,
        after: &B::Vector,
        times: &mut B::Vector,
    ) -> Result<()> {
        self.inner.activate(t, dt, threshold, before, after, times)
    }
}

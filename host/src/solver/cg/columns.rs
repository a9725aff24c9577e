//! The step of CG for several right-hand sides: each column takes its own.

use cuda_std::Real;

use super::steps::{CgStep, CgSteps};
use crate::backend::{Backend, Columns};
use crate::error::Result;

impl<T: Real, B: CgSteps<T>> CgSteps<T> for Columns<B> {
    fn cg_step(&self, step: &mut CgStep<T, Self>, d: Option<&Self::Vector>) -> Result<()> {
        self.each(|(c, g)| g.cg_step(&mut column_of(step, c), d.map(|d| d.column(c))))
    }
}

/// Column `c` of a step.
pub(crate) fn column_of<'a, T: Real, B: Backend<T>>(
    step: &'a mut CgStep<'_, T, Columns<B>>,
    c: usize,
) -> CgStep<'a, T, B> {
    CgStep {
        s: &step.s.0[c],
        rho: step.rho,
        p_ap: step.p_ap,
        p: &mut step.p.columns_mut()[c],
        ap: step.ap.column(c),
        x: &mut step.x.columns_mut()[c],
        r: &mut step.r.columns_mut()[c],
        out: step.out,
        scratch: step.scratch,
        monitor: &step.monitor[c],
    }
}

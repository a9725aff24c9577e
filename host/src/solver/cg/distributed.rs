//! The step of CG on several ranks.

use cuda_std::Real;

use super::steps::{CgStep, CgSteps};
use crate::backend::distributed::{Borders, Distributed};
use crate::error::Result;

impl<T: Real, B: Borders<T> + CgSteps<T>> CgSteps<T> for Distributed<B> {
    fn cg_step(&self, step: &mut CgStep<T, Self>, d: Option<&B::Vector>) -> Result<()> {
        self.step_of_parts(step, |inner, part| inner.cg_step(part, d))
    }
}

impl<B> Distributed<B> {
    /// A step that `of_part` makes with the part of this rank.
    pub(crate) fn step_of_parts<T: Real>(
        &self,
        step: &mut CgStep<T, Self>,
        of_part: impl FnOnce(&B, &mut CgStep<T, B>) -> Result<()>,
    ) -> Result<()>
    where
        B: Borders<T>,
    {
        let CgStep { s, rho, p_ap, p, ap, x, r, out, scratch, monitor } = step;
        let (s, rho, p_ap, ap, out, scratch, monitor) = (*s, *rho, *p_ap, *ap, *out, *scratch, *monitor);
        let silent = &self.inner().silent(monitor);
        let (p, x, r) = (&mut **p, &mut **x, &mut **r);
        let mut part = CgStep { s, rho, p_ap, p, ap, x, r, out, scratch, monitor: silent };
        of_part(self.inner(), &mut part)?;
        // (r, M r), (r, r)
        self.sum_over_ranks(s, out, 2)?;
        self.inner().observe(s, out.offset(1), monitor)
    }
}

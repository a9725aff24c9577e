//! [`LanczosSteps`] on several ranks.

use cuda_std::Real;

use super::LanczosSteps;
use crate::backend::distributed::{Borders, Distributed};
use crate::backend::{Coef, Slot};
use crate::error::Result;

impl<T: Real, B: Borders<T> + LanczosSteps<T>> LanczosSteps<T> for Distributed<B> {
    fn lanczos_step(
        &self,
        s: &B::Scalars,
        step: Option<(Coef, &B::Vector)>,
        d: &B::Vector,
        r: &mut B::Vector,
        z: &mut B::Vector,
        out: Slot,
    ) -> Result<()> {
        self.inner().lanczos_step(s, step, d, r, z, out)?;
        self.sum_over_ranks(s, out, 1)
    }
}

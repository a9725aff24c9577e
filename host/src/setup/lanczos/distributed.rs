//! [`LanczosSteps`] on several ranks.

use cuda_std::Real;

use super::{LanczosStep, LanczosSteps};
use crate::backend::distributed::{Borders, Distributed};
use crate::error::Result;

impl<T: Real, B: Borders<T> + LanczosSteps<T>> LanczosSteps<T> for Distributed<B> {
    fn lanczos_step(&self, s: &B::Scalars, step: LanczosStep<B::Vector>) -> Result<()> {
        let out = step.out;
        self.inner().lanczos_step(s, step)?;
        self.sum_over_ranks(s, out, 1)
    }
}

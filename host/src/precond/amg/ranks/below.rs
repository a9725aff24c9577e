//! The levels that are too small to be shared out: rank 0 has them.

use cuda_std::Real;

use crate::backend::Memory;
use crate::backend::distributed::{Borders, Distributed};
use crate::error::Result;
use crate::precond::amg::coarsest::Below;
use crate::precond::amg::cycle::Multigrid;
use crate::precond::amg::params::Cycle;

/// Levels of rank 0, which has all unknowns of the first of them; `None` elsewhere.
pub struct AtRoot<S: Real, B: Borders<S>>(pub Option<Multigrid<S, B>>);

impl<S: Real, B: Borders<S>> Below<S, Distributed<B>> for AtRoot<S, B> {
    fn visit(
        &mut self,
        g: &Distributed<B>,
        cycle: Cycle,
        b: &<B as Memory<S>>::Vector,
        x: &mut <B as Memory<S>>::Vector,
    ) -> Result<()> {
        let (inner, Some(multigrid)) = (g.inner(), &mut self.0) else { return Ok(()) };
        let (first_sweep, vectors) = multigrid.first_sweep_and_vectors();
        inner.copy(b, &mut vectors.b)?;
        if let Some((weight, d)) = first_sweep {
            inner.scale_rows(weight, d, &vectors.b, &mut vectors.x)?;
        }
        multigrid.visit_below(inner, 0, cycle)?;
        inner.copy(multigrid.correction(), x)
    }
}

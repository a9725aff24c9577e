//! The levels that are too small to be shared out: rank 0 has them.

use cuda_std::Real;

use crate::backend::Memory;
use crate::backend::distributed::{Borders, Distributed, WayToRoot};
use crate::error::Result;
use crate::precond::amg::coarsest::Below;
use crate::precond::amg::cycle::Multigrid;
use crate::precond::amg::params::Cycle;

/// Levels of rank 0, to which the others give their elements.
pub struct AtRoot<S: Real, B: Borders<S>> {
    pub way: WayToRoot<S, B>,
    /// On rank 0.
    pub levels: Option<Multigrid<S, B>>,
    /// No elements: what other ranks have of whole vectors.
    pub nothing: B::Vector,
}

impl<S: Real, B: Borders<S>> Below<S, Distributed<B>> for AtRoot<S, B> {
    fn visit(
        &mut self,
        g: &Distributed<B>,
        cycle: Cycle,
        b: &<B as Memory<S>>::Vector,
        x: &mut <B as Memory<S>>::Vector,
    ) -> Result<()> {
        let AtRoot { way, levels, nothing } = self;
        let Some(multigrid) = levels else {
            way.gather(g, b, nothing)?;
            return way.scatter(g, nothing, x);
        };
        let (inner, (first_sweep, vectors)) = (g.inner(), multigrid.first_sweep_and_vectors());
        way.gather(g, b, &mut vectors.b)?;
        if let Some((weight, d)) = first_sweep {
            inner.scale_rows(weight, d, &vectors.b, &mut vectors.x)?;
        }
        multigrid.visit_below(inner, 0, cycle)?;
        way.scatter(g, multigrid.correction(), x)
    }
}

//! The preconditioner of each rank's own block on the diagonal: block Jacobi over ranks, or, with one that
//! works element by element, what it is on one rank.

use cuda_std::Real;

use super::{Preconditioner, Shape, Traffic, ilu};
use crate::backend::distributed::{Borders, Distributed};
use crate::error::Result;

/// `M = diag(M_0, M_1, ..)`, with `M_k` the preconditioner that rank k has for its rows and columns.
pub(crate) struct Subdomain<T: Real, B: Borders<T>> {
    m: Box<dyn Preconditioner<T, B>>,
    is_fused: bool,
}

impl<T: Real, B: Borders<T>> Subdomain<T, B> {
    /// That of this rank. Whether solvers fuse it is the same on all, also where a rank without rows has
    /// something simpler: they make other reductions then.
    pub fn new(m: Box<dyn Preconditioner<T, B>>, is_fused: bool) -> Self {
        Subdomain { m, is_fused }
    }
}

impl<T: Real, B: Borders<T>> Preconditioner<T, Distributed<B>> for Subdomain<T, B> {
    fn apply(&mut self, backend: &Distributed<B>, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        self.m.apply(backend.inner(), r, z)
    }
    fn shape(&self) -> Shape<'_, B::Vector> {
        if self.is_fused { self.m.shape() } else { Shape::General }
    }
    fn is_fixed(&self) -> bool {
        self.m.is_fixed()
    }
    fn traffic(&self, vector: u64) -> Traffic {
        self.m.traffic(vector)
    }
    fn factors(&self) -> Option<&ilu::Info> {
        self.m.factors()
    }
}

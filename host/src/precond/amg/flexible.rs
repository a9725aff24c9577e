//! What two steps of flexible CG on a coarse level need, for K-cycles.

use cuda_std::Real;

use crate::backend::Backend;
use crate::error::Result;

/// The vectors and scalars of the steps.
pub struct FlexibleCg<S: Real, B: Backend<S>> {
    /// The first direction.
    pub c: B::Vector,
    /// A times it.
    pub v: B::Vector,
    /// A times the second.
    pub w: B::Vector,
    /// The products.
    pub scalars: B::Scalars,
}

impl<S: Real, B: Backend<S>> FlexibleCg<S, B> {
    /// For `n` unknowns.
    pub fn new(backend: &B, n: usize) -> Result<Self> {
        let zeros = || backend.zeros(n);
        Ok(FlexibleCg { c: zeros()?, v: zeros()?, w: zeros()?, scalars: backend.scalars(8)? })
    }
}

//! The step of Lanczos's method behind its product.

use cuda_std::Real;

use crate::backend::{Backend, Coef, Slot};
use crate::error::Result;

mod device;
mod distributed;
mod host;
#[cfg(test)]
mod tests;

/// Steps of Lanczos's method for `D^-1 A`, as CG with Jacobi's preconditioner makes them.
pub trait LanczosSteps<T: Real>: Backend<T> {
    /// `r += a A p`, `z = D^-1 r`, `s[out] = (r, z)`: all of CG behind its product but x. `step` are a and
    /// `A p`; without them r stays as it is. `d` is `D^-1`, b^2 elements for the b unknowns of a node.
    #[track_caller]
    fn lanczos_step(
        &self,
        s: &Self::Scalars,
        step: Option<(Coef, &Self::Vector)>,
        d: &Self::Vector,
        r: &mut Self::Vector,
        z: &mut Self::Vector,
        out: Slot,
    ) -> Result<()> {
        if let Some((a, ap)) = step {
            self.axpby(s, a, ap, Coef::ONE, r)?;
        }
        self.scale_rows(T::ONE, d, r, z)?;
        self.dot(r, z, s, out)
    }
}

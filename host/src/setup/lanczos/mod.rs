//! The step of Lanczos's method behind its product.

use cuda_std::Real;

use crate::backend::memory::{check_diagonal, check_lengths};
use crate::backend::{Backend, Coef, Length, Slot, check_slots};
use crate::error::Result;

mod device;
mod distributed;
mod host;
#[cfg(test)]
mod tests;

/// What a step works on behind its product.
pub struct LanczosStep<'a, V> {
    /// a and `A p`; without them r stays as it is.
    pub update: Option<(Coef, &'a V)>,
    /// `D^-1`, b^2 elements for the b unknowns of a node.
    pub d: &'a V,
    /// The residual.
    pub r: &'a mut V,
    /// Receives `D^-1 r`.
    pub z: &'a mut V,
    /// Receives `(r, z)`.
    pub out: Slot,
}

impl<V: Length> LanczosStep<'_, V> {
    /// The unknowns of a node. [`Error::Length`](crate::Error::Length) where vectors or slots do not fit
    /// together.
    fn check(&self, slots: usize) -> Result<usize> {
        let n = self.r.length();
        let ap = self.update.map_or(n, |(_, ap)| ap.length());
        check_lengths("lanczos_step", n, &[("z", self.z.length()), ("A p", ap)])?;
        check_slots("lanczos_step", slots, self.out, 1)?;
        check_diagonal("lanczos_step", n, self.d.length())
    }
}

/// Steps of Lanczos's method for `D^-1 A`, as CG with Jacobi's preconditioner makes them.
pub trait LanczosSteps<T: Real>: Backend<T> {
    /// `r += a A p`, `z = D^-1 r`, `s[out] = (r, z)`: all of CG behind its product but x.
    #[track_caller]
    fn lanczos_step(&self, s: &Self::Scalars, step: LanczosStep<Self::Vector>) -> Result<()> {
        let LanczosStep { update, d, r, z, out } = step;
        if let Some((a, ap)) = update {
            self.axpby(s, a, ap, Coef::ONE, r)?;
        }
        self.scale_rows(T::ONE, d, r, z)?;
        self.dot(r, z, s, out)
    }
}

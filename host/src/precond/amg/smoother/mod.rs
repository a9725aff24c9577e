//! What damps the error that the coarser levels do not see: each [`SmootherKind`] in a file of its own.

use cuda_std::Real;

use super::params::SmootherKind;
use crate::error::Result;
use crate::precond::amg::cast::Cast;
use crate::setup::Algebra;

mod chebyshev;
mod input;
mod jacobi;
mod l1_jacobi;
mod spai0;
mod step;

pub(super) use input::Input;
pub use step::{Smoother, Sweeps};

impl SmootherKind {
    /// The smoother of this name.
    pub(super) fn setup<T: Real, S: Real, B: Algebra<T> + Cast<T, S>>(
        self,
        input: &Input<T, B>,
    ) -> Result<Box<dyn Smoother<S, B>>> {
        let sweeps = match self {
            SmootherKind::Jacobi => jacobi::setup(input),
            SmootherKind::L1Jacobi => l1_jacobi::setup(input),
            SmootherKind::Chebyshev => chebyshev::setup(input),
            SmootherKind::Spai0 => spai0::setup(input),
        };
        Ok(Box::new(sweeps?))
    }
}

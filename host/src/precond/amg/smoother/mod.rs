//! What damps the error that the coarser levels do not see: each [`SmootherKind`] in a file of its own.

use cuda_std::Real;

use super::params::SmootherKind;
use crate::error::Result;
use crate::precond::amg::cast::Cast;
use crate::precond::ilu::TriangularSolves;
use crate::setup::Algebra;
use uses::Uses;

mod chebyshev;
mod ilu;
mod input;
mod jacobi;
mod l1_jacobi;
mod spai0;
mod step;
mod uses;

pub(super) use input::Input;
pub use step::{Smoother, Sweeps};

impl SmootherKind {
    /// The smoother of this name.
    pub(super) fn setup<T: Real, S: Real, B: Algebra<T> + Cast<T, S> + TriangularSolves<S>>(
        self,
        input: &Input<T, B>,
    ) -> Result<Box<dyn Smoother<S, B>>> {
        match self.sweeps(input)? {
            Some(sweeps) => Ok(Box::new(sweeps)),
            None => ilu::setup(input),
        }
    }

    /// The smoother, if it is weighted sweeps.
    pub(super) fn sweeps<T: Real, S: Real, B: Algebra<T> + Cast<T, S>>(
        self,
        input: &Input<T, B>,
    ) -> Result<Option<Sweeps<S, B>>> {
        match self {
            SmootherKind::Jacobi => jacobi::setup(input).map(Some),
            SmootherKind::L1Jacobi => l1_jacobi::setup(input).map(Some),
            SmootherKind::Chebyshev => chebyshev::setup(input).map(Some),
            SmootherKind::Spai0 => spai0::setup(input).map(Some),
            SmootherKind::Ilu => Ok(None),
        }
    }

    /// Whether it is weighted sweeps, with a diagonal: each row of unknowns is smoothed by itself.
    pub(crate) fn is_of_sweeps(self) -> bool {
        self != SmootherKind::Ilu
    }

    /// Whether it smooths matrices of blocks.
    pub(super) fn takes_blocks(self) -> bool {
        matches!(self, SmootherKind::Chebyshev | SmootherKind::Jacobi)
    }

    /// The parameters that it uses.
    pub(super) fn uses(self) -> &'static Uses {
        match self {
            SmootherKind::Jacobi => &jacobi::USES,
            SmootherKind::L1Jacobi => &l1_jacobi::USES,
            SmootherKind::Chebyshev => &chebyshev::USES,
            SmootherKind::Spai0 => &spai0::USES,
            SmootherKind::Ilu => &ilu::USES,
        }
    }
}

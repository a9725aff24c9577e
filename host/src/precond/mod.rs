//! Preconditioners: `z = M r` with `M` close to the inverse of A.
//!
//! Each is in a file or folder of its own, with its [`Description`] for programs that offer it by name.

use cuda_std::Real;

use crate::error::Result;
use crate::named::named;

pub mod amg;
mod description;
mod direct;
mod gathered;
mod identity;
pub mod ilu;
mod jacobi;
mod jacobi_sweeps;
mod key;
mod null_space;
mod preconditioner;
mod projected;
pub mod schur;
mod schwarz;
mod subdomain;

pub use amg::Amg;
pub(crate) use amg::AmgOnRanks;
use amg::AnyPrecision;
pub(crate) use description::Source;
pub use description::{Description, Parameters, SingularBlocks};
pub use direct::Direct;
pub(crate) use gathered::Gathered;
pub use identity::Identity;
pub use ilu::Ilu;
pub use jacobi::{BlockJacobi, Jacobi};
pub use jacobi_sweeps::JacobiSweeps;
pub use key::Key;
pub use null_space::NullSpace;
pub(crate) use null_space::Sum;
pub(crate) use preconditioner::cg_step_by_primitives;
pub use preconditioner::{ForColumns, Preconditioner, Shape, Traffic};
pub use projected::Projected;
pub use schur::Schur;
pub(crate) use schwarz::RestrictedSchwarz;
pub(crate) use subdomain::Subdomain;

/// The preconditioners by name, each of a module with `DESCRIPTION` and `make`.
macro_rules! preconditioners {
    ($($(#[$doc:meta])* $precond:ident in $module:ident,)*) => {
        named! {
            /// The preconditioner.
            "preconditioner" Precond { $($(#[$doc])* $precond = $module::DESCRIPTION.name,)* }
        }
        impl Precond {
            /// What programs must know of it.
            pub fn description(self) -> &'static Description {
                match self { $(Precond::$precond => &$module::DESCRIPTION,)* }
            }

            /// It, for a matrix.
            pub(crate) fn make<T: Real, B: AnyPrecision<T> + ilu::Factorisations<T> + 'static>(
                self,
                source: Source<T, B>,
            ) -> Result<Box<dyn Preconditioner<T, B>>> {
                match self { $(Precond::$precond => $module::make(source),)* }
            }
        }
    };
}

preconditioners! {
    /// None.
    None in identity,
    /// The diagonal.
    Jacobi in jacobi,
    /// Sweeps of weighted Jacobi.
    JacobiSweeps in jacobi_sweeps,
    /// An incomplete factorisation.
    Ilu in ilu,
    /// Algebraic multigrid.
    Amg in amg,
    /// The blocks of a saddle point.
    Schur in schur,
    /// A factorisation.
    Direct in direct,
}

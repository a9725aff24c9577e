//! Iterative methods, written over [`Backend`](crate::backend::Backend): a file each, or a folder where a
//! method has steps of its own.
//!
//! [`Method`] lists them by name, each with its [`Description`] for programs that offer it.
//!
//! Every method has a workspace, allocated once, and a loop of primitives that allocates nothing and waits
//! for nothing: the decision to stop is taken where the vectors are, and the host, which may be some
//! iterations ahead, learns of it later (see [`Monitoring::guarded`](crate::backend::Monitoring::guarded)).

use cuda_std::Real;

use crate::backend::{Columns, OneColumn};
use crate::error::Result;
use crate::named::named;
use crate::precond::Preconditioner;

mod bicgstab;
mod block_cg;
pub mod cg;
mod columns;
mod description;
pub mod direct;
pub mod gmres;
mod idr;
mod iterative;
mod jacobi;
mod lgmres;
mod minres;
mod on_host;
mod outcome;
mod richardson;
mod run;
mod steps;

pub use bicgstab::Bicgstab;
pub use block_cg::{BlockCg, BlockCgSteps};
pub use cg::Cg;
pub use columns::ColumnsSolver;
pub use description::{Description, Parameter, Parameters, Takes};
pub use gmres::{Gmres, MAX_RESTART};
pub use idr::Idr;
pub use iterative::{IterativeSolver, Observer, OnProgress, Parts};
pub use jacobi::JacobiIteration;
pub use minres::Minres;
pub(crate) use on_host::OnHost;
pub use outcome::{Outcome, Stop, StopReason};
pub use richardson::Richardson;
pub(crate) use run::Run;
pub use steps::Steps;

/// The methods by name, each of a module with `DESCRIPTION` and `make`.
macro_rules! methods {
    ($($(#[$doc:meta])* $method:ident in $module:ident,)*) => {
        named! {
            /// The iterative method.
            "solver" Method { $($(#[$doc])* $method = $module::DESCRIPTION.name,)* }
        }
        impl Method {
            /// What programs must know of it.
            pub fn description(self) -> &'static Description {
                match self { $(Method::$method => &$module::DESCRIPTION,)* }
            }

            /// It with a workspace for `a` and `m`.
            pub(crate) fn make<T: Real, B: Steps<T> + 'static>(
                self,
                backend: &B,
                a: &dyn OnHost<T>,
                m: &dyn Preconditioner<T, B>,
                parameters: &Parameters,
            ) -> Result<Box<dyn IterativeSolver<T, B>>> {
                match self { $(Method::$method => $module::make(backend, a, m, parameters),)* }
            }
        }
    };
}

methods! {
    /// Conjugate gradients, for symmetric positive definite matrices.
    Cg in cg,
    /// Block conjugate gradients, for several right-hand sides; the same matrices.
    BlockCg in block_cg,
    /// BiCGSTAB, for any matrix.
    Bicgstab in bicgstab,
    /// Restarted GMRES, for any matrix.
    Gmres in gmres,
    /// MINRES, for symmetric matrices.
    Minres in minres,
    /// IDR(4), for any matrix.
    Idr in idr,
    /// LGMRES, for any matrix.
    Lgmres in lgmres,
    /// Weighted Jacobi, for diagonally dominant matrices.
    Jacobi in jacobi,
    /// The cycles of algebraic multigrid by themselves.
    Amg in richardson,
    /// Factorisation and iterative refinement, on the host.
    Direct in direct,
}

impl Method {
    /// It with a workspace for `n` unknowns and the columns of a backend; `None` where it is for one alone.
    pub(crate) fn make_for_columns<T: Real, B: cg::CgSteps<T> + BlockCgSteps<T> + OneColumn>(
        self,
        backend: &Columns<B>,
        n: usize,
        m: &dyn Preconditioner<T, Columns<B>>,
    ) -> Result<Option<Box<dyn ColumnsSolver<T, B>>>> {
        Ok(Some(match self {
            Method::Cg => Box::new(Cg::new(backend, n, m)?),
            Method::BlockCg => Box::new(BlockCg::new(backend, n)?),
            _ => return Ok(None),
        }))
    }

    /// Whether it solves for several right-hand sides at once.
    pub(crate) fn takes_columns(self) -> bool {
        matches!(self, Method::Cg | Method::BlockCg)
    }
}

//! Iterative methods, written over [`Backend`](crate::backend::Backend): a file each, or a folder where a method has steps of its own.
//!
//! Every method has a workspace, allocated once, and a loop of primitives that allocates nothing and waits
//! for nothing: the decision to stop is taken where the vectors are, and the host, which may be some
//! iterations ahead, learns of it later (see [`Monitoring::guarded`](crate::backend::Monitoring::guarded)).

mod bicgstab;
pub mod cg;
pub mod gmres;
mod iterative;
mod jacobi;
mod outcome;
mod richardson;
mod run;
mod steps;

pub use bicgstab::Bicgstab;
pub use cg::Cg;
pub use gmres::{Gmres, MAX_RESTART};
pub use iterative::{IterativeSolver, Observer, OnProgress};
pub use jacobi::JacobiIteration;
pub use outcome::{Outcome, Stop, StopReason};
pub use richardson::Richardson;
pub(crate) use run::Run;
pub use steps::Steps;

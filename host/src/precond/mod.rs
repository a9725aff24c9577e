//! Preconditioners: `z = M r` with `M` close to the inverse of A.

pub mod amg;
mod jacobi;
mod preconditioner;
mod projected;

pub use amg::Amg;
pub use jacobi::{BlockJacobi, Jacobi, SingularBlocks};
pub(crate) use preconditioner::cg_step_by_primitives;
pub use preconditioner::{Identity, Preconditioner, Shape};
pub use projected::{NullSpace, Projected};

//! What the solvers are written in: vectors, matrices and scalars that stay where they are computed on, and a
//! few primitives over them.
//!
//! | trait | what |
//! |---|---|
//! | [`Memory`] | vectors and scalars |
//! | [`Vectors`] | updates and reductions |
//! | [`Monitoring`] | stopping, recording |
//! | [`Products`] | `A x`, and what is done with it: [`Then`] |
//! | [`Backend`] | all of these |
//!
//! | backend | runs | for |
//! |---|---|---|
//! | [`reference::Reference`] | plain sequential loops | the oracle of the tests |
//! | [`cpu::Cpu`] | rayon threads | machines without a GPU |
//! | [`gpu::Gpu`] | the kernels of `gpu-kernels`, on a driver or in the simulator | speed |
//! | [`distributed::Distributed`] | one of the others, on each of several ranks | systems in parts |
//!
//! Scalars (dot products, coefficients, the Hessenberg matrix) live where the vectors are: a primitive that
//! needs `alpha = rho / (p, A p)` gets the two [`Slot`]s, not the number, so that a GPU never waits for
//! the host. The decision to stop is taken there too, by a monitor; see [`Monitoring::guarded`].
//!
//! [`Columns`] makes a backend for several right-hand sides of each of these.
//!
//! Steps that only one method needs are with that method, in a trait of its own:
//! [`crate::solver::cg::CgSteps`], [`crate::solver::gmres::GmresSteps`].

use cuda_std::Real;

pub mod cells;
pub mod columns;
pub mod cpu;
pub mod distributed;
pub mod gpu;
pub(crate) mod host;
pub(crate) mod memory;
mod monitoring;
mod operator;
mod products;
pub mod reference;
mod scalars;
mod vectors;

pub use cells::Cells;
pub use columns::{AtOnce, ColumnVector, Columns, OneColumn, SideBySide};
pub use memory::{Length, Memory};
pub use monitoring::{Monitoring, Progress, status};
pub use operator::{Operator, Storage};
pub(crate) use products::check_slots;
pub use products::{Column, Products, Then};
pub use scalars::{Coef, Slot};
pub use vectors::Vectors;

/// Everything that iterative methods are written in.
pub trait Backend<T: Real>: Vectors<T> + Products<T> {}
impl<T: Real, B: Vectors<T> + Products<T>> Backend<T> for B {}

/// All traits, for code that names a backend instead of being generic over one.
pub mod prelude {
    pub use super::{Backend, Coef, Memory, Monitoring, Operator, Products, Slot, Then, Vectors};
}

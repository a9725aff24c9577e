//! The path of a solve, from a matrix and a right-hand side to a solution and a report.
//!
//! | file | what |
//! |---|---|
//! | `solver` | the front door: [`Solver`], which keeps what it has set up |
//! | `options` | what can be chosen |
//! | `plan` | checks and choices, before anything is allocated |
//! | `methods` | methods and preconditioners by name |
//! | `memory`, `traffic` | the bytes that a plan needs, and that its iterations move |
//! | `run` | a plan carried out on a device |
//! | `residual` | what every claim is checked with |
//! | `report` | what was done |
//! | `progress` | what is told meanwhile, and how a solve is stopped |

use crate::error::Result;
use crate::matrix::IntoCsr;

mod device;
pub mod dot;
mod memory;
mod methods;
mod options;
mod plan;
mod progress;
mod report;
mod residual;
mod run;
mod solver;
pub mod spmv;
#[cfg(test)]
mod tests;
mod timing;
mod traffic;

pub use device::{Device, open_gpu};
pub use options::{Method, Options, Precision, Precond};
pub use progress::{CancellationToken, Stage};
pub use report::{Obstacle, Report, Warning};
pub use residual::relative_residual;
pub use solver::{Builder, Preconditioning, Solution, Solver};
pub use timing::Timing;
pub use traffic::{bytes_moved, copy_bandwidth};

/// Solves `A x = b` once, from `x = 0`; see [`Solver::solve`].
///
/// # Errors
/// As [`Builder::build`] and [`Solver::solve`].
pub fn solve(a: impl IntoCsr, b: &[f64], options: &Options, device: &Device) -> Result<Solution> {
    Solver::builder().options(options.clone()).device(device.clone()).solve(a, b)
}

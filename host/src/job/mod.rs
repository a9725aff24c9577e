//! The path of a solve, from a matrix and a right-hand side to a solution and a report.
//!
//! | file | what |
//! |---|---|
//! | `solver`, `builder` | the front door: [`Solver`], which keeps what it has set up, and how it is made |
//! | `options` | what can be chosen |
//! | `ladder`, `climb`, `attempt`, `judge` | ways to solve where nobody has chosen, in turn, and left early |
//! | `trial`, `uncounted` | what a piece of a matrix tells, and what its graph tells of factors not counted |
//! | `isolated` | unknowns in no equation |
//! | `look` | the first look at a matrix |
//! | `plan`, `choice` | checks and choices, before anything is allocated |
//! | `memory` | the bytes that a plan needs |
//! | `prepare`, `setup`, `run`, `solved` | a plan carried out, on one device or several, and what came of it |
//! | `download` | solutions on their way to the host |
//! | `many`, `columns` | several right-hand sides |
//! | `projection` | right-hand sides outside of the range of a singular matrix |
//! | `reorder` | another numbering of the unknowns |
//! | `size` | systems of extreme size, solved at an ordinary one |
//! | `scaled`, `given` | rows and columns scaled, and rows permuted |
//! | `ranks` | the same on several ranks |
//! | `residual`, `refine`, `verdict` | what every claim is checked with, what follows, and what is said then |
//! | `reach` | what no x reaches |
//! | `report`, `account` | what was done |
//! | `progress` | reports of progress, and how a solve is stopped |
//! | `bandwidth`, `spmv`, `dot`, `patterns`, `loops`, `shapes`, `timing` | how fast the machine is |

use crate::error::Result;
use crate::matrix::IntoCsr;

mod account;
mod attempt;
mod bandwidth;
mod builder;
mod choice;
mod climb;
mod columns;
mod device;
pub mod dot;
mod download;
mod given;
mod isolated;
mod judge;
mod ladder;
mod look;
pub mod loops;
mod many;
mod memory;
mod options;
pub mod patterns;
mod plan;
mod prepare;
mod progress;
mod projection;
pub mod ranks;
mod reach;
mod refine;
mod renumbered;
mod reorder;
mod report;
mod residual;
mod run;
mod rung;
mod scaled;
mod setup;
pub mod shapes;
mod size;
mod solved;
mod solver;
pub mod spmv;
#[cfg(test)]
mod tests;
mod timing;
mod trial;
mod uncounted;
mod verdict;
mod ways;

pub use crate::precond::Precond;
pub use crate::solver::Method;
pub use attempt::Attempt;
pub use bandwidth::copy_bandwidth;
pub use builder::{Builder, Preconditioning};
pub use climb::{Prospect, prospect};
pub use device::{Device, open_gpu};
pub use options::{Options, Permute, Precision, Reorder, Scale};
pub use progress::{CancellationToken, Stage};
pub use ranks::Ranks;
pub use reorder::Reordered;
pub use report::{Obstacle, Report, Warning};
pub use residual::relative_residual;
pub use rung::{Cost, Rung};
pub use scaled::Scaled;
pub use solved::Solution;
pub use solver::Solver;
pub use timing::Timing;

/// Solves `A x = b` once, from `x = 0`; see [`Solver::solve`].
///
/// # Errors
/// As [`Builder::build`] and [`Solver::solve`].
pub fn solve(a: impl IntoCsr, b: &[f64], options: &Options, device: &Device) -> Result<Solution> {
    Solver::builder().options(options.clone()).device(device.clone()).solve(a, b)
}

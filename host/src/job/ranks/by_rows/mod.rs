//! A solve in which no rank ever has more of a matrix than its rows, and those of others around them that a
//! hierarchy needs.
//!
//! There is no rank that tells the others what to do: all of them call the same functions, agree on what they
//! find, and so come to the same decisions. Each rank [has its rows](own_rows) from a [`RowSource`], or
//! brings them along.
//!
//! ```
//! use std::sync::Arc;
//!
//! use warpsolve_host::comm::Comm;
//! use warpsolve_host::job::ranks::{by_rows, together};
//! use warpsolve_host::job::{Device, Options};
//! use warpsolve_host::matrix::Csr;
//!
//! # fn main() -> warpsolve_host::Result<()> {
//! // Each of 3 ranks has 4 rows of a chain of 12; a program on MPI has a `Comm` of its own.
//! let on_rank = |comm: &Arc<dyn Comm>| {
//!     let (n, first) = (12, 4 * comm.rank());
//!     let entries = (0..4).flat_map(|k| {
//!         let i = first + k;
//!         let beside = [i.checked_sub(1), Some(i + 1).filter(|&j| j < n)];
//!         std::iter::once((k, i, 2.5)).chain(beside.into_iter().flatten().map(move |j| (k, j, -1.0)))
//!     });
//!     let rows = Csr::from_triplets(4, n, entries)?;
//!     let mut solver = by_rows::Solver::new(comm, &Device::cpu(1)?, rows, &Options::default())?;
//!     let solution = solver.solve(&[1.0; 4])?;
//!     assert!(solution.report.converged() && solution.x.len() == 4);
//!     Ok(())
//! };
//! together(3, on_rank, on_rank)
//! # }
//! ```
//!
//! | file | what |
//! |---|---|
//! | `source`, `market` | where rows come from |
//! | `checks`, `symmetry` | what is known of the matrix, and what is refused |
//! | `choice` | which method and preconditioner |
//! | `equation` | the residual |
//! | `singular` | why there may be no solution |
//! | `solver` | the front door |
//! | `told` | what is reported |
//! | `vector` | vectors from files and to files |

mod checks;
mod choice;
mod equation;
mod market;
mod singular;
mod solver;
mod source;
mod symmetry;
mod told;
mod vector;

pub use market::MarketRows;
pub use solver::Solver;
pub use source::{RowSource, own_rows};
pub use vector::{read_vector, write_vector};

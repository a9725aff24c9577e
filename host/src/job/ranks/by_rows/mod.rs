//! A solve in which no rank ever has more of a matrix than its rows, and those of others around them that a
//! hierarchy needs.
//!
//! There is no rank that tells the others what to do: all of them call the same functions, agree on what they
//! find, and so come to the same decisions. Each rank [has its rows](own_rows) from a [`RowSource`], or brings
//! them along.
//!
//! | file | what |
//! |---|---|
//! | `source` | where rows come from |
//! | `checks`, `symmetry` | what is known of the matrix, and what is refused |
//! | `choice` | which method and preconditioner |
//! | `equation` | the residual |
//! | `solver` | the front door |
//! | `vector` | vectors from files and to files |

mod checks;
mod choice;
mod equation;
mod solver;
mod source;
mod symmetry;
mod vector;

pub use solver::Solver;
pub use source::{RowSource, own_rows};
pub use vector::{read_vector, write_vector};

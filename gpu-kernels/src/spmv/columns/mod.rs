//! Products with several columns at once, which share the reading of the matrix: up to K of them in
//! registers, each with its own vectors, epilogue and guard. Every column gets the bits that its format's
//! kernel for one gives, but for the sums over the grid of another number of blocks.

mod column;
mod csr;
mod gather;
mod sliced;

pub use column::{Column, FEW, MOST};
pub use csr::*;
pub use sliced::*;

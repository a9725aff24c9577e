//! Reading and writing files.

pub mod atomic;
pub mod matrix_market;

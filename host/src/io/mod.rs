//! Reading and writing files.

pub mod atomic;
pub mod binary;
pub mod harwell_boeing;
pub mod matrix;
pub mod matrix_market;
mod source;
mod summary;

//! Reading and writing files.

pub mod atomic;
pub mod binary;
pub(crate) mod gmsh;
pub mod matrix;
pub mod matrix_market;
pub mod picture;
pub(crate) mod scan;
pub(crate) mod tetgen;
pub mod vtk;

//! Reading meshes, writing results: files of other programs, and pictures.

pub(crate) mod gmsh;
pub mod picture;
pub(crate) mod scan;
pub(crate) mod tetgen;
pub mod vtk;

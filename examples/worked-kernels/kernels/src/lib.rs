//! Eight kernels, a file each: the kernel, the threads of a block, and the same computed one after the other,
//! which the tests compare. And `access`: ways to get at memory, for those who count; `together`: blocks that
//! wait for each other; `clusters`: blocks that share their memory; `products`: tensor cores; `small`:
//! numbers of 1 and 2 bytes.
#![allow(clippy::missing_safety_doc, clippy::too_many_arguments, improper_ctypes_definitions)]

pub mod access;
pub mod clusters;
pub mod histogram;
pub mod matmul;
pub mod nbody;
pub mod pi;
pub mod products;
pub mod saxpy;
pub mod scan;
pub mod small;
pub mod stencil;
pub mod together;
pub mod vadd;

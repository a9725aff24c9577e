//! warpsolve

pub mod ptx;

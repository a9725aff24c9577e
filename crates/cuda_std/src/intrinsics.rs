//! The functions of NVIDIA's libdevice by their names, without `__nv_`.
//!
//! In the published crate these are foreign functions. Here they are Rust, and safe but where they take
//! pointers. As there, bits of unsigned numbers are in signed ones.

mod convert;
mod integer;
mod math;
mod rounding;

pub use convert::*;
pub use integer::*;
pub use math::*;
pub use rounding::*;

//! The functions of NVIDIA's libdevice by their names, without `__nv_`.
//!
//! In the published crate these are foreign functions. Here they are Rust, and safe but where they take
//! pointers. As there, bits of unsigned numbers are in signed ones.
//!
//! ```
//! use cuda_std::intrinsics::{byte_perm, fast_expf, popc};
//!
//! assert_eq!(popc(0b1011), 3);
//! // The bytes the other way round.
//! assert_eq!(byte_perm(0x0102_0304, 0, 0x0123), 0x0403_0201);
//! assert!((fast_expf(1.0) - 2.71828).abs() < 1e-4);
//! ```

/// An example of a function: its arguments, and the result (`=`) or a number near it (`~`).
macro_rules! example {
    ($name:ident $($x:expr),* ; = $y:expr) => {
        concat!(
            "\n```\nassert_eq!(cuda_std::intrinsics::", stringify!($name), "(", stringify!($($x),*), "), ",
            stringify!($y), ");\n```"
        )
    };
    ($name:ident $($x:expr),* ; ~ $y:expr) => {
        concat!(
            "\n```\nlet y = cuda_std::intrinsics::", stringify!($name), "(", stringify!($($x),*), ");\n",
            "assert!((y - ", stringify!($y), ").abs() < 1e-4);\n```"
        )
    };
}

mod convert;
mod integer;
mod math;
mod rounding;

pub use convert::*;
pub use integer::*;
pub use math::*;
pub use rounding::*;

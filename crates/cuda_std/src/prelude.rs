//! What most kernels use: `use cuda_std::prelude::*;`.

#[cfg(feature = "half")]
pub use crate::f16;
pub use crate::kernel;
pub use crate::thread;
/// On the host these are `std`'s, which must be the only ones of their name. What kernels print with them is
/// not [captured](crate::sim::captured).
#[cfg(target_arch = "nvptx64")]
pub use crate::{print, println};
pub use alloc::{
    borrow::ToOwned,
    boxed::Box,
    format,
    rc::Rc,
    string::{String, ToString},
    vec::Vec,
};

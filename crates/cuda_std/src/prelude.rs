//! What most kernels use: `use cuda_std::prelude::*;`.
//!
//! ```
//! use cuda_std::prelude::*;
//!
//! #[kernel]
//! pub unsafe fn fill(x: *mut f32) {
//!     *x.add(thread::index_1d() as usize) = 1.5;
//! }
//!
//! let mut x = [0.0; 4];
//! // SAFETY: x has 4 elements.
//! unsafe { cuda_std::sim::launch!(fill<<<1, 4>>>(x.as_mut_ptr())) }?;
//! assert_eq!(x, [1.5; 4]);
//! # Ok::<(), cuda_std::sim::Fault>(())
//! ```

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

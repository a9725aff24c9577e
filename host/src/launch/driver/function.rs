//! A kernel, as the driver knows it.

use cust::sys::CUfunction;

/// A kernel's handle. It lives as long as its module.
#[derive(Clone, Copy)]
pub(super) struct Function {
    pub(super) handle: CUfunction,
    /// Whether it waits for the kernel in front by itself.
    pub(super) waits: bool,
}

// SAFETY: any thread may use the handle while its context is current there.
unsafe impl Send for Function {}

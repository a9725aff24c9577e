//! The kinds of memory.

/// The kinds of memory.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::ptr;
/// # sim::call("example", Configuration::new(1, 1), || unsafe {
/// # let x = Box::new(7);
/// assert!(ptr::is_in_address_space(&*x, ptr::AddressSpace::Global));
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// Of the device, for all threads.
    Global,
    /// Of a block.
    Shared,
    /// Of the device, never written.
    Constant,
    /// Of a thread.
    Local,
}

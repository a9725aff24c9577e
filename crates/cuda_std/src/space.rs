//! The kinds of memory.

/// The kinds of memory.
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

//! Who sees an atomic operation.

pub use core::sync::atomic::Ordering;

/// The threads that an atomic operation is atomic for, and that see what it orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Of the block.
    Block,
    /// Of the device.
    Device,
    /// Of all devices and the host.
    System,
}

//! Who sees an atomic operation.

pub use core::sync::atomic::Ordering;

/// The threads that an atomic operation is atomic for, and that see what it orders.
///
/// Types have it in their names: `BlockAtomicU32`, `AtomicU32`, `SystemAtomicU32`.
///
/// ```
/// use cuda_std::atomic::Scope;
///
/// // An event for others, by how far away they are.
/// let name = |scope| match scope {
///     Scope::Block => "BlockAtomicU32",
///     Scope::Device => "AtomicU32",
///     Scope::System => "SystemAtomicU32",
/// };
/// assert_eq!(name(Scope::Device), "AtomicU32");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Of the block.
    Block,
    /// Of the device.
    Device,
    /// Of all devices and the host.
    System,
}

//! The lanes of a warp: how many there are, and how they get at each other's values.

/// Threads per warp.
pub const WARP_SIZE: u32 = 32;
/// The mask of all lanes.
pub const FULL_MASK: u32 = 0xffff_ffff;

/// Where a lane gets the other's value from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shuffle {
    /// The lane `operand` above.
    Down,
    /// The lane whose number differs in the bits of `operand`.
    Xor,
    /// Lane `operand`.
    Index,
}

//! Arrays in shared memory.

/// A shared array of the block.
#[derive(Debug, Clone, Copy)]
pub struct SharedBase {
    /// Its number in the block.
    pub(super) array: usize,
    /// Elements.
    pub(super) length: usize,
}

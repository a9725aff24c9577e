//! The sizes of launches and slices.

/// Threads a block in every launch of these kernels.
pub const BLOCK: u32 = 256;

/// Most blocks that a kernel with a reduction is launched on; scratch memory is sized by it.
pub const MAX_REDUCTION_BLOCKS: u32 = 8192;

/// Rows in a slice: a warp, so that its loads of one column of the slice are one coalesced access.
pub const SLICE: usize = 32;

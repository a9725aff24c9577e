//! The lanes of a warp: how many there are, and how they get at each other's values.

/// Threads per warp.
pub const WARP_SIZE: u32 = 32;
/// The mask of all lanes.
pub const FULL_MASK: u32 = 0xffff_ffff;

/// Where a lane gets the other's value from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shuffle {
    /// The lane `operand` below.
    Up,
    /// The lane `operand` above.
    Down,
    /// The lane whose number differs in the bits of `operand`.
    Xor,
    /// Lane `operand`.
    Index,
}

/// How [`warp_reduce`](crate::warp::warp_reduce) combines the lanes' values.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::warp::{self, FULL_MASK};
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// use warp::WarpReductionOp;
/// let bits = 1 << warp::lane_id();
/// assert_eq!(warp::warp_reduce(FULL_MASK, bits, WarpReductionOp::Or), u32::MAX);
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "operations")]
pub enum WarpReductionOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
}

impl WarpReductionOp {
    /// Combines two values, the bits of `i32` if `signed`.
    #[inline(always)]
    pub(crate) fn apply(self, a: u32, b: u32, signed: bool) -> u32 {
        let first = if signed { (a as i32) < b as i32 } else { a < b };
        match self {
            WarpReductionOp::Add => a.wrapping_add(b),
            WarpReductionOp::Min => {
                if first {
                    a
                } else {
                    b
                }
            }
            WarpReductionOp::Max => {
                if first {
                    b
                } else {
                    a
                }
            }
            WarpReductionOp::And => a & b,
            WarpReductionOp::Or => a | b,
            WarpReductionOp::Xor => a ^ b,
        }
    }
}

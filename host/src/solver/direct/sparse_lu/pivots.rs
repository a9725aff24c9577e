//! Which entries become pivots.

/// No step, or none yet.
pub const NONE: u32 = u32::MAX;
/// A column has no pivot where nothing that is left of it is above this share of what it was.
pub const RANK: f64 = 1.0 / (1u64 << 46) as f64;

/// Which rows become pivots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The preferred row is taken where its entry is at least this share of the largest.
    pub threshold: f64,
    /// Whether a column whose preferred row is not comes last, where it may have any row, instead of taking
    /// another now. Then no column before has more entries than was thought of, but for those in rows that
    /// are left.
    pub comes_last: bool,
}

//! What a simulation looks for.

/// What to look for beyond the checks that are always made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Report two threads that touch the same address with nothing to order them, one of them writing.
    /// Many times slower.
    pub races: bool,
}

//! Pivots of incomplete factorisations that are too small.

/// A pivot below this share of its row's largest entry is too small.
const LEAST: f64 = 1e-6;
/// What it becomes, as a share of that entry: large enough that the solutions stay bounded.
const INSTEAD: f64 = 1e-2;

/// How pivots are looked at.
#[derive(Debug, Clone, Copy)]
pub struct Pivots {
    /// Whether they must be positive.
    pub are_positive: bool,
    /// What is added to the diagonal, as a share of it.
    pub shift: f64,
}

impl Pivots {
    /// The pivot to divide by, and whether it is not the one that was found. `diagonal` is A's entry, `most`
    /// the largest magnitude of A's row.
    #[inline(always)]
    pub fn checked(self, found: f64, diagonal: f64, most: f64) -> (f64, bool) {
        let most = if most > 0.0 { most } else { 1.0 };
        let found = found + self.shift * diagonal;
        let is_usable = match self.are_positive {
            true => found > LEAST * diagonal,
            false => found.abs() > LEAST * most,
        };
        match (is_usable && found.is_finite(), self.are_positive) {
            (true, _) => (found, false),
            (false, true) => (diagonal, true),
            (false, false) => (if found < 0.0 { -INSTEAD * most } else { INSTEAD * most }, true),
        }
    }
}

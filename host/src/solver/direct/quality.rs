//! What a solve shows of factors, and which steps show nothing.

use super::columns::Columns;
use super::vectors::norm;
use crate::problem::random::uniform;

/// A step that leaves more of the residual than this is the last.
pub const CLEAR: f64 = 0.5;
/// How many times as long as the residual, divided by the largest entry, a step is with a matrix that is
/// singular in f64.
pub const EXPLODED: f64 = 1e14;

/// What factors are worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quality {
    /// A pivot vanished.
    NotFinite,
    /// A step of refinement would leave most of a residual, and not because the matrix is singular in f64.
    Inaccurate,
    /// Neither.
    Usual,
}

impl Quality {
    /// That of the factors of `a`, whose entries are scaled, by a solve with them.
    pub fn of(mut solve: impl FnMut(&mut [f64]), a: &Columns) -> Quality {
        let b: Vec<f64> = (0..a.n).map(|i| uniform(3, i as u64) - 0.5).collect();
        let mut x = b.clone();
        solve(&mut x);
        if !x.iter().all(|v| v.is_finite()) {
            return Quality::NotFinite;
        }
        let is_singular = norm(&x) >= EXPLODED * norm(&b);
        let is_left = !is_singular && norm(&a.residual(&x, &b)) > CLEAR * norm(&b);
        if is_left { Quality::Inaccurate } else { Quality::Usual }
    }
}

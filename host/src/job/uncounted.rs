//! What is known of a factorisation whose entries were not counted.

use crate::analysis::{expansion, width};
use crate::matrix::Csr;

/// Rows within three steps for each within one, from which on meshes are of surfaces, not of lines or trees,
pub const PLANE: f64 = 3.5;
/// and from which on they are of volumes.
pub const VOLUME: f64 = 8.0;
/// Those beyond which the graph of a matrix is none of a mesh.
pub const EXPANDING: f64 = 25.0;
/// Seconds for the square of the rows of a mesh of a volume that a factorisation takes at least: separators
/// of `n^(2/3)` rows.
const VOLUME_SECONDS: f64 = 3e-10;
/// Seconds for a row, and the square of the width, of a mesh that is long.
const LONG_SECONDS: f64 = 3e-11;

/// Whether a factorisation takes longer than so many seconds because the graph is that of a mesh in space.
pub fn is_longer_than(a: &Csr<f64>, seconds: f64) -> bool {
    let rows = a.n_rows() as f64;
    VOLUME_SECONDS * rows.powi(2) > seconds
        && (VOLUME..EXPANDING).contains(&expansion(a))
        && LONG_SECONDS * rows * (width(a) as f64).powi(2) > seconds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::generate;

    /// About as many rows in a cube and in a plane.
    #[test]
    fn only_of_meshes_in_space_that_are_not_long_factors_take_long() {
        let is_long = |problem: &str, seconds| {
            is_longer_than(&generate(&problem.parse().unwrap(), 1).unwrap(), seconds)
        };
        assert!(is_long("tet:40", 0.5) && !is_long("tet:40", 2.0));
        assert!(!is_long("poisson2d:250", 0.5));
    }
}

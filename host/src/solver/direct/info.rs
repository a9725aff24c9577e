//! What reports say of a factorisation.

use super::prediction::Prediction;

/// What was found out about a matrix while it was solved with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Info {
    /// The factorisation that was used last, and what it was predicted to take.
    pub prediction: Prediction,
    /// Entries of the factors, where they were counted.
    pub entries: Option<usize>,
    /// About `||A||_1 ||A^-1||_1`, where a solution was found with factors of a matrix that is regular in
    /// f64.
    pub condition: Option<f64>,
    /// Vectors of the null space that were found; 0 for a matrix that is regular in f64.
    pub null_space: usize,
}

//! Null spaces of matrices that are singular in f64, found with their factors.

use super::factorisation::Factorisation;
use super::sparse_lu::SparseLu;
use super::vectors::{norm, orthonormalise};
use crate::matrix::Csr;
use crate::problem::random::uniform;

/// Vectors looked for first, and at most.
const FIRST: usize = 1;
const MOST: usize = 64;
/// At most by inverse iteration, which takes many solves: so many, and so many entries of the factors for all
/// of them.
const MOST_ITERATED: usize = 16;
const MOST_ENTRIES: f64 = 2e8;
/// Steps of inverse iteration: each multiplies what is left of other vectors by the ratio of singular values.
const STEPS: usize = 3;
/// Singular values of the scaled matrix, whose largest entries are near 1, below this are 0 but for rounding.
const ZERO: f64 = 1e-13;
/// What vectors that LU says belong to the null space may be mapped to. Where it has grown they are mapped to
/// anything, and the matrix may be regular.
const NEARLY_ZERO: f64 = 1e-10;

/// Orthonormal vectors that the scaled matrix S maps to 0, and its transpose: `S v = 0`, `S^T u = 0`.
pub struct NullVectors {
    /// Of S^T.
    pub left: Vec<Vec<f64>>,
    /// Of S.
    pub right: Vec<Vec<f64>>,
    /// Whether they span the null spaces.
    pub is_complete: bool,
}

impl NullVectors {
    /// From the rank that LU found, or by inverse iteration with `S S^T` and `S^T S` on a block of vectors
    /// (Golub and Van Loan 2013, section 8.2.4). None for a matrix that is regular in f64. Where the null
    /// space has more than 64 dimensions, one that has the largest product with the right-hand side `b` of S
    /// that the rank tells.
    pub fn of(factorisation: &mut Factorisation, b: &[f64]) -> NullVectors {
        let n = factorisation.n();
        if let Some(lu) = factorisation.factor.sparse_lu()
            && lu.rank() < n
        {
            return of_rank(lu, n - lu.rank(), b).verified(&factorisation.scaled);
        }
        let affordable = (MOST_ENTRIES / factorisation.prediction.entries) as usize;
        let mut count = FIRST;
        loop {
            let found = inverse_iteration(factorisation, count);
            count *= 4;
            if found.is_complete || count > affordable.min(MOST_ITERATED) {
                return found;
            }
        }
    }

    /// None, if not all are mapped to 0.
    fn verified(self, scaled: &Csr<f64>) -> NullVectors {
        let transposed = scaled.transpose();
        let is_null = |a: &Csr<f64>, v: &Vec<f64>| norm(&a.mul_vec(v)) <= NEARLY_ZERO;
        let are_null = self.left.iter().all(|u| is_null(&transposed, u))
            && self.right.iter().all(|v| is_null(scaled, v));
        if are_null { self } else { NullVectors { left: Vec::new(), right: Vec::new(), is_complete: true } }
    }
}

/// The vectors that belong to the rows without a pivot, and to the columns.
fn of_rank(lu: &SparseLu, count: usize, b: &[f64]) -> NullVectors {
    if count > MOST {
        let unmet = lu.unmet(b);
        let mut left = vec![lu.left_null_vector(|row| unmet[row])];
        orthonormalise(&mut left);
        return NullVectors { left, right: Vec::new(), is_complete: false };
    }
    let mut right: Vec<Vec<f64>> = (0..count).map(|k| lu.right_null_vector(k)).collect();
    let unit = |k: usize| move |row: usize| if row == k { 1.0 } else { 0.0 };
    let mut left: Vec<Vec<f64>> = (0..count).map(|k| lu.left_null_vector(unit(k))).collect();
    orthonormalise(&mut left);
    orthonormalise(&mut right);
    NullVectors { left, right, is_complete: true }
}

fn inverse_iteration(factorisation: &mut Factorisation, count: usize) -> NullVectors {
    let n = factorisation.n();
    let start = |k: usize| (0..n).map(|i| uniform(71 + k as u64, i as u64) - 0.5).collect();
    let mut right: Vec<Vec<f64>> = (0..count.min(n)).map(start).collect();
    let mut left = Vec::new();
    for _ in 0..STEPS {
        // u = S^-T v,  v = S^-1 u
        left = right.clone();
        left.iter_mut().for_each(|u| factorisation.factor.solve_transposed(u));
        orthonormalise(&mut left);
        right = left.clone();
        right.iter_mut().for_each(|v| factorisation.factor.solve(v));
        orthonormalise(&mut right);
    }
    // Those of a block come in no order, and mixed: they are 0 all, or told apart by their images.
    let scaled = &factorisation.scaled;
    let transposed = scaled.transpose();
    left.retain(|u| is_finite(u) && norm(&transposed.mul_vec(u)) <= ZERO);
    right.retain(|v| is_finite(v) && norm(&scaled.mul_vec(v)) <= ZERO);
    let is_complete = left.len() < count.min(n) || n < count;
    NullVectors { left, right, is_complete }
}

fn is_finite(v: &[f64]) -> bool {
    v.iter().all(|v| v.is_finite())
}

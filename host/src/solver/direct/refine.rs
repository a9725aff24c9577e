//! Iterative refinement (Higham 2002, chapter 12) with residuals in doubled precision.

use super::doubled::residual;
use super::factorisation::Factorisation;
use super::singular::NullVectors;
use super::vectors::{norm, orthonormalise, remove};
use crate::matrix::Csr;
use crate::solver::iterative::OnProgress;

/// Steps at most.
const STEPS: u32 = 20;
/// A step that leaves more of the residual than this is the last.
const CLEAR: f64 = 0.5;

/// A solution on its way.
pub struct Refinement<'a> {
    pub a: &'a Csr<f64>,
    pub b: &'a [f64],
    pub threshold: f64,
    /// The best so far.
    pub x: Vec<f64>,
    /// `b - A x`.
    pub r: Vec<f64>,
    /// Norms of residuals, after each step.
    pub history: Vec<f64>,
    /// What the last step came to where it was not taken: x and its residual.
    pub refused: Option<(Vec<f64>, Vec<f64>)>,
}

impl<'a> Refinement<'a> {
    /// From a start.
    pub fn new(a: &'a Csr<f64>, b: &'a [f64], x: Vec<f64>, threshold: f64) -> Self {
        let r = residual(a, &x, b);
        let history = vec![norm(&r)];
        Refinement { a, b, threshold, x, r, history, refused: None }
    }

    /// `||b - A x||_2`.
    pub fn norm(&self) -> f64 {
        norm(&self.r)
    }

    /// Whether that is small enough.
    pub fn is_done(&self) -> bool {
        self.norm() <= self.threshold
    }

    /// `x = x + A^-1 (b - A x)` until that is small enough, or helps no more.
    pub fn refine(&mut self, factorisation: &mut Factorisation, most: u32, on_progress: OnProgress) {
        self.steps(factorisation, &Kept { projected: &[], left: &[], right: &[] }, most, on_progress);
    }

    /// The same within a matrix that is singular in f64, from another start: `x = x + A^+ (P b - A x)` with P
    /// the projection onto its range, and x kept out of its null space. Returns `||b - P b||`, which every x
    /// leaves.
    pub fn refine_singular(
        &mut self,
        factorisation: &mut Factorisation,
        null: &NullVectors,
        start: Vec<f64>,
        most: u32,
        on_progress: OnProgress,
    ) -> f64 {
        let mut left = factorisation.unscaled(&null.left);
        orthonormalise(&mut left);
        let least = remove(&left, &mut self.b.to_vec());
        // What the factors left is mostly null space, as large as rounding lets it be.
        let mut other = Refinement::new(self.a, self.b, start, self.threshold);
        other.steps(
            factorisation,
            &Kept { projected: &left, left: &null.left, right: &null.right },
            most,
            on_progress,
        );
        if other.norm() < self.norm() {
            (self.x, self.r) = (other.x, other.r);
        }
        self.history.extend(&other.history[1..]);
        least
    }

    /// Takes out of x what A maps to 0, of which an orthonormal basis is given: x is the solution of least
    /// norm then. It stays where that would be less accurate than what was asked for.
    pub fn shorten(&mut self, vanishing: Vec<Vec<f64>>) {
        let mut x = self.x.clone();
        remove(&vanishing, &mut x);
        let r = residual(self.a, &x, self.b);
        if norm(&r) <= self.threshold {
            (self.x, self.r) = (x, r);
        }
    }

    fn steps(&mut self, factorisation: &mut Factorisation, kept: &Kept, most: u32, on_progress: OnProgress) {
        // What a step can take off.
        let part = |r: &[f64]| {
            let mut r = r.to_vec();
            remove(kept.projected, &mut r);
            r
        };
        let mut left = part(&self.r);
        for _ in 0..most.min(STEPS) {
            if self.is_done() || on_progress.is_cancelled() {
                return;
            }
            let d = factorisation.solve(&left, kept.left, kept.right);
            let x: Vec<f64> = self.x.iter().zip(&d).map(|(x, d)| x + d).collect();
            let r = residual(self.a, &x, self.b);
            let (before, next) = (norm(&left), part(&r));
            let after = norm(&next);
            // NaN is no progress.
            if after.is_nan() || after >= before {
                self.refused = Some((x, r));
                return;
            }
            (self.x, self.r, left) = (x, r, next);
            self.history.push(norm(&self.r));
            on_progress.observe(self.history.len() as u32 - 1, self.norm());
            if after > CLEAR * before {
                return;
            }
        }
    }
}

/// What a singular system is kept out of: orthonormal bases.
struct Kept<'a> {
    /// Of what A^T maps to 0.
    projected: &'a [Vec<f64>],
    /// Of what S^T maps to 0.
    left: &'a [Vec<f64>],
    /// Of what S maps to 0.
    right: &'a [Vec<f64>],
}

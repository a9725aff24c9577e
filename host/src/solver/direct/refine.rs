//! Iterative refinement (Higham 2002, chapter 12) with residuals in doubled precision.

use super::doubled::residual;
use super::factorisation::Factorisation;
use super::krylov::Part;
use super::quality::{CLEAR, EXPLODED};
use super::singular::NullVectors;
use super::vectors::{norm, orthonormalise, remove};
use crate::matrix::{Csr, backward_error};
use crate::problem::random::uniform;
use crate::solver::iterative::OnProgress;

/// Steps at most.
const STEPS: u32 = 20;
/// A residual of this share of b that is no more than rounding is of an x of usual size, which no other
/// factorisation improves.
const ROUNDED: f64 = 1e-12;
/// A step of this share of x changes nothing of what rounding of x leaves.
const SHORT: f64 = 1e-10;
/// The share of a right-hand side at random that is nothing beside what a singular matrix leaves of it.
const REACHED: f64 = 1e-8;
/// Units of rounding.
const ROUNDING_UNITS: f64 = 16.0;

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
    refused: Option<(Vec<f64>, Vec<f64>)>,
    /// `||d|| / ||x||` of the last step d that was taken.
    step: f64,
    /// `||d|| / ||r||` at most, of the steps d from residuals r.
    growth: f64,
}

impl<'a> Refinement<'a> {
    /// From a start.
    pub fn new(a: &'a Csr<f64>, b: &'a [f64], x: Vec<f64>, threshold: f64) -> Self {
        let r = residual(a, &x, b);
        let history = vec![norm(&r)];
        Refinement { a, b, threshold, x, r, history, refused: None, step: f64::INFINITY, growth: 0.0 }
    }

    /// `||b - A x||_2`.
    pub fn norm(&self) -> f64 {
        norm(&self.r)
    }

    /// Whether that is small enough.
    pub fn is_done(&self) -> bool {
        self.norm() <= self.threshold
    }

    /// Whether the residual is what rounding of x alone leaves, and no other factors would find another x:
    /// the residual is small beside b, or the last step was short beside x.
    pub fn is_at_rounding(&self) -> bool {
        let is_final = self.norm() <= ROUNDED * norm(self.b) || self.step <= SHORT;
        is_final && self.is_rounding()
    }

    /// Whether the residual is no larger than what rounding of x alone leaves.
    pub fn is_rounding(&self) -> bool {
        self.would_be_rounding(&self.x, &self.r)
    }

    fn would_be_rounding(&self, x: &[f64], r: &[f64]) -> bool {
        backward_error(self.a, x, self.b, r) <= ROUNDING_UNITS * f64::EPSILON
    }

    /// Takes what was refused where nothing else was found, and its residual is rounding: of rows that differ
    /// much in scale the rounding of a large x may leave more than b is.
    pub fn take_refused(&mut self) {
        if let Some((x, r)) = self.refused.take()
            && self.history.len() == 1
            && self.would_be_rounding(&x, &r)
        {
            (self.x, self.r) = (x, r);
            self.history.push(self.norm());
        }
    }

    /// Whether a step was as long as only a matrix makes it that is singular in f64.
    pub fn has_exploded(&self) -> bool {
        let largest = self.a.values().iter().fold(0.0f64, |most, v| most.max(v.abs()));
        self.growth * largest >= EXPLODED
    }

    /// Whether some step was taken.
    pub fn has_advanced(&self) -> bool {
        self.history.len() > 1
    }

    /// Takes a step that leaves less of the residual; whether it leaves clearly less.
    pub fn take(&mut self, d: &[f64]) -> bool {
        let before = self.norm();
        let x: Vec<f64> = self.x.iter().zip(d).map(|(x, d)| x + d).collect();
        let r = residual(self.a, &x, self.b);
        let after = norm(&r);
        // NaN is no progress.
        if after.is_nan() || after >= before {
            return false;
        }
        (self.x, self.r) = (x, r);
        self.step = norm(d) / norm(&self.x);
        self.history.push(after);
        after <= CLEAR * before
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
        self.history.extend(&other.history[1..]);
        if other.norm() < self.norm() {
            (self.x, self.r) = (other.x, other.r);
        } else if let Some(last) = self.history.last_mut() {
            // The steps led to nothing better.
            *last = norm(&self.r);
        }
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
        // Where the iteration stands: at the best x, but while it is astray.
        let (mut at, mut left) = (self.x.clone(), part(&self.r));
        let (first, mut best) = (self.history.len(), norm(&left));
        // A first step may leave more than there was, of an x that is much larger than b. If the steps get
        // shorter all the same, they lead to the solution; here is the length of the last.
        let mut astray: Option<f64> = None;
        for _ in 0..most.min(STEPS) {
            if self.is_done() || on_progress.is_cancelled() {
                return;
            }
            let d = factorisation.solve(&left, kept.left, kept.right);
            let length = norm(&d);
            if astray.is_some_and(|last| length.is_nan() || length > CLEAR * last) {
                return;
            }
            self.growth = self.growth.max(length / norm(&left));
            let x: Vec<f64> = at.iter().zip(&d).map(|(x, d)| x + d).collect();
            let r = residual(self.a, &x, self.b);
            let (before, next) = (best, part(&r));
            let after = norm(&next);
            // NaN is no progress.
            if after.is_nan() || after >= best {
                let is_first = self.history.len() == first;
                self.refused = Some((x.clone(), r));
                if after.is_nan() || !is_first {
                    return;
                }
                (at, left, astray) = (x, next, Some(length));
                continue;
            }
            (self.x, self.r, left, best) = (x, r, next, after);
            at.clone_from(&self.x);
            self.step = length / norm(&self.x);
            self.history.push(norm(&self.r));
            on_progress.observe(self.history.len() as u32 - 1, self.norm());
            astray = astray.map(|_| length);
            if astray.is_none() && after > CLEAR * before {
                return;
            }
        }
    }
}

/// Whether refinement solves for a right-hand side at random: that has a part outside of the range of every
/// singular matrix, about `1 / sqrt(n)` of it.
pub fn reaches_any_rhs(a: &Csr<f64>, factorisation: &mut Factorisation, on_progress: OnProgress) -> bool {
    let b: Vec<f64> = (0..a.n_rows() as u64).map(|i| uniform(23, i) - 0.5).collect();
    let mut run = Refinement::new(a, &b, vec![0.0; b.len()], REACHED * norm(&b));
    run.refine(factorisation, STEPS, &mut Part(on_progress));
    run.is_done() && !run.has_exploded()
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

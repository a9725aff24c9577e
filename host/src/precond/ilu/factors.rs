//! The factors as they are computed, in the order of elimination: `L U`, L with ones on the diagonal; and as
//! they are applied.

use std::ops::Range;

use crate::matrix::Csr;
use crate::problem::random::uniform;

/// Factors of which `A M` makes a vector so many times as long leave no digit of it.
const USELESS: f64 = 1.0 / f64::EPSILON;

/// `L U` close to a matrix, both in one: L below the diagonal, without its ones, and U from there on.
pub(super) struct Factors {
    pub whole: Csr<f64>,
    /// Places of the diagonal: the pivots.
    pub diagonal: Vec<usize>,
    /// Pivots that were too small, and changed.
    pub changed: usize,
    /// What was added to the diagonal, as a share of it.
    pub shift: f64,
}

/// Factors, ready to be applied.
pub enum Factored<Triangles, Matrix> {
    /// Two triangles that are solved with, one after the other.
    Triangles(Triangles),
    /// What is multiplied by in place of that: `N_L`, then `N_U`.
    Inverses([Matrix; 2]),
}

impl Factors {
    /// Places of row i of L, without its diagonal.
    pub fn lower(&self, i: usize) -> Range<usize> {
        self.whole.row_ptr()[i]..self.diagonal[i]
    }

    /// Places of row i of U right of its diagonal.
    pub fn upper(&self, i: usize) -> Range<usize> {
        self.diagonal[i] + 1..self.whole.row_ptr()[i + 1]
    }

    /// Element (i, i) of U.
    pub fn pivot(&self, i: usize) -> f64 {
        self.whole.values()[self.diagonal[i]]
    }

    /// Whether a solution with them says anything about `a`, whose factors they are nearly (compare Chow and
    /// Saad 1997): not where it overflows, or nearly.
    pub fn are_useful(&self, a: &Csr<f64>) -> bool {
        let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let random: Vec<f64> = (0..a.n_rows()).map(|i| uniform(5, i as u64) - 0.5).collect();
        let before = a.mul_vec(&random);
        let after = a.mul_vec(&self.solve(&before));
        // NaN is not.
        norm(&after) <= USELESS * norm(&before)
    }

    /// `U^-1 L^-1 r`.
    fn solve(&self, r: &[f64]) -> Vec<f64> {
        let (columns, values) = (self.whole.col_idx(), self.whole.values());
        let mut x = r.to_vec();
        let rest = |x: &[f64], i: usize, places: Range<usize>| {
            places.fold(x[i], |rest, at| rest - values[at] * x[columns[at] as usize])
        };
        for i in 0..x.len() {
            x[i] = rest(&x, i, self.lower(i));
        }
        for i in (0..x.len()).rev() {
            x[i] = rest(&x, i, self.upper(i)) / self.pivot(i);
        }
        x
    }
}

//! Sparse approximate inverses of the factors: products in place of solutions.
//!
//! The inverse N of a lower triangle L has the pattern of L, and there `N L = I` (ISAI; Anzt, Huckle, Bräckle
//! and Dongarra 2018). U is the transpose of such a triangle, so that M is symmetric where the factors are.
//! A product is one step, a solution as many as there are levels.

use cuda_std::Real;

use super::arrangement::{Arrangement, permuted};
use super::factors::Factors;
use super::params::{Order, Params, Solves};
use crate::matrix::Csr;
use crate::parallel::*;

/// Nobody who leaves the choice to us gets inverses of factors with a longer row: the work grows with its
/// square.
pub(super) const LONG: u32 = 256;
/// Nor such that leave more than this of a random vector of length 1, on average: `N L v - v`.
const ACCURATE: f64 = 0.2;
/// Rows that a thread looks at, at least.
const LEAST_ROWS: usize = 1024;

/// Whether an inverse of n rows is taken that leaves so much: the squares of `N L - I`.
pub(super) fn are_accurate(sum_of_squares: f64, n: usize) -> bool {
    // NaN is not.
    sum_of_squares <= ACCURATE * ACCURATE * n as f64
}

impl Params {
    /// Whether inverses are made, and then taken where they are accurate. Methods for other matrices take so
    /// many more iterations with them that nothing is saved.
    pub(super) fn may_be_inverted(&self, is_symmetric: bool) -> bool {
        let by_itself = is_symmetric && self.keeps_pattern() && self.order() == Order::Multicolour;
        self.solves.map_or(by_itself, |solves| solves == Solves::Inverses)
    }
}

/// `N_L` and `N_U`, between which the unknowns have A's numbers: `M = N_U N_L`. `None` where solutions are
/// better.
pub(super) fn inverses<S: Real>(
    factors: &Factors,
    arrangement: &Arrangement,
    params: &Params,
    is_symmetric: bool,
) -> Option<[Csr<S>; 2]> {
    if !params.may_be_inverted(is_symmetric) {
        return None;
    }
    let is_asked = params.solves == Some(Solves::Inverses);
    let made = |rows: &Csr<f64>, has_ones: bool| {
        let triangle = Lower { rows, has_ones };
        if !is_asked && triangle.longest_row() > LONG as usize {
            return None;
        }
        let inverse = triangle.inverse();
        (is_asked || are_accurate(triangle.left_over(&inverse), rows.n_rows())).then_some(inverse)
    };
    let (lower, upper) = (made(&factors.whole, true)?, made(&factors.whole.transpose(), false)?.transpose());
    let (places, Arrangement { rows, columns, scales }) = (arrangement.column_places(), arrangement);
    let scale = |which: usize, i: usize| scales.as_ref().map_or(1.0, |scales| scales[which][i]);
    let lower = permuted(&lower, &places, rows, |_, j, v| S::from_f64(v * scale(0, j)));
    let upper = permuted(&upper, &places, columns, |i, _, v| S::from_f64(v * scale(1, i)));
    Some([lower, upper])
}

/// A lower triangle; what is right of the diagonal is not looked at.
struct Lower<'a> {
    rows: &'a Csr<f64>,
    /// Whether the diagonal is 1, whatever is stored there.
    has_ones: bool,
}

impl Lower<'_> {
    /// Columns and values of row e left of its diagonal.
    fn left(&self, e: usize) -> (&[u32], &[f64]) {
        let (columns, values) = self.rows.row(e);
        let count = columns.partition_point(|&j| (j as usize) < e);
        (&columns[..count], &values[..count])
    }

    fn pivot(&self, e: usize) -> f64 {
        self.rows.row(e).1[self.left(e).0.len()]
    }

    fn longest_row(&self) -> usize {
        (0..self.rows.n_rows()).map(|e| self.rows.row_len(e)).max().unwrap_or(0)
    }

    /// N.
    fn inverse(&self) -> Csr<f64> {
        let n = self.rows.n_rows();
        let fill = |e: usize, columns: &mut [u32], values: &mut [f64]| {
            columns.copy_from_slice(&self.rows.row(e).0[..columns.len()]);
            self.fill_row(columns, values);
        };
        Csr::from_rows(n, n, |e| self.left(e).0.len() + 1, fill)
    }

    /// The row of N in these columns, of which the last is on the diagonal.
    fn fill_row(&self, columns: &[u32], row: &mut [f64]) {
        // From right to left: an entry is known when all of those right of it are, which take their part of
        // `N L` with them.
        for k in (0..columns.len()).rev() {
            let rest = if k + 1 == columns.len() { 1.0 } else { -row[k] };
            row[k] = if self.has_ones { rest } else { rest / self.pivot(columns[k] as usize) };
            let (others, values) = self.left(columns[k] as usize);
            for (q, l) in others.iter().zip(values) {
                if let Ok(place) = columns[..k].binary_search(q) {
                    row[place] += row[k] * l;
                }
            }
        }
    }

    /// The sum of the squares of what `N L` has outside of the pattern, each product by itself.
    fn left_over(&self, inverse: &Csr<f64>) -> f64 {
        let of_row = |e: usize| {
            let (columns, row) = inverse.row(e);
            let products = columns.iter().zip(row).flat_map(|(&k, &v)| {
                let (others, values) = self.left(k as usize);
                others.iter().zip(values).map(move |(q, l)| (q, v * l))
            });
            let outside = products.filter(|(q, _)| columns.binary_search(q).is_err());
            outside.map(|(_, product)| product * product).sum::<f64>()
        };
        (0..inverse.n_rows()).into_par_iter().with_min_len(LEAST_ROWS).map(of_row).collect().iter().sum()
    }
}

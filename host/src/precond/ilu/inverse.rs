//! Sparse approximate inverses of the factors: products in place of solutions.
//!
//! The inverse N of a lower triangle L has the pattern of L, and there `N L = I` (ISAI; Anzt, Huckle, Bräckle
//! and Dongarra 2018). U is the transpose of such a triangle, so that M is symmetric where the factors are.
//! A product is one step, a solution as many as there are levels.

use cuda_std::Real;

use super::arrangement::Arrangement;
use super::factors::Factors;
use super::params::{Order, Params, Solves};
use super::schedule::sort_row;
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
    let is_asked = params.solves == Some(Solves::Inverses);
    let made = |rows: &Csr<f64>, has_ones: bool| {
        let triangle = Lower { rows, has_ones };
        if !is_asked && triangle.longest_row() > LONG as usize {
            return None;
        }
        let (inverse, left_over) = triangle.inverse();
        (is_asked || are_accurate(left_over, rows.n_rows())).then_some(inverse)
    };
    if !params.may_be_inverted(is_symmetric) {
        return None;
    }
    let (lower, upper) = (made(&factors.whole, true)?, made(&factors.whole.transpose(), false)?.transpose());
    let Arrangement { rows, columns, .. } = arrangement;
    let lower = renumbered(&lower, columns, rows, |_, q| arrangement.row_scale(q));
    let upper = renumbered(&upper, columns, columns, |p, _| arrangement.column_scale(p));
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

    /// N, and the sum of the squares of what `N L` has outside of the pattern, each product by itself.
    fn inverse(&self) -> (Csr<f64>, f64) {
        let n = self.rows.n_rows();
        let fill = |e: usize, columns: &mut [u32], values: &mut [f64]| {
            columns.copy_from_slice(&self.rows.row(e).0[..columns.len()]);
            self.fill_row(columns, values);
        };
        let inverse = Csr::from_rows(n, n, |e| self.left(e).0.len() + 1, fill);
        let rows = (0..n).into_par_iter().with_min_len(LEAST_ROWS);
        let left_over = rows.map(|e| self.left_over(inverse.row(e))).collect().iter().sum();
        (inverse, left_over)
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

    fn left_over(&self, (columns, row): (&[u32], &[f64])) -> f64 {
        let products = columns.iter().zip(row).flat_map(|(&k, &v)| {
            let (others, values) = self.left(k as usize);
            others.iter().zip(values).map(move |(q, l)| (q, v * l))
        });
        products
            .filter(|(q, _)| columns.binary_search(q).is_err())
            .map(|(_, product)| product * product)
            .sum()
    }
}

/// The matrix whose row `rows[e]` and column `columns[q]` are row e and column q of `n`, entries times
/// `scale(e, q)`.
fn renumbered<S: Real>(
    n: &Csr<f64>,
    rows: &[u32],
    columns: &[u32],
    scale: impl Fn(usize, usize) -> f64 + Sync,
) -> Csr<S> {
    let mut places = vec![0u32; rows.len()];
    rows.iter().zip(0..).for_each(|(&row, e)| places[row as usize] = e);
    let fill = |row: usize, new_columns: &mut [u32], new_values: &mut [S]| {
        let e = places[row] as usize;
        let entries = n.row(e).0.iter().zip(n.row(e).1);
        for ((column, value), (&q, &v)) in new_columns.iter_mut().zip(&mut *new_values).zip(entries) {
            *column = columns[q as usize];
            *value = S::from_f64(v * scale(e, q as usize));
        }
        sort_row(new_columns, new_values);
    };
    Csr::from_rows(rows.len(), columns.len(), |row| n.row_len(places[row] as usize), fill)
}

//! LU decomposition of a dense matrix with partial pivoting, by halves, so that most of it is products of
//! matrices. Columns in which no pivot is left are put off.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_unit_lower_triangular_in_place;
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Accum, MatMut, MatRef, Par};

use super::pivots::RANK;
use crate::parallel::ParallelSlice;

/// Columns that are eliminated one after another.
const FEW: usize = 16;
/// Columns that a thread updates together, however many threads there are: the same bits for any number.
const CHUNK: usize = 64;

/// L and U in the place of a matrix.
pub struct Dense {
    n_rows: usize,
    /// Column by column: U, and below it L without its diagonal.
    values: Vec<f64>,
    /// The column that is in each place.
    columns: Vec<usize>,
    /// The row that each step was swapped with.
    swaps: Vec<usize>,
    /// The columns of the steps,
    pub steps: Vec<usize>,
    /// and those without a pivot, with the number of steps that they depend on.
    pub put_off: Vec<(usize, usize)>,
}

impl Dense {
    /// Factorises a matrix of these columns. A column has no pivot where nothing is left that is more than
    /// rounding of it, or of `largest_above` of the column.
    pub fn factorised(n_rows: usize, values: Vec<f64>, largest_above: &[f64]) -> Dense {
        let n = largest_above.len();
        let (columns, steps, put_off) = ((0..n).collect(), Vec::new(), Vec::new());
        let mut dense = Dense { n_rows, values, columns, swaps: Vec::new(), steps, put_off };
        match n_rows {
            0 => dense.put_off.extend((0..n).map(|column| (column, 0))),
            _ => drop(dense.factorise(0..n, largest_above)),
        }
        dense
    }

    /// The row in each place; those of the steps come first.
    pub fn rows(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.n_rows).collect();
        self.swaps.iter().enumerate().for_each(|(step, &row)| rows.swap(step, row));
        rows
    }

    /// The place of each column, behind the rows of which its entries are: of U, and of L.
    pub fn places(&self) -> Vec<usize> {
        let mut places = vec![0; self.columns.len()];
        self.columns.iter().enumerate().for_each(|(place, &column)| places[column] = place);
        places
    }

    /// What is in a place: entries of U, in a column of a step its pivot, and entries of L.
    pub fn column(&self, place: usize) -> &[f64] {
        &self.values[place * self.n_rows..][..self.n_rows]
    }

    /// Factorises what is in these places: first the left half, which the right half is updated by then
    /// (Toledo 1997). Columns with pivots come first; how many.
    fn factorise(&mut self, places: Range<usize>, largest_above: &[f64]) -> usize {
        if places.len() <= FEW {
            return self.one_by_one(places, largest_above);
        }
        let (first, middle) = (self.steps.len(), places.start + places.len() / 2);
        let left = places.start..places.start + self.factorise(places.start..middle, largest_above);
        self.update(left.clone(), first, middle..places.end);
        let right = self.factorise(middle..places.end, largest_above);
        let (n_rows, swaps) = (self.n_rows, &self.swaps[first + left.len()..]);
        let columns = &mut self.values[left.start * n_rows..left.end * n_rows];
        columns.par_chunks_mut(n_rows).for_each(|column| swap(column, first + left.len(), swaps));
        (0..right).for_each(|k| self.swap_columns(left.end + k, middle + k));
        left.len() + right
    }

    fn one_by_one(&mut self, places: Range<usize>, largest_above: &[f64]) -> usize {
        let (n_rows, first) = (self.n_rows, self.steps.len());
        let (mut place, mut end) = (places.start, places.end);
        while place < end {
            let step = self.steps.len();
            self.eliminate(places.start..place, first);
            let column = self.columns[place];
            let Some(row) = self.pivot(place, step, largest_above[column]) else {
                end -= 1;
                self.swap_columns(place, end);
                self.put_off.push((column, step));
                continue;
            };
            self.swaps.push(row);
            let columns = &mut self.values[places.start * n_rows..places.end * n_rows];
            columns.chunks_exact_mut(n_rows).for_each(|column| column.swap(step, row));
            let entries = &mut self.values[place * n_rows..][step..n_rows];
            let pivot = entries[0];
            entries[1..].iter_mut().for_each(|v| *v /= pivot);
            self.steps.push(column);
            place += 1;
        }
        place - places.start
    }

    /// Eliminates in the column behind these places, whose first step is `first`.
    fn eliminate(&mut self, places: Range<usize>, first: usize) {
        let (before, column) = self.values.split_at_mut(places.end * self.n_rows);
        let lower = before[places.start * self.n_rows..].chunks_exact(self.n_rows);
        for (step, lower) in (first..).zip(lower) {
            let v = column[step];
            let below = column[step + 1..self.n_rows].iter_mut();
            below.zip(&lower[step + 1..]).for_each(|(x, l)| *x -= l * v);
        }
    }

    /// The row of the largest entry that is left in the column at this place.
    fn pivot(&self, place: usize, step: usize, largest_above: f64) -> Option<usize> {
        let (above, left) = self.column(place).split_at(step);
        let size = above.iter().fold(largest_above, |size, v| size.max(v.abs()));
        let larger = |most: (usize, f64), (row, v): (usize, &f64)| match v.abs() > most.1 {
            true => (row, v.abs()),
            false => most,
        };
        let (row, most) = left.iter().enumerate().fold((0, 0.0), larger);
        (most > RANK * size.max(most)).then_some(step + row)
    }

    /// Updates columns by those in the places `by`, whose first step is `first`.
    fn update(&mut self, by: Range<usize>, first: usize, columns: Range<usize>) {
        let n_rows = self.n_rows;
        let (before, rest) = self.values.split_at_mut(columns.start * n_rows);
        let lower =
            MatRef::from_column_major_slice(&before[by.start * n_rows..by.end * n_rows], n_rows, by.len());
        let lower = lower.submatrix(first, 0, n_rows - first, by.len());
        let swaps = &self.swaps[first..];
        rest[..columns.len() * n_rows].par_chunks_mut(CHUNK * n_rows).for_each(|columns| {
            columns.chunks_exact_mut(n_rows).for_each(|column| swap(column, first, swaps));
            update(lower, columns, n_rows);
        });
    }

    /// Swaps what is in two places.
    fn swap_columns(&mut self, a: usize, b: usize) {
        if a < b {
            let (left, right) = self.values.split_at_mut(b * self.n_rows);
            left[a * self.n_rows..][..self.n_rows].swap_with_slice(&mut right[..self.n_rows]);
            self.columns.swap(a, b);
        }
    }
}

/// Swaps as steps did, from the first on.
fn swap(column: &mut [f64], first: usize, swaps: &[usize]) {
    (first..).zip(swaps).for_each(|(step, &row)| column.swap(step, row));
}

/// `U := L_1^-1 U`, `A := A - L_2 U` in these columns, L_1 on top of L_2, and U of A in the same rows.
fn update(l: MatRef<f64>, columns: &mut [f64], n_rows: usize) {
    let (steps, n) = (l.ncols(), columns.len() / n_rows);
    let (l_1, l_2) = l.split_at_row(steps);
    let columns = MatMut::from_column_major_slice_mut(columns, n_rows, n);
    let (_, left) = columns.split_at_row_mut(n_rows - l.nrows());
    let (mut u, a) = left.split_at_row_mut(steps);
    solve_unit_lower_triangular_in_place(l_1, u.rb_mut(), Par::Seq);
    matmul(a, Accum::Add, l_2, u.rb(), -1.0, Par::Seq);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::random::uniform;

    /// `P A Q - L U` of a matrix of which some columns depend on others, and how many of them are put off.
    fn check(n_rows: usize, n: usize, dependent: &[usize]) {
        let mut a: Vec<f64> = (0..n_rows * n).map(|k| uniform(3, k as u64) - 0.5).collect();
        for &j in dependent {
            let sum: Vec<f64> = (0..n_rows).map(|i| a[i] - 2.0 * a[n_rows + i]).collect();
            a[j * n_rows..][..n_rows].copy_from_slice(&sum);
        }
        let dense = Dense::factorised(n_rows, a.clone(), &vec![0.0; n]);
        let (rank, rows, places) = (dense.steps.len(), dense.rows(), dense.places());
        assert_eq!(rank, n_rows.min(n - dependent.len()));
        assert_eq!(dense.put_off.len(), n - rank);
        let lower = |i: usize, k: usize| match i.cmp(&k) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Greater => dense.column(places[dense.steps[k]])[i],
        };
        let columns = dense.steps.iter().enumerate().map(|(k, &column)| (column, k + 1));
        for (column, steps) in columns.chain(dense.put_off.iter().copied()) {
            let upper = dense.column(places[column]);
            for i in 0..n_rows {
                let product: f64 = (0..steps).map(|k| lower(i, k) * upper[k]).sum();
                let entry = a[column * n_rows + rows[i]];
                assert!((product - entry).abs() < 1e-12, "{i} {column}: {product} {entry}");
            }
        }
    }

    #[test]
    fn the_product_of_the_factors_is_the_matrix() {
        check(0, 3, &[]);
        check(1, 1, &[]);
        check(150, 150, &[]);
        check(131, 97, &[]);
        check(97, 131, &[]);
    }

    #[test]
    fn columns_that_depend_on_others_are_put_off() {
        check(100, 100, &[5, 6, 40, 41, 42, 99]);
        check(40, 40, &(2..40).collect::<Vec<_>>());
        check(70, 66, &[31, 32, 63, 64, 65]);
    }

    #[test]
    fn zeros_have_no_pivots() {
        let dense = Dense::factorised(40, vec![0.0; 1600], &[0.0; 40]);
        assert!(dense.steps.is_empty() && dense.put_off.iter().all(|&(_, steps)| steps == 0));
    }

    #[test]
    fn rounding_of_what_was_above_is_no_pivot() {
        let put_off = |largest_above| {
            Dense::factorised(2, vec![1.0, 0.5, 0.3, 0.15 + 1e-13], &[1.0, largest_above]).put_off
        };
        assert_eq!(put_off(1.0), []);
        assert_eq!(put_off(1e3), [(1, 1)]);
    }
}

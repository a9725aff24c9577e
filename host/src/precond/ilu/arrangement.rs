//! What a matrix becomes before it is factorised: rows and columns permuted and scaled.

use cuda_std::Real;

use super::order::{Neighbours, order};
use super::params::Params;
use super::schedule::sort_row;
use crate::analysis::ProductMatching;
use crate::error::Result;
use crate::matrix::Csr;

/// `B = P R A C Q`: row e of B is row `rows[e]` of R A C, column e is column `columns[e]`.
pub(super) struct Arrangement {
    pub rows: Vec<u32>,
    pub columns: Vec<u32>,
    /// R and C, by rows and columns of A; `None` for 1.
    pub scales: Option<[Vec<f64>; 2]>,
}

impl Arrangement {
    /// For a square matrix; with `is_matched` large entries are brought to the diagonal first.
    pub fn of<T: Real>(
        a: &Csr<T>,
        params: &Params,
        is_matched: bool,
        is_symmetric: bool,
    ) -> Result<Arrangement> {
        if !is_matched {
            let columns = order(&Neighbours::of(a, is_symmetric), params.order())?;
            return Ok(Arrangement { rows: columns.clone(), columns, scales: None });
        }
        let matching = ProductMatching::of(&a.cast());
        let unordered = Arrangement {
            rows: matching.row_of,
            columns: (0..a.n_rows() as u32).collect(),
            scales: Some([matching.rows, matching.columns]),
        };
        let columns = order(&Neighbours::of(&unordered.apply(a), false), params.order())?;
        let rows = columns.iter().map(|&j| unordered.rows[j as usize]).collect();
        Ok(Arrangement { rows, columns, scales: unordered.scales })
    }

    /// The factor of row e of B.
    pub fn row_scale(&self, e: usize) -> f64 {
        self.scales.as_ref().map_or(1.0, |[rows, _]| rows[self.rows[e] as usize])
    }

    /// The factor of column e of B.
    pub fn column_scale(&self, e: usize) -> f64 {
        self.scales.as_ref().map_or(1.0, |[_, columns]| columns[self.columns[e] as usize])
    }

    /// B.
    pub fn apply<T: Real>(&self, a: &Csr<T>) -> Csr<f64> {
        permuted(a, &self.rows, &self.column_places(), |e, column, v| {
            self.row_scale(e) * v.to_f64() * self.column_scale(column)
        })
    }

    /// Where each column of A is in B.
    pub fn column_places(&self) -> Vec<u32> {
        let mut places = vec![0u32; self.columns.len()];
        self.columns.iter().enumerate().for_each(|(e, &j)| places[j as usize] = e as u32);
        places
    }
}

/// The square matrix whose row e is row `rows[e]` of `a`, with what is in column j in column `places[j]`, and
/// there `value(e, column, v)`.
pub(super) fn permuted<T: Real, S: Real>(
    a: &Csr<T>,
    rows: &[u32],
    places: &[u32],
    value: impl Fn(usize, usize, T) -> S + Sync,
) -> Csr<S> {
    let n = a.n_rows();
    let fill = |e: usize, columns: &mut [u32], values: &mut [S]| {
        let row = a.row(rows[e] as usize);
        let entries = row.0.iter().zip(row.1);
        for ((column, new), (&j, &v)) in columns.iter_mut().zip(&mut *values).zip(entries) {
            *column = places[j as usize];
            *new = value(e, *column as usize, v);
        }
        sort_row(columns, values);
    };
    Csr::from_rows(n, n, |e| a.row_len(rows[e] as usize), fill)
}

//! Matrices made of one matrix: transposed, permuted, with other values.

use super::Csr;
use crate::error::{Error, Result};
use cuda_std::Real;
use rayon::prelude::*;

impl<T: Real> Csr<T> {
    /// A^T, by counting the entries of each column.
    pub fn transpose(&self) -> Csr<T> {
        // Until the scatter below, row_ptr[j + 1] is where row j of the transpose starts.
        let mut row_ptr = vec![0; self.n_cols() + 2];
        for &j in self.col_idx() {
            row_ptr[j as usize + 2] += 1;
        }
        for j in 2..row_ptr.len() {
            row_ptr[j] += row_ptr[j - 1];
        }
        let mut col_idx = vec![0; self.nnz()];
        let mut values = vec![T::ZERO; self.nnz()];
        for i in 0..self.n_rows() {
            let (columns, entries) = self.row(i);
            for (&j, &v) in columns.iter().zip(entries) {
                let k = &mut row_ptr[j as usize + 1];
                col_idx[*k] = i as u32;
                values[*k] = v;
                *k += 1;
            }
        }
        row_ptr.pop();
        Csr::from_valid_parts(self.n_cols(), self.n_rows(), row_ptr, col_idx, values)
    }

    /// P A P^T: entry (i, j) of the result is entry (`order[i]`, `order[j]`) of this matrix.
    ///
    /// [`Error::Matrix`] for a rectangular matrix, or where `order` does not name every row once.
    pub fn permute_symmetric(&self, order: &[u32]) -> Result<Csr<T>> {
        let n = self.n_rows();
        super::check::check_square(self)?;
        if order.len() != n {
            return Err(Error::Matrix(format!("a permutation of {} for {n} rows", order.len())));
        }
        let mut position = vec![u32::MAX; n];
        for (r, &i) in order.iter().enumerate() {
            match position.get_mut(i as usize) {
                Some(p) if *p == u32::MAX => *p = r as u32,
                _ => {
                    let fault =
                        format!("entry {} of a permutation of {n} rows is {i}: twice, or too large", r + 1);
                    return Err(Error::Matrix(fault));
                }
            }
        }
        let length = |r: usize| self.row_len(order[r] as usize);
        Ok(Csr::from_rows(n, n, length, |r, columns, values| {
            let (old_columns, old_values) = self.row(order[r] as usize);
            let moved = old_columns.iter().zip(old_values).map(|(&j, &v)| (position[j as usize], v));
            let mut row: Vec<(u32, T)> = moved.collect();
            row.sort_unstable_by_key(|&(j, _)| j);
            for (k, (j, v)) in row.into_iter().enumerate() {
                (columns[k], values[k]) = (j, v);
            }
        }))
    }

    /// The same pattern with `f` of every value, explicit zeros included.
    pub fn map_values<U: Real>(&self, f: impl Fn(T) -> U + Sync) -> Csr<U> {
        const LEAST: usize = 1 << 14;
        let values = self.values().par_iter().with_min_len(LEAST).map(|&v| f(v)).collect();
        let row_ptr = self.row_ptr().par_iter().with_min_len(LEAST).copied().collect();
        let col_idx = self.col_idx().par_iter().with_min_len(LEAST).copied().collect();
        Csr::from_valid_parts(self.n_rows(), self.n_cols(), row_ptr, col_idx, values)
    }

    /// The same matrix with its values rounded to another type.
    pub fn cast<U: Real>(&self) -> Csr<U> {
        self.map_values(|v| U::from_f64(v.to_f64()))
    }
}

//! Matrices made of one matrix: transposed, permuted, with other values.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use super::Csr;
use crate::error::{Error, Result};
use crate::pages::in_large_pages;
use crate::parallel::*;
use cuda_std::Real;

/// An array that several threads write, none of them where another does.
struct Places<E>(*mut E);

// SAFETY: all that can be done with it is `write`, whose caller answers for the rest.
unsafe impl<E: Send> Sync for Places<E> {}

impl<E: Copy> Places<E> {
    /// # Safety
    /// `k` is within the array, which is there, and no other thread reads or writes element `k` meanwhile.
    unsafe fn write(&self, k: usize, value: E) {
        // SAFETY: the caller's promise.
        unsafe { self.0.add(k).write(value) }
    }
}

/// Writes the entries of a row, which come in any order, by their columns.
fn write_ascending<T: Copy>(entries: impl Iterator<Item = (u32, T)>, columns: &mut [u32], values: &mut [T]) {
    const SHORT: usize = 64;
    if columns.len() > SHORT {
        let mut row: Vec<(u32, T)> = entries.collect();
        row.sort_unstable_by_key(|&(j, _)| j);
        for (k, (j, v)) in row.into_iter().enumerate() {
            (columns[k], values[k]) = (j, v);
        }
        return;
    }
    let mut found = [0; SHORT];
    let mut those = [None; SHORT];
    let mut count = 0;
    for (j, v) in entries {
        (found[count], those[count]) = (j, Some(v));
        count += 1;
    }
    for (&j, v) in found[..count].iter().zip(those) {
        // Without a branch, of which sorting has some that nobody foresees.
        let before: u32 = found[..count].iter().map(|&other| u32::from(other < j)).sum();
        (columns[before as usize], values[before as usize]) = (j, v.expect("as many as columns"));
    }
}

impl<T: Real> Csr<T> {
    /// These rows, in this order.
    pub(crate) fn chosen_rows(&self, rows: &[u32]) -> Csr<T> {
        let fill = |k: usize, columns: &mut [u32], values: &mut [T]| {
            let row = self.row(rows[k] as usize);
            columns.copy_from_slice(row.0);
            values.copy_from_slice(row.1);
        };
        Csr::from_rows(rows.len(), self.n_cols(), |k| self.row_len(rows[k] as usize), fill)
    }

    /// The entries in these rows and columns, both ascending.
    pub(crate) fn chosen_part(&self, rows: &[u32], columns: &[u32]) -> Csr<T> {
        const OUTSIDE: u32 = u32::MAX;
        let mut number = vec![OUTSIDE; self.n_cols()];
        columns.iter().enumerate().for_each(|(k, &j)| number[j as usize] = k as u32);
        Csr::from_entries(rows.len(), columns.len(), |k| {
            let (columns, values) = self.row(rows[k] as usize);
            let numbered = columns.iter().zip(values).map(|(&j, &v)| (number[j as usize], v));
            numbered.filter(|(j, _)| *j != OUTSIDE)
        })
    }

    /// A^T, by counting the entries of each column.
    pub fn transpose(&self) -> Csr<T> {
        // Each thread takes a piece of the rows. There must not be more counts of a piece than entries in it.
        let most = self.nnz() / self.n_cols().max(1);
        let length = self.n_rows().div_ceil(rayon::current_num_threads().min(most).max(1)).max(1);
        let pieces: Vec<_> = (0..self.n_rows()).step_by(length).collect();
        let rows_from = |first: usize| first..(first + length).min(self.n_rows());
        let counts = |&first: &usize| {
            let mut counts = vec![0; self.n_cols()];
            for i in rows_from(first) {
                self.row(i).0.iter().for_each(|&j| counts[j as usize] += 1);
            }
            counts
        };
        let mut next: Vec<Vec<usize>> = pieces.par_iter().map(counts).collect();
        // Where each row of the transpose starts, and within it the entries of each piece.
        let mut row_ptr = in_large_pages(Vec::with_capacity(self.n_cols() + 1));
        let mut end = 0;
        for j in 0..self.n_cols() {
            row_ptr.push(end);
            for next in &mut next {
                (next[j], end) = (end, end + next[j]);
            }
        }
        row_ptr.push(end);
        let mut col_idx = in_large_pages(vec![0; self.nnz()]);
        let mut values = in_large_pages(vec![T::ZERO; self.nnz()]);
        let (to_columns, to_values) = (Places(col_idx.as_mut_ptr()), Places(values.as_mut_ptr()));
        pieces.par_iter().zip(next.into_par_iter()).for_each(|(&first, mut next)| {
            for i in rows_from(first) {
                let (columns, entries) = self.row(i);
                for (&j, &v) in columns.iter().zip(entries) {
                    let k = &mut next[j as usize];
                    // SAFETY: the places that were counted, nnz together, each of which is given to one
                    // entry.
                    unsafe {
                        to_columns.write(*k, i as u32);
                        to_values.write(*k, v);
                    }
                    *k += 1;
                }
            }
        });
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
            let moved = old_columns.iter().map(|&j| position[j as usize]).zip(old_values.iter().copied());
            write_ascending(moved, columns, values);
        }))
    }

    /// The same pattern with `f` of every value, explicit zeros included.
    pub fn map_values<U: Real>(&self, f: impl Fn(T) -> U + Sync) -> Csr<U> {
        const LEAST: usize = 1 << 14;
        let mut values = in_large_pages(vec![U::ZERO; self.nnz()]);
        values.par_iter_mut().with_min_len(LEAST).zip(self.values().par_iter()).for_each(|(u, &v)| *u = f(v));
        self.with_values(values)
    }

    /// A matrix with the pattern of this one, built in parallel: `fill(rows, values)` writes the values of
    /// some rows, every one.
    pub(crate) fn with_rows<U: Real>(&self, fill: impl Fn(Range<usize>, &mut [U]) + Sync) -> Csr<U> {
        const BLOCK: usize = 1024;
        let mut values = in_large_pages(vec![U::ZERO; self.nnz()]);
        let mut blocks = Vec::with_capacity(self.n_rows().div_ceil(BLOCK));
        let mut left = &mut values[..];
        for start in (0..self.n_rows()).step_by(BLOCK) {
            let rows = start..(start + BLOCK).min(self.n_rows());
            let values_of_rows;
            (values_of_rows, left) = left.split_at_mut(self.row_ptr()[rows.end] - self.row_ptr()[start]);
            blocks.push((rows, values_of_rows));
        }
        blocks.into_par_iter().for_each(|(rows, values)| fill(rows, values));
        self.with_values(values)
    }

    /// The values of some rows, rounded to another type.
    pub(crate) fn round_rows<U: Real>(&self, rows: Range<usize>, values: &mut [U]) {
        let entries = &self.values()[self.row_ptr()[rows.start]..];
        values.iter_mut().zip(entries).for_each(|(u, v)| *u = U::from_f64(v.to_f64()));
    }

    /// The same matrix with its values rounded to another type.
    pub fn cast<U: Real>(&self) -> Csr<U> {
        self.map_values(|v| U::from_f64(v.to_f64()))
    }

    /// The matrix where its type is this one.
    pub(crate) fn of_type<U: Real>(&self) -> Option<&Csr<U>> {
        (self as &dyn Any).downcast_ref()
    }

    /// [`Csr::cast`], or the matrix itself where the type is the same.
    pub(crate) fn in_type<U: Real>(a: &Arc<Csr<T>>) -> Arc<Csr<U>> {
        match (a as &dyn Any).downcast_ref::<Arc<Csr<U>>>() {
            Some(same) => same.clone(),
            None => Arc::new(a.cast()),
        }
    }
}

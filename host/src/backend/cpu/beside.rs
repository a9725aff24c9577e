//! Entries beside a matrix, in columns of other ranks.

use cuda_std::Real;

use crate::matrix::Csr;

/// Entries of some rows, whose product with x is added to that of a matrix.
#[derive(Clone, Copy)]
pub(crate) struct Beside<'a, T> {
    /// The rows that have entries, ascending.
    pub rows: &'a [u32],
    /// Their entries.
    pub entries: &'a Csr<T>,
    /// What they are multiplied by.
    pub x: &'a [T],
}

impl<T: Real> Beside<'_, T> {
    /// Adds to y, which begins at row `first`.
    pub fn add(&self, first: usize, y: &mut [T]) {
        let begin = self.rows.partition_point(|&i| (i as usize) < first);
        let end = first + y.len();
        let rows = self.rows[begin..].iter().take_while(|&&i| (i as usize) < end);
        for (k, &i) in rows.enumerate() {
            let (columns, values) = self.entries.row(begin + k);
            let product =
                columns.iter().zip(values).fold(T::ZERO, |sum, (&j, &v)| sum + v * self.x[j as usize]);
            y[i as usize - first] += product;
        }
    }
}

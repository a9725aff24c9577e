//! Compressed row storage (CRS, also CSR).

use std::sync::Arc;

use super::format::Format;
use super::lanes::{prefetch, sum_gathered};
use super::stored::Stored;
use crate::error::{Error, Result};
use crate::pages::in_large_pages;
use crate::parallel::*;
use crate::vectors::in_widest_vectors;
use cuda_std::Real;

/// Rows that one task checks or fills.
const BLOCK: usize = 1024;

/// A sparse matrix in compressed row storage.
///
/// Row `i` holds the entries `row_ptr[i]..row_ptr[i + 1]` of `col_idx` and `values`; columns ascend
/// strictly within a row, so there are no duplicates. Explicit zeros are allowed.
///
/// A clone shares the arrays; values are copied when one of those who share them changes them.
#[derive(Debug, Clone, PartialEq)]
pub struct Csr<T> {
    n_rows: usize,
    n_cols: usize,
    // Shared with matrices of the same pattern, the values with clones.
    row_ptr: Arc<Vec<usize>>,
    col_idx: Arc<Vec<u32>>,
    values: Arc<Vec<T>>,
}

impl<T: Real> Csr<T> {
    /// Takes the three arrays over after checking every invariant.
    pub fn new(
        n_rows: usize,
        n_cols: usize,
        row_ptr: Vec<usize>,
        col_idx: Vec<u32>,
        values: Vec<T>,
    ) -> Result<Self> {
        let fault = |message: String| Err(Error::Matrix(message));
        if n_cols > u32::MAX as usize || n_rows > u32::MAX as usize {
            return fault(format!("{n_rows} x {n_cols}: more rows or columns than 32-bit indices reach"));
        }
        if row_ptr.len() != n_rows + 1 || row_ptr[0] != 0 {
            return fault(format!("row_ptr must have {} entries and start with 0", n_rows + 1));
        }
        if col_idx.len() != values.len() || row_ptr[n_rows] != values.len() {
            return fault(format!(
                "row_ptr ends at {}, but there are {} columns and {} values",
                row_ptr[n_rows],
                col_idx.len(),
                values.len()
            ));
        }
        let fault_of_row = |i: usize| {
            if row_ptr[i] > row_ptr[i + 1] || row_ptr[i + 1] > values.len() {
                return Some(format!("row {}: row_ptr decreases", i + 1));
            }
            let columns = &col_idx[row_ptr[i]..row_ptr[i + 1]];
            if columns.windows(2).any(|w| w[0] >= w[1]) {
                return Some(format!("row {}: columns do not ascend strictly", i + 1));
            }
            let last = columns.last().filter(|&&column| column as usize >= n_cols)?;
            Some(format!("row {}: column {} of {n_cols}", i + 1, u64::from(*last) + 1))
        };
        let rows = (0..n_rows).into_par_iter().with_min_len(BLOCK);
        if let Some(message) = rows.find_map_first(fault_of_row) {
            return fault(message);
        }
        Ok(Csr::from_arrays(n_rows, n_cols, row_ptr, col_idx, values))
    }

    fn from_arrays(
        n_rows: usize,
        n_cols: usize,
        row_ptr: Vec<usize>,
        col_idx: Vec<u32>,
        values: Vec<T>,
    ) -> Self {
        let (row_ptr, col_idx, values) = (Arc::new(row_ptr), Arc::new(col_idx), Arc::new(values));
        Csr { n_rows, n_cols, row_ptr, col_idx, values }
    }

    /// Whether it has entries in the same places as `other`.
    pub fn has_pattern_of<U>(&self, other: &Csr<U>) -> bool {
        fn are_same<V: PartialEq + Send + Sync>(a: &Arc<Vec<V>>, b: &Arc<Vec<V>>) -> bool {
            let chunks = |v: &Arc<Vec<V>>| v.len().div_ceil(BLOCK);
            let is_same = |k: usize| {
                let of = k * BLOCK..((k + 1) * BLOCK).min(a.len());
                a[of.clone()] == b[of]
            };
            Arc::ptr_eq(a, b) || a.len() == b.len() && (0..chunks(a)).into_par_iter().all(is_same)
        }
        (self.n_rows, self.n_cols) == (other.n_rows, other.n_cols)
            && are_same(&self.row_ptr, &other.row_ptr)
            && are_same(&self.col_idx, &other.col_idx)
    }

    /// This matrix, which shares its pattern with `other` then; `None` where that has another.
    pub(crate) fn in_pattern_of(&self, other: &Csr<T>) -> Option<Csr<T>> {
        let (row_ptr, col_idx) = (other.row_ptr.clone(), other.col_idx.clone());
        let (n_rows, n_cols, values) = (self.n_rows, self.n_cols, self.values.clone());
        self.has_pattern_of(other).then_some(Csr { n_rows, n_cols, row_ptr, col_idx, values })
    }

    /// A matrix with the pattern of this one and `values`, as many as it has entries.
    pub(crate) fn with_values<U>(&self, values: Vec<U>) -> Csr<U> {
        assert_eq!(values.len(), self.nnz());
        let (row_ptr, col_idx) = (self.row_ptr.clone(), self.col_idx.clone());
        Csr { n_rows: self.n_rows, n_cols: self.n_cols, row_ptr, col_idx, values: Arc::new(values) }
    }

    /// Copies three arrays, of any types of integers, after checking every invariant.
    ///
    /// # Errors
    /// As [`Csr::new`]; [`Error::Matrix`] for a number that is negative or beyond 32 bits.
    pub fn from_slices<P, J>(
        n_rows: usize,
        n_cols: usize,
        row_ptr: &[P],
        col_idx: &[J],
        values: &[T],
    ) -> Result<Self>
    where
        P: Copy + TryInto<usize>,
        J: Copy + TryInto<u32>,
    {
        let beyond = |what: &str, k: usize| {
            Error::Matrix(format!("{what} {} is negative, or more than 32-bit indices reach", k + 1))
        };
        let row_ptr = row_ptr.iter().enumerate();
        let row_ptr = row_ptr.map(|(k, &p)| p.try_into().map_err(|_| beyond("row pointer", k)));
        let col_idx = col_idx.iter().enumerate();
        let col_idx = col_idx.map(|(k, &j)| j.try_into().map_err(|_| beyond("column", k)));
        let (row_ptr, col_idx) = (row_ptr.collect::<Result<_>>()?, col_idx.collect::<Result<_>>()?);
        Csr::new(n_rows, n_cols, row_ptr, col_idx, values.to_vec())
    }

    /// Takes over three arrays that are right by construction; checked in debug builds.
    pub(crate) fn from_valid_parts(
        n_rows: usize,
        n_cols: usize,
        row_ptr: Vec<usize>,
        col_idx: Vec<u32>,
        values: Vec<T>,
    ) -> Self {
        if cfg!(debug_assertions) {
            return Csr::new(n_rows, n_cols, row_ptr, col_idx, values).expect("right by construction");
        }
        Csr::from_arrays(n_rows, n_cols, row_ptr, col_idx, values)
    }

    /// Builds a matrix row by row, in parallel: `fill(i, columns, values)` writes the `length(i)`
    /// entries of row `i`, columns ascending.
    pub(crate) fn from_rows(
        n_rows: usize,
        n_cols: usize,
        length: impl Fn(usize) -> usize + Sync,
        fill: impl Fn(usize, &mut [u32], &mut [T]) + Sync,
    ) -> Self {
        let mut row_ptr = in_large_pages(vec![0; n_rows + 1]);
        row_ptr[1..].par_iter_mut().with_min_len(BLOCK).enumerate().for_each(|(i, l)| *l = length(i));
        for i in 0..n_rows {
            row_ptr[i + 1] += row_ptr[i];
        }
        let mut col_idx = in_large_pages(vec![0; row_ptr[n_rows]]);
        let mut values = in_large_pages(vec![T::ZERO; row_ptr[n_rows]]);

        let mut blocks = Vec::with_capacity(n_rows.div_ceil(BLOCK));
        let (mut columns_left, mut values_left) = (&mut col_idx[..], &mut values[..]);
        for start in (0..n_rows).step_by(BLOCK) {
            let entries = row_ptr[(start + BLOCK).min(n_rows)] - row_ptr[start];
            let (c, v);
            (c, columns_left) = columns_left.split_at_mut(entries);
            (v, values_left) = values_left.split_at_mut(entries);
            blocks.push((c, v));
        }
        blocks.into_par_iter().enumerate().for_each(|(b, (c, v))| {
            let first = row_ptr[b * BLOCK];
            for i in b * BLOCK..((b + 1) * BLOCK).min(n_rows) {
                let range = row_ptr[i] - first..row_ptr[i + 1] - first;
                fill(i, &mut c[range.clone()], &mut v[range]);
            }
        });
        Csr::from_valid_parts(n_rows, n_cols, row_ptr, col_idx, values)
    }

    /// From the entries of each row, in ascending columns; they are asked for twice, by several threads.
    pub(crate) fn from_entries<E: Iterator<Item = (u32, T)>>(
        n_rows: usize,
        n_cols: usize,
        entries: impl Fn(usize) -> E + Sync,
    ) -> Self {
        let fill = |i: usize, columns: &mut [u32], values: &mut [T]| {
            for ((column, value), entry) in columns.iter_mut().zip(values).zip(entries(i)) {
                (*column, *value) = entry;
            }
        };
        Csr::from_rows(n_rows, n_cols, |i| entries(i).count(), fill)
    }

    /// The identity of `n` rows.
    ///
    /// # Panics
    /// Where `n` exceeds the reach of 32-bit indices.
    pub fn identity(n: usize) -> Self {
        assert!(n <= u32::MAX as usize, "identity of {n} rows: more than 32-bit indices reach");
        Csr::from_valid_parts(n, n, (0..=n).collect(), (0..n as u32).collect(), vec![T::ONE; n])
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }
    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }
    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }
    /// Where each row starts; one more entry than rows.
    pub fn row_ptr(&self) -> &[usize] {
        &self.row_ptr
    }
    /// Column of each entry.
    pub fn col_idx(&self) -> &[u32] {
        &self.col_idx
    }
    /// Value of each entry.
    pub fn values(&self) -> &[T] {
        &self.values
    }
    /// Values, to be changed in place; the pattern stays.
    pub fn values_mut(&mut self) -> &mut [T] {
        Arc::<Vec<T>>::make_mut(&mut self.values)
    }
    /// Row pointers, columns, and the values to be changed in place.
    pub fn parts_mut(&mut self) -> (&[usize], &[u32], &mut [T]) {
        (&self.row_ptr, &self.col_idx, Arc::<Vec<T>>::make_mut(&mut self.values))
    }
    /// Columns and values of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> (&[u32], &[T]) {
        let range = self.row_ptr[i]..self.row_ptr[i + 1];
        (&self.col_idx[range.clone()], &self.values[range])
    }
    /// Length of row `i`.
    #[inline]
    pub fn row_len(&self, i: usize) -> usize {
        self.row_ptr[i + 1] - self.row_ptr[i]
    }
    /// Whether row `i` has no entry but zeros.
    pub(crate) fn is_empty_row(&self, i: usize) -> bool {
        self.row(i).1.iter().all(|v| *v == T::ZERO)
    }
    /// Entry (i, j), or `None` where none is stored. Searches the row: O(log row length).
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> Option<T> {
        let (columns, values) = self.row(i);
        place(columns, u32::try_from(j).ok()?).map(|k| values[k])
    }
    /// The diagonal: `min(n_rows, n_cols)` values, 0 where no entry is stored.
    pub fn diagonal(&self) -> Vec<T> {
        let n = self.n_rows.min(self.n_cols);
        (0..n).into_par_iter().with_min_len(BLOCK).map(|i| self.get(i, i).unwrap_or(T::ZERO)).collect()
    }
    /// `A x`, one row after another, each summed from left to right: the reference for everything
    /// that is faster.
    ///
    /// # Panics
    /// Where `x` does not have `n_cols` entries.
    pub fn mul_vec(&self, x: &[T]) -> Vec<T> {
        assert_eq!(x.len(), self.n_cols, "A x: x must have as many entries as A columns");
        (0..self.n_rows)
            .map(|i| {
                let (columns, values) = self.row(i);
                columns.iter().zip(values).fold(T::ZERO, |sum, (&j, &a)| sum + a * x[j as usize])
            })
            .collect()
    }
}

/// Where the ascending `columns` have `j`.
#[inline(always)]
pub(crate) fn place(columns: &[u32], j: u32) -> Option<usize> {
    /// Up to this length, smaller columns are counted, several at once: the branches of a bisection cannot be
    /// predicted.
    const SHORT: usize = 32;
    let k = match columns.len() {
        0..=SHORT => columns.iter().map(|&c| u32::from(c < j)).sum::<u32>() as usize,
        _ => columns.partition_point(|&c| c < j),
    };
    (columns.get(k) == Some(&j)).then_some(k)
}

impl<T: Real> Stored<T> for Csr<T> {
    fn format(&self) -> Format {
        Format::Crs
    }
    fn n_rows(&self) -> usize {
        self.n_rows
    }
    fn n_cols(&self) -> usize {
        self.n_cols
    }
    fn nnz(&self) -> usize {
        self.values.len()
    }
    fn stored(&self) -> usize {
        self.values.len()
    }
    fn pointer_bytes(&self) -> u64 {
        row_pointer_bytes(&self.row_ptr)
    }
    fn for_each_row(&self, x: &[T], row: &mut dyn FnMut(usize, T)) {
        for i in 0..self.n_rows {
            let (columns, values) = self.row(i);
            row(i, columns.iter().zip(values).fold(T::ZERO, |sum, (&c, &v)| sum + v * x[c as usize]));
        }
    }
    fn multiply(&self, x: &[T], first: usize, y: &mut [T]) {
        multiply(self, x, first, y);
    }
}

/// Bytes of row pointers on a device: 4 each, 8 from 2^32 entries on.
pub(super) fn row_pointer_bytes(row_ptr: &[usize]) -> u64 {
    let entries = row_ptr.last().copied().unwrap_or(0);
    row_ptr.len() as u64 * if entries > u32::MAX as usize { 8 } else { 4 }
}

in_widest_vectors! {
    fn multiply<T: Real>(a: &Csr<T>, x: &[T], first: usize, y: &mut [T]) {
        for (i, y) in (first..).zip(y) {
            let (columns, values) = a.row(i);
            let (columns, last_columns) = columns.as_chunks();
            let (values, last_values) = values.as_chunks();
            prefetch(last_columns);
            prefetch(last_values);
            // SAFETY: construction checked every column against n_cols == x.len().
            let sum = unsafe { sum_gathered::<T, FMA>(values, columns, x) };
            // SAFETY: as above. The check costs a fifth of the whole product.
            let product = |c: u32, v: T| v * unsafe { *x.get_unchecked(c as usize) };
            *y = last_columns.iter().zip(last_values).fold(sum, |sum, (&c, &v)| sum + product(c, v));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Coo;

    fn rows_of_any_length<T: Real>() {
        let (n, n_cols) = (40, 50);
        let mut a = Coo::new(n, n_cols, 0).unwrap();
        for i in 0..n {
            (0..i).for_each(|k| a.push(i, (7 * k + i) % n_cols, ((3 * i + k) as f64).cos()));
        }
        let a: Csr<T> = a.into_csr().0.cast();
        let x: Vec<T> = (0..n_cols).map(|j| T::from_f64((0.7 * j as f64).sin() + 1.5)).collect();
        let mut y = vec![T::from_f64(f64::NAN); n];
        multiply(&a, &x, 0, &mut y);
        for (i, (&y, expected)) in y.iter().zip(a.mul_vec(&x)).enumerate() {
            let bound = 4.0 * (i + 1) as f64 * T::EPSILON.to_f64();
            assert!((y - expected).to_f64().abs() <= bound, "row {i}: {y} is not {expected}");
            let (columns, values) = (a.row(i).0.as_chunks().0, a.row(i).1.as_chunks().0);
            // SAFETY: the columns are those of a matrix with as many.
            let plain = unsafe { sum_gathered::<T, false>(values, columns, &x) };
            let whole: T =
                a.row(i).0.iter().zip(a.row(i).1).take(i / 8 * 8).map(|(&j, &v)| v * x[j as usize]).sum();
            assert!((plain - whole).to_f64().abs() <= bound, "row {i}: {plain} is not {whole}");
        }
    }

    #[test]
    fn rows_of_any_length_are_added_up() {
        rows_of_any_length::<f32>();
        rows_of_any_length::<f64>();
    }
}

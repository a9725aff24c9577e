//! A matrix column by column, as faer takes it.

use std::mem::replace;

use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};

use crate::matrix::Csr;

/// A square matrix in compressed columns.
pub struct Columns {
    /// Rows and columns.
    pub n: usize,
    col_ptr: Vec<usize>,
    /// The rows of each column, ascending.
    pub row_idx: Vec<usize>,
    values: Vec<f64>,
}

impl Columns {
    /// Those of `a`, without entries that are 0.
    pub fn of(a: &Csr<f64>) -> Columns {
        Columns::rows_of(&a.transpose(), |v| v != 0.0)
    }

    /// Those of a symmetric matrix, with its entries that are 0.
    pub fn with_zeros(a: &Csr<f64>) -> Columns {
        Columns::rows_of(a, |_| true)
    }

    /// The rows of `a` as columns, those of its transpose, with what is to be kept.
    fn rows_of(a: &Csr<f64>, is_kept: impl Fn(f64) -> bool) -> Columns {
        let mut columns = Columns::with_room(a.n_rows(), a.nnz());
        for j in 0..a.n_rows() {
            let (rows, values) = a.row(j);
            let entries = rows.iter().zip(values).map(|(&i, &v)| (i as usize, v));
            columns.push(entries.filter(|(_, v)| is_kept(*v)));
        }
        columns
    }

    /// Those of a symmetric matrix, with zeros in more places: `places` appends the rows in which column j
    /// has entries, all that the matrix has there among them, in any order, and some more than once.
    pub fn filled(a: &Csr<f64>, places: impl Fn(usize, &mut Vec<u32>)) -> Columns {
        let n = a.n_rows();
        let mut columns = Columns::with_room(n, 2 * a.nnz());
        let (mut column, mut seen, mut rows) = (vec![0.0; n], vec![usize::MAX; n], Vec::new());
        for j in 0..n {
            let entries = || a.row(j).0.iter().zip(a.row(j).1);
            entries().for_each(|(&i, &v)| column[i as usize] = v);
            rows.clear();
            places(j, &mut rows);
            rows.retain(|&i| replace(&mut seen[i as usize], j) != j);
            rows.sort_unstable();
            columns.push(rows.iter().map(|&i| (i as usize, column[i as usize])));
            entries().for_each(|(&i, _)| column[i as usize] = 0.0);
        }
        columns
    }

    /// No column yet of so many, and room for their entries.
    fn with_room(n: usize, entries: usize) -> Columns {
        let (row_idx, values) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        Columns { n, col_ptr: vec![0], row_idx, values }
    }

    /// Appends a column.
    fn push(&mut self, entries: impl Iterator<Item = (usize, f64)>) {
        for (i, v) in entries {
            self.row_idx.push(i);
            self.values.push(v);
        }
        self.col_ptr.push(self.row_idx.len());
    }

    /// The transpose.
    pub fn transposed(&self) -> Columns {
        let Columns { n, col_ptr, row_idx, values } = self;
        let mut counts = vec![0; n + 1];
        row_idx.iter().for_each(|&i| counts[i + 1] += 1);
        for i in 0..*n {
            counts[i + 1] += counts[i];
        }
        let mut next = counts.clone();
        let (mut columns, mut entries) = (vec![0; row_idx.len()], vec![0.0; row_idx.len()]);
        for j in 0..*n {
            for k in col_ptr[j]..col_ptr[j + 1] {
                let place = &mut next[row_idx[k]];
                (columns[*place], entries[*place]) = (j, values[k]);
                *place += 1;
            }
        }
        Columns { n: *n, col_ptr: counts, row_idx: columns, values: entries }
    }

    /// The rows of column j, ascending.
    pub fn rows(&self, j: usize) -> &[usize] {
        &self.row_idx[self.col_ptr[j]..self.col_ptr[j + 1]]
    }

    /// The values of column j.
    pub fn values(&self, j: usize) -> &[f64] {
        &self.values[self.col_ptr[j]..self.col_ptr[j + 1]]
    }

    /// `b - A x`.
    pub fn residual(&self, x: &[f64], b: &[f64]) -> Vec<f64> {
        let mut r = b.to_vec();
        for (j, x) in x.iter().enumerate() {
            self.rows(j).iter().zip(self.values(j)).for_each(|(&i, v)| r[i] -= v * x);
        }
        r
    }

    /// Puts numbers of this size where the diagonal has zeros, of the sign that most of it does not have;
    /// whether it has any.
    pub fn fill_diagonal(&mut self, size: f64) -> bool {
        let place = |j: usize| Some(self.col_ptr[j] + self.rows(j).binary_search(&j).ok()?);
        let places: Vec<usize> = (0..self.n).filter_map(place).collect();
        let balance: f64 =
            places.iter().map(|&at| self.values[at]).filter(|v| *v != 0.0).map(f64::signum).sum();
        let mut has_zeros = false;
        for at in places {
            if self.values[at] == 0.0 {
                self.values[at] = if balance < 0.0 { size } else { -size };
                has_zeros = true;
            }
        }
        has_zeros
    }

    /// `P A`, of which row i becomes row `to[i]`, with the entries that are to be kept by their row and
    /// column there. Rows of a column are in no order.
    pub fn with_rows(&self, to: &[usize], is_kept: impl Fn(usize, usize) -> bool) -> Columns {
        let mut columns = Columns::with_room(self.n, self.row_idx.len());
        for j in 0..self.n {
            let entries = self.rows(j).iter().zip(self.values(j)).map(|(&i, &v)| (to[i], v));
            columns.push(entries.filter(|(i, _)| is_kept(*i, j)));
        }
        columns
    }

    /// Where entries are, rows of a column in any order.
    pub fn unsorted(&self) -> SymbolicSparseColMatRef<'_, usize> {
        SymbolicSparseColMatRef::new_unsorted_checked(self.n, self.n, &self.col_ptr, None, &self.row_idx)
    }

    /// Where entries are.
    pub fn symbolic(&self) -> SymbolicSparseColMatRef<'_, usize> {
        SymbolicSparseColMatRef::new_checked(self.n, self.n, &self.col_ptr, None, &self.row_idx)
    }

    /// The matrix.
    pub fn matrix(&self) -> SparseColMatRef<'_, usize, f64> {
        SparseColMatRef::new(self.symbolic(), &self.values)
    }
}

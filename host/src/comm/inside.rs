//! The rows of a rank in its own columns.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::matrix::Csr;

/// The rows of a rank in its own columns, both in their order in the whole matrix, counted from 0.
///
/// Ranks that have ranges of rows share the whole matrix, and nothing is copied: a device takes the rows as
/// they are there. The host makes a matrix of its own of them when somebody asks for it.
#[derive(Debug, Clone)]
pub struct Inside(Rows);

#[derive(Debug, Clone)]
enum Rows {
    /// A matrix of their own.
    Alone(Arc<Csr<f64>>),
    /// In the whole matrix, and copied where somebody has asked for that.
    Within(Block, Arc<OnceLock<Arc<Csr<f64>>>>),
}

/// Some rows of a matrix in some columns.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub a: Arc<Csr<f64>>,
    pub rows: Range<usize>,
    pub columns: Range<u32>,
    /// Entries there.
    pub nnz: usize,
}

impl Block {
    /// Columns of the whole matrix, and values.
    fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let (columns, values) = self.a.row(self.rows.start + i);
        let Range { start, end } = self.columns;
        let is_in = |j: Option<&u32>| j.is_none_or(|j| self.columns.contains(j));
        if is_in(columns.first()) && is_in(columns.last()) {
            return (columns, values);
        }
        let within = columns.partition_point(|&j| j < start)..columns.partition_point(|&j| j < end);
        (&columns[within.clone()], &values[within])
    }

    /// In columns of their own.
    pub fn copied(&self) -> Csr<f64> {
        let first = self.columns.start;
        let fill = |i: usize, columns: &mut [u32], values: &mut [f64]| {
            let (of_row, its_values) = self.row(i);
            columns.iter_mut().zip(of_row).for_each(|(column, &j)| *column = j - first);
            values.copy_from_slice(its_values);
        };
        Csr::from_rows(self.rows.len(), self.columns.len(), |i| self.row(i).0.len(), fill)
    }
}

impl From<Csr<f64>> for Inside {
    fn from(a: Csr<f64>) -> Self {
        Inside::from(Arc::new(a))
    }
}

impl From<Arc<Csr<f64>>> for Inside {
    fn from(a: Arc<Csr<f64>>) -> Self {
        Inside(Rows::Alone(a))
    }
}

impl PartialEq for Inside {
    fn eq(&self, other: &Inside) -> bool {
        self.csr() == other.csr()
    }
}

impl Inside {
    pub(crate) fn of_block(block: Block) -> Self {
        Inside(Rows::Within(block, Arc::default()))
    }

    /// In a matrix of their own alone: the whole one need not be kept for them.
    pub(crate) fn alone(self) -> Self {
        Inside(Rows::Alone(self.csr().clone()))
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        match &self.0 {
            Rows::Alone(a) => a.n_rows(),
            Rows::Within(block, _) => block.rows.len(),
        }
    }

    /// How many entries.
    pub fn nnz(&self) -> usize {
        match &self.0 {
            Rows::Alone(a) => a.nnz(),
            Rows::Within(block, _) => block.nnz,
        }
    }

    /// The columns and values of a row.
    pub(crate) fn row(&self, i: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let (first, (columns, values)) = match &self.0 {
            Rows::Alone(a) => (0, a.row(i)),
            Rows::Within(block, _) => (block.columns.start, block.row(i)),
        };
        columns.iter().map(move |&j| j - first).zip(values.iter().copied())
    }

    /// The same in a matrix of its own, made where it is not there yet.
    pub fn csr(&self) -> &Arc<Csr<f64>> {
        match &self.0 {
            Rows::Alone(a) => a,
            Rows::Within(block, copy) => copy.get_or_init(|| Arc::new(block.copied())),
        }
    }

    /// Where they are in the whole matrix, if they are there.
    pub(crate) fn block(&self) -> Option<&Block> {
        match &self.0 {
            Rows::Alone(_) => None,
            Rows::Within(block, _) => Some(block),
        }
    }
}

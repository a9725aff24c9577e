//! Parts of matrices and vectors, as ranks take them apart and put them together.

use std::ops::Range;
use std::sync::Arc;

use cuda_std::Real;

use super::algebra::Algebra;
use super::matrix::Size;

use super::others::{Others, only_alone};
use crate::comm::{Inside, Numbering, Runs};
use crate::error::Result;
use crate::matrix::Csr;

mod border;
mod device;
mod distributed;
mod host;
#[cfg(test)]
mod tests;

pub(crate) use border::{PartBorder, border_on};

/// A set-up whose matrices can be taken apart and put together.
pub trait Parts<T: Real>: Algebra<T> {
    /// The matrix whose row i is row `source[i]` of `a`, with column j at `places[j]` and without those that
    /// are [`NOWHERE`](crate::comm::NOWHERE); or, counted on behind the rows of `a`, a row of `below`, which
    /// has the columns of the result. Places ascend.
    fn put_together(
        &self,
        source: &Runs,
        a: &Self::Csr,
        places: &Runs,
        below: &Self::Csr,
    ) -> Result<Self::Csr>;

    /// A matrix where other ranks of this process reach it fast, when this one has finished it.
    fn for_other_ranks(&self, a: &Self::Csr) -> Result<Self::Csr>;

    /// A matrix of another rank of this process, which has finished it, where this backend computes.
    fn of_other_rank(&self, a: &Self::Csr) -> Result<Self::Csr>;

    /// A matrix of so many columns.
    fn without_rows(&self, n_cols: usize) -> Result<Self::Csr> {
        self.csr(&Arc::new(Csr::from_rows(0, n_cols, |_| 0, |_, _, _| ())))
    }

    /// The entries of `a` in some of its columns.
    fn in_columns(&self, a: &Self::Csr, columns: &Range<u32>) -> Result<Self::Csr> {
        let Size { n_rows, n_cols, .. } = self.size(a);
        let columns = Runs::from(columns.start as usize..columns.end as usize);
        let none = self.without_rows(columns.len())?;
        self.put_together(&Runs::from(0..n_rows), a, &columns.inverse(n_cols), &none)
    }

    /// The rows of a rank in its own columns, where this backend computes.
    fn rows_inside(&self, rows: &Inside) -> Result<Self::Csr>;

    /// The same with the columns of the whole matrix, if they are in there and it takes them so.
    fn rows_there(&self, rows: &Inside) -> Result<Option<Self::Csr>> {
        let _ = rows;
        Ok(None)
    }

    /// The columns of `a` that have entries, ascending.
    fn columns_with_entries(&self, a: &Self::Csr) -> Result<Vec<u32>>;

    /// The entries of `a` in each of these rows and the column beside it, on the host; 0 for what is not
    /// there.
    fn entries_at(&self, a: &Self::Csr, rows: &Runs, columns: &Runs) -> Result<Vec<T>>;

    /// The matrix with column j at `places[j]`, of `n_cols` columns, each of which is one of `a`. Those that
    /// have no place have no entries.
    fn in_places(&self, a: &Self::Csr, places: &Runs, n_cols: usize) -> Result<Self::Csr> {
        let rows = Runs::from(0..self.size(a).n_rows);
        if places.ascend() {
            return self.put_together(&rows, a, places, &self.without_rows(n_cols)?);
        }
        // The transpose with its rows in another order, which are columns that ascend.
        let columns = places.order().part(0..n_cols).collect();
        let at = self.transpose(a)?;
        self.transpose(&self.put_together(&columns, &at, &rows, &self.without_rows(rows.len())?)?)
    }

    /// How many entries these rows of `a` have.
    fn entries_of_rows(&self, a: &Self::Csr, rows: &Runs) -> Result<u64>;

    /// Which of these rows of `a` have an entry in a column whose place is not
    /// [`NOWHERE`](crate::comm::NOWHERE), ascending.
    fn rows_in_places(&self, a: &Self::Csr, rows: &Runs, places: &Runs) -> Result<Self::Indices>;

    /// Which of these rows of `a` have an entry in another column than those of `inside`, which ascend; and
    /// the entries of these rows there, column k the k-th of the other columns.
    fn rows_outside(&self, a: &Self::Csr, rows: &Runs, inside: &Runs) -> Result<(Self::Indices, Self::Csr)>;

    /// The vector whose row k, of `per_row` elements, is row `source[k]` of `v`, or, counted on behind the
    /// rows of `v`, of `below`; zeros for [`NOWHERE`](crate::comm::NOWHERE).
    fn elements(&self, source: &Runs, per_row: usize, v: &Self::Vector, below: &[T]) -> Result<Self::Vector>;

    /// The numbers of `all` at each of these places.
    fn picked(&self, all: &Self::Indices, source: &Runs) -> Result<Self::Indices>;

    /// The numbers of `all` at these places, on the host.
    fn taken(&self, all: &Self::Indices, places: &Runs) -> Result<Vec<u32>> {
        self.indices_to_host(&self.picked(all, places)?)
    }

    /// Replaces the numbers of unknowns that other ranks have by theirs. All ranks call this.
    fn update_numbers(&self, numbers: &mut Self::Indices, others: &Others) -> Result<()>;

    /// The same for elements of vectors, where nothing between ranks goes through the host.
    fn update_elements(&self, v: &mut Self::Vector, others: &Others) -> Result<()> {
        let _ = (v, others);
        Err(only_alone("vectors of the host"))
    }

    /// The rank that has each of these unknowns.
    fn owners(&self, unknowns: &Numbering) -> Result<Self::Indices>;

    /// For each place, and behind the last, how many of the places in front of it that are in `own`, which
    /// ascend, are marked with 1.
    fn marked_before(&self, marks: &Self::Indices, own: &Runs) -> Result<Self::Indices>;

    /// `numbers[k]` for the k-th place that is marked, of which there are `before` in front of each; for
    /// others [`NOWHERE`](crate::comm::NOWHERE).
    fn of_marked(&self, before: &Self::Indices, numbers: &Runs) -> Result<Self::Indices>;

    /// What `second` has where `first` points to; nothing where that points nowhere.
    fn through(&self, first: &Self::Indices, second: &Self::Indices) -> Result<Self::Indices>;

    /// The same where the second has runs.
    fn through_runs(&self, first: &Self::Indices, second: &Runs) -> Result<Self::Indices>;

    /// Numbers that look random, as [`noise`](crate::setup::Diagonals::noise) has them, for nodes with these
    /// numbers.
    fn noise_of(&self, numbers: &Runs, d: &Self::Vector, n: usize) -> Result<Self::Vector>;
}

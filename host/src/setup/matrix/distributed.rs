//! [`Matrices`] of several ranks: each has its rows of a matrix, and some of others around them.
//!
//! Rows and columns are in the order of the whole matrix, so that what is computed for a row whose
//! surroundings are there has the bits that one rank would find.

use std::sync::Arc;

use cuda_std::Real;

use super::{Blocks, Matrices, Size};
use crate::backend::distributed::{Borders, Distributed};
use crate::comm::{Numbering, Runs, agree_and_count, agree_within, told};
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::others::{Others, only_alone};
use crate::setup::parts::Parts;

/// The part of a matrix that a rank has.
#[derive(Clone)]
pub struct DistributedCsr<M> {
    /// A row for each of `rows` and a column for each of `columns`. The rows of this rank are those of the
    /// whole matrix. A matrix that was [surrounded](Matrices::surrounded), and what is made of it row by row,
    /// has the rows of their columns too; any others are not to be looked at.
    pub(in crate::setup) local: M,
    pub(in crate::setup) rows: Arc<Numbering>,
    pub(in crate::setup) columns: Arc<Numbering>,
    /// Of the whole matrix.
    size: Size,
}

impl<M> DistributedCsr<M> {
    /// Of the whole matrix.
    pub(crate) fn size(&self) -> Size {
        self.size
    }
    /// What its columns are.
    pub(crate) fn columns(&self) -> &Arc<Numbering> {
        &self.columns
    }
    /// What this rank has of it.
    pub(crate) fn local(&self) -> &M {
        &self.local
    }
    /// What its rows are.
    pub(crate) fn rows(&self) -> &Arc<Numbering> {
        &self.rows
    }
}

/// A number for each row that a rank has.
pub struct DistributedIndices<I> {
    pub(in crate::setup) local: I,
    pub(in crate::setup) rows: Arc<Numbering>,
    /// What is numbered, where the numbers are places there.
    pub(in crate::setup) values: Option<Arc<Numbering>>,
}

impl<B> Distributed<B> {
    /// What all ranks have succeeded in.
    pub(crate) fn agreed<R>(&self, result: Result<R>) -> Result<R> {
        agree_within(&**self.comm(), result)
    }

    /// The other ranks, and these unknowns.
    pub(in crate::setup) fn others<'a>(&'a self, numbering: &'a Numbering) -> Others<'a> {
        Others::new(&**self.comm(), self.peers(), numbering)
    }

    /// A matrix of which `local` are the rows and columns that this rank has. All ranks call this.
    pub(in crate::setup) fn of_local<T: Real>(
        &self,
        local: Result<B::Csr>,
        rows: &Arc<Numbering>,
        columns: &Arc<Numbering>,
    ) -> Result<DistributedCsr<B::Csr>>
    where
        B: Parts<T>,
    {
        let entries = |local: &B::Csr| {
            let of_others = self.inner().entries_of_rows(local, rows.others())?;
            Ok(self.inner().size(local).nnz as u64 - of_others)
        };
        let comm = &**self.comm();
        let counted = local.and_then(|local| {
            let entries = entries(&local)?;
            Ok((local, entries as f64))
        });
        let (local, nnz) = agree_and_count(comm, counted).map_err(|error| told(comm, error))?;
        let size = Size { n_rows: rows.total(), n_cols: columns.total(), nnz: nnz as usize };
        Ok(DistributedCsr { local, rows: rows.clone(), columns: columns.clone(), size })
    }

    /// The same of a matrix with so many entries on all ranks. All ranks call this.
    pub(in crate::setup) fn of_entries<T: Real>(
        &self,
        local: Result<B::Csr>,
        (rows, columns): (&Arc<Numbering>, &Arc<Numbering>),
        nnz: usize,
    ) -> Result<DistributedCsr<B::Csr>>
    where
        B: Parts<T>,
    {
        let size = Size { n_rows: rows.total(), n_cols: columns.total(), nnz };
        Ok(DistributedCsr { local: self.agreed(local)?, rows: rows.clone(), columns: columns.clone(), size })
    }

    /// The numbers that own unknowns of `rows` get which are marked, of which there are `before` in front of
    /// each, in the order of all ranks; and how many all ranks have. They call this together.
    pub(in crate::setup) fn numbers_of_marked<T: Real>(
        &self,
        before: &B::Indices,
        rows: &Numbering,
    ) -> Result<(Runs, usize)>
    where
        B: Parts<T>,
    {
        let comm = &**self.comm();
        let (starts, ends) = rows.own_ranges(comm.rank());
        let counts =
            self.agreed(self.inner().taken(before, &starts.iter().chain(&ends).copied().collect()))?;
        let (before, behind) = counts.split_at(starts.len());
        rows.renumbered(comm, before.iter().zip(behind).map(|(before, behind)| behind - before))
    }

    /// The numbers in the whole of what `indices` are of, for each row that this rank has.
    pub(crate) fn numbers_of<T: Real>(&self, indices: &DistributedIndices<B::Indices>) -> Result<Vec<u32>>
    where
        B: Parts<T>,
    {
        let values = indices.values.as_ref().ok_or_else(|| only_alone("numbers of nothing"))?;
        let places = self.inner().indices_to_host(&indices.local)?;
        Ok(places.into_iter().map(|place| values.number(place)).collect())
    }

    /// `a` with other values.
    pub(crate) fn with_values<T: Real>(
        &self,
        a: &DistributedCsr<B::Csr>,
        local: Result<B::Csr>,
    ) -> Result<DistributedCsr<B::Csr>>
    where
        B: Parts<T>,
    {
        self.of_entries(local, (&a.rows, &a.columns), a.size.nnz)
    }
}

/// The planes that this rank has.
pub(in crate::setup) fn local_planes<M: Clone>(a: &Blocks<DistributedCsr<M>>) -> Blocks<M> {
    Blocks::from_planes(a.planes().iter().map(|plane| plane.local.clone()).collect())
}

impl<T: Real, B: Parts<T> + Borders<T>> Matrices<T> for Distributed<B> {
    type Csr = DistributedCsr<<B as Matrices<T>>::Csr>;
    type Indices = DistributedIndices<<B as Matrices<T>>::Indices>;

    /// A matrix whose rows are all on this rank.
    fn csr(&self, _: &Arc<Csr<T>>) -> Result<Self::Csr> {
        Err(only_alone("a matrix that no rank has"))
    }
    fn csr_to_host(&self, _: &Self::Csr) -> Result<Arc<Csr<T>>> {
        Err(only_alone("a whole matrix on the host"))
    }
    fn indices(&self, _: &[u32]) -> Result<Self::Indices> {
        Err(only_alone("numbers that no rank has"))
    }
    fn indices_to_host(&self, indices: &Self::Indices) -> Result<Vec<u32>> {
        self.inner().indices_to_host(&indices.local)
    }
    fn take_values(&self, a: &mut Self::Csr, from: &Self::Csr) {
        self.inner().take_values(&mut a.local, &from.local);
    }
    fn size(&self, a: &Self::Csr) -> Size {
        a.size
    }
    fn rows_here(&self, a: &Self::Csr) -> usize {
        a.rows.own().len()
    }
    fn surrounded(&self, a: &Blocks<Self::Csr>) -> Result<Blocks<Self::Csr>> {
        let mut planes = a.map(|plane| self.surrounded_plane(plane))?;
        // The planes have one pattern.
        let (rows, columns) = (planes.first().rows.clone(), planes.first().columns.clone());
        for plane in planes.planes_mut() {
            (plane.rows, plane.columns) = (rows.clone(), columns.clone());
        }
        Ok(planes)
    }
    fn scale_values(&self, a: &mut Self::Csr, factor: T) -> Result<()> {
        self.agreed(self.inner().scale_values(&mut a.local, factor))
    }
    fn zeros_like(&self, a: &Self::Csr) -> Result<Self::Csr> {
        self.with_values(a, self.inner().zeros_like(&a.local))
    }
}

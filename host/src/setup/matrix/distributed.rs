//! [`Matrices`] of several ranks: each has its rows of a matrix, and some of others around them.
//!
//! Rows and columns are in the order of the whole matrix, so that what is computed for a row whose
//! surroundings are there has the bits that one rank would find.

use std::sync::Arc;

use cuda_std::Real;

use super::exchange::{Received, interleaved, packed, received_rows};
use super::{Blocks, Matrices, Size};
use crate::backend::Memory;
use crate::backend::distributed::{Borders, Distributed};
use crate::comm::{Halo, Numbering, Reader, Writer, agree_within, all_to_all, sums};
use crate::error::{Error, Result};
use crate::matrix::{BlockCsr, Csr};
use crate::setup::Algebra;

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
    pub(in crate::setup) fn agreed<R>(&self, result: Result<R>) -> Result<R> {
        agree_within(&**self.comm(), result)
    }

    /// A matrix of which `local` are the rows and columns that this rank has. All ranks call this.
    pub(in crate::setup) fn of_local<T: Real>(
        &self,
        local: Result<B::Csr>,
        rows: &Arc<Numbering>,
        columns: &Arc<Numbering>,
    ) -> Result<DistributedCsr<B::Csr>>
    where
        B: Matrices<T>,
    {
        let entries = |local: &B::Csr| {
            if rows.is_own() {
                return Ok(self.inner().size(local).nnz as u64);
            }
            let lengths = self.inner().row_lengths(local)?;
            Ok(rows.own().iter().map(|&place| u64::from(lengths[place as usize])).sum())
        };
        let counted = local.and_then(|local| Ok((entries(&local)?, local)));
        let (entries, local) = self.agreed(counted)?;
        let nnz = sums(&**self.comm(), &[entries as f64])?[0] as usize;
        let size = Size { n_rows: rows.total(), n_cols: columns.total(), nnz };
        Ok(DistributedCsr { local, rows: rows.clone(), columns: columns.clone(), size })
    }

    /// The matrix of these rows of this rank, whose columns are all unknowns of some nodes.
    pub(crate) fn of_own_rows<T: Real>(
        &self,
        a: Csr<T>,
        columns: &Numbering,
        block: usize,
    ) -> Result<Blocks<DistributedCsr<B::Csr>>>
    where
        B: Matrices<T>,
    {
        let columns = Arc::new(columns.of_nodes(self.comm().rank(), block));
        let rows = Arc::new(columns.of_own(self.comm().rank()));
        let local = self.inner().in_planes(&Arc::new(a), block);
        self.agreed(local)?.map(|plane| self.of_local(Ok(plane.clone()), &rows, &columns))
    }

    /// `b` with the rows of `wanted`, those of others from the ranks that have them.
    pub(in crate::setup) fn completed<T: Real>(
        &self,
        b: &DistributedCsr<B::Csr>,
        wanted: &Arc<Numbering>,
    ) -> Result<DistributedCsr<B::Csr>>
    where
        B: Matrices<T>,
    {
        let own = self.agreed(self.inner().csr_to_host(&b.local))?;
        let halo = wanted.halo(&**self.comm())?;
        let received = self.rows_of_others(b, &own, wanted, halo)?;
        let (columns, places) = b.columns.united(self.comm().rank(), &received.columns());
        let mut source = vec![0; wanted.len()];
        for (&place, &row) in wanted.own().iter().zip(b.rows.own()) {
            source[place as usize] = row;
        }
        let others = halo.receives.iter().flat_map(|(_, places)| places);
        others.zip(own.n_rows() as u32..).for_each(|(&place, row)| source[place as usize] = row);
        let local = interleaved(&source, (&own, &places), &received.matrix(&columns));
        self.of_local(self.inner().csr(&Arc::new(local)), wanted, &Arc::new(columns))
    }

    /// The rows of `b`, which is `own` on the host, that other ranks have and this one wants.
    fn rows_of_others<T: Real, M>(
        &self,
        b: &DistributedCsr<M>,
        own: &Csr<T>,
        wanted: &Numbering,
        halo: &Halo,
    ) -> Result<Received> {
        let row = |place: &u32| b.rows.own()[wanted.own().binary_search(place).unwrap_or(0)];
        let mut messages = vec![Vec::new(); self.comm().size()];
        for (to, places) in &halo.sends {
            let rows: Vec<u32> = places.iter().map(row).collect();
            messages[*to] = packed(Writer::new(), own, &rows, &b.columns).bytes();
        }
        received_rows(&**self.comm(), messages)
    }

    /// The rows of all ranks that have columns of this one, in its columns alone; then whose rows and columns
    /// these are.
    #[allow(clippy::type_complexity)]
    pub(in crate::setup) fn in_own_columns<T: Real>(
        &self,
        a: &DistributedCsr<B::Csr>,
    ) -> Result<(B::Csr, Arc<Numbering>, Arc<Numbering>)>
    where
        B: Matrices<T>,
    {
        let (comm, rank) = (&**self.comm(), self.comm().rank());
        let own = self.agreed(self.inner().csr_to_host(&a.local))?;
        let mut rows_of = vec![Vec::new(); comm.size()];
        for &row in a.rows.own() {
            for &column in own.row(row as usize).0 {
                let owner = a.columns.owners()[column as usize] as usize;
                if owner != rank && rows_of[owner].last() != Some(&row) {
                    rows_of[owner].push(row);
                }
            }
        }
        let message = |rows: &Vec<u32>| {
            if rows.is_empty() {
                return Vec::new();
            }
            let numbers: Vec<u32> = rows.iter().map(|&row| a.rows.numbers()[row as usize]).collect();
            packed(Writer::new().put(&numbers), &own, rows, &a.columns).bytes()
        };
        let (mut received, mut others) = (Received::default(), Vec::new());
        for (from, message) in all_to_all(comm, rows_of.iter().map(message).collect())?.iter().enumerate() {
            if !message.is_empty() {
                let mut message = Reader::new(message);
                others.extend(message.take::<u32>()?.into_iter().map(|number| (number, from as u32)));
                received.add(&mut message)?;
            }
        }
        let columns = a.columns.of_own(rank);
        let (upper, n_upper) = (in_columns(&own, a.rows.own(), a.columns.own()), a.rows.own().len());
        let mut sorted = others.clone();
        sorted.sort_unstable();
        let (rows, places) = a.rows.of_own(rank).united(rank, &sorted);
        let mut source = vec![0; rows.len()];
        places.iter().zip(0..).for_each(|(&place, row)| source[place as usize] = row);
        for (k, &(number, _)) in others.iter().enumerate() {
            source[rows.place(number).unwrap_or(0)] = (n_upper + k) as u32;
        }
        let same: Vec<u32> = (0..columns.len() as u32).collect();
        let local = interleaved(&source, (&upper, &same), &received.matrix(&columns));
        Ok((self.agreed(self.inner().csr(&Arc::new(local)))?, Arc::new(rows), Arc::new(columns)))
    }

    /// [`Matrices::surrounded`] of a plane.
    fn surrounded_plane<T: Real>(&self, a: &DistributedCsr<B::Csr>) -> Result<DistributedCsr<B::Csr>>
    where
        B: Matrices<T>,
    {
        let comm = &**self.comm();
        let own = self.agreed(self.inner().csr_to_host(&a.local))?;
        let halo = a.columns.halo(comm)?;
        let mut received = self.rows_of_others(a, &own, &a.columns, halo)?;
        let (columns, places) = a.columns.united(comm.rank(), &received.columns());
        // Of the unknowns that those rows look at, the diagonal entry.
        let mut diagonal = vec![0.0; columns.len()];
        let mut source = vec![u32::MAX; columns.len()];
        for ((&row, &column), &place) in a.rows.own().iter().zip(a.columns.own()).zip(columns.own()) {
            let entry = own.get(row as usize, column as usize);
            diagonal[place as usize] = entry.map_or(0.0, Real::to_f64);
            source[place as usize] = row;
        }
        columns.update(comm, &mut diagonal)?;
        let first = own.n_rows();
        let others = halo.receives.iter().flat_map(|(_, others)| others).map(|&place| places[place as usize]);
        others.zip(first as u32..).for_each(|(place, row)| source[place as usize] = row);
        for (place, source) in source.iter_mut().enumerate().filter(|(_, source)| **source == u32::MAX) {
            *source = (first + received.n_rows()) as u32;
            let (number, owner) = (columns.numbers()[place], columns.owners()[place]);
            received.add_row([((number, owner), diagonal[place])]);
        }
        let local = interleaved(&source, (&own, &places), &received.matrix(&columns));
        let columns = Arc::new(columns);
        self.of_local(self.inner().csr(&Arc::new(local)), &columns, &columns)
    }

    /// The rows of this rank on the host, blocks written out; and what their columns are. All ranks call
    /// this.
    pub(crate) fn own_rows<T: Real>(
        &self,
        a: &Blocks<DistributedCsr<B::Csr>>,
    ) -> Result<(Csr<T>, Arc<Numbering>)>
    where
        B: Matrices<T>,
    {
        let columns = &a.first().columns;
        if a.block() == 1 {
            return Ok((self.own_rows_of_plane(a.first())?, columns.clone()));
        }
        let planes: Vec<Arc<Csr<T>>> =
            a.map(|plane| self.own_rows_of_plane(plane).map(Arc::new))?.planes().to_vec();
        let columns = columns.written_out(self.comm().rank(), a.block());
        Ok((BlockCsr::from_planes(&planes).to_csr(), Arc::new(columns)))
    }

    fn own_rows_of_plane<T: Real>(&self, a: &DistributedCsr<B::Csr>) -> Result<Csr<T>>
    where
        B: Matrices<T>,
    {
        let host = self.agreed(self.inner().csr_to_host(&a.local))?;
        if a.rows.is_own() {
            return Ok(Csr::clone(&host));
        }
        let same: Vec<u32> = (0..a.columns.len() as u32).collect();
        let none = Received::default().matrix(&a.columns);
        Ok(interleaved(a.rows.own(), (&host, &same), &none))
    }

    /// The matrix without rows of others.
    pub(in crate::setup) fn in_own_rows<T: Real>(
        &self,
        a: &DistributedCsr<B::Csr>,
    ) -> Result<DistributedCsr<B::Csr>>
    where
        B: Matrices<T>,
    {
        let rows = self.own_rows_of_plane(a)?;
        let numbering = Arc::new(a.rows.of_own(self.comm().rank()));
        self.of_local(self.inner().csr(&Arc::new(rows)), &numbering, &a.columns)
    }

    /// This rank's rows among those of `rows`, of which the others are empty, with `columns`, among which are
    /// those that it has.
    pub(in crate::setup) fn spread<T: Real>(
        &self,
        a: &DistributedCsr<B::Csr>,
        rows: &Numbering,
        columns: &Numbering,
    ) -> Result<B::Csr>
    where
        B: Matrices<T>,
    {
        let host = self.agreed(self.inner().csr_to_host(&a.local))?;
        let mut source = vec![host.n_rows() as u32; rows.len()];
        for (&place, &row) in rows.own().iter().zip(a.rows.own()) {
            source[place as usize] = row;
        }
        let place = |&number: &u32| columns.place(number).unwrap_or(0) as u32;
        let places: Vec<u32> = a.columns.numbers().iter().map(place).collect();
        let mut empty = Received::default();
        empty.add_row([]);
        let local = interleaved(&source, (&host, &places), &empty.matrix(columns));
        self.agreed(self.inner().csr(&Arc::new(local)))
    }

    /// A vector of this rank, `per_row` elements a row, and those of others around them.
    pub(in crate::setup) fn extended<T: Real>(
        &self,
        own: &B::Vector,
        per_row: usize,
        rows: &Numbering,
    ) -> Result<B::Vector>
    where
        B: Memory<T>,
    {
        let own = self.agreed(self.inner().to_host(own))?;
        let mut all = vec![T::ZERO; per_row * rows.len()];
        let mut elements = vec![0.0; rows.len()];
        for k in 0..per_row {
            for (own, &place) in own.chunks(per_row).zip(rows.own()) {
                elements[place as usize] = own[k].to_f64();
            }
            rows.update(&**self.comm(), &mut elements)?;
            for (all, &element) in all.chunks_mut(per_row).zip(&elements) {
                all[k] = T::from_f64(element);
            }
        }
        self.agreed(self.inner().vector(&all))
    }

    /// The elements of this rank among those.
    pub(in crate::setup) fn restricted<T: Real>(
        &self,
        all: Result<B::Vector>,
        per_row: usize,
        rows: &Numbering,
    ) -> Result<B::Vector>
    where
        B: Memory<T>,
    {
        let own = all.and_then(|all| {
            let all = self.inner().to_host(&all)?;
            let of = |&place: &u32| &all[per_row * place as usize..][..per_row];
            self.inner().vector(&rows.own().iter().flat_map(of).copied().collect::<Vec<T>>())
        });
        self.agreed(own)
    }

    /// `a` with other values, or some of its entries.
    pub(in crate::setup) fn with_local<T: Real>(
        &self,
        a: &DistributedCsr<B::Csr>,
        local: Result<B::Csr>,
    ) -> Result<DistributedCsr<B::Csr>>
    where
        B: Matrices<T>,
    {
        self.of_local(local, &a.rows, &a.columns)
    }
}

/// The planes that this rank has.
pub(in crate::setup) fn local_planes<M: Clone>(a: &Blocks<DistributedCsr<M>>) -> Blocks<M> {
    Blocks::from_planes(a.planes().iter().map(|plane| plane.local.clone()).collect())
}

impl<T: Real, B: Algebra<T> + Borders<T>> Matrices<T> for Distributed<B> {
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
    fn blocks(&self, _: &BlockCsr<T>) -> Result<Blocks<Self::Csr>> {
        Err(only_alone("a matrix of blocks that no rank has"))
    }
    fn set_values(&self, _: &mut Self::Csr, _: &Csr<T>) -> Result<()> {
        Err(only_alone("new values"))
    }
    fn size(&self, a: &Self::Csr) -> Size {
        a.size
    }
    fn rows_here(&self, a: &Self::Csr) -> usize {
        a.rows.own().len()
    }
    fn row_lengths(&self, a: &Self::Csr) -> Result<Vec<u32>> {
        self.inner().row_lengths(&a.local)
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
        let local = self.agreed(self.inner().zeros_like(&a.local))?;
        Ok(DistributedCsr { local, ..a.clone() })
    }
}

/// These rows of `a` in these of its columns alone.
fn in_columns<T: Real>(a: &Csr<T>, rows: &[u32], columns: &[u32]) -> Csr<T> {
    const NOT_THERE: u32 = u32::MAX;
    let mut position = vec![NOT_THERE; a.n_cols()];
    columns.iter().zip(0..).for_each(|(&column, k)| position[column as usize] = k);
    let entries = |i: usize| {
        let (columns, values) = a.row(rows[i] as usize);
        let positions = columns.iter().map(|&column| position[column as usize]);
        positions.zip(values).filter(|&(position, _)| position != NOT_THERE)
    };
    Csr::from_rows(
        rows.len(),
        columns.len(),
        |i| entries(i).count(),
        |i, columns, values| {
            for ((column, value), (position, &v)) in columns.iter_mut().zip(values).zip(entries(i)) {
                (*column, *value) = (position, v);
            }
        },
    )
}

/// What a set-up that all ranks make together never asks for.
pub(in crate::setup) fn only_alone(what: &str) -> Error {
    Error::Option(format!("ranks cannot set up {what} together: a mistake of this library"))
}

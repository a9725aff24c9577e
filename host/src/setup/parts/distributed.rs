//! Parts on several ranks: which rows and elements they take from each other.

use std::sync::Arc;

use cuda_std::Real;

use super::Parts;
use crate::backend::distributed::Distributed;
use crate::comm::{Halo, NOWHERE, Numbering, Placed, Row, Runs};
use crate::error::Result;
use crate::matrix::{BlockCsr, Csr};
use crate::setup::matrix::Blocks;
use crate::setup::matrix::distributed::DistributedCsr;
use crate::setup::matrix::exchange::{Received, SentRows};
use crate::setup::others::only_alone;

impl<B> Distributed<B> {
    /// The matrix of whose nodes of this rank `a` has the rows in its own columns, and `whole` those of
    /// `nodes` in all columns, the unknowns of `columns`; nodes have `a.block()` unknowns. All ranks call
    /// this.
    pub(crate) fn of_own_rows<T: Real>(
        &self,
        a: &Blocks<B::Csr>,
        (nodes, whole): (&[u32], Arc<Csr<T>>),
        columns: &Numbering,
    ) -> Result<Blocks<DistributedCsr<B::Csr>>>
    where
        B: Parts<T>,
    {
        let (block, rank) = (a.block(), self.comm().rank());
        let columns = Arc::new(columns.of_nodes(rank, block));
        let rows = Arc::new(columns.of_own(rank));
        let source = Runs::from(0..rows.len());
        let source =
            source.replaced(nodes.iter().zip(rows.len() as u32..).map(|(&node, row)| (node, row, 1)));
        let whole = match block {
            1 => vec![whole],
            _ => {
                let whole = self.agreed(BlockCsr::from_csr(&whole, block))?;
                (0..block * block).map(|kl| Arc::new(whole.plane(kl / block, kl % block))).collect()
            }
        };
        let mut whole = whole.iter();
        a.map(|plane| {
            let whole = whole.next().ok_or_else(|| only_alone("planes that are not there"))?;
            let below = self.inner().csr(whole);
            let local =
                below.and_then(|below| self.inner().put_together(&source, plane, columns.own(), &below));
            self.of_local(local, &rows, &columns)
        })
    }

    /// The matrix whose rows of this rank `there` has, with the columns of the whole matrix, in those of them
    /// that it needs. All ranks call this.
    pub(crate) fn of_rows_there<T: Real>(
        &self,
        there: B::Csr,
        columns: &Numbering,
    ) -> Result<DistributedCsr<B::Csr>>
    where
        B: Parts<T>,
    {
        let columns = Arc::new(columns.of_nodes(self.comm().rank(), 1));
        let rows = Arc::new(columns.of_own(self.comm().rank()));
        let places = columns.numbers().inverse(columns.total());
        self.of_local(self.taken_out(&Runs::from(0..rows.len()), &there, &places), &rows, &columns)
    }

    /// `b` with the rows of `wanted`, those of others from the ranks that have them.
    pub(in crate::setup) fn completed<T: Real>(
        &self,
        b: &DistributedCsr<B::Csr>,
        wanted: &Arc<Numbering>,
    ) -> Result<DistributedCsr<B::Csr>>
    where
        B: Parts<T>,
    {
        let halo = wanted.halo(&**self.comm())?;
        let received = self.rows_of_others(b, wanted, halo)?;
        let (columns, places) = received.united(self.comm().rank(), &b.columns);
        let source = wanted.own().inverse(wanted.len()).then(b.rows.own());
        let source = source.replaced(halo.received_from(b.rows.len()));
        let local = self.put_together(&source, b, &places, &received, &columns);
        self.of_entries(local, (wanted, &Arc::new(columns)), b.size().nnz)
    }

    /// The square block of a matrix in the rows and columns of this rank's unknowns and of `layers` around
    /// them: those that are at most so many entries away, from a row to its columns. `a` has this rank's
    /// rows. Beside the block its unknowns. All ranks call this.
    pub(crate) fn enlarged<T: Real>(
        &self,
        a: &DistributedCsr<B::Csr>,
        layers: u32,
    ) -> Result<(B::Csr, Arc<Numbering>)>
    where
        B: Parts<T>,
    {
        let mut rows = a.clone();
        for _ in 0..layers {
            rows = self.completed(a, &rows.columns)?;
        }
        let unknowns = &rows.rows;
        let (all, places) = (Runs::from(0..unknowns.len()), rows.columns.places_in(unknowns));
        let block = self.taken_out(&all, &rows.local, &places);
        Ok((self.agreed(block)?, unknowns.clone()))
    }

    /// [`Parts::put_together`] on this rank, of rows of its own and such that others sent.
    fn put_together<T: Real>(
        &self,
        source: &Runs,
        a: &DistributedCsr<B::Csr>,
        places: &Runs,
        received: &Received<B::Csr>,
        columns: &Numbering,
    ) -> Result<B::Csr>
    where
        B: Parts<T>,
    {
        let below = received.matrix(self.inner(), columns)?;
        self.inner().put_together(source, &a.local, places, &below)
    }

    /// The same of rows of its own alone, in as many columns as have a place.
    pub(super) fn taken_out<T: Real>(&self, source: &Runs, a: &B::Csr, places: &Runs) -> Result<B::Csr>
    where
        B: Parts<T>,
    {
        let n_cols = places.iter_runs().map(|(place, count)| if place == NOWHERE { 0 } else { count }).sum();
        self.inner().put_together(source, a, places, &self.inner().without_rows(n_cols)?)
    }

    /// These rows as they are sent.
    fn sent<T: Real>(&self, a: &DistributedCsr<B::Csr>, rows: &Runs) -> Result<SentRows<B::Csr>>
    where
        B: Parts<T>,
    {
        let inner = self.inner();
        let chosen = self.taken_out(rows, &a.local, &Runs::from(0..a.columns.len()))?;
        let columns: Runs = inner.columns_with_entries(&chosen)?.into_iter().collect();
        let places = columns.inverse(a.columns.len());
        let sent = self.taken_out(&Runs::from(0..rows.len()), &chosen, &places)?;
        Ok(SentRows::of(rows.len(), sent, a.columns.rows_at(&columns)))
    }

    /// The rows of `b` that other ranks have and this one wants.
    fn rows_of_others<T: Real>(
        &self,
        b: &DistributedCsr<B::Csr>,
        wanted: &Numbering,
        halo: &Halo,
    ) -> Result<Received<B::Csr>>
    where
        B: Parts<T>,
    {
        let mut sent = SentRows::none(self.comm().size());
        let all_sent = halo.sends.iter().try_for_each(|(to, places)| {
            sent[*to] = self.sent(b, &places.places_in(wanted.own()).then(b.rows.own()))?;
            Ok(())
        });
        self.agreed(all_sent)?;
        Ok(Received { parts: SentRows::exchanged(self, sent)? })
    }

    /// The rows of all ranks that have columns of this one, in its columns alone; then whose rows and columns
    /// these are.
    #[allow(clippy::type_complexity)]
    pub(in crate::setup) fn in_own_columns<T: Real>(
        &self,
        a: &DistributedCsr<B::Csr>,
    ) -> Result<(B::Csr, Arc<Numbering>, Arc<Numbering>)>
    where
        B: Parts<T>,
    {
        let rank = self.comm().rank();
        let (received, others) = self.rows_in_own_columns(a)?;
        let columns = a.columns.of_own(rank);
        let mut sorted = others.clone();
        sorted.sort_unstable();
        let (rows, places) = a.rows.of_own(rank).united(rank, sorted);
        let mut next = a.rows.len() as u32;
        let mut received_rows: Vec<Placed> = Vec::with_capacity(others.len());
        for (number, count, _) in others {
            // Numbers of one rank that follow each other are beside each other among all.
            received_rows.push((rows.place(number).unwrap_or(0) as u32, next, count));
            next += count as u32;
        }
        received_rows.sort_unstable();
        let source = places.inverse(rows.len()).then(a.rows.own()).replaced(received_rows);
        let places = a.columns.own().inverse(a.columns.len());
        let local = self.put_together(&source, a, &places, &received, &columns);
        Ok((self.agreed(local)?, Arc::new(rows), Arc::new(columns)))
    }

    /// The rows of other ranks that have columns of this one, and which these are.
    #[allow(clippy::type_complexity)]
    fn rows_in_own_columns<T: Real>(&self, a: &DistributedCsr<B::Csr>) -> Result<(Received<B::Csr>, Vec<Row>)>
    where
        B: Parts<T>,
    {
        let comm = &**self.comm();
        let sent = |to: usize| match a.columns.of_rank(to) {
            places if to == comm.rank() || places.is_empty() => Ok(SentRows::default()),
            places => self.sent_in_columns(a, &places),
        };
        let sent = self.agreed((0..comm.size()).map(sent).collect::<Result<Vec<_>>>())?;
        let parts = SentRows::exchanged(self, sent)?;
        let of_rank = |(part, from): (&SentRows<B::Csr>, u32)| {
            part.numbers.iter_runs().map(|(number, count)| (number, count, from)).collect::<Vec<_>>()
        };
        let others = parts.iter().zip(0..).flat_map(of_rank).collect();
        Ok((Received { parts }, others))
    }

    /// This rank's rows with entries in the columns at these places, those entries alone, as they are sent.
    fn sent_in_columns<T: Real>(&self, a: &DistributedCsr<B::Csr>, columns: &Runs) -> Result<SentRows<B::Csr>>
    where
        B: Parts<T>,
    {
        let inner = self.inner();
        let places = columns.inverse(a.columns.len());
        let found = inner.rows_in_places(&a.local, a.rows.own(), &places)?;
        let rows = inner.indices_to_host(&found)?.into_iter().collect::<Runs>().then(a.rows.own());
        let numbers = rows.then(&a.rows.numbers());
        let sent = self.taken_out(&rows, &a.local, &places)?;
        Ok(SentRows::of(rows.len(), sent, a.columns.rows_at(columns)).numbered(numbers))
    }

    /// [`Matrices::surrounded`](crate::setup::Matrices::surrounded) of a plane.
    pub(in crate::setup) fn surrounded_plane<T: Real>(
        &self,
        a: &DistributedCsr<B::Csr>,
    ) -> Result<DistributedCsr<B::Csr>>
    where
        B: Parts<T>,
    {
        let comm = &**self.comm();
        let halo = a.columns.halo(comm)?;
        let mut received = self.rows_of_others(a, &a.columns, halo)?;
        let (columns, places) = received.united(comm.rank(), &a.columns);
        // Of the unknowns that those rows look at, the diagonal entry.
        let diagonal = self.diagonal_of_others(a, &columns)?;
        let rows = halo.received_from(a.rows.len()).into_iter().flat_map(|(place, mut row, count)| {
            let places = places.part(place as usize..place as usize + count);
            places.map(move |(place, count)| {
                row += count as u32;
                (place, row - count as u32, count)
            })
        });
        let source = columns.own().inverse(columns.len()).then(a.rows.own()).replaced(rows);
        let (source, alone) = source.filled((a.rows.len() + received.n_rows()) as u32);
        let values = alone.places_in(columns.others()).elements(&diagonal);
        self.agreed(received.add_diagonal(self.inner(), columns.rows_at(&alone), &values))?;
        let local = self.put_together(&source, a, &places, &received, &columns);
        let columns = Arc::new(columns);
        self.of_entries(local, (&columns, &columns), a.size().nnz)
    }

    /// The diagonal entries of a square matrix that other ranks have and this one looks at, in the order of
    /// `all`; 0 for what is not there. All ranks call this.
    fn diagonal_of_others<T: Real>(&self, a: &DistributedCsr<B::Csr>, all: &Numbering) -> Result<Vec<T>>
    where
        B: Parts<T>,
    {
        let comm = &**self.comm();
        let halo = all.halo(comm)?;
        let asked = halo.sent().places_in(all.own());
        let (rows, columns) = (asked.then(a.rows.own()), asked.then(a.columns.own()));
        let sent = self.agreed(self.inner().entries_at(&a.local, &rows, &columns))?;
        let sent: Vec<f64> = sent.into_iter().map(Real::to_f64).collect();
        let received = halo.received(comm, &sent, 1)?;
        Ok(halo.in_order(&received).into_iter().map(T::from_f64).collect())
    }

    /// All rows on rank 0, with columns as the whole matrix has them; nothing elsewhere. All ranks call this.
    pub(crate) fn at_root<T: Real>(
        &self,
        a: &Blocks<DistributedCsr<B::Csr>>,
    ) -> Result<Option<Blocks<B::Csr>>>
    where
        B: Parts<T>,
    {
        let planes: Vec<Option<B::Csr>> =
            a.planes().iter().map(|plane| self.plane_at_root(plane)).collect::<Result<_>>()?;
        Ok(planes.into_iter().collect::<Option<_>>().map(Blocks::from_planes))
    }

    fn plane_at_root<T: Real>(&self, a: &DistributedCsr<B::Csr>) -> Result<Option<B::Csr>>
    where
        B: Parts<T>,
    {
        let (comm, inner, own) = (&**self.comm(), self.inner(), self.in_own_rows(a)?);
        let (numbers, total) = (own.rows.numbers(), a.columns.total());
        let mut sent = SentRows::none(comm.size());
        sent[0] = SentRows::of(own.rows.len(), own.local, a.columns.rows().collect()).numbered(numbers);
        let received = Received { parts: SentRows::exchanged(self, sent)? };
        let whole = (comm.rank() == 0).then(|| {
            let columns = Numbering::of_rows(0, [(0, total, 0)], total);
            let all = received.matrix(inner, &columns)?;
            let source = received.in_order_of_numbers();
            match source.as_range() {
                Some(_) => Ok(all),
                None => self.taken_out(&source, &all, &Runs::from(0..total)),
            }
        });
        self.agreed(whole.transpose())
    }

    /// The matrix without rows of others. All ranks call this.
    pub(crate) fn in_own_rows<T: Real>(&self, a: &DistributedCsr<B::Csr>) -> Result<DistributedCsr<B::Csr>>
    where
        B: Parts<T>,
    {
        let rows = Arc::new(a.rows.of_own(self.comm().rank()));
        if a.rows.is_own() {
            return self.of_entries(Ok(a.local.clone()), (&rows, &a.columns), a.size().nnz);
        }
        self.of_entries(self.own_alone(a), (&rows, &a.columns), a.size().nnz)
    }

    /// The rows of this rank.
    fn own_alone<T: Real>(&self, a: &DistributedCsr<B::Csr>) -> Result<B::Csr>
    where
        B: Parts<T>,
    {
        self.taken_out(a.rows.own(), &a.local, &Runs::from(0..a.columns.len()))
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
        B: Parts<T>,
    {
        // An empty row for what is not there.
        let empty = Arc::new(Csr::from_rows(1, columns.len(), |_| 0, |_, _, _| ()));
        let nothing = rows.others().iter().map(|place| (place, a.rows.len() as u32, 1));
        let source = rows.own().inverse(rows.len()).then(a.rows.own()).replaced(nothing);
        let places = a.columns.places_in(columns);
        let empty = self.inner().csr(&empty);
        self.agreed(empty.and_then(|empty| self.inner().put_together(&source, &a.local, &places, &empty)))
    }

    /// A vector of this rank, `per_row` elements a row, and those of others around them.
    pub(in crate::setup) fn extended<T: Real>(
        &self,
        own: &B::Vector,
        per_row: usize,
        rows: &Numbering,
    ) -> Result<B::Vector>
    where
        B: Parts<T>,
    {
        let (comm, inner) = (&**self.comm(), self.inner());
        if per_row == 1 && self.is_connected() {
            let all = inner.elements(&rows.own().inverse(rows.len()), 1, own, &[]);
            // Where this rank alone has come to an end, the others, which wait for it, are told at the end.
            let mut all = all?;
            inner.update_elements(&mut all, &self.others(rows))?;
            return Ok(all);
        }
        let halo = rows.halo(comm)?;
        let asked = halo.sent().places_in(rows.own());
        let sent = inner.elements(&asked, per_row, own, &[]);
        let sent = self.agreed(sent.and_then(|sent| self.inner().to_host(&sent)))?;
        let sent: Vec<f64> = sent.into_iter().map(Real::to_f64).collect();
        let received: Vec<T> = halo.received(comm, &sent, per_row)?.into_iter().map(T::from_f64).collect();
        let source = rows.own().inverse(rows.len()).replaced(halo.received_from(rows.own().len()));
        self.agreed(self.inner().elements(&source, per_row, own, &received))
    }

    /// The elements of this rank among those.
    pub(in crate::setup) fn restricted<T: Real>(
        &self,
        all: Result<B::Vector>,
        per_row: usize,
        rows: &Numbering,
    ) -> Result<B::Vector>
    where
        B: Parts<T>,
    {
        self.agreed(all.and_then(|all| self.inner().elements(rows.own(), per_row, &all, &[])))
    }
}

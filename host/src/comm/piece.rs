//! The rows of one rank, and whom it exchanges elements with.

use std::sync::Arc;

use bytemuck::{AnyBitPattern, NoUninit};
use cuda_std::Real;
use rayon::slice::ParallelSliceMut;

use super::halo::one_after_the_other;
use super::inside::{Block, Inside};
use super::message::{Reader, Writer, receive_matrix, send_matrix};
use super::numbering::Numbering;
use super::partition::{Needs, Partition, Quality};
use super::ranges::Ranges;
use super::runs::{Lookup, NOWHERE, Runs};
use super::{Comm, LookedAt, columns_with_entries, maxima, received, sums};
use crate::error::Result;
use crate::matrix::Csr;
use crate::parallel::*;

/// Rows that a thread looks at, at least.
const LEAST_ROWS: usize = 4096;

/// What a rank exchanges before a product.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Links {
    /// Ranks that need elements of this one, and which: their places here.
    pub sends: Vec<(usize, Runs)>,
    /// Ranks of which this one needs elements, and how many. They come one rank after the other.
    pub receives: Vec<(usize, usize)>,
}

impl Links {
    /// What a rank exchanges whose rows have the columns `columns`, of those of others the ones `used`; and
    /// which of the elements received each of these is. All ranks call this.
    pub(crate) fn of_used(comm: &dyn Comm, used: &Runs, columns: &Numbering) -> Result<(Links, Runs)> {
        // They are asked for from their ranks.
        let of_ranks = columns.of_others(comm.rank()).rows_at(used);
        let mut asked = vec![Runs::default(); comm.size()];
        of_ranks.iter().for_each(|&(number, count, owner)| asked[owner as usize].push(number, count));
        // They are received one rank after the other.
        let firsts = asked.iter().scan(0, |end, asked| {
            let first = *end;
            *end += asked.len() as u32;
            Some(first)
        });
        let mut next: Vec<u32> = firsts.collect();
        let received = of_ranks.iter().map(|&(_, count, owner)| {
            let next = &mut next[owner as usize];
            *next += count as u32;
            (*next - count as u32, count)
        });
        let received = received.collect();
        let receives = asked.iter().map(Runs::len).enumerate().filter(|&(_, count)| count > 0).collect();
        let sends = columns.of_own(comm.rank()).asked_for(comm, &asked)?;
        Ok((Links { sends, receives }, received))
    }

    /// The places of all that is sent, one rank after the other.
    pub(crate) fn places_sent(&self) -> Runs {
        one_after_the_other(&self.sends)
    }

    /// How many elements are received.
    pub(crate) fn count_received(&self) -> usize {
        self.receives.iter().map(|&(_, count)| count).sum()
    }

    /// The elements of others, as they are received, of a vector of which this rank has `own` at each place.
    /// All ranks call this.
    ///
    /// # Errors
    /// [`Error::Rank`](crate::Error::Rank) where a rank has failed.
    pub(crate) fn received<U: NoUninit + AnyBitPattern>(
        &self,
        comm: &dyn Comm,
        own: impl Fn(u32) -> U,
    ) -> Result<Vec<U>> {
        let of = |places: &Runs| places.iter().map(&own).collect::<Vec<U>>();
        let sent: Vec<(usize, Vec<U>)> = self.sends.iter().map(|(to, places)| (*to, of(places))).collect();
        let messages: Vec<(usize, &[u8])> =
            sent.iter().map(|(to, elements)| (*to, bytemuck::cast_slice(elements))).collect();
        received(comm, &messages, &self.receives)
    }
}

/// Entries of one rank's rows in columns of others.
#[derive(Debug, Clone, PartialEq)]
pub struct Border {
    /// Its rows with such entries.
    pub rows: Vec<u32>,
    /// The entries of those rows in columns of others, which are numbered as they are received.
    pub entries: Csr<f64>,
    /// What is exchanged.
    pub links: Links,
}

/// The rows of one rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Its rows in its own columns.
    pub local: Inside,
    /// The rest of them.
    pub border: Border,
}

/// A matrix that is taken apart.
pub(crate) struct Pieces {
    a: Arc<Csr<f64>>,
    rows: Arc<Partition>,
    columns: Arc<Partition>,
    /// What each rank needs of others.
    needs: Vec<Needs>,
}

impl Pieces {
    /// Of a square matrix.
    pub fn of(a: &Arc<Csr<f64>>, partition: &Arc<Partition>) -> Self {
        Self::between(a.clone(), partition.clone(), partition.clone())
    }

    /// The same where it is known which of each rank's rows, in their order, have columns of others.
    pub fn with_border_rows(a: &Arc<Csr<f64>>, partition: &Arc<Partition>, at_border: &[Vec<u32>]) -> Self {
        let known = |rank: usize, _: &Lookup| at_border[rank].clone();
        Self::of_border_rows(a.clone(), partition.clone(), partition.clone(), known)
    }

    /// Of a matrix from vectors that are shared out as `columns` to such that are as `rows`.
    pub fn between(a: Arc<Csr<f64>>, rows: Arc<Partition>, columns: Arc<Partition>) -> Self {
        let at_border = |rank: usize, own: &Lookup| {
            let (mut at_border, mut before) = (Vec::new(), 0);
            for (first, count) in rows.rows(rank).iter_runs() {
                let its = (first as usize..first as usize + count).into_par_iter();
                let others = its.with_min_len(LEAST_ROWS).filter_collect(|&i| !own.has_all(a.row(i).0));
                at_border.extend(others.iter().map(|&i| before + i as u32 - first));
                before += count as u32;
            }
            at_border
        };
        Self::of_border_rows(a.clone(), rows.clone(), columns, at_border)
    }

    /// `at_border` finds the rows of a rank that have columns of others, with a look-up of its own.
    fn of_border_rows(
        a: Arc<Csr<f64>>,
        rows: Arc<Partition>,
        columns: Arc<Partition>,
        at_border: impl Fn(usize, &Lookup) -> Vec<u32> + Sync,
    ) -> Self {
        let needs = |rank: usize| {
            let own = columns.rows(rank).lookup(columns.n_rows());
            let at_border = at_border(rank, &own);
            let ghosts_of = |&k: &u32| {
                let of_row = a.row(rows.rows(rank).get(k as usize) as usize).0;
                of_row.iter().copied().filter(|&j| own.place(j) == NOWHERE)
            };
            let mut ghosts = at_border.par_iter().with_min_len(LEAST_ROWS).flat_map_collect(ghosts_of);
            let entries = ghosts.len();
            ghosts.par_sort_unstable();
            ghosts.dedup();
            // Stable, so that those of a rank stay in their order.
            ghosts.sort_by_key(|&j| columns.owner(j as usize));
            Needs { rows: at_border, columns: ghosts, entries }
        };
        let needs = (0..rows.size()).into_par_iter().map(needs).collect();
        Pieces { a, rows, columns, needs }
    }

    pub fn quality(&self) -> Quality {
        Quality::of(&self.a, &self.rows, &self.needs)
    }

    /// That of one rank.
    pub fn piece(&self, rank: usize) -> Piece {
        let (columns, Needs { rows, columns: ghosts, .. }) = (&self.columns, &self.needs[rank]);
        let own = columns.rows(rank).lookup(columns.n_rows());
        // All columns of others are there.
        let ghost = LookedAt::among(ghosts);
        let outside = |k: usize| {
            let (columns, values) = self.a.row(self.rows.rows(rank).get(k) as usize);
            let others = columns.iter().zip(values).filter(|&(&j, _)| own.place(j) == NOWHERE);
            others.map(|(&j, &v)| (ghost.number(j), v))
        };
        let entries = entries_outside(rows.len(), |k| outside(rows[k] as usize), ghosts.len());
        let border = Border { rows: rows.clone(), entries, links: self.links(rank) };
        Piece { local: self.inside(rank, &own), border }
    }

    /// The rows of a rank in its own columns, which are looked up so.
    fn inside(&self, rank: usize, own: &Lookup) -> Inside {
        let rows = self.rows.rows(rank);
        if let (Some(rows), Lookup::Range(columns)) = (rows.as_range(), own) {
            let rows = rows.start as usize..rows.end as usize;
            let entries = self.a.row_ptr()[rows.end] - self.a.row_ptr()[rows.start];
            let (a, nnz) = (self.a.clone(), entries - self.needs[rank].entries);
            return Inside::of_block(Block { a, rows, columns: columns.clone(), nnz });
        }
        // Places ascend with the columns.
        let inside = |k: usize| placed(&self.a, rows.get(k), |j| own.place(j));
        Csr::from_entries(rows.len(), self.columns.rows(rank).len(), inside).into()
    }

    fn links(&self, rank: usize) -> Links {
        let columns = &self.columns;
        let from = |of: usize, rank: usize| {
            self.needs[of].columns.iter().copied().filter(move |&j| columns.owner(j as usize) == rank)
        };
        let place = |j: u32| columns.rows(rank).position(j).map(|place| place as u32);
        let others = || (0..columns.size()).filter(|&other| other != rank);
        let sends = others().map(|to| (to, from(to, rank).filter_map(place).collect::<Runs>()));
        let receives = others().map(|of| (of, from(rank, of).count()));
        Links {
            sends: sends.filter(|(_, places)| !places.is_empty()).collect(),
            receives: receives.filter(|&(_, count)| count > 0).collect(),
        }
    }
}

/// The entries `outside(k)` of so many rows k in columns of others, of which there are `ghosts`.
pub(crate) fn entries_outside<T: Real, E: Iterator<Item = (u32, T)>>(
    n_rows: usize,
    outside: impl Fn(usize) -> E + Sync,
    ghosts: usize,
) -> Csr<T> {
    let fill = |k: usize, columns: &mut [u32], values: &mut [T]| {
        for ((column, value), (j, v)) in columns.iter_mut().zip(&mut *values).zip(outside(k)) {
            (*column, *value) = (j, v);
        }
        // They come rank after rank, which need not be ascending.
        if !columns.is_sorted() {
            let mut entries: Vec<(u32, T)> = outside(k).collect();
            entries.sort_unstable_by_key(|entry| entry.0);
            for ((column, value), (j, v)) in columns.iter_mut().zip(values).zip(entries) {
                (*column, *value) = (j, v);
            }
        }
    };
    Csr::from_rows(n_rows, ghosts, |k| outside(k).count(), fill)
}

/// The entries of a row in columns that have a place, with that.
fn placed<T: Real>(a: &Csr<T>, row: u32, place: impl Fn(u32) -> u32) -> impl Iterator<Item = (u32, T)> {
    let (columns, values) = a.row(row as usize);
    let places = columns.iter().map(move |&j| place(j));
    places.zip(values.iter().copied()).filter(|&(place, _)| place != NOWHERE)
}

impl Border {
    /// Of a matrix without columns of others.
    pub(crate) fn none() -> Border {
        Border { rows: Vec::new(), entries: Csr::identity(0), links: Links::default() }
    }

    /// Of a rank whose rows have the columns `columns`. Those at the places `rows` have entries in columns of
    /// others, which are `outside`: column k there is the k-th of others. All ranks call this.
    pub(crate) fn of_rows<T: Real>(
        comm: &dyn Comm,
        outside: &Csr<T>,
        rows: Vec<u32>,
        columns: &Numbering,
    ) -> Result<Border> {
        let used = columns_with_entries(outside);
        let (links, ghosts) = Links::of_used(comm, &used, columns)?;
        let ghost_of = used.inverse(outside.n_cols()).then(&ghosts).expanded();
        let received = |k: usize| {
            let (of_row, values) = outside.row(k);
            let ghosts = of_row.iter().map(|&j| ghost_of[j as usize]);
            ghosts.zip(values.iter().map(|v| v.to_f64()))
        };
        let entries = entries_outside(outside.n_rows(), received, used.len());
        Ok(Border { rows, entries, links })
    }
}

impl Border {
    /// As a message.
    fn written(&self) -> Vec<u8> {
        let Border { rows, entries, links: Links { sends, receives } } = self;
        let mut message = Writer::new().matrix(entries).put(rows).put(&[sends.len() as u64]);
        for (to, places) in sends {
            message = message.put(&[*to as u64]).put(&places.sent());
        }
        let receives: Vec<[u64; 2]> = receives.iter().map(|&(from, n)| [from as u64, n as u64]).collect();
        message.put(&receives).bytes()
    }

    /// What [`Border::written`] wrote.
    fn read(message: &[u8]) -> Result<Border> {
        let mut message = Reader::new(message);
        let (entries, rows) = (message.matrix()?, message.take()?);
        let mut sends = Vec::new();
        for _ in 0..message.one::<u64>()? {
            sends.push((message.one::<u64>()? as usize, Runs::received(message.take()?)));
        }
        let receives = message.take::<[u64; 2]>()?;
        let receives = receives.into_iter().map(|[from, n]| (from as usize, n as usize)).collect();
        Ok(Border { rows, entries, links: Links { sends, receives } })
    }
}

impl Piece {
    /// Of a matrix that is all on one rank.
    pub fn whole(a: Arc<Csr<f64>>) -> Piece {
        Piece { local: a.into(), border: Border::none() }
    }

    /// Entries of its rows.
    pub fn nnz(&self) -> usize {
        self.local.nnz() + self.border.entries.nnz()
    }

    /// How good the partition is by which each rank has its self. All ranks call this.
    ///
    /// # Errors
    /// [`Error::Rank`](crate::Error::Rank) where a rank has failed.
    pub fn quality(&self, comm: &dyn Comm) -> Result<Quality> {
        let (entries, rows) = (self.nnz() as f64, self.local.n_rows() as f64);
        let links = &self.border.links;
        let received: usize = links.receives.iter().map(|&(_, count)| count).sum();
        let mut others: Vec<usize> = links.receives.iter().map(|&(from, _)| from).collect();
        others.extend(links.sends.iter().map(|&(to, _)| to));
        others.sort_unstable();
        others.dedup();
        let all = sums(comm, &[entries, self.border.entries.nnz() as f64, received as f64])?;
        let most = maxima(comm, &[entries, others.len() as f64, rows, -rows])?;
        Ok(Quality {
            imbalance: if all[0] == 0.0 { 1.0 } else { most[0] * comm.size() as f64 / all[0] },
            cut: all[1] as u64,
            shared: all[2] as u64,
            neighbours: most[1] as usize,
            least_rows: -most[3] as usize,
            most_rows: most[2] as usize,
        })
    }

    /// Of what each rank has assembled: rows and columns of `a` have these unknowns, of which this rank's own
    /// rows are complete. All ranks call this.
    ///
    /// # Errors
    /// [`Error::Rank`](crate::Error::Rank) where a rank has failed.
    pub fn assembled(comm: &dyn Comm, a: &Csr<f64>, rows: &Numbering, columns: &Numbering) -> Result<Piece> {
        Self::of_rows(comm, &a.chosen_rows(&rows.own().expanded()), columns)
    }

    /// Of this rank's rows, which have the columns of the whole matrix, where ranks have such ranges of rows.
    /// All ranks call this.
    ///
    /// # Errors
    /// [`Error::Rank`](crate::Error::Rank) where a rank has failed.
    pub fn of_range(comm: &dyn Comm, a: &Arc<Csr<f64>>, ranges: &Ranges) -> Result<Piece> {
        let own = ranges.of(comm.rank());
        let columns = own.start as u32..own.end as u32;
        let all_own = Lookup::Range(columns.clone());
        let rows = (0..a.n_rows()).into_par_iter().with_min_len(LEAST_ROWS);
        let rows = rows.filter_collect(|&i| !all_own.has_all(a.row(i).0));
        let rows: Vec<u32> = rows.into_iter().map(|i| i as u32).collect();
        let ghosts_of = |&i: &u32| a.row(i as usize).0.iter().copied().filter(|j| !columns.contains(j));
        let mut ghosts = rows.par_iter().with_min_len(LEAST_ROWS).flat_map_collect(ghosts_of);
        let nnz = a.nnz() - ghosts.len();
        ghosts.sort_unstable();
        ghosts.dedup();
        let others = ghosts.iter().map(|&j| (j, ranges.owner(j as usize) as u32)).collect();
        let unknowns = Numbering::of_own_and(comm.rank(), &Runs::from(own), others, ranges.n_rows());
        let ghost = |j: u32| ghosts.binary_search(&j).map_or(NOWHERE, |k| k as u32);
        let outside = Csr::from_entries(rows.len(), ghosts.len(), |k| placed(a, rows[k], ghost));
        let border = Border::of_rows(comm, &outside, rows, &unknowns)?;
        let local = Block { a: a.clone(), rows: 0..a.n_rows(), columns, nnz };
        Ok(Piece { local: Inside::of_block(local), border })
    }

    /// Of this rank's rows, whose columns are `columns`. All ranks call this.
    pub(crate) fn of_rows<T: Real>(comm: &dyn Comm, a: &Csr<T>, columns: &Numbering) -> Result<Piece> {
        let own = columns.own();
        let place = own.inverse(columns.len()).expanded();
        let inside =
            |i: usize| placed(a, i as u32, |j| place[j as usize]).map(|(place, v)| (place, v.to_f64()));
        let local = Csr::from_entries(a.n_rows(), own.len(), inside);
        let has_others = |i: &u32| local.row_len(*i as usize) < a.row_len(*i as usize);
        let rows: Vec<u32> = (0..a.n_rows() as u32).filter(has_others).collect();
        let place = columns.others().inverse(columns.len()).expanded();
        let outside = |k: usize| placed(a, rows[k], |j| place[j as usize]);
        let outside = Csr::from_entries(rows.len(), columns.others().len(), outside);
        let border = Border::of_rows(comm, &outside, rows, columns)?;
        Ok(Piece { local: local.into(), border })
    }

    /// Sends it to a rank that [receives](Piece::receive) it.
    pub(crate) fn send(&self, comm: &dyn Comm, to: usize) -> Result<()> {
        send_matrix(comm, to, self.local.csr())?;
        comm.send(to, &self.border.written())
    }

    /// What a rank [sends](Piece::send).
    pub(crate) fn receive(comm: &dyn Comm, from: usize) -> Result<Piece> {
        let local = receive_matrix(comm, from)?.into();
        Ok(Piece { local, border: Border::read(&comm.receive(from)?)? })
    }
}

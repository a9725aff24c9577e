//! The rows of one rank, and whom it exchanges elements with.

use crate::parallel::*;

use cuda_std::Real;

use super::Comm;
use super::message::{Reader, Writer};
use super::numbering::{Halo, Numbering};
use super::partition::{Partition, Quality};
use crate::error::Result;
use crate::matrix::Csr;

/// What a rank exchanges before a product.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Links {
    /// Ranks that need elements of this one, and which: their places here.
    pub sends: Vec<(usize, Vec<u32>)>,
    /// Ranks of which this one needs elements, and how many. They come one rank after the other.
    pub receives: Vec<(usize, usize)>,
}

/// The rows of one rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Its rows and columns, in their order in the whole matrix.
    pub local: Csr<f64>,
    /// Its rows with columns of others.
    pub border_rows: Vec<u32>,
    /// The entries of those rows in columns of others, which are numbered as they are received.
    pub border: Csr<f64>,
    /// What is exchanged.
    pub links: Links,
}

/// A matrix that is taken apart.
pub(crate) struct Pieces<'a> {
    a: &'a Csr<f64>,
    rows: &'a Partition,
    columns: &'a Partition,
    /// Columns of others that each rank needs, rank after rank.
    ghosts: Vec<Vec<u32>>,
}

impl<'a> Pieces<'a> {
    /// Of a square matrix.
    pub fn of(a: &'a Csr<f64>, partition: &'a Partition) -> Self {
        Self::between(a, partition, partition)
    }

    /// Of a matrix from vectors that are shared out as `columns` to such that are as `rows`.
    pub fn between(a: &'a Csr<f64>, rows: &'a Partition, columns: &'a Partition) -> Self {
        let Partition { owner, place, .. } = columns;
        let needed = |rank: usize| {
            let all = rows.rows(rank).iter().flat_map(|&i| a.row(i as usize).0);
            let others = all.copied().filter(|&j| owner[j as usize] as usize != rank);
            let mut ghosts: Vec<u32> = others.collect();
            ghosts.sort_unstable_by_key(|&j| (owner[j as usize], place[j as usize]));
            ghosts.dedup();
            ghosts
        };
        let ghosts = (0..rows.size()).into_par_iter().map(needed).collect();
        Pieces { a, rows, columns, ghosts }
    }

    pub fn quality(&self) -> Quality {
        Quality::of(self.a, self.rows, &self.ghosts)
    }

    /// That of one rank.
    pub fn piece(&self, rank: usize) -> Piece {
        let Partition { owner, place, .. } = self.columns;
        let ghosts = &self.ghosts[rank];
        let mut local = Rows::default();
        let mut border = Rows::default();
        let mut border_rows = Vec::new();
        for (k, &i) in self.rows.rows(rank).iter().enumerate() {
            let (columns, values) = self.a.row(i as usize);
            for (&j, &value) in columns.iter().zip(values) {
                let its = (owner[j as usize], place[j as usize]);
                if its.0 as usize == rank {
                    local.push(its.1, value);
                } else {
                    let key = |&j: &u32| (owner[j as usize], place[j as usize]);
                    // It is there: ghosts are all columns of others.
                    border.push(ghosts.binary_search_by_key(&its, key).unwrap_or(0) as u32, value);
                }
            }
            local.end_row();
            if border.has_begun() {
                border.end_row();
                border_rows.push(k as u32);
            }
        }
        let n = self.columns.rows(rank).len();
        Piece {
            local: local.matrix(n),
            border_rows,
            border: border.matrix(ghosts.len()),
            links: self.links(rank),
        }
    }

    fn links(&self, rank: usize) -> Links {
        let Partition { owner, place, .. } = self.columns;
        let from = |of: usize, rank: usize| {
            self.ghosts[of].iter().copied().filter(move |&j| owner[j as usize] as usize == rank)
        };
        let others = || (0..self.columns.size()).filter(|&other| other != rank);
        let sends = others().map(|to| (to, from(to, rank).map(|j| place[j as usize]).collect::<Vec<_>>()));
        let receives = others().map(|of| (of, from(rank, of).count()));
        Links {
            sends: sends.filter(|(_, places)| !places.is_empty()).collect(),
            receives: receives.filter(|&(_, count)| count > 0).collect(),
        }
    }
}

/// Rows that are written one after another.
struct Rows {
    row_ptr: Vec<usize>,
    col_idx: Vec<u32>,
    values: Vec<f64>,
}

impl Default for Rows {
    fn default() -> Self {
        Rows { row_ptr: vec![0], col_idx: Vec::new(), values: Vec::new() }
    }
}

impl Rows {
    fn push(&mut self, column: u32, value: f64) {
        self.col_idx.push(column);
        self.values.push(value);
    }
    fn has_begun(&self) -> bool {
        self.row_ptr.last() != Some(&self.col_idx.len())
    }
    /// Ends the row. Columns of others come rank after rank, which need not be ascending.
    fn end_row(&mut self) {
        let first = self.row_ptr.last().copied().unwrap_or(0);
        if !self.col_idx[first..].is_sorted() {
            let entries = self.col_idx[first..].iter().copied().zip(self.values[first..].iter().copied());
            let mut entries: Vec<(u32, f64)> = entries.collect();
            entries.sort_unstable_by_key(|entry| entry.0);
            for (k, (column, value)) in entries.into_iter().enumerate() {
                (self.col_idx[first + k], self.values[first + k]) = (column, value);
            }
        }
        self.row_ptr.push(self.col_idx.len());
    }
    fn matrix(self, n_cols: usize) -> Csr<f64> {
        let n_rows = self.row_ptr.len() - 1;
        Csr::from_valid_parts(n_rows, n_cols, self.row_ptr, self.col_idx, self.values)
    }
}

impl Piece {
    /// Of the rows of `a` at the places `rows`, this rank's, whose columns are `columns`. All ranks call
    /// this.
    pub(crate) fn of_rows<T: Real>(
        comm: &dyn Comm,
        a: &Csr<T>,
        rows: &[u32],
        columns: &Numbering,
    ) -> Result<Piece> {
        const UNUSED: u32 = u32::MAX;
        let own = columns.own();
        let mut is_own = vec![false; columns.len()];
        let mut new_place = vec![UNUSED; columns.len()];
        for (k, &place) in own.iter().enumerate() {
            (is_own[place as usize], new_place[place as usize]) = (true, k as u32);
        }
        let mut is_used = is_own.clone();
        rows.iter().flat_map(|&i| a.row(i as usize).0).for_each(|&j| is_used[j as usize] = true);
        // Of what is around it, what these rows need.
        let used: Vec<usize> = (0..columns.len()).filter(|&place| is_used[place]).collect();
        let of = |all: &[u32]| used.iter().map(|&place| all[place]).collect::<Vec<u32>>();
        let (numbers, owners) = (of(columns.numbers()), of(columns.owners()));
        let needed = Numbering::new(comm.rank(), numbers, owners, columns.total());
        let Halo { sends, receives } = needed.halo(comm)?;
        let received = receives.iter().flat_map(|(_, places)| places);
        for (k, &place) in received.enumerate() {
            new_place[used[place as usize]] = k as u32;
        }
        let entries = |k: usize| {
            let (columns, values) = a.row(rows[k] as usize);
            columns.iter().map(|&j| j as usize).zip(values.iter().map(|v| v.to_f64()))
        };
        let inside = |k: usize| entries(k).filter(|&(j, _)| is_own[j]);
        let fill = |k: usize, columns: &mut [u32], values: &mut [f64]| {
            for ((column, value), (j, v)) in columns.iter_mut().zip(values).zip(inside(k)) {
                (*column, *value) = (new_place[j], v);
            }
        };
        let local = Csr::from_rows(rows.len(), own.len(), |k| inside(k).count(), fill);
        let mut border = Rows::default();
        let has_others = |&k: &usize| local.row_len(k) < a.row_len(rows[k] as usize);
        let border_rows: Vec<u32> = (0..rows.len()).filter(has_others).map(|k| k as u32).collect();
        for &k in &border_rows {
            let outside = entries(k as usize).filter(|&(j, _)| !is_own[j]);
            outside.for_each(|(j, v)| border.push(new_place[j], v));
            border.end_row();
        }
        let position = |place: &u32| needed.own().binary_search(place).unwrap_or(0) as u32;
        let sent = |(to, places): &(usize, Vec<u32>)| (*to, places.iter().map(position).collect());
        let links = Links {
            sends: sends.iter().map(sent).collect(),
            receives: receives.iter().map(|(from, places)| (*from, places.len())).collect(),
        };
        let ghosts = needed.len() - own.len();
        Ok(Piece { local, border_rows, border: border.matrix(ghosts), links })
    }

    /// As a message.
    pub(crate) fn written(&self, mut message: Writer) -> Writer {
        for a in [&self.local, &self.border] {
            let row_ptr: Vec<u64> = a.row_ptr().iter().map(|&p| p as u64).collect();
            message = message.put(&[a.n_cols() as u64]).put(&row_ptr).put(a.col_idx()).put(a.values());
        }
        message = message.put(&self.border_rows);
        let Links { sends, receives } = &self.links;
        message = message.put(&[sends.len() as u64]);
        for (to, places) in sends {
            message = message.put(&[*to as u64]).put(places);
        }
        let receives: Vec<[u64; 2]> = receives.iter().map(|&(from, n)| [from as u64, n as u64]).collect();
        message.put(&receives)
    }

    /// What [`Piece::written`] wrote.
    pub(crate) fn read(message: &mut Reader) -> Result<Piece> {
        let mut matrix = || {
            let n_cols = message.one::<u64>()? as usize;
            let row_ptr: Vec<usize> = message.take::<u64>()?.into_iter().map(|p| p as usize).collect();
            Csr::new(row_ptr.len() - 1, n_cols, row_ptr, message.take()?, message.take()?)
        };
        let (local, border) = (matrix()?, matrix()?);
        let border_rows = message.take()?;
        let mut sends = Vec::new();
        for _ in 0..message.one::<u64>()? {
            sends.push((message.one::<u64>()? as usize, message.take()?));
        }
        let receives = message.take::<[u64; 2]>()?;
        let receives = receives.into_iter().map(|[from, n]| (from as usize, n as usize)).collect();
        Ok(Piece { local, border_rows, border, links: Links { sends, receives } })
    }
}

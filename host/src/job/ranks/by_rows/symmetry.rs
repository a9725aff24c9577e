//! Whether a matrix is symmetric of which each rank has its rows.

use std::ops::Range;

use crate::comm::{Border, Comm, Piece, Ranges, Reader, Writer, all_to_all};
use crate::error::Result;
use crate::matrix::{Symmetry, check};
use crate::parallel::*;

/// Rows that one task looks at.
const BLOCK: usize = 4096;

/// Whether entries agree with their mirror images but for rounding, and if not, where, as
/// [`Csr::is_symmetric`](crate::matrix::Csr::is_symmetric) says it. Ranks tell each other the entries that
/// they have in each other's columns. All ranks call this.
///
/// # Errors
/// [`Error::Rank`](crate::Error::Rank) where a rank has failed.
pub(super) fn compare_mirrored(comm: &dyn Comm, piece: &Piece, ranges: &Ranges) -> Result<Symmetry> {
    let rows = Rows::of(piece, ranges.of(comm.rank()), comm)?;
    let own = (0..piece.local.n_rows()).into_par_iter().with_min_len(BLOCK);
    let inside = own.find_map_first(|i| rows.fault_inside(i));
    let mut messages = vec![Vec::new(); comm.size()];
    for entry in rows.outside() {
        messages[ranges.owner(entry.column)].push(entry.written());
    }
    let messages = messages.into_iter().map(|entries| match entries.is_empty() {
        true => Vec::new(),
        false => Writer::new().put(&entries).bytes(),
    });
    let mut first = inside;
    for message in all_to_all(comm, messages.collect())?.iter().filter(|message| !message.is_empty()) {
        let entries: Vec<[f64; 4]> = Reader::new(message).take()?;
        let found = entries.into_iter().filter_map(|entry| rows.fault_of(&Entry::read(entry)));
        first = first.into_iter().chain(found).min_by_key(Fault::place);
    }
    first_of_all(comm, first)
}

/// An entry whose mirror image is another.
struct Fault {
    row: usize,
    column: usize,
    value: f64,
    mirrored: f64,
}

impl Fault {
    fn place(&self) -> (usize, usize) {
        (self.row, self.column)
    }
}

/// The first fault of all ranks, row by row.
fn first_of_all(comm: &dyn Comm, mine: Option<Fault>) -> Result<Symmetry> {
    let none = [f64::INFINITY; 4];
    let mine =
        mine.map_or(none, |fault| [fault.row as f64, fault.column as f64, fault.value, fault.mirrored]);
    let all = comm.all_gather(&mine)?;
    let faults = all.chunks_exact(4).filter(|fault| fault[0].is_finite());
    let first = faults.min_by(|a, b| (a[0], a[1]).partial_cmp(&(b[0], b[1])).expect("they are finite"));
    Ok(first.map_or(Symmetry::Symmetric, |fault| Symmetry::NotSymmetric {
        row: fault[0] as usize,
        col: fault[1] as usize,
        value: fault[2],
        mirrored: fault[3],
    }))
}

/// An entry in a column of another rank, by its numbers in the whole matrix.
struct Entry {
    row: usize,
    column: usize,
    value: f64,
    /// The largest magnitude in its row.
    largest: f64,
}

impl Entry {
    fn written(&self) -> [f64; 4] {
        [self.row as f64, self.column as f64, self.value, self.largest]
    }
    fn read([row, column, value, largest]: [f64; 4]) -> Entry {
        Entry { row: row as usize, column: column as usize, value, largest }
    }
}

/// The rows of this rank.
struct Rows<'a> {
    piece: &'a Piece,
    own: Range<usize>,
    /// The numbers of the columns of others, ascending.
    ghosts: Vec<u32>,
    /// The largest magnitude in each row.
    largest: Vec<f64>,
}

impl<'a> Rows<'a> {
    fn of(piece: &'a Piece, own: Range<usize>, comm: &dyn Comm) -> Result<Self> {
        let ghosts = piece.border.links.received(comm, |place| own.start as u32 + place)?;
        let most = |values: &[f64]| values.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        let local = piece.local.csr();
        let own_rows = (0..local.n_rows()).into_par_iter().with_min_len(BLOCK);
        let mut largest: Vec<f64> = own_rows.map(|i| most(local.row(i).1)).collect();
        let Border { rows, entries, .. } = &piece.border;
        for (k, &i) in rows.iter().enumerate() {
            largest[i as usize] = largest[i as usize].max(most(entries.row(k).1));
        }
        Ok(Rows { piece, own, ghosts, largest })
    }

    fn fault(&self, (row, column): (usize, usize), [value, mirrored]: [f64; 2], scale: f64) -> Option<Fault> {
        let agree = value == mirrored || (value - mirrored).abs() <= check::ROUNDING * scale;
        (!agree).then_some(Fault { row, column, value, mirrored })
    }

    /// The first fault of an own row among own columns.
    fn fault_inside(&self, i: usize) -> Option<Fault> {
        let (local, first) = (self.piece.local.csr(), self.own.start);
        let (columns, values) = local.row(i);
        columns.iter().zip(values).find_map(|(&j, &value)| {
            let j = j as usize;
            let mirrored = local.get(j, i).unwrap_or(0.0);
            self.fault((first + i, first + j), [value, mirrored], self.largest[i].min(self.largest[j]))
        })
    }

    /// What own rows have in columns of others.
    fn outside(&self) -> impl Iterator<Item = Entry> + '_ {
        let Border { rows, entries, .. } = &self.piece.border;
        rows.iter().enumerate().flat_map(move |(k, &i)| {
            let (columns, values) = entries.row(k);
            columns.iter().zip(values).map(move |(&ghost, &value)| Entry {
                row: self.own.start + i as usize,
                column: self.ghosts[ghost as usize] as usize,
                value,
                largest: self.largest[i as usize],
            })
        })
    }

    /// Whether another rank's entry, in an own column, has another mirror image here.
    fn fault_of(&self, entry: &Entry) -> Option<Fault> {
        let Border { rows, entries, .. } = &self.piece.border;
        let i = entry.column - self.own.start;
        let row = rows.binary_search(&(i as u32)).ok();
        let ghost = self.ghosts.binary_search(&(entry.row as u32)).ok();
        let mirrored = row.zip(ghost).and_then(|(row, ghost)| entries.get(row, ghost)).unwrap_or(0.0);
        let scale = entry.largest.min(self.largest[i]);
        self.fault((entry.row, entry.column), [entry.value, mirrored], scale)
    }
}

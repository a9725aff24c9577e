//! Which rank has which rows.

use std::fmt;
use std::sync::Arc;

use super::ranges::{Ranges, is_due};
use super::runs::Runs;
use crate::error::{Error, Result};
use crate::matrix::Csr;
use crate::parallel::*;
use crate::precond::ilu;

/// How rows are shared out.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Partitioning {
    /// Blocks of rows as they are numbered, of about as many entries each.
    #[default]
    Blocks,
    /// The same after reverse Cuthill-McKee's order, which brings neighbours together.
    Rcm,
    /// Parts with few entries between them, by METIS; with the feature `metis`.
    Metis,
    /// The rank of every row.
    Given(Arc<Vec<u32>>),
}

impl fmt::Display for Partitioning {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Partitioning::Blocks => "blocks",
            Partitioning::Rcm => "rcm",
            Partitioning::Metis => "metis",
            Partitioning::Given(_) => "given",
        })
    }
}

impl Partitioning {
    /// Whether this program can share out so.
    ///
    /// # Errors
    /// [`Error::Option`] for METIS where it was built without.
    pub fn check(&self) -> Result<()> {
        match self {
            Partitioning::Metis if !cfg!(feature = "metis") => Err(without_metis()),
            _ => Ok(()),
        }
    }
}

fn without_metis() -> Error {
    Error::Option(
        "this program was built without METIS. With a C compiler this installs one that has it: cargo install \
         --path . --features metis"
            .into(),
    )
}

/// Rows of a matrix, shared out among ranks. A rank may have none.
#[derive(Debug, Clone, PartialEq)]
pub struct Partition {
    /// The first of consecutive rows of one rank, ascending, and the rank.
    owners: Vec<[u32; 2]>,
    n_rows: usize,
    /// The rows of each rank, ascending.
    rows: Vec<Runs>,
}

impl Partition {
    /// Shares out the rows of a square matrix among `size` ranks; rows of a node, `block` each, stay
    /// together.
    ///
    /// # Errors
    /// [`Error::Option`] for a given partition of another length, with ranks that are not there, or that
    /// takes nodes apart; where METIS fails, or is not there.
    pub fn new(a: &Csr<f64>, size: usize, block: usize, how: &Partitioning) -> Result<Partition> {
        let n = a.n_rows();
        let owner = match how {
            Partitioning::Blocks => return Ok(Self::of_ranges(&in_blocks(a, size, block))),
            Partitioning::Rcm => in_order(a, size, block, &ilu::reverse_cuthill_mckee(a)?),
            #[cfg(feature = "metis")]
            Partitioning::Metis => super::metis::owners(a, size, block, |node| weight(a, block, node))?,
            #[cfg(not(feature = "metis"))]
            Partitioning::Metis => return Err(without_metis()),
            Partitioning::Given(owner) => {
                check_given(owner, n, size, block)?;
                owner.to_vec()
            }
        };
        Ok(Self::of_owners(&owner, size))
    }

    /// The rows of these ranks, of which there are `size`.
    pub fn of_owners(owner: &[u32], size: usize) -> Partition {
        Self::of_runs(owner.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())), size)
    }

    /// Rows in ranges.
    pub fn of_ranges(ranges: &Ranges) -> Partition {
        let size = ranges.size();
        Self::of_runs((0..size).map(|rank| (rank as u32, ranges.of(rank).len())), size)
    }

    /// Of so many rows of one rank after so many of another.
    fn of_runs(runs: impl IntoIterator<Item = (u32, usize)>, size: usize) -> Partition {
        let (mut owners, mut n_rows, mut rows) = (Vec::new(), 0, vec![Runs::default(); size]);
        for (rank, count) in runs.into_iter().filter(|&(_, count)| count > 0) {
            owners.push([n_rows as u32, rank]);
            rows[rank as usize].push(n_rows as u32, count);
            n_rows += count;
        }
        Partition { owners, n_rows, rows }
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.rows.len()
    }

    /// Rows of all ranks.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The rows of a rank, ascending.
    pub fn rows(&self, rank: usize) -> &Runs {
        &self.rows[rank]
    }

    /// Whether rows that follow one another, so many a node, are always on one rank.
    pub(crate) fn keeps_together(&self, node: usize) -> bool {
        self.owners.iter().all(|[first, _]| (*first as usize).is_multiple_of(node))
    }

    /// The rank of a row.
    pub(crate) fn owner(&self, row: usize) -> usize {
        let behind = self.owners.partition_point(|&[first, _]| first as usize <= row);
        self.owners[behind - 1][1] as usize
    }

    /// The elements of `v` that belong to a rank.
    pub(crate) fn part(&self, v: &[f64], rank: usize) -> Vec<f64> {
        let mut part = vec![0.0; self.rows[rank].len()];
        let mut rest = &mut part[..];
        for (first, count) in self.rows[rank].iter_runs() {
            let elements;
            (elements, rest) = rest.split_at_mut(count);
            copy(&v[first as usize..][..count], elements);
        }
        part
    }

    /// Puts the elements that belong to a rank into `v`.
    pub(crate) fn put(&self, part: &[f64], rank: usize, v: &mut [f64]) {
        let mut rest = part;
        for (first, count) in self.rows[rank].iter_runs() {
            let elements;
            (elements, rest) = rest.split_at(count);
            copy(elements, &mut v[first as usize..][..count]);
        }
    }
}

/// Copies by several threads: what is written may be memory that was never touched.
fn copy(from: &[f64], to: &mut [f64]) {
    let chunks = to.par_chunks_mut(MANY).zip(from.par_chunks(MANY));
    chunks.for_each(|(to, from)| to.copy_from_slice(from));
}

/// What a node weighs: each of its rows as many as it has entries, and one more for its vectors.
fn weight(a: &Csr<f64>, block: usize, node: usize) -> u64 {
    (node * block..(node + 1) * block).map(|i| a.row_len(i) as u64 + 1).sum()
}

/// What all rows weigh.
fn weight_of_all(a: &Csr<f64>) -> u64 {
    (a.nnz() + a.n_rows()).max(1) as u64
}

/// Cuts the rows where the share of entries before them is due.
fn in_blocks(a: &Csr<f64>, size: usize, block: usize) -> Ranges {
    let (nodes, total) = (a.n_rows() / block, weight_of_all(a));
    let before = |node: usize| (a.row_ptr()[node * block] + node * block) as u64;
    // The first node that is due to a later rank; what is due to it ascends.
    let cut = |rank: usize| {
        let is_due = |node: usize| is_due((before(node), weight(a, block, node), total), rank, size);
        let (mut low, mut high) = (0, nodes);
        while low < high {
            let middle = low + (high - low) / 2;
            if is_due(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low * block
    };
    Ranges::cut((0..size - 1).map(cut), a.n_rows())
}

/// The rank of each row, where rows in this order are cut so.
fn in_order(a: &Csr<f64>, size: usize, block: usize, order: &[u32]) -> Vec<u32> {
    let total = weight_of_all(a);
    let mut owner = vec![0; a.n_rows()];
    let (mut rank, mut before) = (0, 0);
    // The node of a row comes where its first row comes.
    for node in order.iter().map(|&i| i as usize).filter(|i| i.is_multiple_of(block)).map(|i| i / block) {
        let weight = weight(a, block, node);
        while rank + 1 < size && is_due((before, weight, total), rank, size) {
            rank += 1;
        }
        owner[node * block..(node + 1) * block].fill(rank as u32);
        before += weight;
    }
    owner
}

fn check_given(owner: &[u32], n: usize, size: usize, block: usize) -> Result<()> {
    if owner.len() != n {
        let found = owner.len();
        return Err(Error::Option(format!(
            "the partition has the ranks of {found} rows, but the matrix has {n}"
        )));
    }
    if let Some(i) = owner.iter().position(|&rank| rank as usize >= size) {
        let (row, rank) = (i + 1, owner[i]);
        return Err(Error::Option(format!(
            "the partition gives row {row} to rank {rank}, but there are {size} ranks, counted from 0"
        )));
    }
    match owner.chunks(block).position(|node| node.iter().any(|&rank| rank != node[0])) {
        None => Ok(()),
        Some(node) => Err(Error::Option(format!(
            "the partition takes node {} apart: its {block} rows must be on one rank",
            node + 1
        ))),
    }
}

/// What a rank needs of others.
pub(super) struct Needs {
    /// Its rows that have entries in columns of others.
    pub rows: Vec<u32>,
    /// Columns of others, rank after rank.
    pub columns: Vec<u32>,
    /// Entries in them.
    pub entries: usize,
}

/// How good a partition is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Quality {
    /// Entries of the rank that has most, over the mean.
    pub imbalance: f64,
    /// Entries of the matrix whose column belongs to another rank than their row.
    pub cut: u64,
    /// Elements of a vector that a product sends, summed over ranks that need them.
    pub shared: u64,
    /// Ranks that one rank exchanges with, at most.
    pub neighbours: usize,
    /// Rows of the rank that has fewest.
    pub least_rows: usize,
    /// Rows of the rank that has most.
    pub most_rows: usize,
}

impl Quality {
    /// Of a partition of `a`, of which each rank needs these elements of others.
    pub(super) fn of(a: &Csr<f64>, partition: &Partition, needs: &[Needs]) -> Quality {
        let size = partition.size();
        let of_run =
            |(first, count): (u32, usize)| a.row_ptr()[first as usize + count] - a.row_ptr()[first as usize];
        let entries = |rows: &Runs| rows.iter_runs().map(of_run).sum::<usize>();
        let most = partition.rows.iter().map(entries).max().unwrap_or(0);
        let mut talks = vec![false; size * size];
        for (rank, needs) in needs.iter().enumerate() {
            for &j in &needs.columns {
                let from = partition.owner(j as usize);
                (talks[rank * size + from], talks[from * size + rank]) = (true, true);
            }
        }
        let rows = || partition.rows.iter().map(Runs::len);
        Quality {
            imbalance: if a.nnz() == 0 { 1.0 } else { most as f64 * size as f64 / a.nnz() as f64 },
            cut: needs.iter().map(|needs| needs.entries as u64).sum(),
            shared: needs.iter().map(|needs| needs.columns.len() as u64).sum(),
            neighbours: talks.chunks(size).map(|row| row.iter().filter(|&&t| t).count()).max().unwrap_or(0),
            least_rows: rows().min().unwrap_or(0),
            most_rows: rows().max().unwrap_or(0),
        }
    }
}

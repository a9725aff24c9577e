//! Which rank has which rows.

use std::fmt;
use std::sync::Arc;

use crate::parallel::*;

use super::ranges::is_due;
use crate::error::{Error, Result};
use crate::matrix::Csr;
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
    /// The rank of each row.
    pub(super) owner: Vec<u32>,
    /// The place of each row among those of its rank.
    pub(super) place: Vec<u32>,
    /// The rows of each rank, ascending.
    rows: Vec<Vec<u64>>,
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
            Partitioning::Blocks => in_blocks(a, size, block, None),
            Partitioning::Rcm => in_blocks(a, size, block, Some(&ilu::reverse_cuthill_mckee(a)?)),
            #[cfg(feature = "metis")]
            Partitioning::Metis => super::metis::owners(a, size, block, |node| weight(a, block, node))?,
            #[cfg(not(feature = "metis"))]
            Partitioning::Metis => return Err(without_metis()),
            Partitioning::Given(owner) => {
                check_given(owner, n, size, block)?;
                owner.to_vec()
            }
        };
        Ok(Self::of_owners(owner, size))
    }

    /// The rows of these ranks, of which there are `size`.
    pub fn of_owners(owner: Vec<u32>, size: usize) -> Partition {
        let mut counts = vec![0; size];
        owner.iter().for_each(|&rank| counts[rank as usize] += 1);
        let mut rows: Vec<Vec<u64>> = counts.into_iter().map(Vec::with_capacity).collect();
        let (mut place, mut first) = (Vec::with_capacity(owner.len()), 0);
        for run in owner.chunk_by(|a, b| a == b) {
            let its = &mut rows[run[0] as usize];
            place.extend(its.len() as u32..(its.len() + run.len()) as u32);
            its.extend(first..first + run.len() as u64);
            first += run.len() as u64;
        }
        Partition { owner, place, rows }
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.rows.len()
    }

    /// Rows of all ranks.
    pub fn n_rows(&self) -> usize {
        self.owner.len()
    }

    /// The rows of a rank, ascending.
    pub fn rows(&self, rank: usize) -> &[u64] {
        &self.rows[rank]
    }

    /// The rank of a row.
    pub(crate) fn owner(&self, row: usize) -> usize {
        self.owner[row] as usize
    }

    /// The elements of `v` that belong to a rank.
    pub(crate) fn part(&self, v: &[f64], rank: usize) -> Vec<f64> {
        self.rows[rank].iter().map(|&i| v[i as usize]).collect()
    }

    /// Puts the elements that belong to a rank into `v`.
    pub(crate) fn put(&self, part: &[f64], rank: usize, v: &mut [f64]) {
        self.rows[rank].iter().zip(part).for_each(|(&i, &value)| v[i as usize] = value);
    }
}

/// What a node weighs: each of its rows as many as it has entries, and one more for its vectors.
fn weight(a: &Csr<f64>, block: usize, node: usize) -> u64 {
    (node * block..(node + 1) * block).map(|i| a.row_len(i) as u64 + 1).sum()
}

/// Cuts the rows, in their order or in that of `order`, where the share of entries before them is due.
fn in_blocks(a: &Csr<f64>, size: usize, block: usize, order: Option<&[u32]>) -> Vec<u32> {
    let nodes = a.n_rows() / block;
    // The node of a row comes where its first row comes.
    let order: Vec<usize> = match order {
        None => (0..nodes).collect(),
        Some(rows) => {
            rows.iter().map(|&i| i as usize).filter(|i| i.is_multiple_of(block)).map(|i| i / block).collect()
        }
    };
    let total = (a.nnz() + a.n_rows()).max(1) as u64;
    let mut owner = vec![0; a.n_rows()];
    let (mut rank, mut before) = (0, 0);
    for node in order {
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
    pub(super) fn of(a: &Csr<f64>, partition: &Partition, ghosts: &[Vec<u32>]) -> Quality {
        let (owner, size) = (&partition.owner, partition.size());
        let entries = |rows: &Vec<u64>| rows.iter().map(|&i| a.row_len(i as usize)).sum::<usize>();
        let most = partition.rows.iter().map(entries).max().unwrap_or(0);
        let cut_of = |i: usize| a.row(i).0.iter().filter(|&&j| owner[j as usize] != owner[i]).count() as u64;
        let mut talks = vec![false; size * size];
        for (rank, ghosts) in ghosts.iter().enumerate() {
            for &j in ghosts {
                let from = owner[j as usize] as usize;
                (talks[rank * size + from], talks[from * size + rank]) = (true, true);
            }
        }
        let rows = || partition.rows.iter().map(Vec::len);
        Quality {
            imbalance: if a.nnz() == 0 { 1.0 } else { most as f64 * size as f64 / a.nnz() as f64 },
            cut: (0..a.n_rows()).into_par_iter().with_min_len(4096).map(cut_of).sum(),
            shared: ghosts.iter().map(|ghosts| ghosts.len() as u64).sum(),
            neighbours: talks.chunks(size).map(|row| row.iter().filter(|&&t| t).count()).max().unwrap_or(0),
            least_rows: rows().min().unwrap_or(0),
            most_rows: rows().max().unwrap_or(0),
        }
    }
}

//! Consecutive rows for each rank.

use std::ops::Range;

use super::{Comm, agree};
use crate::error::Result;

/// Which rank has which rows, where each has rows in a row, one rank after the other. A rank may have none.
/// Unlike a [`Partition`](super::Partition) it takes a number for each rank, and none for each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranges {
    /// The first row of each rank, and behind them the number of all rows.
    firsts: Vec<usize>,
}

impl Ranges {
    /// Of ranks that have so many rows each. All ranks call this.
    ///
    /// # Errors
    /// [`Error::Rank`](crate::Error::Rank) where a rank has failed.
    pub fn of_counts(comm: &dyn Comm, mine: usize) -> Result<Ranges> {
        let counts = comm.all_gather(&[mine as f64])?;
        let mut firsts = vec![0];
        for count in counts {
            firsts.push(firsts[firsts.len() - 1] + count as usize);
        }
        Ok(Ranges { firsts })
    }

    /// As many nodes for each of `size` ranks, to one, of `block` rows each; rows that are left are the last
    /// rank's.
    pub fn even(n_rows: usize, size: usize, block: usize) -> Ranges {
        let nodes = (n_rows / block) as u128;
        let first = |rank: usize| (nodes * rank as u128 / size as u128) as usize * block;
        Ranges { firsts: (0..size).map(first).chain([n_rows]).collect() }
    }

    /// The blocks of rows of [`Partitioning::Blocks`](super::Partitioning::Blocks), found without the matrix:
    /// `lengths` says how many entries the rows have that it is asked for, an even share for each rank. All
    /// ranks call this.
    ///
    /// # Errors
    /// Those of `lengths`; [`Error::Rank`](crate::Error::Rank) where another rank has failed.
    pub fn by_entries(
        comm: &dyn Comm,
        n_rows: usize,
        block: usize,
        lengths: impl FnOnce(Range<usize>) -> Result<Vec<usize>>,
    ) -> Result<Ranges> {
        let (rank, size) = (comm.rank(), comm.size());
        let mine = Ranges::even(n_rows, size, block).of(rank);
        let first_node = mine.start / block;
        let lengths = agree(comm, lengths(mine))?;
        let weight = |node: &[usize]| node.iter().map(|&length| length as u64 + 1).sum::<u64>();
        let own: u64 = lengths.iter().map(|&length| length as u64 + 1).sum();
        let weights = comm.all_gather(&[own as f64])?;
        let total = (weights.iter().sum::<f64>() as u64).max(1);
        let mut before = weights[..rank].iter().sum::<f64>() as u64;
        // The first node here that is due to the next rank; none for those whose share ends elsewhere.
        let mut cuts = vec![n_rows as f64; size - 1];
        let mut next = 0;
        for (k, node) in lengths.chunks_exact(block).enumerate() {
            let weight = weight(node);
            while next + 1 < size && is_due((before, weight, total), next, size) {
                cuts[next] = ((first_node + k) * block) as f64;
                next += 1;
            }
            before += weight;
        }
        let cuts = comm.all_gather(&cuts)?;
        let cut =
            |next: usize| cuts.iter().skip(next).step_by(size - 1).fold(n_rows as f64, |a, &b| a.min(b));
        Ok(Ranges::cut((0..size - 1).map(|next| cut(next) as usize), n_rows))
    }

    /// Cut in front of these rows, which ascend, of `n_rows`.
    pub(super) fn cut(cuts: impl IntoIterator<Item = usize>, n_rows: usize) -> Ranges {
        Ranges { firsts: std::iter::once(0).chain(cuts).chain([n_rows]).collect() }
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.firsts.len() - 1
    }

    /// Rows of all ranks.
    pub fn n_rows(&self) -> usize {
        self.firsts[self.size()]
    }

    /// The rows of a rank.
    pub fn of(&self, rank: usize) -> Range<usize> {
        self.firsts[rank]..self.firsts[rank + 1]
    }

    /// The rank of a row.
    pub fn owner(&self, row: usize) -> usize {
        self.firsts.partition_point(|&first| first <= row) - 1
    }
}

/// Whether a node of this weight, behind nodes of so much of the weight of all, is due to the rank behind
/// `rank`, of `size`: by its middle, so that a long row goes where most of it belongs.
pub(super) fn is_due((before, weight, total): (u64, u64, u64), rank: usize, size: usize) -> bool {
    u128::from(2 * before + weight) * size as u128 >= 2 * u128::from(total) * (rank as u128 + 1)
}

//! Where the entries of a matrix are.

use std::fmt;

use crate::parallel::*;
use serde::Serialize;

use super::matching::{Deficiency, Matching};
use crate::matrix::{Csr, Survey, block::BLOCK_SIZES};

/// Rows of one task.
const CHUNK: usize = 4096;
/// Nodes that are looked at before all are, twice.
const SOME: usize = 100;

/// What is known of the pattern.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Structure {
    /// Rows, and columns.
    pub rows: usize,
    /// Entries.
    pub nonzeros: usize,
    /// The share of entries whose mirror image is an entry too.
    pub symmetry: f64,
    /// Rows with more entries than ten times the square root of their number.
    pub dense_rows: usize,
    /// Unknowns a node: so many rows and columns in turn have entries in nearly the same places.
    pub block_size: usize,
    /// Why the matrix is singular whatever its numbers are, where it is.
    pub deficiency: Option<Deficiency>,
}

impl Structure {
    /// That of a matrix of which is known what a [survey](Survey) says, and the share of entries that have
    /// mirror images; the diagonal of one that has zeros there is matched.
    pub(super) fn of(a: &Csr<f64>, survey: &Survey, symmetry: f64) -> Structure {
        let has_zeros = survey.diagonal.zero > 0;
        let deficiency = has_zeros.then(|| Matching::of(a).deficiency(a)).flatten();
        Structure {
            rows: a.n_rows(),
            nonzeros: a.nnz(),
            symmetry,
            dense_rows: survey.dense_rows,
            block_size: block_size(a),
            deficiency,
        }
    }
}

/// The largest blocks that the matrix falls into, more than half full.
fn block_size(a: &Csr<f64>) -> usize {
    /// Places of the blocks for each entry at most. Elastic hexahedra in a regular grid have 1.6, since many
    /// of their directions do not act on each other; the points of one equation, taken together, 2 and more.
    const FILLED: f64 = 1.65;
    /// The same of some nodes, of which more may be at borders, or fewer.
    const OF_SOME: f64 = 1.1 * FILLED;
    let n = a.n_rows();
    let is_of_blocks = |b: usize| {
        let nodes = (0..n / b).into_par_iter().with_min_len(CHUNK);
        let places = || nodes.map(|node| b * b * blocks_of(a, b, node)).sum::<usize>() as f64;
        // Some nodes decide nearly always: the first, or others, as a mesh may begin with its border.
        let some = (n / b).min(SOME);
        let are_of_blocks = |of: &dyn Fn(usize) -> usize| {
            let entries = |node: usize| a.row_ptr()[b * (node + 1)] - a.row_ptr()[b * node];
            let nodes = || (0..some).map(of);
            let places: usize = nodes().map(|node| b * b * blocks_of(a, b, node)).sum();
            places as f64 <= OF_SOME * nodes().map(entries).sum::<usize>() as f64
        };
        n > b
            && n.is_multiple_of(b)
            && are_of_blocks(&|k| k)
            && are_of_blocks(&|k| (2 * k + 1) * (n / b) / (2 * some))
            && places() <= FILLED * a.nnz() as f64
    };
    BLOCK_SIZES.rev().find(|&b| is_of_blocks(b)).unwrap_or(1)
}

/// The b x b blocks in which the rows of a node have entries.
fn blocks_of(a: &Csr<f64>, b: usize, node: usize) -> usize {
    let first = a.row(b * node).0;
    if (1..b).all(|k| a.row(b * node + k).0 == first) {
        // As nearly all have them: the blocks follow one another.
        return first.chunk_by(|i, j| i / b as u32 == j / b as u32).count();
    }
    let mut columns: Vec<u32> =
        (b * node..b * (node + 1)).flat_map(|i| a.row(i).0).map(|j| j / b as u32).collect();
    columns.sort_unstable();
    columns.dedup();
    columns.len()
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:.0} % of the entries have mirror images", 100.0 * self.symmetry)?;
        if self.block_size > 1 {
            write!(f, ", {} unknowns a node", self.block_size)?;
        }
        if self.dense_rows > 0 {
            write!(f, ", {} dense rows", self.dense_rows)?;
        }
        self.deficiency.iter().try_for_each(|deficiency| write!(f, ", {deficiency}"))
    }
}

impl fmt::Display for Deficiency {
    /// Rows and columns are printed from 1.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Deficiency { rows, columns, empty_column } = self;
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        write!(f, "structurally singular: row{} {} ", plural(rows.len()), listed(rows))?;
        let have = if rows.len() == 1 { "has" } else { "have" };
        match columns.len() {
            0 => return write!(f, "{have} no entries"),
            1 => write!(f, "{have} entries in column {} alone", listed(columns))?,
            count => write!(f, "{have} entries in {count} columns alone, {}", listed(columns))?,
        }
        empty_column.iter().try_for_each(|column| write!(f, "; column {} has no entries", column + 1))
    }
}

/// "3, 8, 11 and 14 others", counted from 1.
fn listed(indices: &[usize]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = indices.iter().take(SHOWN).map(|i| (i + 1).to_string()).collect();
    match indices.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        others => format!("{} and {others} others", shown.join(", ")),
    }
}

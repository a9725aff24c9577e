//! The columns at the ends of blocks that are full by the time that they come to be eliminated: LU takes
//! those as a dense matrix.

use faer::dyn_stack::MemStack;
use faer::sparse::linalg::cholesky::simplicial;

use super::columns::Columns;
use super::prediction::workspace;
use super::sparse_lu::{self, Order};
use crate::error::Result;
use crate::matrix::Csr;

/// Entries of L up to which they are counted: that takes some nanoseconds for each.
const MOST: f64 = 2e8;
/// Bytes for an entry of a dense matrix, beside those of the factors.
const BYTES: f64 = 8.0;

/// What LU takes with full columns.
#[derive(Default)]
pub struct FullBlocks {
    /// Multiply-adds of single entries, or as long.
    pub flops: f64,
    /// The bytes that the largest dense matrix needs.
    pub bytes: f64,
}

impl FullBlocks {
    /// With pivots on the diagonal, and so many entries of L; `None` where these are too many to count.
    /// Rows of a column of `a` may be in any order.
    pub fn of(a: &Columns, order: &Order, lower: f64) -> Result<Option<FullBlocks>> {
        if lower > MOST {
            return Ok(None);
        }
        let counts = counts(a, &order.columns)?;
        let mut found = FullBlocks::default();
        let mut begin = 0;
        for &end in &order.ends {
            let is_full = |&k: &usize| sparse_lu::is_full(counts[k] - 1, end - k);
            let columns = match (begin..end).rev().take_while(is_full).count() {
                columns if sparse_lu::are_many(columns) => columns,
                _ => 0,
            };
            let one_by_one = counts[begin..end - columns].iter().map(|&count| (count as f64 - 1.0).powi(2));
            found.flops += one_by_one.sum::<f64>() + sparse_lu::flops_of_full(columns);
            found.bytes = found.bytes.max(BYTES * (columns as f64).powi(2));
            begin = end;
        }
        Ok(Some(found))
    }
}

/// The entries of each column of the Cholesky factor of the pattern of `A + A^T`, in this order.
fn counts(a: &Columns, order: &[usize]) -> Result<Vec<usize>> {
    let n = a.n;
    let mut place = vec![0; n];
    order.iter().enumerate().for_each(|(k, &j)| place[j] = k);
    let entry = |i: usize, j: usize| (place[i].max(place[j]), place[i].min(place[j]), 1.0);
    let entries = (0..n).flat_map(|j| a.rows(j).iter().map(move |&i| (i, j)));
    let upper = Columns::with_zeros(&Csr::from_triplets(n, n, entries.map(|(i, j)| entry(i, j)))?);
    let (mut tree, mut counts) = (vec![0; n], vec![0usize; n]);
    let request = simplicial::prefactorize_symbolic_cholesky_scratch::<usize>(n, upper.row_idx.len());
    let mut memory = workspace(request)?;
    let stack = MemStack::new(&mut memory);
    simplicial::prefactorize_symbolic_cholesky(&mut tree, &mut counts, upper.symbolic(), stack);
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of unknowns, and behind it some that are connected to each other and its last.
    #[test]
    fn a_clique_behind_a_chain_is_found() {
        let (n, chain) = (1000, 600);
        let links = (1..=chain).flat_map(|i| [(i, i - 1), (i - 1, i)]);
        let clique = (chain..n).flat_map(|i| (chain..n).map(move |j| (i, j)));
        let entries = links.chain(clique).chain((0..n).map(|i| (i, i)));
        let a = Csr::from_triplets(n, n, entries.map(|(i, j)| (i, j, 1.0))).unwrap();
        let (a, order) = (Columns::of(&a), Order::of((0..n).collect()));
        let counts = counts(&a, &order.columns).unwrap();
        assert_eq!((counts[0], counts[chain], counts[n - 1]), (2, n - chain, 1));
        let found = FullBlocks::of(&a, &order, 1e5).unwrap().unwrap();
        assert_eq!(found.bytes, 8.0 * 400f64.powi(2));
        assert_eq!(found.flops, chain as f64 + sparse_lu::flops_of_full(n - chain));
        let in_two = Order { ends: vec![chain, n], ..order };
        assert_eq!(FullBlocks::of(&a, &in_two, 1e5).unwrap().unwrap().flops, found.flops);
        assert!(FullBlocks::of(&a, &in_two, 1e9).unwrap().is_none());
    }
}

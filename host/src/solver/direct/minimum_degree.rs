//! An order for pivots on the diagonal: approximate minimum degree (Amestoy, Davis and Duff 1996) on the
//! pattern of `A + A^T`, as matrices want it whose pattern is nearly symmetric, within the blocks of their
//! block triangular form.

use faer::dyn_stack::MemStack;
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;

use super::block_triangular::blocks;
use super::columns::Columns;
use super::full_blocks::FullBlocks;
use super::kind::Kind;
use super::prediction::{Prediction, failed, workspace};
use super::sparse_lu::Order;
use crate::error::Result;

/// The share of the entries of L in a block that an entry beside the block meets, as on a mesh.
const REACHED: f64 = 0.3;
/// Where a column has more entries in its block than this, on average, both orders are looked at.
const FEW_INSIDE: usize = 2;
/// What takes no more than these multiply-adds is not looked at closer.
const FEW_FLOPS: f64 = 4e6;

/// The order of the columns, and what LU takes if the pivot of each column is in row `row_of`: within the
/// blocks of the block triangular form, or of all columns, where that promises less.
pub fn minimum_degree(a: &Columns, row_of: &[u32]) -> Result<(Order, Prediction)> {
    let mut column_of = vec![0; a.n];
    row_of.iter().enumerate().for_each(|(j, &i)| column_of[i as usize] = j);
    let block = blocks(a, &column_of);
    let whole = || order(a, &a.with_rows(&column_of, |_, _| true), &vec![0; a.n]);
    if block.iter().all(|b| *b == 0) {
        return whole();
    }
    let inside = a.with_rows(&column_of, |i, j| block[i] == block[j]);
    let in_blocks = || order(a, &inside, &block);
    let (in_blocks, whole) = if inside.row_idx.len() > FEW_INSIDE * a.n {
        let (in_blocks, whole) = rayon::join(in_blocks, whole);
        (in_blocks?, whole?)
    } else {
        let in_blocks = in_blocks()?;
        // Without entries beside blocks there is nothing that could be less.
        if in_blocks.1.flops <= a.row_idx.len() as f64 {
            return Ok(in_blocks);
        }
        (in_blocks, whole()?)
    };
    Ok(if whole.1.flops < in_blocks.1.flops { whole } else { in_blocks })
}

/// The order of approximate minimum degree of a pattern, rows of a column in any order, and what
/// factorisations take in it.
pub fn approximate(pattern: SymbolicSparseColMatRef<usize>) -> Result<(Vec<usize>, amd::FlopCount)> {
    let n = pattern.ncols();
    let mut memory = workspace(amd::order_maybe_unsorted_scratch::<usize>(n, pattern.compute_nnz()))?;
    let (mut forward, mut inverse) = (vec![0usize; n], vec![0usize; n]);
    let stack = MemStack::new(&mut memory);
    let count =
        amd::order_maybe_unsorted(&mut forward, &mut inverse, pattern, amd::Control::default(), stack)
            .map_err(failed)?;
    Ok((forward, count))
}

/// By the entries `inside` of blocks, which follow each other. Pivots stay in their blocks: when a column's
/// turn comes, the rows of earlier blocks have been pivots.
fn order(a: &Columns, inside: &Columns, block: &[u32]) -> Result<(Order, Prediction)> {
    let (n, nnz) = (a.n, inside.row_idx.len());
    let (mut forward, count) = approximate(inside.unsorted())?;
    forward.sort_by_key(|&j| block[j]);
    // An entry beside a block is multiplied by columns of L there, and leaves entries in its rows.
    let (rows, of_lower) = mean_block(block);
    let beside = (a.row_idx.len() - nnz) as f64;
    let entries = 2.0 * count.n_div + beside * (1.0 + REACHED * rows.min(count.n_div * of_lower)) + n as f64;
    let order = Order::in_blocks(forward, block);
    let one_by_one = FullBlocks { flops: count.n_mult_subs_lu, bytes: 0.0 };
    let of_blocks = match one_by_one.flops > FEW_FLOPS {
        true => FullBlocks::of(inside, &order, count.n_div)?.unwrap_or(one_by_one),
        false => one_by_one,
    };
    let bytes = 12.0 * entries + 16.0 * a.row_idx.len() as f64 + of_blocks.bytes;
    let flops = of_blocks.flops + count.n_div + beside * REACHED * count.n_div * of_lower;
    Ok((order, Prediction { kind: Kind::Lu, entries, flops, in_blocks: false, bytes }))
}

/// Of the block that a row is in, on average: its rows, and its share of what is in blocks of more than one.
fn mean_block(block: &[u32]) -> (f64, f64) {
    let mut rows = vec![0.0f64; block.iter().max().map_or(0, |last| *last as usize + 1)];
    block.iter().for_each(|&b| rows[b as usize] += 1.0);
    let squares: f64 = rows.iter().map(|rows| rows * rows).sum();
    let in_larger: f64 = rows.iter().filter(|rows| **rows > 1.0).sum();
    let mean = squares / block.len().max(1) as f64;
    (mean, if in_larger > 0.0 { mean / in_larger } else { 0.0 })
}

//! An order for pivots on the diagonal: approximate minimum degree (Amestoy, Davis and Duff 1996) on the
//! pattern of `A + A^T`, as matrices want it whose pattern is nearly symmetric.

use faer::dyn_stack::MemStack;
use faer::sparse::linalg::amd;

use super::columns::Columns;
use super::kind::Kind;
use super::prediction::{Prediction, failed, workspace};
use crate::error::Result;

/// The order of the columns, and what LU takes if the pivot of each column is in row `row_of`.
pub fn minimum_degree(a: &Columns, row_of: &[u32]) -> Result<(Vec<usize>, Prediction)> {
    let (n, nnz) = (a.n, a.row_idx.len());
    let mut to = vec![0; n];
    row_of.iter().enumerate().for_each(|(j, &i)| to[i as usize] = j);
    let on_diagonal = a.with_rows(&to);
    let mut memory = workspace(amd::order_maybe_unsorted_scratch::<usize>(n, nnz))?;
    let (mut forward, mut inverse) = (vec![0usize; n], vec![0usize; n]);
    let (pattern, stack) = (on_diagonal.unsorted(), MemStack::new(&mut memory));
    let count =
        amd::order_maybe_unsorted(&mut forward, &mut inverse, pattern, amd::Control::default(), stack)
            .map_err(failed)?;
    let entries = 2.0 * count.n_div + n as f64;
    let bytes = 12.0 * entries + 16.0 * nnz as f64;
    let flops = count.n_mult_subs_lu + count.n_div;
    Ok((forward, Prediction { kind: Kind::Lu, entries, flops, in_blocks: false, bytes }))
}

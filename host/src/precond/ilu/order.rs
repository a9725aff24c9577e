//! Orders of elimination: they decide how much is filled in, how good the factors are, and how many rows can
//! be solved at once.

use std::cmp::Reverse;

use arithmetic::noise::weight;
use cuda_std::Real;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;
use rayon::prelude::*;

use super::params::Order;
pub(super) use crate::analysis::Neighbours;
use crate::analysis::reverse_cuthill_mckee;
use crate::error::{Error, Result};
use crate::matrix::Csr;

/// No number yet.
const NONE: u32 = u32::MAX;

/// The unknowns in their order of elimination.
pub(super) fn order<T: Real>(graph: &Neighbours<T>, order: Order) -> Result<Vec<u32>> {
    match order {
        Order::Natural => Ok((0..graph.count() as u32).collect()),
        Order::Rcm => Ok(reverse_cuthill_mckee(graph)),
        Order::Multicolour => Ok(multicolour(graph)),
        Order::Amd => minimum_degree(graph.matrix()),
    }
}

/// The unknowns by colours, neighbours of different ones: the first colour that is free is taken, in the
/// order of hashed weights, so that many can be coloured at once on a device (Jones and Plassmann 1993).
/// Within a colour no unknown depends on another.
fn multicolour<T: Real>(graph: &Neighbours<T>) -> Vec<u32> {
    let n = graph.count();
    let mut colours = vec![NONE; n];
    // The unknown that last found a neighbour of this colour.
    let mut is_taken_by: Vec<u32> = Vec::new();
    let mut by_weight: Vec<u32> = (0..n as u32).collect();
    by_weight.par_sort_unstable_by_key(|&i| Reverse((weight(i, None), i)));
    for i in by_weight {
        graph.for_row(i, |j| {
            let colour = colours[j as usize];
            if colour != NONE {
                is_taken_by[colour as usize] = i;
            }
        });
        let free = is_taken_by.iter().position(|&by| by != i).unwrap_or(is_taken_by.len());
        if free == is_taken_by.len() {
            is_taken_by.push(NONE);
        }
        colours[i as usize] = free as u32;
    }
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by_key(|&i| colours[i as usize]);
    order
}

/// Approximate minimum degree (Amestoy, Davis and Duff 1996), which keeps the fill small.
fn minimum_degree<T: Real>(a: &Csr<T>) -> Result<Vec<u32>> {
    let n = a.n_rows();
    let columns: Vec<usize> = a.col_idx().iter().map(|&j| j as usize).collect();
    // The rows of A as columns: its transpose has the same `A + A^T`.
    let pattern = SymbolicSparseColMatRef::new_checked(n, n, a.row_ptr(), None, &columns);
    let scratch = amd::order_scratch::<usize>(n, columns.len());
    let failed = |why: String| Error::Matrix(format!("an order of least degree cannot be found: {why}"));
    let mut memory = MemBuffer::try_new(scratch).map_err(|_| failed("there is not enough memory".into()))?;
    let (mut forward, mut inverse) = (vec![0usize; n], vec![0usize; n]);
    let stack = MemStack::new(&mut memory);
    amd::order(&mut forward, &mut inverse, pattern, amd::Control::default(), stack)
        .map_err(|error| failed(format!("{error:?}")))?;
    Ok(forward.into_iter().map(|i| i as u32).collect())
}

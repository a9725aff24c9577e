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
        Order::Amd => minimum_degree(graph.a),
    }
}

/// The graph of `A + A^T` of a square matrix.
pub(super) struct Neighbours<'a, T> {
    a: &'a Csr<T>,
    /// Of a matrix whose pattern is not symmetric.
    transpose: Option<Csr<T>>,
}

impl<'a, T: Real> Neighbours<'a, T> {
    /// Of a matrix that is known to have a symmetric pattern, or may have one.
    pub fn of(a: &'a Csr<T>, is_symmetric: bool) -> Self {
        if is_symmetric {
            return Neighbours { a, transpose: None };
        }
        let transpose = a.transpose();
        let is_symmetric = transpose.row_ptr() == a.row_ptr() && transpose.col_idx() == a.col_idx();
        Neighbours { a, transpose: (!is_symmetric).then_some(transpose) }
    }

    fn count(&self) -> usize {
        self.a.n_rows()
    }

    /// The neighbours of i, some of them twice.
    fn of_row(&self, i: u32) -> impl Iterator<Item = u32> {
        let i = i as usize;
        let others = self.transpose.iter().flat_map(move |transpose| transpose.row(i).0);
        self.a.row(i).0.iter().chain(others).copied().filter(move |&j| j as usize != i)
    }

    fn degree(&self, i: u32) -> usize {
        self.of_row(i).count()
    }
}

/// Cuthill and McKee's order (1969) from an unknown far out in each connected part, reversed (George 1971).
fn reverse_cuthill_mckee<T: Real>(graph: &Neighbours<T>) -> Vec<u32> {
    let n = graph.count();
    let mut order = Vec::with_capacity(n);
    let mut is_seen = vec![false; n];
    let mut distance = vec![NONE; n];
    for start in 0..n as u32 {
        if is_seen[start as usize] {
            continue;
        }
        let root = far_out(graph, start, &mut distance);
        is_seen[root as usize] = true;
        let mut at = order.len();
        order.push(root);
        while at < order.len() {
            let first = order.len();
            for j in graph.of_row(order[at]) {
                if !is_seen[j as usize] {
                    is_seen[j as usize] = true;
                    order.push(j);
                }
            }
            order[first..].sort_by_key(|&j| (graph.degree(j), j));
            at += 1;
        }
    }
    order.reverse();
    order
}

/// An unknown of the part of `start` from which the others are far (George and Liu 1979): the farthest, of
/// least degree, as long as that is farther away. `distance` is `NONE` everywhere, and is left so.
fn far_out<T: Real>(graph: &Neighbours<T>, start: u32, distance: &mut [u32]) -> u32 {
    let (mut root, mut depth) = (start, None);
    loop {
        distance[root as usize] = 0;
        let mut seen = vec![root];
        let mut at = 0;
        while at < seen.len() {
            let next = distance[seen[at] as usize] + 1;
            for j in graph.of_row(seen[at]) {
                if distance[j as usize] == NONE {
                    distance[j as usize] = next;
                    seen.push(j);
                }
            }
            at += 1;
        }
        let last = distance[seen[seen.len() - 1] as usize];
        let farthest = seen.iter().rev().take_while(|&&j| distance[j as usize] == last);
        let candidate = farthest.copied().min_by_key(|&j| (graph.degree(j), j)).unwrap_or(root);
        seen.iter().for_each(|&j| distance[j as usize] = NONE);
        if depth.is_some_and(|depth| last <= depth) {
            return root;
        }
        (root, depth) = (candidate, Some(last));
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
        for j in graph.of_row(i) {
            let colour = colours[j as usize];
            if colour != NONE {
                is_taken_by[colour as usize] = i;
            }
        }
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

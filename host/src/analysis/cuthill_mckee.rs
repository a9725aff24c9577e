//! The graph of a matrix, and the numbering of its unknowns that keeps neighbours together.

use std::mem::replace;

use cuda_std::Real;

use crate::matrix::Csr;
use crate::parallel::*;

/// No number yet.
const NONE: u32 = u32::MAX;

/// The graph of `A + A^T` of a square matrix.
pub(crate) struct Neighbours<'a, T> {
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

    /// The matrix.
    pub fn matrix(&self) -> &'a Csr<T> {
        self.a
    }

    /// Unknowns.
    pub fn count(&self) -> usize {
        self.a.n_rows()
    }

    /// Calls `f` with the neighbours of i, some of them twice.
    pub fn for_row(&self, i: u32, mut f: impl FnMut(u32)) {
        let rows = [Some(self.a), self.transpose.as_ref()].into_iter().flatten();
        rows.for_each(|rows| rows.row(i as usize).0.iter().filter(|&&j| j != i).for_each(|&j| f(j)));
    }

    /// How many neighbours each unknown has.
    fn degrees(&self) -> Vec<u32> {
        let of_row = |i| {
            let mut degree = 0;
            self.for_row(i, |_| degree += 1);
            degree
        };
        (0..self.count() as u32).into_par_iter().map(of_row).collect()
    }
}

/// Cuthill and McKee's order (1969) from an unknown far out in each connected part, reversed (George 1971).
pub(crate) fn reverse_cuthill_mckee<T: Real>(graph: &Neighbours<T>) -> Vec<u32> {
    let n = graph.count();
    let mut order = Vec::with_capacity(n);
    let mut is_seen = vec![false; n];
    let mut distance = vec![NONE; n];
    let degrees = graph.degrees();
    let by_degree = |&j: &u32| (degrees[j as usize], j);
    for start in 0..n as u32 {
        if is_seen[start as usize] {
            continue;
        }
        let root = far_out(graph, start, by_degree, &mut distance);
        is_seen[root as usize] = true;
        let mut at = order.len();
        order.push(root);
        while at < order.len() {
            let first = order.len();
            graph.for_row(order[at], |j| {
                if !replace(&mut is_seen[j as usize], true) {
                    order.push(j);
                }
            });
            order[first..].sort_unstable_by_key(by_degree);
            at += 1;
        }
    }
    order.reverse();
    order
}

/// An unknown of the part of `start` from which the others are far (George and Liu 1979): the farthest, of
/// least degree, as long as that is farther away. `distance` is `NONE` everywhere, and is left so.
fn far_out<T: Real>(
    graph: &Neighbours<T>,
    start: u32,
    by_degree: impl Fn(&u32) -> (u32, u32),
    distance: &mut [u32],
) -> u32 {
    let (mut root, mut depth) = (start, None);
    loop {
        distance[root as usize] = 0;
        let mut seen = vec![root];
        let mut at = 0;
        while at < seen.len() {
            let next = distance[seen[at] as usize] + 1;
            graph.for_row(seen[at], |j| {
                if distance[j as usize] == NONE {
                    distance[j as usize] = next;
                    seen.push(j);
                }
            });
            at += 1;
        }
        let last = distance[seen[seen.len() - 1] as usize];
        let farthest = seen.iter().rev().take_while(|&&j| distance[j as usize] == last);
        let candidate = farthest.copied().min_by_key(&by_degree).unwrap_or(root);
        seen.iter().for_each(|&j| distance[j as usize] = NONE);
        if depth.is_some_and(|depth| last <= depth) {
            return root;
        }
        (root, depth) = (candidate, Some(last));
    }
}

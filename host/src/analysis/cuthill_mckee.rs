//! The graph of a matrix, and the numbering of its unknowns that keeps neighbours together.

use std::hint::black_box;

use cuda_std::Real;

use crate::matrix::Csr;
use crate::parallel::*;

/// Rows that are fetched together.
const FETCHED: usize = 16;

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

    /// Reads of the rows of some unknowns, which are far apart, at the same time, so that they are in the
    /// caches then: a search that waits for one after the other takes several times as long.
    fn fetch(&self, unknowns: &[u32]) {
        let first = |rows: &Csr<T>, i: &u32| rows.row(*i as usize).0.first().copied().unwrap_or(0);
        let rows = [Some(self.a), self.transpose.as_ref()].into_iter().flatten();
        let read = rows.map(|rows| unknowns.iter().fold(0, |all, i| all ^ first(rows, i)));
        black_box(read.fold(0, |all, read| all ^ read));
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
    let (n, degrees) = (graph.count(), graph.degrees());
    let (mut order, mut seen, mut search) = (Vec::with_capacity(n), Seen::none_of(n), Search::through(graph));
    for start in 0..n as u32 {
        if seen.has(start) {
            continue;
        }
        let root = search.far_out(start, &degrees, u32::MAX).expect("there is no limit");
        // Zeros that are stored on one side alone lead one way: not back to where the search began, or to
        // what has a place.
        for root in [root, start] {
            if !seen.has(root) {
                number_from(graph, root, &degrees, &mut seen, &mut order);
            }
        }
    }
    order.reverse();
    order
}

/// The same of a symmetric graph that is connected, and has so many levels at most beyond the unknowns that
/// it is searched from; `None` for others.
pub(crate) fn reverse_cuthill_mckee_of_compact<T: Real>(
    graph: &Neighbours<T>,
    most_levels: u32,
) -> Option<Vec<u32>> {
    let (n, degrees) = (graph.count(), graph.degrees());
    if graph.transpose.is_some() || n == 0 {
        return None;
    }
    let root = Search::through(graph).far_out(0, &degrees, most_levels)?;
    let mut order = Vec::with_capacity(n);
    number_from(graph, root, &degrees, &mut Seen::none_of(n), &mut order);
    order.reverse();
    (order.len() == n).then_some(order)
}

/// Appends the part of a root to the order.
fn number_from<T: Real>(
    graph: &Neighbours<T>,
    root: u32,
    degrees: &[u32],
    seen: &mut Seen,
    order: &mut Vec<u32>,
) {
    let mut at = order.len();
    seen.insert(root);
    order.push(root);
    while at < order.len() {
        let first = order.len();
        if at.is_multiple_of(FETCHED) {
            graph.fetch(&order[at..first.min(at + FETCHED)]);
        }
        graph.for_row(order[at], |j| {
            if seen.insert(j) {
                order.push(j);
            }
        });
        order[first..].sort_unstable_by_key(|&j| (degrees[j as usize], j));
        at += 1;
    }
}

/// A set of unknowns, which the caches hold where a number for each would not fit.
struct Seen {
    bits: Vec<u64>,
}

impl Seen {
    fn none_of(n: usize) -> Seen {
        Seen { bits: vec![0; n.div_ceil(64)] }
    }

    fn has(&self, i: u32) -> bool {
        self.bits[i as usize / 64] >> (i % 64) & 1 == 1
    }

    /// Whether it is new.
    fn insert(&mut self, i: u32) -> bool {
        let is_new = !self.has(i);
        self.bits[i as usize / 64] |= 1 << (i % 64);
        is_new
    }

    fn remove(&mut self, i: u32) {
        self.bits[i as usize / 64] &= !(1 << (i % 64));
    }
}

/// Breadth first through a graph.
struct Search<'a, 'b, T> {
    graph: &'a Neighbours<'b, T>,
    /// Empty between searches.
    seen: Seen,
    reached: Vec<u32>,
}

impl<'a, 'b, T: Real> Search<'a, 'b, T> {
    fn through(graph: &'a Neighbours<'b, T>) -> Self {
        Search { graph, seen: Seen::none_of(graph.count()), reached: Vec::new() }
    }

    /// An unknown of the part of `start` from which the others are far (George and Liu 1979): the farthest,
    /// of least degree, as long as that is farther away; `None` where a search has more levels than that.
    fn far_out(&mut self, start: u32, degrees: &[u32], most_levels: u32) -> Option<u32> {
        let (mut root, mut depth) = (start, None);
        loop {
            let (levels, farthest) = self.from(root, degrees);
            self.reached.drain(..).for_each(|j| self.seen.remove(j));
            match depth {
                _ if levels > most_levels => return None,
                Some(depth) if levels <= depth => return Some(root),
                _ => (root, depth) = (farthest, Some(levels)),
            }
        }
    }

    /// Reaches all from a root: the levels beyond it, and the unknown of least degree in the last.
    fn from(&mut self, root: u32, degrees: &[u32]) -> (u32, u32) {
        let Search { graph, seen, reached } = self;
        seen.insert(root);
        reached.push(root);
        let (mut first, mut levels) = (0, 0);
        loop {
            let end = reached.len();
            for at in first..end {
                if (at - first).is_multiple_of(FETCHED) {
                    graph.fetch(&reached[at..end.min(at + FETCHED)]);
                }
                graph.for_row(reached[at], |j| {
                    if seen.insert(j) {
                        reached.push(j);
                    }
                });
            }
            if reached.len() == end {
                let by_degree = |&j: &u32| (degrees[j as usize], j);
                return (levels, reached[first..].iter().copied().min_by_key(by_degree).unwrap_or(root));
            }
            (first, levels) = (end, levels + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{generate, shuffle};

    fn matrix(problem: &str) -> Csr<f64> {
        shuffle(&generate(&problem.parse().unwrap(), 1).unwrap(), 1, 3).unwrap()
    }

    #[test]
    fn neighbours_are_near_in_every_part() {
        let one = matrix("poisson2d:17");
        let n = one.n_rows();
        let row = |i: usize| one.row(i).0.iter().zip(one.row(i).1).map(move |(&j, &v)| (i, j as usize, v));
        let both = (0..n).flat_map(row).flat_map(|(i, j, v)| [(i, j, v), (n + 1 + i, n + 1 + j, v)]);
        // Between the parts is one of a single unknown.
        let a = Csr::from_triplets(2 * n + 1, 2 * n + 1, both.chain([(n, n, 1.0)])).unwrap();
        let order = reverse_cuthill_mckee(&Neighbours::of(&a, true));
        let a = a.permute_symmetric(&order).unwrap();
        let distance = |i: usize| a.row(i).0.iter().map(move |&j| i.abs_diff(j as usize)).max().unwrap();
        assert!((0..a.n_rows()).all(|i| distance(i) <= 2 * 17), "a level has 17 unknowns at most");
    }

    /// The pattern is not symmetric where zeros are stored, although the matrix is.
    #[test]
    fn every_unknown_has_one_place_where_edges_lead_one_way() {
        for edges in [vec![(1, 0)], vec![(0, 1)], vec![(0, 1), (2, 1), (3, 2), (1, 4)], vec![(4, 0), (3, 4)]]
        {
            let entries = (0..5).map(|i| (i, i, 1.0)).chain(edges.iter().map(|&(i, j)| (i, j, 0.0)));
            let a = Csr::from_triplets(5, 5, entries).unwrap();
            let mut order = reverse_cuthill_mckee(&Neighbours::of(&a, true));
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2, 3, 4], "{edges:?}");
        }
    }

    #[test]
    fn of_compact_graphs_it_is_the_same() {
        let a = matrix("poisson2d:17");
        let graph = Neighbours::of(&a, false);
        let expected = reverse_cuthill_mckee(&graph);
        // From a corner to the one across.
        assert_eq!(reverse_cuthill_mckee_of_compact(&graph, 32).as_ref(), Some(&expected));
        assert_eq!(reverse_cuthill_mckee_of_compact(&graph, 31), None);
        let one_way = Csr::from_triplets(2, 2, [(0, 0, 1.0), (0, 1, 1.0), (1, 1, 1.0)]).unwrap();
        let parts = Csr::from_triplets(2, 2, [(0, 0, 1.0), (1, 1, 1.0)]).unwrap();
        let nothing = Csr::from_triplets(0, 0, []).unwrap();
        for a in [one_way, parts, nothing] {
            assert_eq!(reverse_cuthill_mckee_of_compact(&Neighbours::of(&a, false), 9), None);
        }
    }
}

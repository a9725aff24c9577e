//! Independent sets by rounds of local maxima.

use std::sync::atomic::{AtomicU32, Ordering};

use cuda_std::Real;
use gpu_kernels::setup::weight;
use rayon::prelude::*;

use crate::matrix::Csr;

/// Unknowns of one task.
const CHUNK: usize = 2048;

/// One graph, or the union of two.
struct Graph<'a, T> {
    s: &'a Csr<T>,
    st: Option<&'a Csr<T>>,
}

impl<T: Real> Graph<'_, T> {
    /// The neighbours of `i`, those that are in both graphs twice.
    fn neighbours(&self, i: u32) -> impl Iterator<Item = u32> + '_ {
        let of_st = self.st.map_or(&[][..], |st| st.row(i as usize).0);
        self.s.row(i as usize).0.iter().chain(of_st).copied().filter(move |&j| j != i)
    }
}

/// See [`crate::backend::Algebra::independent_set`].
///
/// Most unknowns meet one of a larger weight after a few neighbours, so that a round costs little more than its
/// undecided unknowns.
pub(super) fn independent_set<T: Real>(
    s: &Csr<T>,
    st: Option<&Csr<T>>,
    distance: u32,
    isolated: bool,
) -> Vec<u32> {
    let n = s.n_rows();
    let graph = Graph { s, st };
    let off_diagonal = |a: &Csr<T>, i: u32| a.row(i as usize).0.iter().filter(|&&j| j != i).count() as u32;
    // 0 for the decided ones.
    let initial = |i: u32| {
        let is_isolated = graph.neighbours(i).next().is_none();
        AtomicU32::new(if is_isolated { 0 } else { weight(i, st.map(|st| off_diagonal(st, i))) })
    };
    let weights: Vec<AtomicU32> = (0..n as u32).into_par_iter().with_min_len(CHUNK).map(initial).collect();
    let get = |i: u32| weights[i as usize].load(Ordering::Relaxed);
    let decide = |i: u32| weights[i as usize].store(0, Ordering::Relaxed);

    // With both directions known, only those that depend on a member leave (PMIS).
    let dependents = st.unwrap_or(s);
    let is_largest = |i: u32| {
        let own = (get(i), i);
        let smaller = |j: u32| (get(j), j) <= own;
        graph.neighbours(i).all(|j| smaller(j) && (distance < 2 || graph.neighbours(j).all(smaller)))
    };
    let mut members: Vec<u32> =
        weights.iter().map(|w| (isolated && w.load(Ordering::Relaxed) == 0) as u32).collect();
    let mut undecided: Vec<u32> = (0..n as u32).filter(|&i| get(i) != 0).collect();
    while !undecided.is_empty() {
        let chosen: Vec<u32> =
            undecided.par_iter().with_min_len(CHUNK).copied().filter(|&i| is_largest(i)).collect();
        chosen.par_iter().with_min_len(64).for_each(|&i| {
            decide(i);
            for &j in dependents.row(i as usize).0 {
                decide(j);
                if distance == 2 {
                    graph.neighbours(j).for_each(decide);
                }
            }
        });
        for i in chosen {
            members[i as usize] = 1;
        }
        undecided = undecided.into_par_iter().with_min_len(CHUNK).filter(|&i| get(i) != 0).collect();
    }
    members
}

//! Aggregates, and the interpolation that is constant on each (Vanek, Mandel, Brezina 1996, algorithm 5.1, with the
//! roots given).

use arithmetic::smoothing::OUTLYING;
use cuda_std::Real;
use rayon::prelude::*;

use crate::backend::algebra::NO_AGGREGATE;
use crate::matrix::Csr;

/// Rows of one task.
const CHUNK: usize = 2048;

/// See [`crate::backend::Algebra::aggregate`].
pub(super) fn aggregates<T: Real>(s: &Csr<T>, roots: &[u32]) -> (Vec<u32>, usize) {
    let n = s.n_rows();
    let rows = || (0..n).into_par_iter().with_min_len(CHUNK);
    let root = |j: usize| if roots[j] == 1 { j as u32 } else { NO_AGGREGATE };
    let first: Vec<u32> =
        rows().map(|i| if roots[i] == 0 { strongest(s, i, root) } else { i as u32 }).collect();
    let joinable = |j: usize| if roots[j] == OUTLYING { NO_AGGREGATE } else { first[j] };
    let root_of: Vec<u32> = rows()
        .map(|i| {
            if first[i] != NO_AGGREGATE {
                return first[i];
            }
            let joined = strongest(s, i, joinable);
            let is_isolated = || s.row(i).0.iter().all(|&j| j as usize == i);
            if joined == NO_AGGREGATE && !is_isolated() { i as u32 } else { joined }
        })
        .collect();
    let mut number = vec![NO_AGGREGATE; n];
    let mut count = 0;
    for i in 0..n {
        if root_of[i] == i as u32 {
            number[i] = count;
            count += 1;
        }
    }
    let of = |&root: &u32| if root == NO_AGGREGATE { NO_AGGREGATE } else { number[root as usize] };
    (root_of.par_iter().with_min_len(CHUNK).map(of).collect(), count as usize)
}

/// What the neighbour of `i` with the largest `|s_ij|` has, the first of equals among those that have something.
fn strongest<T: Real>(s: &Csr<T>, i: usize, has: impl Fn(usize) -> u32) -> u32 {
    let (mut most, mut root) = (-T::ONE, NO_AGGREGATE);
    for (&j, v) in s.row(i).0.iter().zip(s.row(i).1) {
        let of_j = has(j as usize);
        if of_j != NO_AGGREGATE && v.abs() > most && j as usize != i {
            (most, root) = (v.abs(), of_j);
        }
    }
    root
}

/// See [`crate::backend::Algebra::tentative`].
pub(super) fn tentative<T: Real>(aggregates: &[u32], n_aggregates: usize) -> Csr<T> {
    Csr::from_rows(
        aggregates.len(),
        n_aggregates,
        |i| (aggregates[i] != NO_AGGREGATE) as usize,
        |i, columns, values| {
            columns.fill(aggregates[i]);
            values.fill(T::ONE);
        },
    )
}

//! Aggregates, and the interpolation that is constant on each (Vanek, Mandel, Brezina 1996, algorithm 5.1, with the
//! roots given).

use cuda_std::Real;
use rayon::prelude::*;

use crate::backend::algebra::NO_AGGREGATE;
use crate::matrix::Csr;

/// Rows of one task.
const CHUNK: usize = 2048;

/// See [`crate::backend::Algebra::aggregate`].
pub(super) fn aggregates<T: Real>(s: &Csr<T>, roots: &[u32]) -> (Vec<u32>, usize) {
    let n = s.n_rows();
    // The neighbour with the largest |s_ij| that has something, the first of equals.
    let strongest = |i: usize, has: &(dyn Fn(usize) -> Option<u32> + Sync)| {
        let mut best: Option<(T, u32)> = None;
        for (&j, v) in s.row(i).0.iter().zip(s.row(i).1) {
            if j as usize != i
                && let Some(root) = has(j as usize)
                && best.is_none_or(|(most, _)| v.abs() > most)
            {
                best = Some((v.abs(), root));
            }
        }
        best.map(|(_, root)| root)
    };
    let rows = || (0..n).into_par_iter().with_min_len(CHUNK);
    let first: Vec<u32> = rows()
        .map(|i| {
            if roots[i] == 1 {
                return i as u32;
            }
            strongest(i, &|j| (roots[j] == 1).then_some(j as u32)).unwrap_or(NO_AGGREGATE)
        })
        .collect();
    let root_of: Vec<u32> = rows()
        .map(|i| {
            if first[i] != NO_AGGREGATE {
                return first[i];
            }
            let joined = strongest(i, &|j| (first[j] != NO_AGGREGATE).then_some(first[j]));
            let is_isolated = s.row(i).0.iter().all(|&j| j as usize == i);
            joined.unwrap_or(if is_isolated { NO_AGGREGATE } else { i as u32 })
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

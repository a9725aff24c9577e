//! [`Aggregation`] on the CPU (Vanek, Mandel, Brezina 1996, algorithm 5.1, with the roots given).

use std::sync::Arc;

use crate::parallel::*;
use cuda_std::Real;

use super::{Aggregation, NO_AGGREGATE};
use crate::backend::cpu::Cpu;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::independent_set::SINGLETON;

/// Rows of one task.
const CHUNK: usize = 2048;

impl<T: Real> Aggregation<T> for Cpu {
    fn aggregate(&self, s: &Arc<Csr<T>>, roots: &Vec<u32>) -> Result<(Vec<u32>, usize)> {
        let (joined_root, is_root) = self.join(s, roots)?;
        let mut numbers = vec![NO_AGGREGATE; s.n_rows()];
        let mut count = 0;
        for (number, _) in numbers.iter_mut().zip(is_root).filter(|(_, is_root)| *is_root == 1) {
            *number = count;
            count += 1;
        }
        let number = |&root: &u32| if root == NO_AGGREGATE { NO_AGGREGATE } else { numbers[root as usize] };
        Ok((joined_root.par_iter().with_min_len(CHUNK).map(number).collect(), count as usize))
    }

    fn join(&self, s: &Arc<Csr<T>>, roots: &Vec<u32>) -> Result<(Vec<u32>, Vec<u32>)> {
        let n = s.n_rows();
        let rows = || (0..n).into_par_iter().with_min_len(CHUNK);
        let root = |j: usize| if roots[j] == 1 { j as u32 } else { NO_AGGREGATE };
        let first: Vec<u32> =
            rows().map(|i| if roots[i] == 0 { strongest(s, i, root) } else { i as u32 }).collect();
        let joinable = |j: usize| if roots[j] == SINGLETON { NO_AGGREGATE } else { first[j] };
        let root_of = |i: usize| {
            if first[i] != NO_AGGREGATE {
                return first[i];
            }
            let joined = strongest(s, i, joinable);
            let is_isolated = || s.row(i).0.iter().all(|&j| j as usize == i);
            if joined == NO_AGGREGATE && !is_isolated() { i as u32 } else { joined }
        };
        let joined = |i: usize| {
            let root = root_of(i);
            (root, u32::from(root == i as u32))
        };
        Ok(rows().map(joined).unzip())
    }

    fn tentative(&self, aggregates: &Vec<u32>, n_aggregates: usize) -> Result<Arc<Csr<T>>> {
        Ok(Arc::new(Csr::from_rows(
            aggregates.len(),
            n_aggregates,
            |i| (aggregates[i] != NO_AGGREGATE) as usize,
            |i, columns, values| {
                columns.fill(aggregates[i]);
                values.fill(T::ONE);
            },
        )))
    }
}

/// What the neighbour of `i` with the largest `|s_ij|` has, the first of equals among those that have
/// something.
fn strongest<T: Real>(s: &Csr<T>, i: usize, has: impl Fn(usize) -> u32) -> u32 {
    let (mut most, mut root) = (-T::ONE, NO_AGGREGATE);
    for (&j, v) in s.row(i).0.iter().zip(s.row(i).1) {
        let joinable = has(j as usize);
        if joinable != NO_AGGREGATE && v.abs() > most && j as usize != i {
            (most, root) = (v.abs(), joinable);
        }
    }
    root
}

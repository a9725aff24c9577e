//! [`Aggregation`] as it is defined.

use std::sync::Arc;

use cuda_std::Real;

use super::{Aggregation, NO_AGGREGATE};
use crate::backend::reference::Reference;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::independent_set::SINGLETON;
use crate::setup::sequential::{entries, from_entries};

impl<T: Real> Aggregation<T> for Reference {
    fn aggregate(&self, s: &Arc<Csr<T>>, roots: &Vec<u32>) -> Result<(Vec<u32>, usize)> {
        let (root_of, _) = self.join(s, roots)?;
        let all: Vec<u32> = (0..s.n_rows() as u32).filter(|&i| root_of[i as usize] == i).collect();
        let number = |root: u32| match root {
            NO_AGGREGATE => NO_AGGREGATE,
            root => all.binary_search(&root).expect("a root") as u32,
        };
        Ok((root_of.into_iter().map(number).collect(), all.len()))
    }

    fn join(&self, s: &Arc<Csr<T>>, roots: &Vec<u32>) -> Result<(Vec<u32>, Vec<u32>)> {
        let n = s.n_rows();
        let is_singleton = |i: usize| roots[i] == SINGLETON;
        let is_root = |i: usize| roots[i] == 1;
        // Before either step, after the first, after the second: the root that an unknown belongs to.
        let start: Vec<Option<usize>> = (0..n).map(|i| is_root(i).then_some(i)).collect();
        let first: Vec<Option<usize>> = (0..n)
            .map(|i| if is_singleton(i) { None } else { start[i].or_else(|| strongest(s, i, &start)) })
            .collect();
        let second: Vec<Option<usize>> = (0..n)
            .map(|i| {
                let has_neighbour = entries(s, i).any(|(j, _)| j != i);
                let joined = first[i].or_else(|| strongest(s, i, &first));
                if is_singleton(i) { Some(i) } else { joined.or(has_neighbour.then_some(i)) }
            })
            .collect();
        let is_root = second.iter().enumerate().map(|(i, root)| u32::from(*root == Some(i))).collect();
        Ok((second.into_iter().map(|root| root.map_or(NO_AGGREGATE, |root| root as u32)).collect(), is_root))
    }

    fn tentative(&self, aggregates: &Vec<u32>, n_aggregates: usize) -> Result<Arc<Csr<T>>> {
        let row = |&k: &u32| (k != NO_AGGREGATE).then_some((k as usize, T::ONE));
        Ok(Arc::new(from_entries(n_aggregates, aggregates.iter().map(row))))
    }
}

/// The root of the neighbour of `i` that has one and the largest `|s_ij|`, the first of equals.
fn strongest<T: Real>(s: &Csr<T>, i: usize, roots: &[Option<usize>]) -> Option<usize> {
    let mut best: Option<(T, usize)> = None;
    for (j, v) in entries(s, i).filter(|&(j, _)| j != i) {
        if let Some(root) = roots[j]
            && best.is_none_or(|(most, _)| v.abs() > most)
        {
            best = Some((v.abs(), root));
        }
    }
    best.map(|(_, root)| root)
}

//! [`IndependentSets`] as they are defined.

use std::collections::BTreeSet;
use std::sync::Arc;

use arithmetic::noise::weight;
use cuda_std::Real;

use super::{IndependentSets, SINGLETON};
use crate::backend::reference::Reference;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::sequential::entries;

#[derive(Clone, Copy, PartialEq)]
enum State {
    Undecided,
    Out,
    Member,
}

impl<T: Real> IndependentSets<T> for Reference {
    fn independent_set(
        &self,
        s: &Arc<Csr<T>>,
        st: Option<&Arc<Csr<T>>>,
        distance: u32,
        isolated: bool,
        slivers: Option<&Vec<T>>,
    ) -> Result<Vec<u32>> {
        let n = s.n_rows();
        let others = |a: &Csr<T>, i: usize| -> BTreeSet<usize> {
            entries(a, i).map(|(j, _)| j).filter(|&j| j != i).collect()
        };
        // An edge is an entry of s or of its transpose.
        let neighbours: Vec<BTreeSet<usize>> =
            (0..n).map(|i| &others(s, i) | &st.map_or(BTreeSet::new(), |st| others(st, i))).collect();
        let beyond = |near: &BTreeSet<usize>| -> BTreeSet<usize> {
            near.iter().chain(near.iter().flat_map(|&j| &neighbours[j])).copied().collect()
        };
        let weight = |i: usize| (weight(i as u32, st.map(|st| others(st, i).len() as u32)), i);

        let is_sliver = |i: usize| slivers.is_some_and(|slivers| slivers[i] != T::ZERO);
        let mut states: Vec<State> = (0..n)
            .map(|i| match () {
                () if is_sliver(i) => State::Out,
                () if neighbours[i].is_empty() && isolated => State::Member,
                () if neighbours[i].is_empty() => State::Out,
                () => State::Undecided,
            })
            .collect();
        while states.contains(&State::Undecided) {
            let is_undecided = |i: &usize| states[*i] == State::Undecided;
            let is_largest = |i: &usize| {
                let near = if distance == 2 { beyond(&neighbours[*i]) } else { neighbours[*i].clone() };
                near.iter().filter(|j| is_undecided(j)).all(|&j| weight(j) <= weight(*i))
            };
            let joining: Vec<usize> = (0..n).filter(is_undecided).filter(is_largest).collect();
            for &i in &joining {
                let dependents = others(st.unwrap_or(s), i);
                let near = if distance == 2 { &neighbours[i] | &beyond(&dependents) } else { dependents };
                for j in near {
                    if states[j] == State::Undecided {
                        states[j] = State::Out;
                    }
                }
            }
            joining.into_iter().for_each(|i| states[i] = State::Member);
        }
        let mark = |i: usize| if is_sliver(i) { SINGLETON } else { (states[i] == State::Member) as u32 };
        Ok((0..n).map(mark).collect())
    }
}

//! [`IndependentSets`] on the CPU, by rounds of local maxima.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::parallel::*;
use arithmetic::noise::weight;
use cuda_std::Real;

use super::{IndependentSets, IndependentSetsOnRanks, SINGLETON};
use crate::backend::cpu::Cpu;
use crate::comm::NOWHERE;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::others::{Border, Others};

/// Unknowns of one task.
const CHUNK: usize = 2048;

impl<T: Real> IndependentSets<T> for Cpu {
    fn independent_set(
        &self,
        s: &Arc<Csr<T>>,
        st: Option<&Arc<Csr<T>>>,
        distance: u32,
        isolated: bool,
        slivers: Option<&Vec<T>>,
    ) -> Result<Vec<u32>> {
        self.independent_set_among(s, st, distance, isolated, slivers, None)
    }
}

impl<T: Real> IndependentSetsOnRanks<T> for Cpu {
    /// Most unknowns meet one of a larger weight after a few neighbours, so that a round costs little more
    /// than its undecided unknowns.
    fn independent_set_among(
        &self,
        s: &Arc<Csr<T>>,
        st: Option<&Arc<Csr<T>>>,
        distance: u32,
        isolated: bool,
        slivers: Option<&Vec<T>>,
        others: Option<&Others>,
    ) -> Result<Vec<u32>> {
        let n = s.n_rows();
        // Rows have their diagonal too, for which the conditions always hold.
        let row = |i: u32| s.row(i as usize).0;
        let transposed_row = |i: u32| st.map_or(&[][..], |st| st.row(i as usize).0);
        let is_sliver = |i: u32| slivers.is_some_and(|slivers| slivers[i as usize] != T::ZERO);
        // 0 for the decided ones.
        let initial = |i: u32| {
            let off_diagonal = |row: &[u32]| row.iter().filter(|&&j| j != i).count() as u32;
            let dependent = off_diagonal(transposed_row(i));
            let is_isolated = dependent == 0 && row(i).iter().all(|&j| j == i);
            let is_candidate = !is_isolated && !is_sliver(i);
            let number = others.map_or(i, |others| others.number(i));
            AtomicU32::new(if is_candidate { weight(number, st.map(|_| dependent)) } else { 0 })
        };
        let weights: Vec<AtomicU32> =
            (0..n as u32).into_par_iter().with_min_len(CHUNK).map(initial).collect();
        let get = |i: u32| weights[i as usize].load(Ordering::Relaxed);
        let decide = |i: u32| weights[i as usize].store(0, Ordering::Relaxed);

        // With both directions known, only those that depend on a member leave (PMIS).
        let dependents = st.unwrap_or(s);
        let is_largest = |i: u32| {
            let rank = |j: u32| u64::from(get(j)) << 32 | u64::from(j);
            let own = rank(i);
            let all_smaller = |row: &[u32]| row.iter().all(|&j| rank(j) <= own);
            let around = |i: u32| all_smaller(row(i)) && all_smaller(transposed_row(i));
            // The nearest first: most meet a larger one there.
            around(i) && (distance < 2 || (row(i).iter().chain(transposed_row(i))).all(|&j| around(j)))
        };
        let first = |i: u32| if is_sliver(i) { SINGLETON } else { (isolated && get(i) == 0) as u32 };
        let mut members: Vec<u32> = (0..n as u32).map(first).collect();
        let own = others.map(|others| others.own().expanded());
        let candidate = |&i: &u32| get(i) != 0 && own.as_ref().is_none_or(|own| own[i as usize] != NOWHERE);
        let all = (0..n as u32).into_par_iter().with_min_len(CHUNK);
        let mut undecided: Vec<u32> = all.filter_collect(candidate);
        let border = others.map(Others::border).transpose()?;
        if let Some(border) = &border {
            exchange(&weights, border, |weights| {
                border.update(weights)?;
                border.settle(weights)
            })?;
            undecided.retain(|&i| get(i) != 0);
        }
        let is_any_open = |undecided: &[u32]| match others {
            None => Ok(!undecided.is_empty()),
            Some(others) => others.is_any_open(!undecided.is_empty()),
        };
        while is_any_open(&undecided)? {
            let chosen: Vec<u32> =
                undecided.par_iter().with_min_len(CHUNK).map(|&i| i).filter_collect(|&i| is_largest(i));
            chosen.par_iter().with_min_len(64).for_each(|&i| {
                decide(i);
                for &j in dependents.row(i as usize).0 {
                    decide(j);
                    if distance == 2 {
                        row(j).iter().chain(transposed_row(j)).for_each(|&k| decide(k));
                    }
                }
            });
            for i in chosen {
                members[i as usize] = 1;
            }
            if let Some(border) = &border {
                exchange(&weights, border, |weights| border.settle(weights))?;
            }
            undecided = undecided.into_par_iter().with_min_len(CHUNK).filter_collect(|&i| get(i) != 0);
        }
        Ok(members)
    }
}

/// What ranks find together about the weights of the border, which may change.
fn exchange(
    weights: &[AtomicU32],
    border: &Border,
    exchange: impl FnOnce(&mut [u32]) -> Result<()>,
) -> Result<()> {
    let of_border = || border.places.iter().map(|place| &weights[place as usize]);
    let mut plain: Vec<u32> = of_border().map(|weight| weight.load(Ordering::Relaxed)).collect();
    exchange(&mut plain)?;
    of_border().zip(plain).for_each(|(weight, plain)| weight.store(plain, Ordering::Relaxed));
    Ok(())
}

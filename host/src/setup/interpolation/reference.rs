//! [`Interpolation`] as it is defined.

use std::collections::BTreeSet;
use std::sync::Arc;

use cuda_std::Real;

use super::{Interpolation, Truncation};
use crate::backend::reference::Reference;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::sequential::{entries, from_entries};

impl<T: Real> Interpolation<T> for Reference {
    fn damp(&self, s: &mut Arc<Csr<T>>, omega: T, slivers: Option<&Vec<T>>) -> Result<()> {
        let value = |i: usize, j: usize, v: T| {
            let Some(own) = s.get(i, i) else { return v };
            // c_i s_ii is omega but in rows of slivers.
            let (c, c_own) = match slivers.map_or(T::ZERO, |slivers| slivers[i]) {
                c if c == T::ZERO => (omega / own, omega),
                c => (c, c * own),
            };
            if i == j { T::ONE - c_own } else { -(c * v) }
        };
        let row = |i: usize| entries(s, i).map(move |(j, v)| (j, value(i, j, v)));
        *s = Arc::new(from_entries(s.n_cols(), (0..s.n_rows()).map(row)));
        Ok(())
    }

    fn subtract_scaled(&self, c: &mut Arc<Csr<T>>, p: &Arc<Csr<T>>, omega: T, d: &Vec<T>) -> Result<()> {
        let value = |i: usize, j: usize, v: T| match p.get(i, j) {
            Some(p_ij) if d[i] != T::ZERO => v - T::ONE / (omega * d[i]) * p_ij,
            _ => v,
        };
        let row = |i: usize| entries(c, i).map(move |(j, v)| (j, value(i, j, v)));
        *c = Arc::new(from_entries(c.n_cols(), (0..c.n_rows()).map(row)));
        Ok(())
    }

    fn averaging(&self, s: &Arc<Csr<T>>, coarse: &Vec<u32>) -> Result<Arc<Csr<T>>> {
        let unknowns = coarse_unknowns(coarse);
        let row = |i: usize| {
            let sources: Vec<usize> = match coarse[i] {
                1 => vec![i],
                _ => entries(s, i).map(|(j, _)| j).filter(|&j| coarse[j] == 1).collect(),
            };
            let weight = T::ONE / T::from_f64(sources.len() as f64);
            sources.into_iter().map(|j| (number(&unknowns, j), weight)).collect::<Vec<_>>()
        };
        Ok(Arc::new(from_entries(unknowns.len(), (0..s.n_rows()).map(row))))
    }

    fn extended_i(
        &self,
        a: &Arc<Csr<T>>,
        s: &Arc<Csr<T>>,
        coarse: &Vec<u32>,
        truncation: Truncation,
    ) -> Result<Arc<Csr<T>>> {
        let unknowns = coarse_unknowns(coarse);
        let row = |i: usize| match coarse[i] {
            1 => vec![(number(&unknowns, i), T::ONE)],
            _ => {
                let weights = weights(a, s, coarse, i);
                truncated(weights, truncation).into_iter().map(|(j, w)| (number(&unknowns, j), w)).collect()
            }
        };
        Ok(Arc::new(from_entries(unknowns.len(), (0..s.n_rows()).map(row))))
    }
}

fn coarse_unknowns(coarse: &[u32]) -> Vec<usize> {
    (0..coarse.len()).filter(|&i| coarse[i] == 1).collect()
}

/// The number of the coarse unknown `j` on the coarser level.
fn number(unknowns: &[usize], j: usize) -> usize {
    unknowns.binary_search(&j).expect("a coarse unknown")
}

/// (unknown, weight) of a fine unknown `i`, as the definition has them.
fn weights<T: Real>(a: &Csr<T>, s: &Csr<T>, coarse: &[u32], i: usize) -> Vec<(usize, T)> {
    let strong = |i: usize| entries(s, i).map(|(j, _)| j).filter(move |&j| j != i);
    let fine: Vec<usize> = strong(i).filter(|&k| coarse[k] == 0).collect();
    let hat: BTreeSet<usize> =
        strong(i).chain(fine.iter().flat_map(|&k| strong(k))).filter(|&j| coarse[j] == 1).collect();
    let entry = |k: usize, l: usize| a.get(k, l).unwrap_or(T::ZERO);
    let abar = |k: usize, l: usize| {
        let has_the_sign = (entry(k, l) < T::ZERO) == (entry(k, k) < T::ZERO);
        if has_the_sign { T::ZERO } else { entry(k, l) }
    };
    let d = |k: usize| hat.iter().fold(T::ZERO, |sum, &l| sum + abar(k, l)) + abar(k, i);

    let is_strong = |n: usize| n != i && s.get(i, n).is_some();
    let mut divisor = T::ZERO;
    for (n, v) in entries(a, i) {
        if !hat.contains(&n) && !is_strong(n) {
            divisor += v;
        }
    }
    for &k in &fine {
        divisor += if d(k) == T::ZERO { entry(i, k) } else { entry(i, k) / d(k) * abar(k, i) };
    }
    if divisor == T::ZERO {
        divisor = entry(i, i);
    }
    let weight = |j: usize| {
        let through = fine.iter().filter(|&&k| d(k) != T::ZERO).map(|&k| entry(i, k) / d(k) * abar(k, j));
        -(through.fold(entry(i, j), |sum, term| sum + term) / divisor)
    };
    hat.iter().map(|&j| (j, weight(j))).collect()
}

/// The largest of the weights, scaled to the old sum.
fn truncated<T: Real>(weights: Vec<(usize, T)>, truncation: Truncation) -> Vec<(usize, T)> {
    let largest = weights.iter().map(|(_, w)| w.abs()).fold(T::ZERO, |x, y| if y > x { y } else { x });
    let least = T::from_f64(truncation.factor) * largest;
    let mut order: Vec<usize> = (0..weights.len()).filter(|&e| weights[e].1.abs() >= least).collect();
    // A stable sort: the first of equals stays in front.
    order.sort_by(|&e, &f| weights[f].1.abs().partial_cmp(&weights[e].1.abs()).expect("finite weights"));
    order.truncate(truncation.max_entries);
    order.sort_unstable();
    let sum = |weights: &mut dyn Iterator<Item = T>| weights.fold(T::ZERO, |sum, w| sum + w);
    let old = sum(&mut weights.iter().map(|(_, w)| *w));
    let kept = sum(&mut order.iter().map(|&e| weights[e].1));
    let scale = if kept == T::ZERO { T::ONE } else { old / kept };
    order.into_iter().map(|e| (weights[e].0, weights[e].1 * scale)).collect()
}

//! How large a hierarchy will be, judged before any of it is there.

use std::collections::HashSet;

use cuda_std::Real;

use super::params::{Coarsening, Params};
use crate::matrix::Csr;

/// Rows that are looked at.
const SAMPLES: usize = 16;
/// Where so many unknowns are near, the next distances are taken to add as large a factor as the last one.
const MOST: usize = 2048;
/// The largest distance that is asked for.
const FAR: usize = 5;

/// Entries over those of the finest matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Of A P on the finest level.
    pub product: f64,
    /// Of all coarser matrices together.
    pub coarser: f64,
}

impl Prediction {
    /// About what the hierarchy of a square matrix will hold. Coarse unknowns are taken to be spread evenly, and A P to have
    /// an entry for each that is as near as interpolation and A reach: exact for no matrix, but near enough to tell a mesh,
    /// whose balls grow as a power of the distance, from a graph without distances.
    pub fn of<T: Real>(a: &Csr<T>, params: &Params) -> Prediction {
        let (n, near) = (a.n_rows() as f64, within(a));
        let row = (a.nnz() as f64 / n.max(1.0)).max(1.0);
        // Unknowns to a coarse one; how far the entries of a row of A P reach, and those of a row of the next matrix; and by
        // how much A P can be longer than A.
        let (size, [of_product, of_next], most) = match params.coarsening {
            // Neighbourhoods of unknowns that are three apart.
            Coarsening::SmoothedAggregation => (near[1], [2, 4], f64::INFINITY),
            // No two are neighbours, so that neighbourhoods overlap.
            Coarsening::MandelBrezina => (near[1].max(4.0) / 2.0, [1, 2], f64::INFINITY),
            // Extended interpolation of few entries.
            Coarsening::Pmis => (near[1].max(4.0) / 2.0, [2, 3], params.max_entries as f64),
        };
        // Coarse unknowns that a ball of this radius touches.
        let touches = |radius: usize| near[radius].min(near[radius + 1] / size).min(n / size);
        let product = (touches(of_product) / row).min(most);
        let next = touches(of_next) / (size * row);
        // Levels after the next shrink as it does, but for longer rows.
        let coarser = next * if next < 0.5 { 1.0 / (1.0 - next) } else { 2.0 };
        Prediction { product, coarser }
    }
}

/// Unknowns within the distances 0, 1, .. [`FAR`] of one, in the mean.
fn within<T: Real>(a: &Csr<T>) -> [f64; FAR + 1] {
    let n = a.n_rows();
    let mut sums = [0.0; FAR + 1];
    let samples = SAMPLES.min(n);
    for sample in 0..samples {
        // Not where lines of a grid begin.
        let start = ((2 * sample + 1) * n / (2 * samples)) as u32;
        let (mut reached, mut newest) = (HashSet::from([start]), vec![start]);
        let (mut before, mut count) = (1.0, 1.0);
        for (distance, sum) in sums.iter_mut().enumerate() {
            if distance > 0 && reached.len() < MOST {
                let neighbours = newest.iter().flat_map(|&i| a.row(i as usize).0);
                newest = neighbours.copied().filter(|&j| reached.insert(j)).collect();
                (before, count) = (count, reached.len() as f64);
            } else if distance > 0 {
                (before, count) = (count, (count * count / before).min(n as f64));
            }
            *sum += count;
        }
    }
    sums.map(|sum| sum / samples.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::hierarchy::{Extras, build};
    use super::*;
    use crate::backend::algebra::Blocks;
    use crate::backend::cpu::Cpu;
    use crate::problem::generate;

    #[test]
    fn predictions_are_of_the_right_size() {
        let cpu = Cpu::new(2).unwrap();
        for text in ["tet:24", "poisson3d:24", "poisson2d:100", "anisotropic:64:0.01", "random-spd:4000:20"] {
            let a = Arc::new(generate(&text.parse().unwrap(), 1).unwrap());
            for name in Coarsening::NAMES {
                let params = Params { coarsening: name.parse().unwrap(), ..Params::default() };
                let Prediction { product, coarser } = Prediction::of(&a, &params);
                let extras = Extras { near_null: None, keep: true };
                let h = build::<f64, Cpu>(&cpu, Blocks::scalar(a.clone()), None, &params, extras).unwrap();
                let ap = h.levels[0].products.as_ref().unwrap().ap.first().nnz();
                let below = h.levels[1..].iter().map(|level| level.a.first().nnz()).sum::<usize>()
                    + h.coarsest.first().nnz();
                let found = [ap, below].map(|entries| entries as f64 / a.nnz() as f64);
                for (predicted, found, most) in [(product, found[0], 3.0), (coarser, found[1], 4.0)] {
                    let ratio = predicted / found;
                    assert!(ratio > 0.45 && ratio < most, "{text}, {name}: {predicted:.2} for {found:.2}");
                }
            }
        }
    }
}

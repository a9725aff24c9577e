//! How large a hierarchy will be, estimated before it is built.

use std::collections::HashSet;

use cuda_std::Real;

use super::coarsening::Reach;
use super::params::Params;
use crate::matrix::Csr;

/// Rows that are looked at.
const SAMPLES: usize = 16;
/// Where this many unknowns are near, the next distances are taken to add as large a factor as the last one.
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
    /// An estimate of what the hierarchy of a square matrix will hold.
    ///
    /// It assumes that coarse unknowns are spread evenly, and that A P has an entry for each one within the
    /// reach of interpolation and A. It is exact for no matrix. But it distinguishes a mesh, whose distance-k
    /// neighbourhoods grow as a power of k, from a graph without distances.
    pub fn of<T: Real>(a: &Csr<T>, params: &Params) -> Prediction {
        let (n, near) = (a.n_rows() as f64, within(a));
        let row = (a.nnz() as f64 / n.max(1.0)).max(1.0);
        let Reach { unknowns, product, coarser, most } = &params.coarsening.properties().reach;
        let size = unknowns(near[1]);
        // Coarse unknowns that the neighbourhood of this distance touches.
        let touches = |distance: usize| near[distance].min(near[distance + 1] / size).min(n / size);
        let product = (touches(*product) / row).min(most(params));
        let next = touches(*coarser) / (size * row);
        // Levels after the next shrink as it does, except for longer rows.
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

    use super::super::coarsening::SetupOptions;
    use super::super::hierarchy::build;
    use super::super::params::Coarsening;
    use super::*;
    use crate::backend::cpu::Cpu;
    use crate::problem::generate;
    use crate::setup::Blocks;

    #[test]
    fn predictions_are_of_the_right_size() {
        let cpu = Cpu::new(2).unwrap();
        for text in ["tet:24", "poisson3d:24", "poisson2d:100", "anisotropic:64:0.01", "random-spd:4000:20"] {
            let a = Arc::new(generate(&text.parse().unwrap(), 1).unwrap());
            for name in Coarsening::NAMES {
                let params = Params { coarsening: name.parse().unwrap(), ..Params::default() };
                let Prediction { product, coarser } = Prediction::of(&a, &params);
                let options = SetupOptions { near_null: None, keep: true };
                let h = build::<f64, Cpu>(&cpu, Blocks::scalar(a.clone()), None, &params, options).unwrap();
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

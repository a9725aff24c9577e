//! The coarse unknowns of Mandel and Brezina, averaged (Rosenberger and Haase 2017, section 9.3).

use cuda_std::Real;

use super::finer::{Finer, Properties, Reach, averaging_of_blocks};
use crate::error::Result;
use crate::matrix::Csr;
use crate::precond::amg::params::{Cycle, Splitting};
use crate::precond::amg::phases::Phases;
use crate::setup::{Algebra, Blocks, Strength};

pub(super) const PROPERTIES: Properties = Properties {
    strength: 0.003,
    decays: true,
    // Its interpolation needs more of the coarser levels the more there are of them.
    cycle: Cycle::W,
    overcorrected: &[Cycle::V, Cycle::W],
    singletons: false,
    reach: Reach {
        // No two are neighbours, so that neighbourhoods overlap.
        unknowns: |neighbours| neighbours.max(4.0) / 2.0,
        product: 1,
        coarser: 2,
        most: |_| f64::INFINITY,
    },
};

/// Averages over strongly connected coarse unknowns.
pub(super) fn interpolation<T: Real, B: Algebra<T>>(
    finer: &Finer<T, B>,
    phases: &mut Phases,
) -> Result<B::Csr> {
    let (backend, a) = (finer.backend, finer.a.first());
    let s = phases.time(backend, "strength", || backend.strength(a, strength(finer)))?;
    let coarse = phases.time(backend, "splitting", || splitting(finer, &s))?;
    phases.time(backend, "interpolation", || backend.averaging(&s, &coarse))
}

/// Averages over strongly connected coarse nodes.
pub(super) fn block_interpolation<T: Real, B: Algebra<T>>(
    finer: &Finer<T, B>,
    phases: &mut Phases,
) -> Result<Blocks<B::Csr>> {
    let (backend, a) = (finer.backend, finer.a);
    let s = phases.time(backend, "strength", || backend.strength(&backend.norms(a)?, strength(finer)))?;
    let coarse = phases.time(backend, "splitting", || splitting(finer, &s))?;
    phases.time(backend, "interpolation", || averaging_of_blocks(backend, a.block(), &s, &coarse))
}

fn strength<T: Real, B: Algebra<T>>(finer: &Finer<T, B>) -> Strength {
    Strength::Symmetric { epsilon: finer.params.threshold(finer.level), lumped: false }
}

/// The coarse unknowns.
fn splitting<T: Real, B: Algebra<T>>(finer: &Finer<T, B>, s: &B::Csr) -> Result<B::Indices> {
    let backend = finer.backend;
    match finer.params.splitting {
        Splitting::Parallel => backend.independent_set(s, None, 1, true, None),
        Splitting::Greedy => backend.indices(&greedy_splitting(&*backend.csr_to_host(s)?)),
    }
}

/// The splitting of Rosenberger and Haase 2017, section 9.3, unknown after unknown: one that is not decided
/// yet is coarse, and what is strongly connected to it is fine. 1 for coarse unknowns. `s` has the strong
/// entries.
fn greedy_splitting<T: Real>(s: &Csr<T>) -> Vec<u32> {
    const UNDECIDED: u32 = 2;
    let mut coarse = vec![UNDECIDED; s.n_rows()];
    for i in 0..s.n_rows() {
        if coarse[i] == UNDECIDED {
            coarse[i] = 1;
            for &j in s.row(i).0 {
                let other = &mut coarse[j as usize];
                if *other == UNDECIDED {
                    *other = 0;
                }
            }
        }
    }
    coarse
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::reference::Reference;
    use crate::setup::StrengthOfConnection;
    use crate::setup::testing::{Dense, samples, sparse, symmetric};

    #[test]
    fn the_greedy_splitting_decides_in_ascending_order() {
        let g = Reference::new();
        for a in samples() {
            let s = g.strength(&a, symmetric(0.01, false)).unwrap();
            let coarse = greedy_splitting(&s);
            for i in 0..s.n_rows() {
                // Fine exactly where a coarse unknown in front has a strong connection to it.
                let covered = (0..i).any(|k| coarse[k] == 1 && s.get(k, i).is_some());
                assert_eq!(coarse[i] == 1, !covered, "unknown {i}");
            }
        }
        // A path of seven: every second unknown.
        let path: Dense = (0..7)
            .map(|i: i32| (0..7).map(|j| [2.0, -1.0, 0.0][(i - j).unsigned_abs().min(2) as usize]).collect())
            .collect();
        assert_eq!(greedy_splitting(&sparse(&path)), [1, 0, 1, 0, 1, 0, 1]);
    }
}

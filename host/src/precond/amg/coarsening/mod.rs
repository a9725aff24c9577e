//! How a coarser problem is made: each [`Coarsening`] in a file of its own.

use cuda_std::Real;

use super::params::{Coarsening, Cycle, Params};
use super::phases::Phases;
use crate::error::Result;
use crate::setup::{Algebra, Blocks};

mod finer;
mod mandel_brezina;
pub(super) mod near_null;
mod pmis;
pub(super) mod smoothed_aggregation;

pub use finer::SetupOptions;
pub(super) use finer::{Finer, Properties, Reach};
use near_null::SpaceOf;

/// An interpolation, and its factors if they are kept (smoothed aggregation).
pub(super) type Interpolated<M> = (Blocks<M>, Option<smoothed_aggregation::Factors<M>>);

impl Coarsening {
    pub(super) fn properties(self) -> &'static Properties {
        match self {
            Coarsening::SmoothedAggregation => &smoothed_aggregation::PROPERTIES,
            Coarsening::Pmis => &pmis::PROPERTIES,
            Coarsening::MandelBrezina => &mandel_brezina::PROPERTIES,
        }
    }
}

/// The interpolation to the level `finer`. `near_null` becomes that of the coarser level; with `keep` the
/// factors are kept, where there are some.
pub(super) fn interpolation<T: Real, B: Algebra<T>>(
    finer: &Finer<T, B>,
    near_null: &mut Option<SpaceOf<T, B>>,
    keep: bool,
    phases: &mut Phases,
) -> Result<Interpolated<B::Csr>> {
    let without_factors = |p: B::Csr| (Blocks::scalar(p), None);
    match finer.params.coarsening {
        Coarsening::SmoothedAggregation => {
            smoothed_aggregation::interpolation(finer, near_null, keep, phases)
        }
        Coarsening::Pmis => pmis::interpolation(finer, phases).map(without_factors),
        Coarsening::MandelBrezina => mandel_brezina::interpolation(finer, phases).map(without_factors),
    }
}

/// The interpolation of a matrix of blocks: aggregates or coarse nodes are those of its norm matrix
/// (Rosenberger and Haase 2017, section 9.3), and unknowns of a kind are interpolated from each other.
pub(super) fn block_interpolation<T: Real, B: Algebra<T>>(
    finer: &Finer<T, B>,
    phases: &mut Phases,
) -> Result<Blocks<B::Csr>> {
    match finer.params.coarsening {
        Coarsening::SmoothedAggregation => smoothed_aggregation::block_interpolation(finer, phases),
        Coarsening::Pmis => pmis::block_interpolation(finer, phases),
        Coarsening::MandelBrezina => mandel_brezina::block_interpolation(finer, phases),
    }
}

/// Levels from the finest on whose corrections are multiplied by [`Params::overcorrection`].
const OVERCORRECTED_LEVELS: usize = 3;
/// What they are multiplied by where a cycle finds less than the whole.
const OVERCORRECTION: f64 = 1.15;

impl Params {
    /// The threshold of a strong connection on `level` (0 is the finest).
    pub fn threshold(&self, level: usize) -> f64 {
        let Properties { strength, decays, .. } = self.coarsening.properties();
        let decay = if *decays { self.strength_decay } else { 1.0 };
        self.strength.unwrap_or(*strength) * decay.powi(level as i32)
    }

    /// The order of visits: the one asked for, or else what suits the coarsening.
    pub fn cycle(&self) -> Cycle {
        self.cycle.unwrap_or(self.coarsening.properties().cycle)
    }

    /// What the correction of `level` (0 is the finest) by the next one is multiplied by.
    pub fn overcorrection(&self, level: usize) -> f64 {
        match self.overcorrection {
            _ if level >= OVERCORRECTED_LEVELS => 1.0,
            Some(factor) => factor,
            None if self.coarsening.properties().overcorrected.contains(&self.cycle()) => OVERCORRECTION,
            None => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrections_of_the_finest_levels_are_too_large() {
        let factors = |params: &Params| [0, 2, 3].map(|level| params.overcorrection(level));
        let averages = Params { coarsening: Coarsening::MandelBrezina, ..Params::default() };
        assert_eq!(averages.cycle(), Cycle::W);
        for params in [&Params::default(), &averages] {
            assert_eq!(factors(params), [1.15, 1.15, 1.0]);
        }
        for params in [
            Params { cycle: Some(Cycle::W), ..Params::default() },
            Params { coarsening: Coarsening::Pmis, ..Params::default() },
        ] {
            assert_eq!(factors(&params), [1.0; 3]);
            assert_eq!(factors(&Params { overcorrection: Some(1.5), ..params }), [1.5, 1.5, 1.0]);
        }
    }
}

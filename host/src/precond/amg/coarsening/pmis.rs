//! Classical coarsening: a PMIS splitting and extended+i interpolation (De Sterck, Yang, Heys 2006; De
//! Sterck, Falgout, Nolting, Yang 2008).

use cuda_std::Real;

use super::finer::{Finer, Properties, Reach, averaging_of_blocks};
use crate::error::Result;
use crate::precond::amg::params::Cycle;
use crate::precond::amg::phases::Phases;
use crate::setup::{Algebra, Blocks, Strength, Truncation};

pub(super) const PROPERTIES: Properties = Properties {
    strength: 0.25,
    decays: false,
    cycle: Cycle::V,
    overcorrected: &[],
    singletons: false,
    reach: Reach {
        // No two are neighbours, so that neighbourhoods overlap.
        unknowns: |neighbours| neighbours.max(4.0) / 2.0,
        product: 2,
        coarser: 3,
        most: |params| params.max_entries as f64,
    },
};

/// The interpolation, on the finest levels over two levels at once.
pub(super) fn interpolation<T: Real, B: Algebra<T>>(
    finer: &Finer<T, B>,
    phases: &mut Phases,
) -> Result<B::Csr> {
    let Finer { backend, a, level, params, .. } = *finer;
    let a = a.first();
    let p = one_level(finer, a, phases)?;
    if level as u32 >= params.aggressive {
        return Ok(p);
    }
    // The level in between is passed over: P = P_1 P_2.
    let between = phases.time(backend, "Galerkin product", || {
        let r = backend.transpose(&p)?;
        backend.surrounded(&Blocks::scalar(backend.product(&r, &backend.product(a, &p)?)?))
    })?;
    let second = one_level(finer, between.first(), phases)?;
    phases.time(backend, "interpolation", || backend.product(&p, &second))
}

fn one_level<T: Real, B: Algebra<T>>(
    &Finer { backend, level, params, .. }: &Finer<T, B>,
    a: &B::Csr,
    phases: &mut Phases,
) -> Result<B::Csr> {
    let strength = Strength::Classical { theta: params.threshold(level) };
    let s = phases.time(backend, "strength", || backend.strength(a, strength))?;
    let coarse = phases.time(backend, "splitting", || splitting(backend, &s, false))?;
    let truncation = Truncation { max_entries: params.max_entries, factor: params.truncation };
    phases.time(backend, "interpolation", || backend.extended_i(a, &s, &coarse, truncation))
}

/// Averages over coarse nodes.
pub(super) fn block_interpolation<T: Real, B: Algebra<T>>(
    &Finer { backend, a, level, params, .. }: &Finer<T, B>,
    phases: &mut Phases,
) -> Result<Blocks<B::Csr>> {
    let strength = Strength::Classical { theta: params.threshold(level) };
    let s = phases.time(backend, "strength", || backend.strength(&backend.norms(a)?, strength))?;
    let coarse = phases.time(backend, "splitting", || splitting(backend, &s, true))?;
    phases.time(backend, "interpolation", || averaging_of_blocks(backend, a.block(), &s, &coarse))
}

/// The coarse unknowns; those without a connection are coarse if `isolated`.
fn splitting<T: Real, B: Algebra<T>>(backend: &B, s: &B::Csr, isolated: bool) -> Result<B::Indices> {
    let st = backend.transpose(s)?;
    backend.independent_set(s, Some(&st), 1, isolated, None)
}

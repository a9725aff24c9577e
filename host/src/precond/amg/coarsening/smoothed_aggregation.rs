//! Smoothed aggregation (Vanek, Mandel, Brezina 1996): aggregates around an independent set of distance 2,
//! and the interpolation `P = (I - omega D^-1 A_F) P_0`, P_0 constant on aggregates and A_F without weak
//! entries.

use cuda_std::Real;

use super::finer::{Finer, Properties, Reach};
use super::near_null::{self, SpaceOf};
use crate::error::Result;
use crate::precond::amg::params::{Cycle, Params};
use crate::precond::amg::phases::Phases;
use crate::precond::amg::spectrum::{Diagonal, Spectrum};
use crate::setup::{Algebra, Blocks, Strength};

pub(super) const PROPERTIES: Properties = Properties {
    strength: 0.003,
    decays: true,
    cycle: Cycle::V,
    overcorrected: &[Cycle::V],
    singletons: true,
    reach: Reach {
        // Neighbourhoods of unknowns that are three apart.
        unknowns: |neighbours| neighbours,
        product: 2,
        coarser: 4,
        most: |_| f64::INFINITY,
    },
};

/// What an interpolation is the product of.
pub(in crate::precond::amg) struct Factors<M> {
    /// `I - omega D^-1 A_F`.
    pub smoother: M,
    /// P_0.
    pub tentative: M,
}

/// The interpolation, and its factors where they are kept.
type Interpolation<M> = (Blocks<M>, Option<Factors<M>>);

/// Smoothed aggregation without blocks. `near_null`, if there is one, becomes that of the coarser level; the
/// factors of P are kept if so asked.
pub(super) fn interpolation<T: Real, B: Algebra<T>>(
    finer: &Finer<T, B>,
    near_null: &mut Option<SpaceOf<T, B>>,
    keep: bool,
    phases: &mut Phases,
) -> Result<Interpolation<B::Csr>> {
    let Finer { backend, a, diagonal, level, params } = *finer;
    let a = a.first();
    let epsilon = params.threshold(level);
    let mut s = phases.time(backend, "strength", || {
        let norms = near_null.as_ref().map_or(Ok(None), |space| near_null::norms(backend, a, space))?;
        match norms {
            None => backend.strength(a, Strength::Symmetric { epsilon, lumped: true }),
            Some(norms) => backend.strength(&norms, Strength::Symmetric { epsilon, lumped: false }),
        }
    })?;
    let slivers = diagonal.slivers.as_ref();
    let (aggregates, count) = aggregates(finer, &s, phases)?;
    if near_null.as_ref().is_some_and(|space| space.is_general) {
        // Lumping keeps A 1, but not A times another vector: then all entries stay.
        let all = Strength::Symmetric { epsilon: 0.0, lumped: true };
        s = phases.time(backend, "strength", || backend.strength(a, all))?;
    }
    // Lumping weak entries moves the radius little.
    let omega = damping(params, diagonal.spectrum);
    phases.time(backend, "interpolation", || {
        if near_null.is_none() && !keep {
            let p = backend.smooth_tentative(s, (omega, slivers), &aggregates, count)?;
            return Ok((Blocks::scalar(p), None));
        }
        backend.damp(&mut s, omega, slivers)?;
        let (p, tentative) = match near_null {
            None => {
                let p = backend.multiply_tentative(&s, &aggregates, count)?;
                (p, backend.tentative(&aggregates, count)?)
            }
            Some(space) => {
                let tentative = near_null::tentative(backend, aggregates, count, space)?;
                (backend.product(&s, &tentative)?, tentative)
            }
        };
        Ok((Blocks::scalar(p), keep.then_some(Factors { smoother: s, tentative })))
    })
}

/// P_0 alone, constant on aggregates: with it no coarse matrix has more entries than the finer one.
pub(in crate::precond::amg) fn plain_interpolation<T: Real, B: Algebra<T>>(
    finer: &Finer<T, B>,
    phases: &mut Phases,
) -> Result<Blocks<B::Csr>> {
    let Finer { backend, a, level, params, .. } = *finer;
    let strength = Strength::Symmetric { epsilon: params.threshold(level), lumped: true };
    let s = phases.time(backend, "strength", || backend.strength(a.first(), strength))?;
    let (aggregates, count) = aggregates(finer, &s, phases)?;
    phases.time(backend, "interpolation", || Ok(Blocks::scalar(backend.tentative(&aggregates, count)?)))
}

/// The aggregate of each unknown, by the strong connections s, and their number.
fn aggregates<T: Real, B: Algebra<T>>(
    finer: &Finer<T, B>,
    s: &B::Csr,
    phases: &mut Phases,
) -> Result<(B::Indices, usize)> {
    let Finer { backend, diagonal, .. } = *finer;
    phases.time(backend, "aggregation", || {
        let roots = backend.independent_set(s, None, 2, false, diagonal.slivers.as_ref())?;
        backend.aggregate(s, &roots)
    })
}

/// The numbers of `p`, and of its factors, for new ones of `a`.
pub(in crate::precond::amg) fn update<T: Real, B: Algebra<T>>(
    backend: &B,
    a: &B::Csr,
    diagonal: &Diagonal<B::Vector>,
    params: &Params,
    Factors { smoother, tentative }: &mut Factors<B::Csr>,
    p: &mut B::Csr,
) -> Result<()> {
    backend.strength_values(a, true, smoother)?;
    backend.damp(smoother, damping(params, diagonal.spectrum), diagonal.slivers.as_ref())?;
    backend.product_values(smoother, tentative, p)
}

/// `(I - omega D^-1 A_F) P_0` with D and A_F in blocks.
pub(super) fn block_interpolation<T: Real, B: Algebra<T>>(
    finer: &Finer<T, B>,
    phases: &mut Phases,
) -> Result<Blocks<B::Csr>> {
    let Finer { backend, a, diagonal, level, params } = *finer;
    let strength = Strength::Symmetric { epsilon: params.threshold(level), lumped: false };
    let s = phases.time(backend, "strength", || backend.strength(&backend.norms(a)?, strength))?;
    let (aggregates, count) = phases.time(backend, "aggregation", || {
        let roots = backend.independent_set(&s, None, 2, false, None)?;
        backend.aggregate(&s, &roots)
    })?;
    phases.time(backend, "interpolation", || {
        let mut smoother = a.map(|plane| {
            let mut filtered = backend.zeros_like(&s)?;
            backend.strength_values(plane, true, &mut filtered)?;
            Ok(filtered)
        })?;
        let d = backend.invert_diagonal(&smoother)?;
        backend.damp_blocks(&mut smoother, &d, damping(params, diagonal.spectrum))?;
        let tentative = backend.tentative(&aggregates, count)?;
        let mut planes = vec![backend.product(smoother.first(), &tentative)?];
        for plane in &smoother.planes()[1..] {
            let mut p = backend.zeros_like(&planes[0])?;
            backend.product_values(plane, &tentative, &mut p)?;
            planes.push(p);
        }
        Ok(Blocks::from_planes(planes))
    })
}

/// What `D^-1 A_F` is multiplied by: less for a matrix that is not symmetric. Where D^-1 A turns what it is
/// applied to, a step of it does not smooth.
fn damping<T: Real>(params: &Params, spectrum: Spectrum) -> T {
    T::from_f64(params.prolongation_omega / spectrum.radius * spectrum.eccentricity_squared().max(0.0))
}

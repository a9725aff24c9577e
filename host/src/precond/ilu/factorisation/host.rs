//! On the host: permuted, scaled, factorised, scheduled.

use std::sync::Arc;

use cuda_std::Real;

use super::super::arrangement::Arrangement;
use super::super::elimination::{eliminate_pivot, eliminate_row, on_pattern};
use super::super::factors::{Factored, Factors};
use super::super::info::Info;
use super::super::inverse::inverses;
use super::super::params::{Kind, Params, Solves};
use super::super::schedule::{Triangle, Unscheduled};
use super::super::solve::Triangles;
use super::super::{pattern, threshold};
use crate::error::{Error, Result};
use crate::matrix::{Csr, check};
use arithmetic::pivots::Pivots;

/// What is added to a symmetric matrix whose factors have a pivot that is not positive, as a share of its
/// diagonal: this at first, then twice as much, and so on (Manteuffel 1980; Lin and More 1999).
pub(super) const SHIFT: f64 = 1e-3;
/// Shifts that are tried.
pub(super) const SHIFTS: u32 = 12;

/// What is wrong, and what to do.
const USELESS: &str = "the incomplete factors are useless: what is solved with them grows beyond the digits of f64. \
                       Larger factors (--ilu drop=1e-5,growth=50), another order (order=rcm), or kind=ilu may \
                       serve; --solver direct does without them";

/// The factors of a square matrix, finite, in the order of their solution, rounded to S.
pub fn factorised<T: Real, S: Real>(a: &Csr<T>, params: &Params) -> Result<(Triangles<S>, Info)> {
    let (arrangement, factors, info) = with_info(a, params)?;
    Ok(solved(&factors, &arrangement, info))
}

type FactoredOnHost<T> = Factored<Triangles<T>, Arc<Csr<T>>>;

/// The same, or inverses where they serve.
pub(super) fn factored<T: Real>(a: &Csr<T>, params: &Params) -> Result<(FactoredOnHost<T>, Info)> {
    let (arrangement, factors, info) = with_info(a, params)?;
    if let Some(inverses) = inverses(&factors, &arrangement, params, info.is_symmetric) {
        return Ok((Factored::Inverses(inverses.map(Arc::new)), info));
    }
    let (triangles, info) = solved(&factors, &arrangement, info);
    Ok((Factored::Triangles(triangles), info))
}

/// The factors in their arrangement, and what they are; how they are applied is not known yet.
fn with_info<T: Real>(a: &Csr<T>, params: &Params) -> Result<(Arrangement, Factors, Info)> {
    let diagonal = a.diagonal();
    let is_symmetric =
        diagonal.iter().all(|&d| d > T::ZERO) && a.is_symmetric(check::ROUNDING).is_symmetric();
    let (arrangement, factors) = useful_factors(a, params, is_symmetric)?;
    let info = Info {
        params: params.clone(),
        is_symmetric,
        is_matched: arrangement.scales.is_some(),
        entries: factors.whole.nnz(),
        changed_pivots: factors.changed,
        shift: factors.shift,
        solves: Solves::Inverses,
        levels: [1; 2],
        bytes: 0,
    };
    Ok((arrangement, factors, info))
}

/// The triangles, and that they are solved with.
fn solved<S: Real>(factors: &Factors, arrangement: &Arrangement, info: Info) -> (Triangles<S>, Info) {
    let triangles = scheduled(factors, arrangement);
    let levels = [triangles.lower.levels(), triangles.upper.levels()];
    let info = Info { solves: Solves::Exact, levels, bytes: triangles.bytes(), ..info };
    (triangles, info)
}

/// The factors in their arrangement. Where rows were permuted although nobody asked for it, and factors by
/// size are useless, those without: zeros on the diagonal fill in where others are eliminated before them.
fn useful_factors<T: Real>(
    a: &Csr<T>,
    params: &Params,
    is_symmetric: bool,
) -> Result<(Arrangement, Factors)> {
    let has_zeros = || a.diagonal().contains(&T::ZERO);
    let is_matched = params.matching.unwrap_or_else(has_zeros) && !is_symmetric;
    let otherwise = (is_matched && params.matching.is_none()).then_some(false);
    for is_matched in std::iter::once(is_matched).chain(otherwise) {
        let arrangement = Arrangement::of(a, params, is_matched, is_symmetric)?;
        let factors = factors(&|| arrangement.apply(a), params, is_symmetric);
        if params.kind != Kind::Threshold || factors.are_useful(&arrangement.apply(a)) {
            return Ok((arrangement, factors));
        }
    }
    Err(Error::Matrix(USELESS.into()))
}

/// Of a square matrix, `arranged()` in its order of elimination. With `is_symmetric`, of a symmetric
/// matrix with a positive diagonal, `U = D L^T`, to rounding at least; where pivots are not positive, of a
/// matrix with a larger diagonal.
pub(in crate::precond::ilu) fn factors(
    arranged: &dyn Fn() -> Csr<f64>,
    params: &Params,
    is_symmetric: bool,
) -> Factors {
    let with = |shift: f64, may_change: bool| {
        let (a, pivots) = (arranged(), Pivots { are_positive: is_symmetric, shift });
        match params.kind {
            Kind::Levels => Some(on_pattern(pattern::with_fill(a, params.fill), pivots, eliminate_row)),
            Kind::Diagonal => Some(on_pattern(pattern::with_fill(a, 0), pivots, eliminate_pivot)),
            Kind::Threshold => threshold::factors(&a, params, pivots, may_change),
        }
    };
    if !is_symmetric {
        return with(0.0, true).expect("pivots may be changed");
    }
    let shifts = std::iter::once(0.0).chain((0..SHIFTS - 1).map(|k| SHIFT * f64::from(1u32 << k)));
    let mut without_changes = shifts.filter_map(|shift| with(shift, false).filter(|f| f.changed == 0));
    let largest = SHIFT * f64::from(1u32 << (SHIFTS - 1));
    without_changes.next().unwrap_or_else(|| with(largest, true).expect("pivots may be changed"))
}

/// `z = C Q U^-1 L^-1 P R r` as two triangles, which take the scales of R and C in.
fn scheduled<S: Real>(factors: &Factors, arrangement: &Arrangement) -> Triangles<S> {
    let (row_scale, column_scale) =
        (|e: usize| arrangement.row_scale(e), |e: usize| arrangement.column_scale(e));
    let lower = Unscheduled {
        factors: &factors.whole,
        row: &|i| factors.lower(i),
        is_upper: false,
        diagonal: &row_scale,
        scale: &|i, _| 1.0 / row_scale(i),
    };
    let (lower, lower_places) = Triangle::of(&lower, &arrangement.rows);
    let upper = Unscheduled {
        factors: &factors.whole,
        row: &|i| factors.upper(i),
        is_upper: true,
        diagonal: &|e| column_scale(e) / factors.pivot(e),
        scale: &|_, j| 1.0 / column_scale(j),
    };
    let (upper, upper_places) = Triangle::of(&upper, &lower_places);
    let columns = arrangement.column_places();
    let places = columns.into_iter().map(|e| upper_places[e as usize]).collect();
    Triangles { lower, upper, places }
}

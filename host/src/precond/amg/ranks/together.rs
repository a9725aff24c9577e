//! Levels that all ranks set up together: each computes its own rows.

use std::sync::Arc;

use cuda_std::Real;

use super::known::Known;
use super::own_rows::OwnRows;
use super::part::{Joins, level, matrix};
use super::rows::{part, rounded};
use super::space::OnHost;
use super::whole::least_rows;
use crate::backend::distributed::{Borders, Distributed};
use crate::backend::{Memory, Operator, Storage};
use crate::comm::{Comm, Numbering, agree_within, sums};
use crate::error::{Error, Result};
use crate::matrix::Padding;
use crate::matrix::rounding::Pivot;
use crate::precond::amg::cast::Cast;
use crate::precond::amg::coarsening::near_null;
use crate::precond::amg::coarsest::least_diagonal;
use crate::precond::amg::hierarchy::{Begin, LevelMatrices, Range, build_range, sweeps_while_interpolating};
use crate::precond::amg::level::{Correction, Level};
use crate::precond::amg::params::Params;
use crate::precond::amg::precisions::Precisions;
use crate::precond::amg::smoother::Input;
use crate::precond::amg::{Above, Amg, LevelInfo};
use crate::setup::{
    Blocks, BorderFormat, DistributedCsr, IndependentSetsOnRanks, Interpolation, Matrices, RoundedRows, Size,
};

/// What a rank has of a hierarchy.
pub struct Together<T: Real, S: Real, B: Precisions<T, S> + Borders<S>> {
    /// Of the levels that are shared.
    pub levels: Vec<Level<S, Distributed<B>>>,
    /// The nodes of the first level below.
    pub below: Arc<Numbering>,
    /// The levels below, with what was set up, on rank 0.
    pub rest: Option<Amg<T, S, B>>,
}

/// Backends on which ranks set levels up together.
pub trait SetsUp<T: Real, S: Real>:
    Joins<T, S> + Borders<T> + BorderFormat<T, T> + IndependentSetsOnRanks<T> + RoundedRows<T>
{
}

impl<T: Real, S: Real, B> SetsUp<T, S> for B where
    B: Joins<T, S> + Borders<T> + BorderFormat<T, T> + IndependentSetsOnRanks<T> + RoundedRows<T>
{
}

/// The matrices of a level on a rank.
type MatricesOf<T, B> = LevelMatrices<DistributedCsr<<B as Matrices<T>>::Csr>, <B as Memory<T>>::Vector>;

impl<T: Real, S: Real, B: SetsUp<T, S>> Together<T, S, B> {
    /// Sets up the hierarchy of the matrix of which each rank has `rows`; `None` where the finest level is
    /// the coarsest. All ranks call this.
    pub fn new(
        backend: &Distributed<B>,
        rows: OwnRows<T, B>,
        Known { numbers, total, near_null, .. }: &Known,
        params: &Params,
    ) -> Result<Option<Self>> {
        let comm = &**backend.comm();
        let product = rows.product.clone();
        let a = rows.numbered(backend, numbers, *total)?;
        let finest = Matrices::<T>::size(backend, a.first());
        let near_null = near_null.as_ref().map(|space| near_null::finest(backend, a.first(), space));
        let begin = Begin { a, product: Some(&*product), near_null: near_null.transpose()? };
        let least_rows = least_rows::<S, B>(backend, params);
        let range = Range { first: 0, least_rows };
        let (made, space) = build_range::<T, _>(backend, begin, params, false, range)?;
        let count = made.levels.len();
        if count == 0 {
            return Ok(None);
        }
        let usual = match made.levels.last() {
            Some(above) => least_diagonal::<T, _>(backend, &above.a)?,
            None => 0.0,
        };
        let mut phases = made.phases;
        let (mut levels, mut infos) = (Vec::new(), Vec::new());
        for (l, matrices) in made.levels.into_iter().enumerate() {
            let level = phases.time::<T, _, _>(backend, "formats", || {
                level_of::<T, S, B>(backend, l, matrices, finest, params)
            })?;
            infos.push(info_of_all(comm, level.info())?);
            levels.push(level);
        }
        let below = made.coarsest.first().rows().clone();
        let at_root = |space| OnHost::at_root::<T, B>(backend, &space, &below);
        let space = space.map(at_root).transpose()?.flatten();
        let rest = backend.at_root(&made.coarsest)?.map(|a| {
            let inner = backend.inner();
            let range = Range { first: count, least_rows: 0 };
            let near_null = space.map(|space| space.on::<T, B>(inner)).transpose()?;
            let begin = Begin { a, product: None, near_null };
            let (mut below, _) = build_range::<T, B>(inner, begin, params, false, range)?;
            phases.add(&below.phases);
            below.phases = phases;
            let mut rest = Amg::below(inner, &mut below, false, params, Above { count, finest, usual })?;
            rest.info.levels.splice(0..0, infos);
            (rest.info.on_ranks, rest.info.set_up_together) = (count, true);
            Ok(rest)
        });
        let rest = agree_within(comm, rest.transpose())?;
        Ok(Some(Together { levels, below, rest }))
    }
}

/// The level of these matrices.
fn level_of<T: Real, S: Real, B: SetsUp<T, S>>(
    backend: &Distributed<B>,
    l: usize,
    matrices: MatricesOf<T, B>,
    finest: Size,
    params: &Params,
) -> Result<Level<S, Distributed<B>>> {
    let comm = &**backend.comm();
    let LevelMatrices { a, p, r, diagonal, products } = matrices;
    let input = Input { backend, a: &a, diagonal: &diagonal, finest, params };
    let sweeps = params.smoother.sweeps::<T, S, _>(&input)?;
    let sweeps = sweeps.ok_or_else(|| Error::Option("this smoother is not there on several ranks".into()))?;
    let compressed = params.compressed && params.format.is_none() && S::NAME == f32::NAME;
    let operator = |part| matrix::<T, S, B>(backend, part, params);

    let of_a = operator(part(backend, &rounded(backend, &a, compressed.then_some(Pivot::Diagonal))?))?;
    // As on one rank, of the rows of all.
    let border = of_a.matrix.border_entries();
    let inside = of_a.size.nnz - border;
    let entries = border + of_a.matrix.local().entries_in_crs().map_or(inside, |entries| entries.min(inside));
    let sweep = sums(comm, &[entries as f64])?[0] as usize;
    let nnz = |m: &Blocks<_>| Matrices::<T>::size(backend, m.first()).nnz;
    let is_worth_it =
        |ap: &Blocks<_>| sweeps_while_interpolating(params, a.block(), nnz(ap), sweep + nnz(&p));
    let mut swept = products.map(|products| products.ap).filter(is_worth_it);
    if let Some(q) = &mut swept {
        let (weight, d) = sweeps.last();
        let mut d_in_t = Memory::<T>::zeros(backend, of_a.matrix.n_rows())?;
        Cast::<S, T>::cast(backend, d, &mut d_in_t)?;
        backend.subtract_scaled(q.first_mut(), p.first(), T::from_f64(weight.to_f64()), &d_in_t)?;
    }
    let of_correction = |m: &Blocks<_>, pivot: Option<Pivot>| {
        operator(part(backend, &rounded(backend, m, pivot.filter(|_| compressed))?))
    };
    let correction = match swept {
        Some(q) => Correction::Swept(of_correction(&q, Some(Pivot::Largest))?),
        None => Correction::Interpolated(of_correction(&p, None)?),
    };
    let of_r = operator(part(backend, &rounded(backend, &r, None)?))?;
    level(backend, l, params, (of_a, correction, of_r), sweeps)
}

/// A level as all ranks have it; stored as rank 0 stores its rows.
fn info_of_all(comm: &dyn Comm, own: LevelInfo) -> Result<LevelInfo> {
    let LevelInfo { rows, nnz, format, bytes } = own;
    let counts = [rows as u64, nnz as u64, bytes, format.bytes, format.traffic, format.padding.stored];
    let of_all = sums(comm, &counts.map(|count| count as f64))?;
    let of_all = |k: usize| of_all[k] as u64;
    let padding = Padding { stored: of_all(5), nnz: of_all(1) };
    let format = Storage { bytes: of_all(3), traffic: of_all(4), padding, ..format };
    Ok(LevelInfo { rows: of_all(0) as usize, nnz: of_all(1) as usize, format, bytes: of_all(2) })
}

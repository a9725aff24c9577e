//! From a hierarchy to what is cycled over: smoothers, formats, and the inverse of the coarsest matrix.

use crate::backend::Memory;
use crate::backend::Operator;
use crate::backend::Products;
use std::sync::Arc;

use cuda_std::Real;

use super::cycle::{COARSE_STEPS, Coarsest, Correction, Grid, Grids, Inner, Vectors};
use super::hierarchy::{Hierarchy, Level, Phases, sweeps_while_interpolating};
use super::params::{Cycle, Params};
use super::smoother::{self, Sweeps};
use super::spectrum::{Diagonal, diagonal};
use super::traffic::{self, Passes, Stored, Traffic};
use super::{Amg, Info, LevelInfo, coarse};
use crate::backend::Slot;
use crate::backend::algebra::{Algebra, Blocks, Mixed, RowWeight, Size};
use crate::error::Result;
use crate::matrix::rounding::Pivot;
use crate::matrix::{AnyMatrix, BlockCsr, Choice, Csr, Format, Padding};

/// A coarsest level of so few unknowns is inverted also where fewer were asked for: sweeps would have to do without the
/// null space of a singular one.
const SMALL: usize = 64;

impl<T: Real, S: Real, B: Mixed<T, S> + Mixed<S, T>> Amg<T, S, B> {
    /// The products `A P` of the hierarchy serve as storage.
    pub(super) fn from_hierarchy(
        backend: &B,
        hierarchy: &mut Hierarchy<<B as Algebra<T>>::Csr, <B as Memory<T>>::Vector>,
        params: &Params,
    ) -> Result<Self> {
        let Hierarchy { levels, coarsest, phases } = hierarchy;
        let mut phases = phases.clone();
        let mut infos = Vec::new();
        let mut vectors = Vec::new();
        let mut inner = Vec::new();
        let mut grids = Vec::new();
        let mut passes = Vec::new();
        let block = coarsest.block();
        let coarsest_size = size::<T, B>(backend, coarsest);
        let finest_size = levels.first().map_or(coarsest_size, |level| size::<T, B>(backend, &level.a));
        let finest_nodes = Size { n_rows: finest_size.n_rows * block, ..finest_size };
        let degree = params.degree.or(Some(smoother::chebyshev_degree(finest_nodes)));
        let params = &Params { degree, ..params.clone() };
        let is_last = |l: usize| l == levels.len();
        for l in 0..=levels.len() {
            let n = levels.get(l).map_or(coarsest_size, |level| size::<T, B>(backend, &level.a)).n_rows;
            vectors.push(Vectors::new::<S, B>(backend, n)?);
            if params.cycle() == Cycle::K && l > 0 && !is_last(l) {
                inner.push(Inner::new(backend, n)?);
            }
        }
        for level in levels.iter_mut() {
            let (grid, info, of_grid) = Self::grid(backend, level, params, &mut phases)?;
            infos.push(info);
            passes.push(of_grid);
            grids.push(grid);
        }
        let (last, last_info, last_bytes) =
            Self::coarsest(backend, levels.last(), coarsest, params, &mut phases)?;
        infos.push(last_info);
        let grids = Grids {
            grids,
            coarsest: last,
            vectors,
            inner,
            cycle: params.cycle(),
            pre: params.pre,
            post: params.post,
        };
        let traffic = Traffic { value: size_of::<S>(), block, levels: passes, coarsest: last_bytes };
        // Between T and S before and after the cycle.
        let casts = 2 * infos[0].rows * (size_of::<T>() + size_of::<S>());
        let cycle_bytes = traffic.cycle(params) as u64 + casts as u64;
        let info = Info { levels: infos, phases, precision: S::NAME, cycle_bytes };
        Ok(Amg { grids, info, reusable: None })
    }

    /// A level as it is cycled over, what is said of it, and what it moves.
    #[allow(clippy::type_complexity)]
    fn grid(
        backend: &B,
        level: &mut Level<<B as Algebra<T>>::Csr, <B as Memory<T>>::Vector>,
        params: &Params,
        phases: &mut Phases,
    ) -> Result<(Grid<S, B>, LevelInfo, Passes)> {
        let Level { a, p, r, d, spectrum, products } = level;
        let smoother = phases.time::<T, B, _>(backend, "smoothers", || {
            Sweeps::setup::<T>(backend, a, (d, *spectrum), params)
        })?;
        phases.time::<T, B, _>(backend, "formats", || {
            let operator = |m| Mixed::<T, S>::operator(backend, m);
            let rounded = |m, pivot| match params.packed {
                true => Mixed::<T, S>::smoothing_operator(backend, m, pivot),
                false => operator(m).map(|(m, choice)| (m, choice, false)),
            };
            let (matrix, choice, packed) = rounded(a, Pivot::Diagonal)?;
            let nnz = |m: &Blocks<_>| Algebra::<T>::size(backend, m.first()).nnz;
            // The set-up, which knows no formats, has decided by all entries of A.
            let sweep = matrix.entries_in_crs().map_or(nnz(a), |entries| entries.min(nnz(a)));
            let ap = products.as_mut().map(|products| &mut products.ap);
            let swept =
                ap.filter(|ap| sweeps_while_interpolating(params, a.block(), nnz(ap), sweep + nnz(p)));
            let sizes = [&*a, swept.as_deref().unwrap_or(p), r].map(|m| size::<T, B>(backend, m));
            let is_swept = swept.is_some();
            let (correction, of_correction, correction_packed) = match swept {
                Some(q) => {
                    let (weight, of_sweep) = smoother.last();
                    let mut d = Memory::<T>::zeros(backend, sizes[0].n_rows)?;
                    Mixed::<S, T>::cast(backend, of_sweep, &mut d)?;
                    let weight = T::from_f64(weight.to_f64());
                    backend.subtract_scaled(&mut q.planes_mut()[0], p.first(), weight, &d)?;
                    let (q, choice, packed) = rounded(q, Pivot::Largest)?;
                    (Correction::Swept(q), choice, packed)
                }
                None => {
                    let (p, choice) = operator(p)?;
                    (Correction::Interpolated(p), choice, false)
                }
            };
            let (r, of_r) = operator(r)?;
            let transfers = [(&of_correction, correction_packed), (&of_r, false)];
            let info = level_info::<S>(sizes[0], &choice, packed, &transfers);
            let stored = |size, packed| Stored { size, of_value: if packed { 0 } else { size_of::<S>() } };
            let passes = Passes {
                a: stored(sizes[0], packed),
                correction: stored(sizes[1], correction_packed),
                is_swept,
                r: sizes[2],
                sweeps: smoother.weights(1).count(),
            };
            Ok((Grid { a: matrix, correction, r, smoother }, info, passes))
        })
    }

    /// The last level, what is said of it, and the bytes that solving on it moves; `above` is the level before it.
    #[allow(clippy::type_complexity)]
    fn coarsest(
        backend: &B,
        above: Option<&Level<<B as Algebra<T>>::Csr, <B as Memory<T>>::Vector>>,
        coarsest: &Blocks<<B as Algebra<T>>::Csr>,
        params: &Params,
        phases: &mut Phases,
    ) -> Result<(Coarsest<S, B>, LevelInfo, f64)> {
        let (block, whole) = (coarsest.block(), size::<T, B>(backend, coarsest));
        let n = whole.n_rows as u64;
        let stored = |size| Stored { size, of_value: size_of::<S>() };
        if whole.n_rows <= params.coarse_rows.max(SMALL) {
            let inverse = phases.time::<T, B, _>(backend, "coarsest level", || {
                let usual = above.map_or(Ok(0.0), |above| least_diagonal::<T, B>(backend, &above.a))?;
                // Without pivoting a nearly singular matrix is inverted less accurately than on the host.
                let nearly = f64::from(f32::EPSILON);
                let negligible = |largest| coarse::negligible::<T>(largest, usual).max(nearly * largest);
                if block == 1
                    && let Some(inverse) = Algebra::<T>::inverse(backend, coarsest.first(), &negligible)?
                {
                    return Ok(Mixed::<T, S>::operator(backend, &Blocks::scalar(inverse))?.0);
                }
                let planes = coarsest.map(|plane| Algebra::<T>::csr_to_host(backend, plane))?;
                let inverse = coarse::inverse(&written_out(&planes), usual);
                let inverse = Arc::new(AnyMatrix::Crs(Arc::new(inverse.cast::<S>())));
                Products::<S>::matrix(backend, &inverse)
            })?;
            let padding = Padding { stored: n * n, nnz: n * n };
            let reason = "its dense inverse".to_string();
            let choice = Choice { format: Format::Crs, sigma: 1, padding, reason };
            let dense = Size { nnz: whole.n_rows.pow(2), ..whole };
            let info = level_info::<S>(whole, &choice, false, &[]);
            Ok((Coarsest::Inverse(inverse), info, traffic::product(stored(dense), size_of::<S>(), 1)))
        } else {
            let Diagonal { inverse: d, spectrum, .. } =
                diagonal::<T, B>(backend, coarsest, None, params.lanczos_steps, false)?;
            let smoother = Sweeps::setup::<T>(backend, coarsest, (&d, spectrum), params)?;
            let (matrix, choice) = Mixed::<T, S>::operator(backend, coarsest)?;
            let sweeps = smoother.weights(COARSE_STEPS).count() - 1;
            let bytes = traffic::sweeps(sweeps, stored(whole), size_of::<S>(), block);
            let info = level_info::<S>(whole, &choice, false, &[]);
            Ok((Coarsest::Sweeps(matrix, smoother), info, bytes))
        }
    }
}

/// The matrix of the blocks as an ordinary one.
fn written_out<T: Real>(a: &Blocks<Arc<Csr<T>>>) -> Arc<Csr<T>> {
    match a.block() {
        1 => a.first().clone(),
        _ => Arc::new(BlockCsr::<T>::from_planes(a.planes()).to_csr()),
    }
}

/// The least magnitude on the diagonal; of blocks the least norm.
fn least_diagonal<T: Real, B: Algebra<T>>(backend: &B, a: &Blocks<B::Csr>) -> Result<f64> {
    let norms = if a.block() == 1 { a.first().clone() } else { backend.norms(a)? };
    let inverse = backend.row_weights(&norms, RowWeight::InverseDiagonal)?;
    let s = backend.scalars(1)?;
    backend.norm_max(&inverse, &s, Slot(0))?;
    Ok(1.0 / backend.read(&s, Slot(0))?.to_f64())
}

/// Of the matrix with its blocks written out.
fn size<T: Real, B: Algebra<T>>(backend: &B, a: &Blocks<B::Csr>) -> Size {
    let Size { n_rows, n_cols, nnz } = backend.size(a.first());
    let b = a.block();
    Size { n_rows: b * n_rows, n_cols: b * n_cols, nnz: b * b * nnz }
}

fn level_info<S: Real>(
    size: Size,
    format: &Choice,
    packed: bool,
    transfers: &[(&Choice, bool)],
) -> LevelInfo {
    let bytes_of = |&(choice, packed): &(&Choice, bool)| {
        let square = choice.format.block().pow(2) as u64;
        match packed {
            // A pivot's value for each row, and for each at most its column.
            true => 4 * (choice.padding.stored + 2 * size.n_rows as u64),
            false => choice.padding.stored / square * (4 + square * size_of::<S>() as u64),
        }
    };
    let stored = bytes_of(&(format, packed)) + transfers.iter().map(bytes_of).sum::<u64>();
    let vectors = (Vectors::<()>::COUNT + 1) * size.n_rows * size_of::<S>();
    let format = format.clone();
    LevelInfo { rows: size.n_rows, nnz: size.nnz, format, packed, bytes: stored + vectors as u64 }
}

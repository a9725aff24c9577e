//! Algebraic multigrid: `z = M r` is one cycle over a hierarchy of ever smaller problems that the matrix alone gives.
//!
//! | file | what |
//! |---|---|
//! | `params` | what can be chosen |
//! | `hierarchy` | coarsening, interpolation, Galerkin products, over [`Algebra`] |
//! | `coarse` | the last level's inverse |
//! | `smoother` | Jacobi, l1-Jacobi, Chebyshev, SPAI-0 as weighted sweeps |
//! | `spectrum` | the diagonal and the spectral radius that interpolation and smoothers are scaled by |
//! | `cycle` | V, W, F, K |
//! | `update` | new numbers in a hierarchy |
//! | `traffic` | the bytes that a cycle moves |

use std::sync::Arc;

use cuda_std::Real;

use super::{Preconditioner, cg_step_by_primitives};
use crate::backend::algebra::{Algebra, Blocks, Mixed, RowWeight, Size};
use crate::backend::cpu::Cpu;
use crate::backend::{Backend, CgStep, Coef, Slot};
use crate::error::{Error, Result};
use crate::matrix::rounding::Pivot;
use crate::matrix::{AnyMatrix, BlockCsr, Choice, Csr, Format, Padding, check};

pub(super) mod coarse;
mod cycle;
pub mod hierarchy;
mod params;
mod smoother;
pub mod spectrum;
#[cfg(test)]
mod tests;
mod traffic;
mod update;

use cycle::{COARSE_STEPS, Coarsest, Correction, Grid, Grids, Inner, Vectors};
pub use hierarchy::Phases;
use hierarchy::{Extras, Hierarchy, Level, Products, sweeps_while_interpolating};
pub use params::{Coarsening, Cycle, Params, Place, Smoother, Splitting};
use smoother::Sweeps;
use spectrum::diagonal;
use traffic::{Passes, Stored, Traffic};

/// One level, for reports.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelInfo {
    /// Rows.
    pub rows: usize,
    /// Nonzeros.
    pub nnz: usize,
    /// The format of the matrix.
    pub format: Choice,
    /// Whether it is [packed](gpu_kernels::spmv::packed).
    pub packed: bool,
    /// Bytes of matrix, transfer operators and vectors.
    pub bytes: u64,
}

/// What was set up, for reports.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// From the finest level to the coarsest.
    pub levels: Vec<LevelInfo>,
    /// Seconds by phase.
    pub phases: Phases,
    /// The number type of the hierarchy.
    pub precision: &'static str,
    /// Bytes that one application must move: the passes of a cycle over matrices and vectors, whatever the caches keep.
    pub cycle_bytes: u64,
}

impl Info {
    /// Rows of all levels over those of the finest.
    pub fn grid_complexity(&self) -> f64 {
        self.levels.iter().map(|l| l.rows).sum::<usize>() as f64 / self.levels[0].rows.max(1) as f64
    }
    /// Nonzeros of all levels over those of the finest.
    pub fn operator_complexity(&self) -> f64 {
        self.levels.iter().map(|l| l.nnz).sum::<usize>() as f64 / self.levels[0].nnz.max(1) as f64
    }
}

/// A coarsest level of so few unknowns is inverted also where fewer were asked for: sweeps would have to do without the
/// null space of a singular one.
const SMALL: usize = 64;

/// The preconditioner: a hierarchy computed in T and applied in S.
pub struct Amg<T: Real, S: Real, B: Mixed<T, S> + Mixed<S, T>> {
    grids: Grids<S, B>,
    info: Info,
    reusable: Option<update::Reusable<T, B>>,
}

impl<T: Real, S: Real, B: Mixed<T, S> + Mixed<S, T>> Amg<T, S, B> {
    /// Builds the hierarchy of the square matrix `a`.
    ///
    /// [`crate::Error::Diagonal`] where a diagonal entry is missing or 0, [`crate::Error::Option`] for a parameter out of
    /// its range.
    pub fn setup(backend: &B, a: &Arc<Csr<T>>, params: &Params) -> Result<Self> {
        params.check()?;
        check::check_square(a)?;
        check::check_diagonal(a, "amg")?;
        Self::of(backend, Blocks::scalar(Algebra::<T>::csr(backend, a)?), None, params)
    }

    /// Builds the hierarchy of a square matrix of blocks, b unknowns a node. Nodes are coarsened by the blocks' norms and
    /// smoothed with the inverted diagonal blocks.
    ///
    /// [`crate::Error::Block`] where a diagonal block is missing or singular; [`crate::Error::Option`] as [`Amg::setup`], and
    /// for a smoother that there is not for blocks.
    pub fn setup_blocks(backend: &B, a: &BlockCsr<T>, params: &Params) -> Result<Self> {
        params.check()?;
        if a.block_rows() != a.block_cols() {
            check::check_square(&a.to_csr())?;
        }
        check::check_diagonal_blocks(&a.diagonal_blocks(), a.block(), "amg")?;
        Self::of(backend, Algebra::<T>::blocks(backend, a)?, None, params)
    }

    /// [`Amg::setup`] with smoothed aggregation that interpolates `vectors` well, in place of the constant 1: what A
    /// nearly maps to 0, such as the rigid motions of an elastic body (Vanek, Mandel, Brezina 1996, section 4). Unknowns
    /// are aggregated one by one; an aggregate has a coarse unknown for each vector that does not depend on those before
    /// it there. Where the vectors are others than one constant no entry is filtered out of A.
    ///
    /// # Errors
    /// As [`Amg::setup`]; [`Error::Option`] for another coarsening and for no vectors, [`Error::Dimension`] and
    /// [`Error::NotFinite`] for a vector that is too short or too long, or not finite.
    pub fn setup_with_near_null(
        backend: &B,
        a: &Arc<Csr<T>>,
        params: &Params,
        vectors: &[Vec<T>],
    ) -> Result<Self> {
        params.check()?;
        check::check_square(a)?;
        check::check_diagonal(a, "amg")?;
        if params.coarsening != Coarsening::SmoothedAggregation || vectors.is_empty() {
            return Err(Error::Option(
                "near-null-space vectors, at least one, go with the coarsening sa".into(),
            ));
        }
        vectors.iter().try_for_each(|v| check::check_vector("near-null-space vector", v, a.n_rows()))?;
        let extras = Extras { near_null: Some(vectors.to_vec()), keep: false };
        let a = Blocks::scalar(Algebra::<T>::csr(backend, a)?);
        let mut hierarchy = hierarchy_of::<T, B>(backend, a, None, params, extras)?;
        // What packing keeps are row sums, not the products of A with other vectors.
        let packed = params.packed && hierarchy::is_constant(vectors);
        Self::from_hierarchy(backend, &mut hierarchy, &Params { packed, ..params.clone() })
    }

    /// Builds the hierarchy of a matrix that is there already, square and with a diagonal without zeros or, in blocks,
    /// without singular ones. `product` is the same matrix ready to be multiplied, where there is one already.
    pub fn of(
        backend: &B,
        a: Blocks<<B as Algebra<T>>::Csr>,
        product: Option<&<B as Backend<T>>::Matrix>,
        params: &Params,
    ) -> Result<Self> {
        let extras = Extras { near_null: None, keep: false };
        let mut hierarchy = hierarchy_of::<T, B>(backend, a, product, params, extras)?;
        Self::from_hierarchy(backend, &mut hierarchy, params)
    }

    /// The products `A P` of the hierarchy serve as storage.
    fn from_hierarchy(
        backend: &B,
        hierarchy: &mut Hierarchy<<B as Algebra<T>>::Csr, <B as Backend<T>>::Vector>,
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
            if params.cycle == Cycle::K && l > 0 && !is_last(l) {
                inner.push(Inner::new(backend, n)?);
            }
        }
        for level in levels.iter_mut() {
            let (grid, info, of_grid) = Self::grid(backend, level, params, &mut phases)?;
            infos.push(info);
            passes.push(of_grid);
            grids.push(grid);
        }
        let n = coarsest_size.n_rows as u64;
        let stored = |size| Stored { size, of_value: size_of::<S>() };
        let (last, last_info, last_bytes) = if coarsest_size.n_rows <= params.coarse_rows.max(SMALL) {
            let inverse = phases.time::<T, B, _>(backend, "coarsest level", || {
                let usual = levels.last().map_or(Ok(0.0), |last| least_diagonal::<T, B>(backend, &last.a))?;
                let negligible = |largest| coarse::negligible::<T>(largest, usual);
                if block == 1
                    && let Some(inverse) = Algebra::<T>::inverse(backend, coarsest.first(), &negligible)?
                {
                    return Ok(Mixed::<T, S>::operator(backend, &Blocks::scalar(inverse))?.0);
                }
                let planes = coarsest.map(|plane| Algebra::<T>::csr_to_host(backend, plane))?;
                let inverse = coarse::inverse(&written_out(&planes), usual);
                let inverse = Arc::new(AnyMatrix::Crs(Arc::new(inverse.cast::<S>())));
                Backend::<S>::matrix(backend, &inverse)
            })?;
            let padding = Padding { stored: n * n, nnz: n * n };
            let reason = "its dense inverse".to_string();
            let choice = Choice { format: Format::Crs, sigma: 1, padding, reason };
            let dense = Size { nnz: coarsest_size.n_rows.pow(2), ..coarsest_size };
            let info = level_info::<S>(coarsest_size, &choice, false, &[]);
            (Coarsest::Inverse(inverse), info, traffic::product(stored(dense), size_of::<S>(), 1))
        } else {
            let (d, radius) = diagonal::<T, B>(backend, coarsest, None, params.lanczos_steps)?;
            let smoother = Sweeps::setup::<T>(backend, coarsest, (&d, radius), params)?;
            let (matrix, choice) = Mixed::<T, S>::operator(backend, coarsest)?;
            let sweeps = smoother.weights(COARSE_STEPS).count() - 1;
            let bytes = traffic::sweeps(sweeps, stored(coarsest_size), size_of::<S>(), block);
            let info = level_info::<S>(coarsest_size, &choice, false, &[]);
            (Coarsest::Sweeps(matrix, smoother), info, bytes)
        };
        infos.push(last_info);
        let grids = Grids {
            grids,
            coarsest: last,
            vectors,
            inner,
            cycle: params.cycle,
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
        level: &mut Level<<B as Algebra<T>>::Csr, <B as Backend<T>>::Vector>,
        params: &Params,
        phases: &mut Phases,
    ) -> Result<(Grid<S, B>, LevelInfo, Passes)> {
        let Level { a, p, r, d, radius, products } = level;
        let smoother = phases
            .time::<T, B, _>(backend, "smoothers", || Sweeps::setup::<T>(backend, a, (d, *radius), params))?;
        let swept = products.as_mut().map(|products| &mut products.ap);
        let swept = swept.filter(|ap| sweeps_while_interpolating::<T, B>(backend, params, a, p, ap));
        let sizes = [&*a, swept.as_deref().unwrap_or(p), r].map(|m| size::<T, B>(backend, m));
        phases.time::<T, B, _>(backend, "formats", || {
            let operator = |m| Mixed::<T, S>::operator(backend, m);
            let rounded = |m, pivot| match params.packed {
                true => Mixed::<T, S>::smoothing_operator(backend, m, pivot),
                false => operator(m).map(|(m, choice)| (m, choice, false)),
            };
            let (matrix, choice, packed) = rounded(a, Pivot::Diagonal)?;
            let is_swept = swept.is_some();
            let (correction, of_correction, correction_packed) = match swept {
                Some(q) => {
                    let (weight, of_sweep) = smoother.last();
                    let mut d = Backend::<T>::zeros(backend, sizes[0].n_rows)?;
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

    /// What was set up.
    pub fn info(&self) -> &Info {
        &self.info
    }
}

impl<T: Real, S: Real, B: Mixed<T, S> + Mixed<S, T>> Preconditioner<T, B> for Amg<T, S, B> {
    fn apply(
        &mut self,
        backend: &B,
        r: &<B as Backend<T>>::Vector,
        z: &mut <B as Backend<T>>::Vector,
    ) -> Result<()> {
        match self.grids.first_sweep_and_vectors() {
            (Some((weight, d)), v) => {
                Mixed::<T, S>::cast_scaled(backend, r, weight, d, &mut v.b, &mut v.x)?;
            }
            (None, v) => Mixed::<T, S>::cast(backend, r, &mut v.b)?,
        }
        self.grids.cycle(backend)?;
        Mixed::<S, T>::cast(backend, &self.grids.vectors[0].x, z)
    }

    fn is_fixed(&self) -> bool {
        // Of two levels a K-cycle is a V-cycle.
        self.grids.inner.is_empty()
    }

    fn cg_step(
        &mut self,
        backend: &B,
        mut step: CgStep<T, B>,
        z: &mut <B as Backend<T>>::Vector,
    ) -> Result<()> {
        if !self.is_fixed() {
            return cg_step_by_primitives(self, backend, step, z);
        }
        // r enters the hierarchy as it is computed, and p and (r, z) take z from there: no pass for a change of the type.
        let (scale, v) = self.grids.first_sweep_and_vectors();
        Mixed::<T, S>::cg_step_and_cast(backend, &mut step, scale, &mut v.b, &mut v.x)?;
        self.grids.cycle(backend)?;
        let z = &self.grids.vectors[0].x;
        Mixed::<S, T>::cast_dot(backend, step.r, z, step.s, step.out)?;
        Mixed::<S, T>::cast_direction(backend, step.s, z, Coef::ratio(step.out, step.rho), step.p)
    }
}

/// Backends on which the hierarchy's number type can be chosen.
pub trait AnyPrecision<T: Real>: Mixed<T, T> {
    /// [`Amg::of`] with the hierarchy applied in T, or in f32.
    #[allow(clippy::type_complexity)]
    fn amg_of(
        &self,
        a: Blocks<Self::Csr>,
        product: Option<&Self::Matrix>,
        params: &Params,
        in_f32: bool,
    ) -> Result<(Box<dyn Preconditioner<T, Self>>, Info)>;

    /// [`AnyPrecision::amg_of`] of a matrix that is in no other format.
    #[allow(clippy::type_complexity)]
    fn amg(
        &self,
        a: Blocks<Self::Csr>,
        params: &Params,
        in_f32: bool,
    ) -> Result<(Box<dyn Preconditioner<T, Self>>, Info)> {
        self.amg_of(a, None, params, in_f32)
    }
}

impl<T: Real, B> AnyPrecision<T> for B
where
    B: Mixed<T, T> + Mixed<T, f32> + Mixed<f32, T> + 'static,
{
    fn amg_of(
        &self,
        a: Blocks<Self::Csr>,
        product: Option<&Self::Matrix>,
        params: &Params,
        in_f32: bool,
    ) -> Result<(Box<dyn Preconditioner<T, Self>>, Info)> {
        if in_f32 {
            let amg = Amg::<T, f32, B>::of(self, a, product, params)?;
            let info = amg.info().clone();
            Ok((Box::new(amg), info))
        } else {
            let amg = Amg::<T, T, B>::of(self, a, product, params)?;
            let info = amg.info().clone();
            Ok((Box::new(amg), info))
        }
    }
}

/// The hierarchy, computed where `params` says, where `backend` computes.
fn hierarchy_of<T: Real, B: Algebra<T>>(
    backend: &B,
    a: Blocks<B::Csr>,
    product: Option<&B::Matrix>,
    params: &Params,
    extras: Extras<T>,
) -> Result<Hierarchy<B::Csr, B::Vector>> {
    match params.setup {
        Place::Device => hierarchy::build(backend, a, product, params, extras),
        Place::Host => {
            let a = a.map(|plane| backend.csr_to_host(plane))?;
            let host = Cpu::new(rayon::current_num_threads())?;
            moved(backend, host.install(|| hierarchy::build::<T, Cpu>(&host, a, None, params, extras))?)
        }
    }
}

/// A hierarchy computed on the host, where `backend` computes.
fn moved<T: Real, B: Algebra<T>>(
    backend: &B,
    hierarchy: Hierarchy<Arc<Csr<T>>, Vec<T>>,
) -> Result<Hierarchy<B::Csr, B::Vector>> {
    let Hierarchy { levels, coarsest, mut phases } = hierarchy;
    let (levels, coarsest) = phases.time(backend, "upload", || {
        let levels = levels
            .iter()
            .map(|Level { a, p, r, d, radius, products: products_of }| {
                let plane = |m: &Arc<Csr<T>>| backend.csr(m);
                let moved = |m: &Blocks<Arc<Csr<T>>>| m.map(plane);
                let smoothed = |(s, tentative): &(Arc<_>, Arc<_>)| Ok((plane(s)?, plane(tentative)?));
                let products = |Products { ap, smoothed: s }: &Products<_>| {
                    Ok(Products { ap: moved(ap)?, smoothed: s.as_ref().map(smoothed).transpose()? })
                };
                let (a, p, r) = (moved(a)?, moved(p)?, moved(r)?);
                Ok(Level {
                    a,
                    p,
                    r,
                    d: backend.vector(d)?,
                    radius: *radius,
                    products: products_of.as_ref().map(products).transpose()?,
                })
            })
            .collect::<Result<_>>()?;
        Ok((levels, coarsest.map(|plane| backend.csr(plane))?))
    })?;
    Ok(Hierarchy { levels, coarsest, phases })
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

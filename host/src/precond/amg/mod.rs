//! Algebraic multigrid: `z = M r` is one cycle over a hierarchy of ever smaller problems that the matrix alone gives.
//!
//! | file | what |
//! |---|---|
//! | `params` | what can be chosen |
//! | `hierarchy` | coarsening, interpolation, Galerkin products, over [`Algebra`] |
//! | `assembly` | from a hierarchy to what is cycled over |
//! | `coarse` | the last level's inverse |
//! | `smoother` | Jacobi, l1-Jacobi, Chebyshev, SPAI-0 as weighted sweeps |
//! | `prediction` | how large a hierarchy will be |
//! | `spectrum` | the diagonal and the spectral radius that interpolation and smoothers are scaled by |
//! | `cycle` | V, W, F, K |
//! | `update` | new numbers in a hierarchy |
//! | `traffic` | the bytes that a cycle moves |

use std::sync::Arc;

use cuda_std::Real;

use super::{Preconditioner, cg_step_by_primitives};
use crate::backend::algebra::{Algebra, Blocks, Mixed};
use crate::backend::cpu::Cpu;
use crate::backend::{self, Coef, Memory};
use crate::error::{Error, Result};
use crate::matrix::{BlockCsr, Choice, Csr, check};
use crate::solver::cg::{CgStep, CgSteps};

mod assembly;
pub(super) mod coarse;
mod cycle;
pub mod hierarchy;
mod params;
pub mod prediction;
mod smoother;
pub mod spectrum;
#[cfg(test)]
mod tests;
mod traffic;
mod update;

use cycle::Grids;
pub use hierarchy::Phases;
use hierarchy::{Extras, Hierarchy, Level, Products};
pub use params::{Coarsening, Cycle, Params, Place, Smoother, Splitting};

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
        product: Option<&<B as backend::Products<T>>::Matrix>,
        params: &Params,
    ) -> Result<Self> {
        let extras = Extras { near_null: None, keep: false };
        let mut hierarchy = hierarchy_of::<T, B>(backend, a, product, params, extras)?;
        Self::from_hierarchy(backend, &mut hierarchy, params)
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
        r: &<B as Memory<T>>::Vector,
        z: &mut <B as Memory<T>>::Vector,
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

    fn update_values(&mut self, backend: &B, a: &Csr<T>) -> Result<bool> {
        if self.reusable.is_none() {
            return Ok(false);
        }
        Amg::update_values(self, backend, a).map(|()| true)
    }

    fn is_fixed(&self) -> bool {
        // Of two levels a K-cycle is a V-cycle.
        self.grids.inner.is_empty()
    }

    fn cg_step(&mut self, backend: &B, mut step: CgStep<T, B>, z: &mut <B as Memory<T>>::Vector) -> Result<()>
    where
        B: CgSteps<T>,
    {
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

    /// [`Amg::setup_reusable`] with the hierarchy applied in T, or in f32.
    #[allow(clippy::type_complexity)]
    fn amg_reusable(
        &self,
        a: &Arc<Csr<T>>,
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

    fn amg_reusable(
        &self,
        a: &Arc<Csr<T>>,
        params: &Params,
        in_f32: bool,
    ) -> Result<(Box<dyn Preconditioner<T, Self>>, Info)> {
        if in_f32 {
            let amg = Amg::<T, f32, B>::setup_reusable(self, a, params)?;
            let info = amg.info().clone();
            Ok((Box::new(amg), info))
        } else {
            let amg = Amg::<T, T, B>::setup_reusable(self, a, params)?;
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
            let host = Cpu::shared();
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
            .map(|Level { a, p, r, d, spectrum, products: products_of }| {
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
                    spectrum: *spectrum,
                    products: products_of.as_ref().map(products).transpose()?,
                })
            })
            .collect::<Result<_>>()?;
        Ok((levels, coarsest.map(|plane| backend.csr(plane))?))
    })?;
    Ok(Hierarchy { levels, coarsest, phases })
}

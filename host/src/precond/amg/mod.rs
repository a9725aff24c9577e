//! Algebraic multigrid: `z = M r` is one cycle over a hierarchy of ever smaller problems, which are
//! computed from the matrix alone.
//!
//! | file | what |
//! |---|---|
//! | `params` | what can be chosen, each key declared once |
//! | `coarsening` | smoothed aggregation, PMIS, Mandel and Brezina's: interpolations, over `setup::Algebra` |
//! | `smoother` | Chebyshev, Jacobi, l1-Jacobi, SPAI-0, and what a smoother is |
//! | `spectrum` | the diagonal and the spectral radius that interpolation and smoothers are scaled by |
//! | `near_null` | vectors that are to be interpolated well, rigid motions |
//! | `hierarchy` | all matrices, in the precision of the solver |
//! | `level`, `coarsest` | a level ready to be cycled over: matrix, transfers, smoother, vectors |
//! | `cycle`, `application` | V, W, F, K, and one as a preconditioner |
//! | `columns` | the same for several right-hand sides |
//! | `ranks` | the same on several ranks |
//! | `assembled` | for what is assembled where it is solved with, on one rank or on several |
//! | `info` | what was set up, for reports |
//! | `update` | new numbers in a hierarchy |
//! | `prediction` | how large a hierarchy will be |
//! | `traffic` | the bytes that a cycle moves |

use std::sync::Arc;

use cuda_std::Real;

use super::preconditioner::{self, ForColumns};
use super::{Preconditioner, cg_step_by_primitives};
use crate::backend::{Columns, Memory, OneColumn, Products};
use crate::error::{Error, Result};
use crate::matrix::{Csr, block, check};
pub use crate::setup::{Blocks, DeviceCsr};
use crate::setup::{Matrices, Size};
use crate::solver::cg::{CgStep, CgSteps};

mod application;
mod assembled;
mod cast;
mod coarsening;
mod coarsest;
mod columns;
mod cycle;
mod description;
mod facade;
mod flexible;
#[cfg(feature = "internals")]
pub mod hierarchy;
#[cfg(not(feature = "internals"))]
mod hierarchy;
mod info;
mod level;
mod near_null;
mod params;
mod phases;
mod precisions;
pub mod prediction;
mod ranks;
pub mod smoother;
#[cfg(feature = "internals")]
pub mod spectrum;
#[cfg(not(feature = "internals"))]
mod spectrum;
#[cfg(test)]
mod tests;
mod traffic;
mod update;

use application::{apply, cg_step, is_fixed};
pub use assembled::Assembles;
pub use cast::Cast;
pub use coarsening::SetupOptions;
use coarsest::{Coarsest, least_diagonal};
use columns::InColumns;
use cycle::Multigrid;
pub(super) use description::{DESCRIPTION, make};
#[cfg(not(feature = "internals"))]
pub(crate) use facade::AnyPrecision;
#[cfg(feature = "internals")]
pub use facade::AnyPrecision;
pub use facade::Hierarchies;
use hierarchy::{Hierarchy, build_where_asked};
pub use info::{Info, LevelInfo};
use level::Level;
pub use near_null::NearNull;
pub use params::{Coarsening, Cycle, Params, SetupOn, SmootherKind, Splitting};
pub use phases::Phases;
use precisions::Precisions;
pub(crate) use ranks::{AmgOnRanks, Known, OnAll, OwnRows, amg_from_rows, are_set_up_together};
pub use traffic::Stored;
use traffic::Traffic;
use update::{Reusable, check_pattern, update};

/// The preconditioner: a hierarchy computed in T and applied in S.
pub struct Amg<T: Real, S: Real, B: Precisions<T, S>> {
    multigrid: Multigrid<S, B>,
    info: Info,
    reusable: Option<Reusable<T, B>>,
}

/// What is above some levels of a hierarchy.
struct Above {
    /// How many levels.
    count: usize,
    /// The size of the finest one's pattern.
    finest: Size,
    /// The [least magnitude](least_diagonal) on the diagonal of the last one, 0 without one.
    usual: f64,
}

impl<T: Real, S: Real, B: Precisions<T, S>> Amg<T, S, B> {
    /// Builds the hierarchy of the square matrix `a`.
    ///
    /// [`crate::Error::Diagonal`] where a diagonal entry is missing or 0, [`crate::Error::Option`] for a
    /// parameter out of its range.
    pub fn setup(backend: &B, a: &Arc<Csr<T>>, params: &Params) -> Result<Self> {
        params.check()?;
        check::check_square(a)?;
        check::check_diagonal(a, "amg")?;
        Self::of(backend, Blocks::scalar(Matrices::<T>::csr(backend, a)?), None, params, None)
    }

    /// Builds the hierarchy of a square matrix with `block_size` unknowns a node. Nodes are coarsened by the
    /// blocks' norms and smoothed with the inverted diagonal blocks.
    ///
    /// [`crate::Error::Block`] where a diagonal block is missing or singular; [`crate::Error::Option`] as
    /// [`Amg::setup`], and for a smoother that does not take blocks.
    pub fn setup_blocks(backend: &B, a: &Arc<Csr<T>>, block_size: usize, params: &Params) -> Result<Self> {
        params.check()?;
        block::check_block(a, block_size)?;
        check::check_square(a)?;
        check::check_divisible(a, block_size, "amg")?;
        Self::of(backend, backend.in_planes(a, block_size)?, None, params, None)
    }

    /// [`Amg::setup`] with smoothed aggregation that interpolates given vectors well, instead of a constant.
    /// Nodes are aggregated by the norms of the blocks between them. An aggregate has a coarse unknown for
    /// each vector that does not depend on those before it there, and is a node of the coarser level. With
    /// vectors other than one constant, no entry is filtered out of A.
    ///
    /// # Errors
    /// As [`Amg::setup`]; [`Error::Option`] for another coarsening, [`Error::Dimension`] for vectors of
    /// another length.
    pub fn setup_with_near_null(
        backend: &B,
        a: &Arc<Csr<T>>,
        params: &Params,
        near_null: &NearNull,
    ) -> Result<Self> {
        params.check()?;
        check::check_square(a)?;
        check::check_diagonal(a, "amg")?;
        Self::of(backend, Blocks::scalar(Matrices::<T>::csr(backend, a)?), None, params, Some(near_null))
    }

    /// Builds the hierarchy of a matrix in the backend's memory. It is square, and its diagonal has no zeros,
    /// or no singular blocks. `product` is the same matrix ready to be multiplied, if there is one.
    fn of(
        backend: &B,
        a: Blocks<<B as Matrices<T>>::Csr>,
        product: Option<&<B as Products<T>>::Matrix>,
        params: &Params,
        near_null: Option<&NearNull>,
    ) -> Result<Self> {
        Self::with_matrices(backend, a, product, params, near_null, false).map(|(amg, _)| amg)
    }

    /// The same, with the matrices that it was made of if it `keeps` them.
    #[allow(clippy::type_complexity)]
    fn with_matrices(
        backend: &B,
        a: Blocks<<B as Matrices<T>>::Csr>,
        product: Option<&<B as Products<T>>::Matrix>,
        params: &Params,
        near_null: Option<&NearNull>,
        keeps: bool,
    ) -> Result<(Self, Hierarchy<<B as Matrices<T>>::Csr, <B as Memory<T>>::Vector>)> {
        let mut params = params.clone();
        if let Some(near_null) = near_null {
            near_null.check(&params, a.block(), Matrices::<T>::size(backend, a.first()).n_rows)?;
            // What compression keeps are row sums, not the products of A with other vectors.
            params.compressed &= near_null.is_constant();
        }
        let options = SetupOptions { near_null, keep: false };
        let mut hierarchy = build_where_asked::<T, B>(backend, a, product, &params, options)?;
        Ok((Self::from_hierarchy(backend, &mut hierarchy, keeps, &params)?, hierarchy))
    }

    /// [`Amg::setup`], and keeps what [`Amg::update_values`] needs: the hierarchy in T with the intermediate
    /// products, about twice the memory.
    pub fn setup_reusable(backend: &B, a: &Arc<Csr<T>>, params: &Params) -> Result<Self> {
        params.check()?;
        check::check_square(a)?;
        check::check_diagonal(a, "amg")?;
        Self::reusable_of(backend, a, Matrices::<T>::csr(backend, a)?, params)
    }

    /// The same of a matrix that is in the backend's memory too, square and without zeros on its diagonal.
    fn reusable_of(
        backend: &B,
        a: &Arc<Csr<T>>,
        there: <B as Matrices<T>>::Csr,
        params: &Params,
    ) -> Result<Self> {
        let options = SetupOptions { near_null: None, keep: true };
        let there = Blocks::scalar(there);
        let mut hierarchy = build_where_asked::<T, B>(backend, there, None, params, options)?;
        let mut amg = Self::from_hierarchy(backend, &mut hierarchy, true, params)?;
        amg.reusable = Some(Reusable { pattern: a.clone(), hierarchy, params: params.clone() });
        Ok(amg)
    }

    /// The levels of these matrices, whose products `A P` serve as storage. None are left unless it `keeps`
    /// them.
    fn from_hierarchy(
        backend: &B,
        hierarchy: &mut Hierarchy<<B as Matrices<T>>::Csr, <B as Memory<T>>::Vector>,
        keeps: bool,
        params: &Params,
    ) -> Result<Self> {
        let finest = hierarchy.levels.first().map_or(&hierarchy.coarsest, |level| &level.a);
        let finest = Matrices::<T>::size(backend, finest.first());
        Self::below(backend, hierarchy, keeps, params, Above { count: 0, finest, usual: 0.0 })
    }

    /// The same of the levels below others.
    fn below(
        backend: &B,
        hierarchy: &mut Hierarchy<<B as Matrices<T>>::Csr, <B as Memory<T>>::Vector>,
        keeps: bool,
        params: &Params,
        Above { count, finest, mut usual }: Above,
    ) -> Result<Self> {
        let Hierarchy { levels: matrices, coarsest, phases } = hierarchy;
        let mut phases = phases.clone();
        if let Some(above) = matrices.last() {
            usual = least_diagonal::<T, B>(backend, &above.a)?;
        }
        let mut levels = Vec::new();
        for (l, matrices) in matrices.iter_mut().enumerate() {
            levels.push(Level::new::<T>(backend, count + l, matrices, keeps, finest, params, &mut phases)?);
        }
        let last = Coarsest::new::<T>(backend, usual, coarsest, finest, params, &mut phases)?;

        let infos: Vec<LevelInfo> = levels.iter().map(Level::info).chain(last.info()).collect();
        let traffic = Traffic {
            value: size_of::<S>(),
            levels: levels.iter().map(Level::passes).collect(),
            coarsest: last.traffic(),
        };
        // Between T and S before and after the cycle.
        let casts = 2 * infos[0].rows * (size_of::<T>() + size_of::<S>());
        let cycle_bytes = traffic.cycle(params) as u64 + casts as u64;
        let info = Info {
            params: params.clone(),
            levels: infos,
            phases,
            precision: S::NAME,
            cycle_bytes,
            on_ranks: 0,
            set_up_together: false,
        };
        let (cycle, pre, post) = (params.cycle(), params.pre, params.post);
        Ok(Amg { multigrid: Multigrid { levels, coarsest: last, cycle, pre, post }, info, reusable: None })
    }

    /// The preconditioner of `a`, which has the pattern of the matrix that was set up, with the aggregates or
    /// coarse unknowns of that: level matrices, smoothers and the coarsest inverse are computed anew. So is
    /// the interpolation of `sa`; with `pmis` and `mandel-brezina` it stays as it is.
    ///
    /// With `sa` the result is that of [`Amg::setup`], to the last bit, if that finds the same aggregates:
    /// the same entries must be strong, the same rows of slivers, and magnitudes must compare as before.
    /// Where connections are equally strong, rounding may decide otherwise in a new set-up.
    ///
    /// # Errors
    /// [`Error::Matrix`] for another pattern, and where the preconditioner was not made by
    /// [`Amg::setup_reusable`]; [`Error::Diagonal`] as there: then nothing has changed. After an error of the
    /// device it must not be used any more.
    pub fn update_values(&mut self, backend: &B, a: &Arc<Csr<T>>) -> Result<()> {
        check::check_diagonal(a, "amg")?;
        self.update_from(backend, a, None)
    }

    /// The same without a look at the diagonal, of a matrix that may be in the backend's memory too.
    fn update_from(&mut self, backend: &B, a: &Arc<Csr<T>>, there: Option<&B::Csr>) -> Result<()> {
        let Some(Reusable { pattern, .. }) = &self.reusable else {
            return Err(Error::Matrix(
                "this hierarchy keeps nothing to be updated; make it by setup_reusable".into(),
            ));
        };
        check_pattern(pattern, a)?;
        let a = match there {
            Some(a) => a.clone(),
            None => backend.csr(a)?,
        };
        let mut reusable = self.reusable.take().expect("looked at above");
        update(backend, &mut reusable, &a)?;
        *self = Self::from_hierarchy(backend, &mut reusable.hierarchy, true, &reusable.params)?;
        self.reusable = Some(reusable);
        Ok(())
    }

    /// What was set up.
    pub fn info(&self) -> &Info {
        &self.info
    }
}

impl<T: Real, S: Real, B: Precisions<T, S>> Preconditioner<T, B> for Amg<T, S, B> {
    fn apply(
        &mut self,
        backend: &B,
        r: &<B as Memory<T>>::Vector,
        z: &mut <B as Memory<T>>::Vector,
    ) -> Result<()> {
        apply::<T, S, B>(&mut self.multigrid, backend, r, z)
    }

    fn traffic(&self, vector: u64) -> preconditioner::Traffic {
        // CG takes r and z from where the change of the number type has them.
        let cycle = self.info.cycle_bytes;
        preconditioner::Traffic { apply: cycle, in_cg: cycle.saturating_sub(2 * vector) }
    }

    fn hierarchy(&self) -> Option<&Info> {
        Some(&self.info)
    }

    fn update_values(&mut self, backend: &B, a: &Arc<Csr<T>>, there: Option<&B::Csr>) -> Result<bool> {
        if self.reusable.is_none() {
            return Ok(false);
        }
        self.update_from(backend, a, there).map(|()| true)
    }

    fn is_fixed(&self) -> bool {
        is_fixed(&self.multigrid)
    }

    fn for_columns(&self, columns: &Columns<B>) -> Result<Option<ForColumns<T, B>>>
    where
        B: OneColumn,
    {
        let columns = InColumns::of(&self.multigrid, columns)?;
        Ok(columns.map(|columns| Box::new(columns) as ForColumns<T, B>))
    }

    fn cg_step(&mut self, backend: &B, step: CgStep<T, B>, z: &mut <B as Memory<T>>::Vector) -> Result<()>
    where
        B: CgSteps<T>,
    {
        match self.is_fixed() {
            true => cg_step::<T, S, B>(&mut self.multigrid, backend, step),
            false => cg_step_by_primitives(self, backend, step, z),
        }
    }
}

//! What can be chosen of a solve.

use std::sync::Arc;

use crate::matrix::Format;
use crate::named::named;
use crate::precond::schur::Split;
use crate::precond::{self, Precond, SingularBlocks, amg, ilu};
use crate::solver::{Method, Parameters, Stop};

named! {
    /// The number type of the solve; residuals are checked in f64 all the same.
    "precision" Precision {
        /// Single.
        F32 = "f32",
        /// Double.
        F64 = "f64",
    }
}

named! {
    /// In which numbering of the unknowns a system is solved; x is in the given one.
    "reordering" Reorder {
        /// The given one.
        None = "none",
        /// Reverse Cuthill-McKee's.
        Rcm = "rcm",
        /// Reverse Cuthill-McKee's for the diagonal and multigrid, of large matrices with connected graphs
        /// that are not long, where products then need clearly fewer cache lines of x. On GPUs of several
        /// ranks, and there in f32, blocks or a format that was asked for, the given one.
        Auto = "auto",
    }
}

named! {
    /// By what rows and columns are multiplied before a system is solved; x is that of the given one.
    "scaling" Scale {
        /// By 1.
        None = "none",
        /// By powers of two that bring the largest entry of each row and column near 1 (Ruiz 2001).
        Ruiz = "ruiz",
        /// By those of a matching with the largest product of entries (Duff and Koster 2001), which bring its
        /// entries near 1, and leave no other much larger.
        Matching = "matching",
    }
}

named! {
    /// In which order the rows of a system are solved.
    "permutation" Permute {
        /// The given one.
        None = "none",
        /// The one in which a matching with the largest product of entries is on the diagonal.
        Matching = "matching",
    }
}

/// How to solve.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The method. `None` chooses CG for symmetric matrices with a positive diagonal, else GMRES; with no
    /// preconditioner either, what suits the matrix is tried, one way after the other.
    pub method: Option<Method>,
    /// The preconditioner. `None`, with a method, chooses Jacobi where the diagonal allows it.
    pub precond: Option<Precond>,
    /// The format; `None` chooses.
    pub format: Option<Format>,
    /// Sorting window of SELL, with `format`; `None` for 1.
    pub sigma: Option<usize>,
    /// In which numbering of the unknowns to solve.
    pub reorder: Reorder,
    /// By what rows and columns are multiplied first.
    pub scaling: Scale,
    /// In which order rows come.
    pub permute: Permute,
    /// Unknowns a node, numbered node by node: with 2 or 3, matrix, Jacobi and multigrid are those of blocks.
    pub block_size: usize,
    /// What the Jacobi preconditioner of blocks makes of singular ones.
    pub singular_blocks: SingularBlocks,
    /// The number type.
    pub precision: Precision,
    /// When to stop.
    pub stop: Stop,
    /// Longest cycle of GMRES.
    pub restart: usize,
    /// Sweeps of [`Precond::JacobiSweeps`]; an odd number suits CG.
    pub sweeps: usize,
    /// Weight of the Jacobi method, and of its sweeps as a preconditioner.
    pub omega: f64,
    /// The hierarchy of [`Precond::Amg`].
    pub amg: amg::Params,
    /// The factors of [`Precond::Ilu`].
    pub ilu: ilu::Params,
    /// Which unknowns [`Precond::Schur`] takes for multipliers.
    pub split: Split,
    /// What [smoothed aggregation](amg::Coarsening::SmoothedAggregation) interpolates well, instead of the
    /// constant 1: the rigid motions of an elastic body.
    pub near_null: Option<Arc<amg::NearNull>>,
    /// The number type in which the hierarchy is applied; `None` for f32 where it can hold matrix and
    /// right-hand side.
    pub amg_precision: Option<Precision>,
    /// Whether a hierarchy keeps what it needs to take the values of another matrix of the same pattern,
    /// which is about twice the memory; see [`Solver::update_values`](super::Solver::update_values).
    pub reusable: bool,
}

impl Options {
    /// Whether method or preconditioner were named: then nothing else is tried.
    pub(super) fn name_a_way(&self) -> bool {
        self.method.is_some() || self.precond.is_some()
    }

    /// Whether multigrid was chosen, or may be.
    pub(super) fn may_coarsen(&self) -> bool {
        match self.precond {
            Some(precond) => precond.description().has_hierarchy,
            None => self.method.is_none(),
        }
    }

    /// What a method is made with. No cycle is longer than the iteration limit.
    pub fn method_parameters(&self) -> Parameters {
        let &Options { omega, block_size, singular_blocks, .. } = self;
        let restart = self.restart.min(self.stop.max_iterations.max(1) as usize);
        let (outlook, cancelled) = Default::default();
        Parameters { restart, omega, block_size, singular_blocks, outlook, is_bound: false, cancelled }
    }

    /// What a preconditioner is made with, a hierarchy in the precision of the solver.
    pub fn preconditioner_parameters(&self) -> precond::Parameters {
        let &Options { block_size, singular_blocks, sweeps, omega, reusable, .. } = self;
        let (amg, ilu, near_null) = (self.amg.clone(), self.ilu.clone(), self.near_null.clone());
        let split = self.split.clone();
        // What these are only a look at the matrix can tell.
        let (hierarchy_in_f32, is_divisible) = (false, false);
        let (outlook, cancelled) = Default::default();
        precond::Parameters {
            block_size,
            singular_blocks,
            sweeps,
            omega,
            amg,
            ilu,
            split,
            near_null,
            hierarchy_in_f32,
            reusable,
            is_divisible,
            outlook,
            cancelled,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            method: None,
            precond: None,
            format: None,
            sigma: None,
            reorder: Reorder::Auto,
            scaling: Scale::None,
            permute: Permute::None,
            block_size: 1,
            singular_blocks: SingularBlocks::Refuse,
            precision: Precision::F64,
            stop: Stop::default(),
            restart: 30,
            sweeps: 3,
            omega: 1.0,
            amg: amg::Params::default(),
            ilu: ilu::Params::default(),
            split: Split::default(),
            near_null: None,
            amg_precision: None,
            reusable: false,
        }
    }
}

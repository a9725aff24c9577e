//! What programs must know of a preconditioner that they offer by name.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cuda_std::Real;

use super::schur::Split;
use super::{amg, ilu};
use crate::error::Result;
use crate::matrix::Csr;
use crate::named::named;
use crate::setup::{Algebra, Blocks};
use crate::solver::direct::Outlook;

/// A preconditioner, before there is a matrix. Each is in the file of its preconditioner, and
/// [`Precond`](super::Precond) lists them.
pub struct Description {
    /// On command lines and in reports: "amg".
    pub name: &'static str,
    /// What the name stands for, in lists of choices; empty where everybody knows it.
    pub doc: &'static str,
    /// For people, before the word "preconditioner": "AMG".
    pub title: &'static str,
    /// Names of the options that are its parameters.
    pub parameters: &'static [&'static str],
    /// Whether the diagonal, or the blocks on it, must be invertible.
    pub divides_by_diagonal: bool,
    /// Whether it is made from the matrix in CRS where the backend computes.
    pub from_csr: bool,
    /// Whether it is built of smaller and smaller problems.
    pub has_hierarchy: bool,
    /// Whether it factorises on the host, which may take long and is told of.
    pub factorises: bool,
    /// Whether solvers fuse it, with blocks of this size on the diagonal: its
    /// [`shape`](super::Preconditioner::shape) is not general.
    pub is_fused: fn(block_size: usize) -> bool,
    /// Vectors of length n that it holds with such blocks; those of a hierarchy are counted with it.
    pub vectors: fn(block_size: usize) -> usize,
}

named! {
    /// What [`BlockJacobi`](super::BlockJacobi) makes of a diagonal block that is singular or badly scaled.
    "way with singular blocks" SingularBlocks {
        /// An error that names its node.
        Refuse = "refuse",
        /// Moore and Penrose's inverse.
        PseudoInverse = "pseudo-inverse",
    }
}

/// The parameters of all preconditioners.
#[derive(Debug, Clone)]
pub struct Parameters {
    /// Unknowns a node.
    pub block_size: usize,
    /// What Jacobi's preconditioner makes of singular blocks.
    pub singular_blocks: SingularBlocks,
    /// How many sweeps [`JacobiSweeps`](super::JacobiSweeps) makes.
    pub sweeps: usize,
    /// Their weight.
    pub omega: f64,
    /// Those of multigrid.
    pub amg: amg::Params,
    /// Those of incomplete factorisations.
    pub ilu: ilu::Params,
    /// Which unknowns of a saddle point are multipliers.
    pub split: Split,
    /// What smoothed aggregation interpolates well, instead of the constant 1.
    pub near_null: Option<Arc<amg::NearNull>>,
    /// Whether a hierarchy is applied in f32.
    pub hierarchy_in_f32: bool,
    /// Whether a hierarchy keeps what it needs to take other values.
    pub reusable: bool,
    /// Whether it is known that nothing on the diagonal is 0.
    pub is_divisible: bool,
    /// What is known of the factors of the matrix already.
    pub outlook: Outlook,
    /// Whether nobody waits any longer for them.
    pub cancelled: Arc<AtomicBool>,
}

/// What a preconditioner is made of.
pub(crate) struct Source<'a, T: Real, B: Algebra<T>> {
    /// Where.
    pub backend: &'a B,
    /// The matrix.
    pub a: &'a Arc<Csr<T>>,
    /// The matrix where the backend computes, for a preconditioner that is [made of
    /// it](Description::from_csr); for another the planes of its blocks, where they are there.
    pub csr: Option<Blocks<B::Csr>>,
    /// The matrix, ready to be multiplied.
    pub product: &'a Arc<B::Matrix>,
    /// What was asked for.
    pub parameters: &'a Parameters,
}

impl<T: Real, B: Algebra<T>> Source<'_, T, B> {
    /// The matrix in planes, where it is there and the diagonal, or every block on it, can be inverted. Where
    /// one cannot, the host says which.
    pub fn regular_planes(&self) -> Result<Option<&Blocks<B::Csr>>> {
        let Some(planes) = &self.csr else { return Ok(None) };
        let is_regular = match planes.block() {
            1 => self.parameters.is_divisible,
            _ => self.backend.singular_blocks(planes)? == 0,
        };
        Ok(is_regular.then_some(planes))
    }
}

impl Description {
    /// Whether the option of this name is a parameter of it.
    pub fn takes_parameter(&self, name: &str) -> bool {
        self.parameters.contains(&name)
    }
}

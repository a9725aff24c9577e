//! What coarsenings have in common.

use cuda_std::Real;

use crate::error::Result;
use crate::precond::amg::near_null::NearNull;
use crate::precond::amg::params::{Cycle, Params};
use crate::precond::amg::spectrum::Diagonal;
use crate::setup::{Algebra, Blocks};

/// The properties of a coarsening, apart from its interpolation.
pub(in crate::precond::amg) struct Properties {
    /// The threshold of a strong connection on the finest level, unless another is asked for.
    pub strength: f64,
    /// Whether the threshold decays from level to level.
    pub decays: bool,
    /// The cycle, unless another is asked for.
    pub cycle: Cycle,
    /// The cycles that find less than the whole correction.
    pub overcorrected: &'static [Cycle],
    /// Whether the unknowns of rows of slivers can be coarse unknowns by themselves.
    pub singletons: bool,
    /// What a prediction of its size is made from.
    pub reach: Reach,
}

/// How many coarse unknowns there are, and how far the entries of products reach, in edges of the graph of A.
pub(in crate::precond::amg) struct Reach {
    /// Unknowns for each coarse one, where an unknown has this many within one edge, itself among them.
    pub unknowns: fn(f64) -> f64,
    /// The reach of `A P`.
    pub product: usize,
    /// The reach of `P^T A P`.
    pub coarser: usize,
    /// The largest ratio of the entries of `A P` to those of A.
    pub most: fn(&Params) -> f64,
}

/// The level that an interpolation is made for.
pub(in crate::precond::amg) struct Finer<'a, T: Real, B: Algebra<T>> {
    pub backend: &'a B,
    /// Its matrix.
    pub a: &'a Blocks<B::Csr>,
    /// Its smoothing diagonal.
    pub diagonal: &'a Diagonal<B::Vector>,
    /// Its number, from 0, the finest.
    pub level: usize,
    pub params: &'a Params,
}

/// What smoothed aggregation alone is asked for.
#[derive(Default)]
pub struct SetupOptions<'a> {
    /// What is to be interpolated well, instead of the constant 1.
    pub near_null: Option<&'a NearNull>,
    /// Whether levels keep all of their intermediate products, so that the hierarchy can be updated.
    pub keep: bool,
}

/// `diag(1 / n_i, ..)` over the `n_i` coarse nodes that node i is strongly connected to (Rosenberger and
/// Haase 2017, section 10.1): the same average for every unknown of a node.
pub(super) fn averaging_of_blocks<T: Real, B: Algebra<T>>(
    backend: &B,
    block: usize,
    s: &B::Csr,
    coarse: &B::Indices,
) -> Result<Blocks<B::Csr>> {
    let p = backend.averaging(s, coarse)?;
    let plane = |kl: usize| if kl / block == kl % block { Ok(p.clone()) } else { backend.zeros_like(&p) };
    Ok(Blocks::from_planes((0..block * block).map(plane).collect::<Result<_>>()?))
}

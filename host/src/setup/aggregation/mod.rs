//! Aggregates of unknowns, and the interpolation that is constant on each.

use cuda_std::Real;

use super::matrix::Matrices;
use crate::error::Result;

mod device;
mod distributed;
mod host;
mod reference;
#[cfg(test)]
mod tests;

/// What [`Aggregation::aggregate`] has for a row that belongs to no aggregate.
pub const NO_AGGREGATE: u32 = u32::MAX;

/// Aggregates.
pub trait Aggregation<T: Real>: Matrices<T> {
    /// Aggregates around `roots` in the graph of `s`, numbered in the order of their roots; the second value
    /// is their number. Not a root: first every unknown with a root among its neighbours joins the one with
    /// the largest `|s_ij|` (the first of equals); then every other one joins the aggregate of its neighbour
    /// with the largest `|s_ij|` among those that belonged to one before this step. An unknown that is left
    /// is a root too if it has a neighbour; otherwise it belongs to [`NO_AGGREGATE`]. Unknowns for which
    /// `roots` has [`SINGLETON`](super::independent_set::SINGLETON) are roots that nobody joins.
    fn aggregate(&self, s: &Self::Csr, roots: &Self::Indices) -> Result<(Self::Indices, usize)>;

    /// The root of each unknown's aggregate as [`Aggregation::aggregate`] has it, or [`NO_AGGREGATE`]; and 1
    /// for roots, 0 for others.
    fn join(&self, s: &Self::Csr, roots: &Self::Indices) -> Result<(Self::Indices, Self::Indices)>;

    /// The piecewise constant interpolation P_0: 1 in row `i`, column `aggregates[i]`.
    fn tentative(&self, aggregates: &Self::Indices, n_aggregates: usize) -> Result<Self::Csr>;
}

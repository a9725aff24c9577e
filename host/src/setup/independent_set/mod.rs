//! Independent sets: coarse unknowns, and roots of aggregates.

use cuda_std::Real;

use super::matrix::Matrices;
use super::others::Others;
use crate::error::Result;

mod device;
mod distributed;
mod host;
mod reference;
#[cfg(test)]
mod tests;

/// What [`IndependentSets::independent_set`] has for rows of slivers: roots that nobody joins.
pub const SINGLETON: u32 = arithmetic::smoothing::SINGLETON;

/// Independent sets of graphs.
pub trait IndependentSets<T: Real>: Matrices<T> {
    /// An independent set of the graph of the off-diagonal entries of `s`, and of `st` where it is given: 1
    /// for its members, 0 for others. No two members are within `distance` (1 or 2) edges, and no unknown can
    /// be added, if the graph is symmetric.
    ///
    /// In rounds: an undecided unknown whose weight is the largest among the undecided ones within the
    /// distance joins the set, and all within the distance of it are out. But where `st`, the transpose of s,
    /// is given, only those that depend on it are out, its row of `st`, and with distance 2 all its
    /// neighbours and those of its dependents. The weight is [`arithmetic::noise::weight`] of the row number
    /// and, where `st` is given, of the number of its off-diagonal entries in that row (PMIS; De Sterck,
    /// Yang, Heys 2006); ties go to the larger row number. With distance 2 the set is the MIS-2 of Bell,
    /// Dalton and Olson (2012). Unknowns without an edge are members if `isolated`. Those for which `slivers`
    /// is not 0 are no candidates: the set has [`SINGLETON`] for them.
    fn independent_set(
        &self,
        s: &Self::Csr,
        st: Option<&Self::Csr>,
        distance: u32,
        isolated: bool,
        slivers: Option<&Self::Vector>,
    ) -> Result<Self::Indices>;
}

/// Independent sets that several ranks find together.
pub trait IndependentSetsOnRanks<T: Real>: IndependentSets<T> {
    /// [`IndependentSets::independent_set`] for the part of a graph that a rank has, or with `None` for all
    /// of one. It has the rows of its own unknowns, with distance 2 of their neighbours too, and decides
    /// about its own. What it finds about those of others is not to be looked at.
    fn independent_set_among(
        &self,
        s: &Self::Csr,
        st: Option<&Self::Csr>,
        distance: u32,
        isolated: bool,
        slivers: Option<&Self::Vector>,
        others: Option<&Others>,
    ) -> Result<Self::Indices>;
}

//! The steps of block CG: passes over blocks of vectors, and its small dense problem.

use arithmetic::block_cg::MOST;
use cuda_std::Real;

use crate::backend::memory::check_lengths;
use crate::backend::{Backend, Length, Slot, check_slots};
use crate::error::Result;

/// Scalars of a small matrix: of up to [`MOST`] columns, each of [`MOST`] elements.
pub(crate) const SMALL: usize = MOST * MOST;

/// Small matrices that block CG keeps among the scalars. Q are the residuals' directions, the residuals
/// themselves `Q C`, D the directions of search.
pub(crate) const D_AD: Slot = Slot(0);
/// `(q_i, M q_j)`.
pub(crate) const Q_MQ: Slot = Slot(SMALL);
/// `(q_i, q_j)`.
pub(crate) const Q_Q: Slot = Slot(2 * SMALL);
/// C.
pub(crate) const C: Slot = Slot(3 * SMALL);
/// What of D is added to x.
pub(crate) const OF_X: Slot = Slot(4 * SMALL);
/// What of A D is added to Q.
pub(crate) const OF_Q: Slot = Slot(5 * SMALL);
/// `R^-1`, which makes Q orthonormal.
pub(crate) const R_INVERSE: Slot = Slot(6 * SMALL);
/// `R^T`, the part of the last D in the next.
pub(crate) const R_TRANSPOSED: Slot = Slot(7 * SMALL);
/// Scalars needed.
pub(crate) const SLOTS: usize = 8 * SMALL;

/// What watches a block.
pub struct Watched<'a, M> {
    /// Each column.
    pub columns: &'a [M],
    /// The largest norm, each times its weight.
    pub whole: &'a M,
    /// The largest threshold over that of each column.
    pub weights: &'a [f64],
}

/// A backend with the steps of block CG, for blocks of up to [`MOST`] columns.
pub trait BlockCgSteps<T: Real>: Backend<T> {
    /// The upper triangle of `s[out] = X^T D Y`, `D = I` for `None`.
    fn block_products(
        &self,
        x: &[Self::Vector],
        d: Option<&Self::Vector>,
        y: &[Self::Vector],
        s: &Self::Scalars,
        out: Slot,
    ) -> Result<()>;
    /// `Y = D X A + Y B`, with the small matrices A and B in slots; without X where there is none, `D = I`
    /// and `B = I` for `None`.
    fn block_combination(
        &self,
        s: &Self::Scalars,
        d: Option<&Self::Vector>,
        x: Option<(&[Self::Vector], Slot)>,
        y: &mut [Self::Vector],
        b: Option<Slot>,
    ) -> Result<()>;
    /// `OF_X = (D^T A D)^-1 C` and `OF_Q = -(D^T A D)^-1`, of what `D_AD` holds. Where that has a negative
    /// eigenvalue, all that runs stops.
    fn block_cg_lengths(&self, s: &Self::Scalars, watched: &Watched<Self::Monitor>) -> Result<()>;
    /// Observes the norms of the residuals `Q C`, with the products of Q's columns in `q_q`; `R^T R = Q_MQ`,
    /// `C = R C`, and `R_INVERSE` and `R_TRANSPOSED` are written. Where `Q_MQ` has a negative eigenvalue, all
    /// that runs stops.
    fn block_cg_residuals(
        &self,
        s: &Self::Scalars,
        q_q: Slot,
        watched: &Watched<Self::Monitor>,
    ) -> Result<()>;
}

const WHAT: &str = "a block of vectors";

/// [`Error::Length`](crate::Error::Length) unless the scalars hold a small matrix in each of these slots.
pub(super) fn check_small(s: &impl Length, slots: &[Option<Slot>]) -> Result<()> {
    slots.iter().flatten().try_for_each(|&slot| check_slots(WHAT, s.length(), slot, SMALL))
}

/// [`Error::Length`](crate::Error::Length) unless all vectors are as long as the first, d too, and there are
/// not too many.
pub(super) fn check_blocks<V: Length>(d: Option<&V>, blocks: &[&[V]]) -> Result<()> {
    let n = blocks[0].first().map_or(0, Length::length);
    check_lengths(WHAT, n, &[("d", d.map_or(n, Length::length))])?;
    for block in blocks {
        check_lengths(WHAT, blocks[0].len(), &[("the number of columns", block.len())])?;
        check_lengths(WHAT, MOST, &[("the most columns", MOST.max(block.len()))])?;
        block.iter().try_for_each(|v| check_lengths(WHAT, n, &[("a column", v.length())]))?;
    }
    Ok(())
}

/// [`Error::Length`](crate::Error::Length) unless the scalars hold all slots, and each column is watched.
pub(super) fn check_watched<M>(s: &impl Length, watched: &Watched<M>) -> Result<()> {
    check_slots("block CG", s.length(), Slot(0), SLOTS)?;
    let count = watched.columns.len();
    check_lengths("block CG", MOST, &[("the most columns", MOST.max(count))])?;
    check_lengths("block CG", count, &[("the weights", watched.weights.len())])
}

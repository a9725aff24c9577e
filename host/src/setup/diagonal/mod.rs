//! What smoothers divide by, and numbers of rows.

use arithmetic::smoothing::Limits;
use cuda_std::Real;

use super::matrix::{Blocks, Matrices};
use crate::error::Result;

mod device;
mod distributed;
pub(in crate::setup) mod host;
mod reference;
#[cfg(test)]
mod tests;

/// A number for each row of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowWeight {
    /// `1 / a_ii`.
    InverseDiagonal,
    /// `s_i / sum_j |a_ij|`, s_i the sign of a_ii: l1-Jacobi (Baker, Falgout, Kolev, Yang 2011).
    InverseL1,
    /// `a_ii / sum_j a_ij^2`, the diagonal that minimises `||I - M A||_F` (Broeker and Grote 2002).
    Spai0,
    /// `sum_j |a_ij| / |a_ii|`: its maximum bounds the spectral radius of `D^-1 A` (Gershgorin).
    GershgorinRadius,
}

/// What [`Diagonals::smoothing_diagonal`] finds.
pub struct SmoothingDiagonal<V> {
    /// `D^-1`.
    pub inverse: V,
    /// Its elements in rows of slivers, 0 in others.
    pub slivers: V,
    /// How many rows of slivers there are.
    pub n_slivers: usize,
}

/// Diagonals, and numbers of rows.
pub trait Diagonals<T: Real>: Matrices<T> {
    /// A number for each row of the square matrix `a`.
    fn row_weights(&self, a: &Self::Csr, weight: RowWeight) -> Result<Self::Vector>;

    /// The inverses of the diagonal blocks, b^2 values a block row, as
    /// [`arithmetic::blocks::inverse_or_diagonal`] has them; of an ordinary matrix `1 / a_ii`.
    fn invert_diagonal(&self, a: &Blocks<Self::Csr>) -> Result<Self::Vector>;

    /// The inverse of the diagonal that smoothers divide by, from `d_i = 1 / a_ii` and the
    /// [radii](RowWeight::GershgorinRadius) `g`: `d_i`, or `d_i bound / g_i` where `g_i` is above the bound;
    /// but `d_i / g_i` in a row of a sliver. A row is one, if `limits.large` is finite, where
    ///
    /// - an entry `a_ij` with `|a_ij d_i| >= 1/4`, which may be the diagonal one, couples it to a row whose
    ///   `g_j` is above `limits.large`,
    /// - and its element by the first rule is less than a third of the largest `|d_j|` of its entries.
    fn smoothing_diagonal(
        &self,
        a: &Self::Csr,
        g: &Self::Vector,
        d: &Self::Vector,
        limits: Limits<T>,
    ) -> Result<SmoothingDiagonal<Self::Vector>>;

    /// Numbers that look random for the `n` unknowns of the rows of `a`, with the D that `d` stands for:
    /// [`scaled_noise(i, d_ii)`](arithmetic::noise::scaled_noise).
    fn noise(&self, a: &Self::Csr, d: &Self::Vector, n: usize) -> Result<Self::Vector>;
}

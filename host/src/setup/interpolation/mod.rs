//! Interpolation from the unknowns of a coarser level.

use cuda_std::Real;

use super::aggregation::Aggregation;
use super::product::SparseProducts;
use crate::error::Result;

mod device;
mod distributed;
mod extended_i;
mod host;
mod reference;
#[cfg(test)]
mod tests;

/// How an interpolation is thinned out: a row keeps its largest entries and is rescaled to its old sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truncation {
    /// Most entries of a row.
    pub max_entries: usize,
    /// Entries below this share of the row's largest are dropped.
    pub factor: f64,
}

/// Interpolations. P_0 is the piecewise constant one, [`Aggregation::tentative`].
pub trait Interpolation<T: Real>: Aggregation<T> + SparseProducts<T> {
    /// `S = I - C S` with `c_i = omega / s_ii`, or `slivers_i` where that is not 0. Rows without a diagonal
    /// entry stay as they are.
    fn damp(&self, s: &mut Self::Csr, omega: T, slivers: Option<&Self::Vector>) -> Result<()>;

    /// `S P_0`: the result of [`SparseProducts::product`].
    fn multiply_tentative(
        &self,
        s: &Self::Csr,
        aggregates: &Self::Indices,
        n_aggregates: usize,
    ) -> Result<Self::Csr> {
        self.product(s, &self.tentative(aggregates, n_aggregates)?)
    }

    /// `(I - C S) P_0`, the interpolation of smoothed aggregation: [`Interpolation::damp`], then
    /// [`Interpolation::multiply_tentative`].
    fn smooth_tentative(
        &self,
        mut s: Self::Csr,
        (omega, slivers): (T, Option<&Self::Vector>),
        aggregates: &Self::Indices,
        n_aggregates: usize,
    ) -> Result<Self::Csr> {
        self.damp(&mut s, omega, slivers)?;
        self.multiply_tentative(&s, aggregates, n_aggregates)
    }

    /// `c_ij = c_ij - s_i p_ij` with `s_i = 1 / (omega d_i)`, or 0 where `d_i` is 0, for the entries of P,
    /// all of which C has too.
    fn subtract_scaled(&self, c: &mut Self::Csr, p: &Self::Csr, omega: T, d: &Self::Vector) -> Result<()>;

    /// The interpolation of Mandel and Brezina: a coarse unknown is taken over, any other is the average of
    /// the coarse ones in its row of `s`; `coarse` has 1 for coarse unknowns.
    fn averaging(&self, s: &Self::Csr, coarse: &Self::Indices) -> Result<Self::Csr>;

    /// Extended+i interpolation (De Sterck, Falgout, Nolting, Yang 2008, equation 4.10), truncated. `s` has
    /// the strong entries of `a` ([`Strength::Classical`](super::strength::Strength::Classical)) and its
    /// diagonal, `coarse` has 1 for coarse unknowns, which are taken over.
    ///
    /// Row `i` of a fine unknown has the coarse unknowns C^ that are strong neighbours of i or of one of F,
    /// its strong fine neighbours. With `abar_kl = a_kl` where that has not the sign of `a_kk`, else 0:
    ///
    /// ```text
    /// d_k   = sum_{l in C^} abar_kl + abar_ki                                                       for k in F
    /// w_ij  = -(a_ij + sum_{k in F} (a_ik / d_k) abar_kj) / a~_ii                                   for j in C^
    /// a~_ii = sum_n a_in + sum_{k in F} (a_ik / d_k) abar_ki      n: i itself, and weak entries that are not in C^
    /// ```
    ///
    /// Where `d_k` is 0, k adds nothing to w, and `a_ik` to `a~_ii`; where `a~_ii` comes out as 0, `a_ii`
    /// takes its place. Every sum is taken as it is written, each index ascending; the minus comes last.
    ///
    /// Then a row keeps its largest `|w|` (the first of equals): of those that are not below `factor` times
    /// the largest, at most `max_entries` (at least 1). They are multiplied by `old / kept`, the sums of the
    /// row's weights before and after, from left to right, unless `kept` is 0.
    fn extended_i(
        &self,
        a: &Self::Csr,
        s: &Self::Csr,
        coarse: &Self::Indices,
        truncation: Truncation,
    ) -> Result<Self::Csr>;
}

//! The interpolation of given vectors, which the matrix nearly maps to 0.

use cuda_std::Real;

use super::matrix::Matrices;
use super::transpose::Transposes;
use crate::error::Result;

mod device;
mod distributed;
mod host;
mod reference;
#[cfg(test)]
mod tests;

/// An interpolation that given vectors are in the range of.
pub struct Orthonormal<M, V, I> {
    /// The interpolation.
    pub p: M,
    /// The vectors on the coarser level: `p b_c = b` on all unknowns that belong to an aggregate.
    pub vectors: Vec<V>,
    /// The aggregate of each coarse unknown.
    pub aggregates: I,
}

/// The [`Orthonormal`] interpolation of a backend.
pub type OrthonormalOf<T, B> = Orthonormal<
    <B as Matrices<T>>::Csr,
    <B as crate::backend::Memory<T>>::Vector,
    <B as Matrices<T>>::Indices,
>;

/// Interpolation of given vectors, and what nodes of several unknowns need.
pub trait NearNullSpaces<T: Real>: Transposes<T> {
    /// `|a_ij|` in the pattern of A.
    fn magnitudes(&self, a: &Self::Csr) -> Result<Self::Csr>;

    /// The node of each unknown of A, where `unknowns` that follow one another are a node.
    fn nodes(&self, a: &Self::Csr, unknowns: usize) -> Result<Self::Indices> {
        let nodes: Vec<u32> = (0..self.size(a).n_rows).map(|i| (i / unknowns) as u32).collect();
        self.indices(&nodes)
    }

    /// `y_i = x[at_i]`: what node `at_i` has, which unknown i belongs to.
    fn gather(&self, x: &Self::Indices, at: &Self::Indices) -> Result<Self::Indices>;

    /// The interpolation of given vectors (Vanek, Mandel, Brezina 1996, section 4): on each aggregate their
    /// QR decomposition, in f64. The coarse unknowns of an aggregate follow one another: one for each vector
    /// that does not depend there on those before it. An unknown that belongs to an aggregate has an entry in
    /// its column of `tentative`.
    ///
    /// Columns of P are orthogonal, each of root mean square 1 over its aggregate. So the constant 1 gives
    /// [`tentative`](super::Aggregation::tentative), to the last bit, and again the constant 1.
    fn orthonormal(&self, tentative: &Self::Csr, vectors: &[Self::Vector]) -> Result<OrthonormalOf<T, Self>>;
}

/// What is left of a dependent vector is rounding.
fn dependent<T: Real>() -> f64 {
    T::EPSILON.to_f64().sqrt()
}

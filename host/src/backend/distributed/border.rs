//! Entries in columns of other ranks, where a backend computes.

use cuda_std::Real;

use crate::backend::{Backend, Then};
use crate::error::Result;
use crate::matrix::Csr;

/// Entries in columns of other ranks, on the host, and the elements that others need.
#[derive(Debug, Clone)]
pub struct BorderRows<T> {
    /// Rows with such entries, ascending.
    pub rows: Vec<u32>,
    /// The entries of these rows; column k is the k-th element received.
    pub entries: Csr<T>,
    /// Places of the elements that others need, in the order in which they are sent.
    pub sent: Vec<u32>,
}

/// A backend on which a rank can compute.
pub trait Borders<T: Real>: Backend<T> {
    /// [`BorderRows`] where this backend computes, for a matrix of so many rows.
    type Border: Send + Sync;

    /// Takes the border of a matrix of `n` rows.
    fn border(&self, rows: BorderRows<T>, n: usize) -> Result<Self::Border>;
    /// The elements of x that others need; waits for them.
    fn sent(&self, border: &Self::Border, x: &Self::Vector, elements: &mut Vec<T>) -> Result<()>;
    /// [`multiply`](crate::backend::Products::multiply) with the border's entries beside A, `received` the
    /// elements that they are multiplied by. Dot products are those of the parts, and the norm is not
    /// observed.
    fn multiply_with_border(
        &self,
        a: &Self::Matrix,
        border: &Self::Border,
        received: &[T],
        x: &Self::Vector,
        then: Then<T, Self>,
    ) -> Result<()>;
}

//! Entries in columns of other ranks, where a backend computes.

use std::sync::Arc;

use cuda_std::Real;

use super::peers::{OverRanks, Peers};
use crate::backend::{Backend, Then};
use crate::comm::Links;
use crate::error::Result;
use crate::launch::Launch;
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
pub trait Borders<T: Real>: Backend<T> + Clone {
    /// [`BorderRows`] where this backend computes, for a matrix of so many rows.
    type Border: Send + Sync;

    /// The device, where other ranks' devices may write its memory.
    fn shared_device(&self) -> Option<&Arc<dyn Launch>>;
    /// Takes the border of a matrix of `n` rows. With `peers` all ranks do so together, and their elements
    /// are exchanged where they compute.
    fn border(
        &self,
        rows: BorderRows<T>,
        n: usize,
        links: &Links,
        peers: Option<&Arc<Peers>>,
    ) -> Result<Self::Border>;
    /// Queues that the elements of x that others need go there; false where they go through the host.
    fn put(&self, border: &Self::Border, x: &Self::Vector) -> Result<bool>;
    /// The elements of x that others need; waits for them.
    fn sent(&self, border: &Self::Border, x: &Self::Vector, elements: &mut Vec<T>) -> Result<()>;
    /// [`multiply`](crate::backend::Products::multiply) with the border's entries beside A, `received` the
    /// elements that they are multiplied by; `None` where these were [put](Borders::put). Dot products are
    /// those of the parts, and the norm is not observed.
    fn multiply_with_border(
        &self,
        a: &Self::Matrix,
        border: &Self::Border,
        received: Option<&[T]>,
        x: &Self::Vector,
        then: Then<T, Self>,
    ) -> Result<()>;
    /// Replaces scalars by what they are over ranks, without the host.
    fn reduce_over(&self, peers: &Peers, s: &Self::Scalars, over: OverRanks) -> Result<()>;
}

//! What a rank computes with elements of others.

use std::sync::Arc;

use cuda_std::Real;

use super::peers::{OverRanks, Peers};
use crate::backend::{Backend, Then};
use crate::comm::{Links, Runs};
use crate::error::Result;
use crate::launch::Launch;
use crate::matrix::Csr;

/// Entries in columns of other ranks, on the host.
#[derive(Debug, Clone)]
pub struct BorderRows<T> {
    /// Rows with such entries, ascending.
    pub rows: Vec<u32>,
    /// The entries of these rows; column k is the k-th element received.
    pub entries: Csr<T>,
}

/// A backend on which a rank can compute.
pub trait Borders<T: Real>: Backend<T> + Clone {
    /// The elements of vectors that go to other ranks, and the way to them.
    type Outgoing: Send + Sync;
    /// [`BorderRows`] where this backend computes, for a matrix of so many rows.
    type Border: Send + Sync;
    /// The elements of a vector, each of which is one of another vector, or one received, counted on behind
    /// those.
    type Sources: Send + Sync;

    /// The device, where other ranks' devices may write its memory.
    fn shared_device(&self) -> Option<&Arc<dyn Launch>>;
    /// Takes what is sent: the elements at the places of `links`. With `peers` all ranks do so together, and
    /// their elements are exchanged where they compute.
    fn outgoing(&self, links: &Links, peers: Option<&Arc<Peers>>) -> Result<Self::Outgoing>;
    /// Takes the border of a matrix of `n` rows.
    fn border(&self, rows: BorderRows<T>, n: usize) -> Result<Self::Border>;
    /// Takes sources, of which `n_own` are elements of the other vector.
    fn sources(&self, sources: &Runs, n_own: usize) -> Result<Self::Sources>;
    /// Queues that the elements of x that others need go there; false where they go through the host.
    fn put(&self, outgoing: &Self::Outgoing, x: &Self::Vector) -> Result<bool>;
    /// The elements of x that others need; waits for them.
    fn sent(&self, outgoing: &Self::Outgoing, x: &Self::Vector, elements: &mut Vec<T>) -> Result<()>;
    /// [`multiply`](crate::backend::Products::multiply) with the border's entries beside A, `received` the
    /// elements that they are multiplied by; `None` where these were [put](Borders::put). Dot products are
    /// those of the parts, and the norm is not observed.
    fn multiply_with_border(
        &self,
        a: &Self::Matrix,
        border: (&Self::Border, &Self::Outgoing),
        received: Option<&[T]>,
        x: &Self::Vector,
        then: Then<T, Self>,
    ) -> Result<()>;
    /// `y` becomes what the sources say, of x and of what was received, as above.
    fn arrange(
        &self,
        sources: (&Self::Sources, &Self::Outgoing),
        received: Option<&[T]>,
        x: &Self::Vector,
        y: &mut Self::Vector,
    ) -> Result<()>;
    /// Replaces scalars by what they are over ranks, without the host.
    fn reduce_over(&self, peers: &Peers, s: &Self::Scalars, over: OverRanks) -> Result<()>;
}

//! `z = M r` with the factors of M: two triangles, one after the other.

use cuda_std::Real;

use super::schedule::Triangle;
use crate::backend::Memory;
use crate::error::Result;

mod device;
mod host;

pub(super) use device::{DeviceTriangles, TriangleArrays};

/// The triangles of a factorisation, ready to be brought to where they are solved with.
#[derive(Debug, Clone)]
pub struct Triangles<T> {
    /// Solved first; its right-hand side is r.
    pub(super) lower: Triangle<T>,
    /// Its right-hand side is the solution of the first.
    pub(super) upper: Triangle<T>,
    /// Where in the solution of the second each element of z is.
    pub(super) places: Vec<u32>,
}

impl<T: Real> Triangles<T> {
    /// Unknowns.
    pub fn n(&self) -> usize {
        self.places.len()
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> u64 {
        self.lower.bytes() + self.upper.bytes() + 4 * self.n() as u64
    }
}

/// Solutions with triangular matrices where a backend computes.
pub trait TriangularSolves<T: Real>: Memory<T> {
    /// The triangles there, with room for what is between them.
    type Triangles: Send;

    /// Brings them there.
    ///
    /// # Errors
    /// Memory that runs out; [`Error::Reach`](crate::Error::Reach) where a triangle has more entries than 32
    /// bits count.
    fn triangles(&self, triangles: Triangles<T>) -> Result<Self::Triangles>;

    /// `z = M r`. Deterministic: a row's entries are added in an order of their own.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) where r or z have another length than M.
    fn solve_triangles(
        &self,
        triangles: &mut Self::Triangles,
        r: &Self::Vector,
        z: &mut Self::Vector,
    ) -> Result<()>;
}

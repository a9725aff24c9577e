//! Restricted additive Schwarz over ranks (Cai and Sarkis 1999): each rank solves with its own unknowns and
//! some of others around them, and keeps what it finds for its own.

use std::sync::Arc;

use cuda_std::Real;

use super::{Identity, Preconditioner, Traffic, ilu};
use crate::backend::distributed::{Borders, Distributed, DistributedMatrix};
use crate::backend::{Operator, Products, Then};
use crate::comm::{Border, Comm, Links, Numbering, Runs};
use crate::error::Result;
use crate::matrix::{AnyMatrix, Csr, Format};
use crate::setup::{DistributedCsr, Parts};

/// `M = sum over ranks k of P_k^T M_k R_k`. R_k takes the elements of rank k and of some layers around them,
/// `M_k` is a preconditioner of the block of A in these rows and columns, and `P_k^T` gives the rank's own
/// elements of the result back. It is not symmetric, as `P_k` is not `R_k`; without layers it is block
/// Jacobi.
pub(crate) struct RestrictedSchwarz<T: Real, B: Borders<T>> {
    m: Box<dyn Preconditioner<T, B>>,
    /// `R_k`, whose product exchanges the elements of others.
    extension: DistributedMatrix<T, B>,
    /// `P_k` of the block's elements.
    restriction: B::Matrix,
    r: B::Vector,
    z: B::Vector,
    /// Unknowns of the block.
    n: usize,
}

impl<T: Real, B: Parts<T> + Borders<T>> RestrictedSchwarz<T, B> {
    /// With the unknowns that are at most `layers` edges away in the graph of the rows of `a`, which are this
    /// rank's; `make` makes `M_k` of the block. All ranks call this.
    ///
    /// # Errors
    /// Those of `make`; [`Error::Rank`](crate::Error::Rank) where another rank has no memory.
    pub fn setup(
        backend: &Distributed<B>,
        a: &DistributedCsr<B::Csr>,
        layers: u32,
        make: impl FnOnce(&B::Csr) -> Result<Box<dyn Preconditioner<T, B>>>,
    ) -> Result<Self> {
        let (block, unknowns) = backend.enlarged(a, layers)?;
        let (inner, n) = (backend.inner(), unknowns.len());
        let own = unknowns.own();
        let restriction = Csr::from_rows(
            own.len(),
            n,
            |_| 1,
            |k, columns, values| {
                (columns[0], values[0]) = (own.get(k), T::ONE);
            },
        );
        let in_crs = |a: Csr<T>| inner.matrix(&Arc::new(AnyMatrix::from_csr(&Arc::new(a), Format::Crs, 1)?));
        let local = backend.agreed(in_crs(restriction.transpose()))?;
        let extension = backend.assembled(local, &others(&**backend.comm(), &unknowns)?)?;
        let m = if n == 0 { Box::new(Identity) } else { make(&block)? };
        let (r, z) = (inner.zeros(n)?, inner.zeros(n)?);
        Ok(RestrictedSchwarz { m, extension, restriction: in_crs(restriction)?, r, z, n })
    }
}

/// The elements of other ranks among these unknowns, as entries 1 in their rows.
fn others(comm: &dyn Comm, unknowns: &Numbering) -> Result<Border> {
    let halo = unknowns.halo(comm)?;
    let own = |places: &Runs| places.places_in(unknowns.own());
    let sends = halo.sends.iter().map(|(to, places)| (*to, own(places))).collect();
    let receives = halo.receives.iter().map(|(from, places)| (*from, places.len())).collect();
    let mut received: Vec<(u32, u32)> = halo.places_received().iter().zip(0..).collect();
    received.sort_unstable();
    let entries = Csr::from_rows(
        received.len(),
        received.len(),
        |_| 1,
        |k, columns, values| {
            (columns[0], values[0]) = (received[k].1, 1.0);
        },
    );
    let rows = received.into_iter().map(|(row, _)| row).collect();
    Ok(Border { rows, entries, links: Links { sends, receives } })
}

impl<T: Real, B: Borders<T>> Preconditioner<T, Distributed<B>> for RestrictedSchwarz<T, B> {
    fn apply(&mut self, backend: &Distributed<B>, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        backend.multiply(&self.extension, r, Then::Store { y: &mut self.r })?;
        self.m.apply(backend.inner(), &self.r, &mut self.z)?;
        backend.inner().multiply(&self.restriction, &self.z, Then::Store { y: z })
    }
    fn is_fixed(&self) -> bool {
        self.m.is_fixed()
    }
    fn traffic(&self, vector: u64) -> Traffic {
        let of_block = (self.n * size_of::<T>()) as u64;
        let copies = self.extension.traffic() + self.restriction.traffic() + 2 * (vector + of_block);
        Traffic::unfused(self.m.traffic(of_block).apply + copies, vector)
    }
    fn factors(&self) -> Option<&ilu::Info> {
        self.m.factors()
    }
}

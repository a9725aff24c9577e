//! What each rank gets of a system.

use std::sync::Arc;

use crate::comm::{Comm, Partition, Piece, Pieces, Reader, Writer};
use crate::error::{Error, Result};
use crate::precond::amg::Known;

/// The share of one rank.
pub(super) struct Share {
    /// Its rows.
    pub piece: Piece,
    /// Its part of the basis of a null space.
    pub basis: Vec<Vec<f64>>,
    /// Which rows these are, where every rank has brought its own and rank 0 has not the whole.
    pub known: Option<Known>,
}

/// Those of all ranks.
pub(super) struct Shares {
    pub pieces: Pieces,
    pub partition: Arc<Partition>,
    /// The whole basis of a null space.
    pub basis: Vec<Vec<f64>>,
}

impl Shares {
    fn of(&self, rank: usize) -> Share {
        let basis = self.basis.iter().map(|v| self.partition.part(v, rank)).collect();
        Share { piece: self.pieces.piece(rank), basis, known: None }
    }

    /// Gives the other ranks theirs, and returns that of rank 0. In one process each takes its own out of
    /// the whole, all at the same time.
    pub fn give(self, comm: &dyn Comm) -> Result<Share> {
        if let Some(process) = comm.one_process() {
            let shares = Arc::new(Some(self));
            process.share(shares.clone())?;
            return Share::taken(comm, &shares);
        }
        for rank in 1..comm.size() {
            let Share { piece, basis, .. } = self.of(rank);
            let message = piece.written(Writer::new());
            comm.send(rank, &basis.iter().fold(message, |message, v| message.put(v)).bytes())?;
        }
        Ok(self.of(0))
    }
}

impl Share {
    /// What rank 0 gives this one, with as many vectors of a basis.
    pub fn receive(comm: &dyn Comm, vectors: usize) -> Result<Share> {
        if let Some(process) = comm.one_process() {
            let shared = process.share(Arc::new(None::<Shares>))?;
            return Share::taken(comm, &shared[0]);
        }
        let message = comm.receive(0)?;
        let mut message = Reader::new(&message);
        let piece = Piece::read(&mut message)?;
        let basis = (0..vectors).map(|_| message.take()).collect::<Result<_>>()?;
        Ok(Share { piece, basis, known: None })
    }

    fn taken(comm: &dyn Comm, shares: &Option<Shares>) -> Result<Share> {
        let shares = shares.as_ref().map(|shares| shares.of(comm.rank()));
        shares.ok_or_else(|| Error::Option("rank 0 shares nothing out: a mistake of this library".into()))
    }
}

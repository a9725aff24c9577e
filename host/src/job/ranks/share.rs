//! What each rank gets of a system, of a right-hand side, and gives back of a solution. Ranks of one process
//! hand vectors over as they are.

use std::sync::Arc;

use crate::backend::distributed::Exchanged;
use crate::comm::{Comm, Partition, Piece, Pieces, Reader, Writer};
use crate::error::{Error, Result};
use crate::precond::amg::{Known, NearNull};
use crate::setup::DeviceCsr;

pub(super) fn nothing_shared() -> Error {
    Error::Option("rank 0 shares nothing out: a mistake of this library".into())
}

/// The share of one rank.
pub(super) struct Share {
    /// Its rows.
    pub piece: Piece,
    /// Its part of the basis of a null space.
    pub basis: Vec<Vec<f64>>,
    /// Its part of what multigrid is to interpolate well, where ranks set that up together.
    pub near_null: Option<NearNull>,
    /// Which rows these are, where every rank has brought its own and rank 0 has not the whole.
    pub known: Option<Known>,
    /// The rows on this rank's device with the columns of the whole matrix, where they are there already.
    pub there: Option<DeviceCsr<f64>>,
}

/// Those of all ranks.
pub(super) struct Shares {
    pub pieces: Pieces,
    pub partition: Arc<Partition>,
    /// The whole basis of a null space.
    pub basis: Vec<Vec<f64>>,
    /// The whole of what multigrid is to interpolate well, where ranks set that up together.
    pub near_null: Option<Arc<NearNull>>,
    /// What each rank has on its device, where ranks are of one process.
    pub there: Vec<Option<DeviceCsr<f64>>>,
}

impl Shares {
    fn of(&self, rank: usize) -> Share {
        let basis = self.basis.iter().map(|v| self.partition.part(v, rank)).collect();
        let near_null = self.near_null.as_ref().map(|space| space.part(|v| self.partition.part(v, rank)));
        Share { piece: self.pieces.piece(rank), basis, near_null, known: None, there: None }
    }

    /// Gives the other ranks theirs, and returns that of rank 0. In one process each takes its own out of
    /// the whole, all at the same time.
    pub fn give(mut self, comm: &dyn Comm) -> Result<Share> {
        if let Some(process) = comm.one_process() {
            let there = process.hand_over(0, std::mem::take(&mut self.there))?;
            let shares = Arc::new(Some(self));
            process.share(shares.clone())?;
            return Share::taken(comm, &shares, there);
        }
        for rank in 1..comm.size() {
            let Share { piece, basis, near_null, .. } = self.of(rank);
            piece.send(comm, rank)?;
            let message = basis.iter().fold(Writer::new(), |message, v| message.put(v));
            let message = message.put(&[u64::from(near_null.is_some())]);
            let message = near_null.iter().fold(message, |message, space| space.written(message));
            comm.send(rank, &message.bytes())?;
        }
        Ok(self.of(0))
    }
}

impl Share {
    /// What rank 0 gives this one, with as many vectors of a basis.
    pub fn receive(comm: &dyn Comm, vectors: usize) -> Result<Share> {
        if let Some(process) = comm.one_process() {
            let there = process.hand_over(comm.rank(), Vec::new())?;
            let shared = process.share(Arc::new(None::<Shares>))?;
            return Share::taken(comm, &shared[0], there);
        }
        let piece = Piece::receive(comm, 0)?;
        let message = comm.receive(0)?;
        let mut message = Reader::new(&message);
        let basis = (0..vectors).map(|_| message.take()).collect::<Result<_>>()?;
        let has_near_null = message.one::<u64>()? != 0;
        let near_null = has_near_null.then(|| NearNull::read(&mut message)).transpose()?;
        Ok(Share { piece, basis, near_null, known: None, there: None })
    }

    /// Out of the whole; `there` is what every rank has on the device of this one: rank 0 has it.
    fn taken(comm: &dyn Comm, shares: &Option<Shares>, there: Vec<Option<DeviceCsr<f64>>>) -> Result<Share> {
        let there = there.into_iter().next().flatten();
        let share = shares.as_ref().map(|shares| Share { there, ..shares.of(comm.rank()) });
        share.ok_or_else(nothing_shared)
    }
}

/// A rank's part of b, and of the x to start from.
#[derive(Default)]
pub(super) struct Sides {
    pub b: Vec<f64>,
    pub start: Option<Vec<f64>>,
}

impl Sides {
    /// Gives the other ranks theirs, and returns that of rank 0.
    pub fn give(comm: &dyn Comm, of: impl Fn(usize) -> Sides) -> Result<Sides> {
        if let Some(process) = comm.one_process() {
            let given = process.hand_over(0, (0..comm.size()).map(of).collect())?;
            return Ok(given.into_iter().next().unwrap_or_default());
        }
        for rank in 1..comm.size() {
            let Sides { b, start } = of(rank);
            // A start that is not as long as b is none; of no rows there is nothing to start from.
            let start = start.unwrap_or_else(|| if b.is_empty() { vec![0.0] } else { Vec::new() });
            comm.send(rank, &Writer::new().put(&b).put(&start).bytes())?;
        }
        Ok(of(0))
    }

    /// What rank 0 gives this one.
    pub fn receive(comm: &dyn Comm) -> Result<Sides> {
        if let Some(process) = comm.one_process() {
            let given = process.hand_over(comm.rank(), Vec::new())?;
            return Ok(given.into_iter().next().unwrap_or_default());
        }
        let message = comm.receive(0)?;
        let mut message = Reader::new(&message);
        let (b, start): (Vec<f64>, Vec<f64>) = (message.take()?, message.take()?);
        let start = Some(start).filter(|start| start.len() == b.len());
        Ok(Sides { b, start })
    }
}

/// A rank's part of x, and what it counted.
#[derive(Default)]
pub(super) struct Found {
    pub x: Vec<f64>,
    pub exchanged: Exchanged,
    pub bytes_moved: u64,
}

impl Found {
    /// Those of all ranks, at rank 0, which is the first; nothing elsewhere. All ranks call this.
    pub fn gather(self, comm: &dyn Comm) -> Result<Vec<Found>> {
        if let Some(process) = comm.one_process() {
            let all = process.hand_over(comm.rank(), vec![self])?;
            return Ok(if comm.rank() == 0 { all } else { Vec::new() });
        }
        let Exchanged { exchanges, bytes, reductions } = self.exchanged;
        let counts = [exchanges, bytes, reductions, self.bytes_moved];
        let message = match comm.rank() {
            0 => Vec::new(),
            _ => Writer::new().put(&self.x).put(&counts).bytes(),
        };
        let Some(messages) = comm.gather(message)? else { return Ok(Vec::new()) };
        let others = messages.iter().skip(1).map(|message| {
            let mut message = Reader::new(message);
            let (x, counts) = (message.take()?, message.take::<u64>()?);
            match counts[..] {
                [exchanges, bytes, reductions, bytes_moved] => {
                    Ok(Found { x, exchanged: Exchanged { exchanges, bytes, reductions }, bytes_moved })
                }
                _ => Err(Error::Option("a rank tells something else".into())),
            }
        });
        std::iter::once(Ok(self)).chain(others).collect()
    }
}

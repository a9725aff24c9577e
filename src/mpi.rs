//! Ranks that are processes of MPI.

use std::sync::Mutex;

use mpi::environment::Universe;
use mpi::request::WaitGuard;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use mpi::{Rank, Threading};

use warpsolve_host::comm::Comm;
use warpsolve_host::{Error, Result};

/// Bytes of one message of MPI, whose lengths have 31 bits: longer ones go in pieces.
const MOST: usize = 1 << 30;

/// This process among those of a launcher.
pub struct Processes {
    world: SimpleCommunicator,
    rank: usize,
    size: usize,
    /// Ends MPI when it is dropped.
    _universe: Mutex<Universe>,
}

// SAFETY: MPI was started for calls from any thread, one at a time: a rank makes its calls one after another.
unsafe impl Send for Processes {}
// SAFETY: as above.
unsafe impl Sync for Processes {}

impl Processes {
    /// Starts MPI, once in a process; whoever does that should be the last to drop it.
    ///
    /// # Errors
    /// [`Error::Option`] where MPI has been started already, or takes calls from one thread only.
    pub fn start() -> Result<Processes> {
        let refused = |why: &str| Error::Option(format!("MPI cannot be used: {why}"));
        let (universe, threading) = mpi::initialize_with_threading(Threading::Serialized)
            .ok_or_else(|| refused("it has been started already"))?;
        if threading < Threading::Serialized {
            return Err(refused("this library takes calls from one thread only"));
        }
        let world = universe.world();
        let (rank, size) = (world.rank() as usize, world.size() as usize);
        Ok(Processes { world, rank, size, _universe: Mutex::new(universe) })
    }
}

impl Comm for Processes {
    fn rank(&self) -> usize {
        self.rank
    }
    fn size(&self) -> usize {
        self.size
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<()> {
        let to = self.world.process_at_rank(to as Rank);
        to.send(&(message.len() as u64));
        message.chunks(MOST).for_each(|piece| to.send(piece));
        Ok(())
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>> {
        let from = self.world.process_at_rank(from as Rank);
        let (length, _) = from.receive::<u64>();
        let mut message = vec![0; length as usize];
        message.chunks_mut(MOST).for_each(|piece| {
            from.receive_into(piece);
        });
        Ok(message)
    }

    fn exchange(&self, sends: &[(usize, &[u8])], receives: &mut [(usize, &mut [u8])]) -> Result<()> {
        mpi::request::scope(|scope| {
            let mut waiting = Vec::with_capacity(sends.len());
            let mut coming = Vec::with_capacity(receives.len());
            for (from, place) in receives {
                let from = self.world.process_at_rank(*from as Rank);
                for piece in place.chunks_mut(MOST) {
                    coming.push(WaitGuard::from(from.immediate_receive_into(scope, piece)));
                }
            }
            for &(to, message) in sends {
                let to = self.world.process_at_rank(to as Rank);
                for piece in message.chunks(MOST) {
                    waiting.push(WaitGuard::from(to.immediate_send(scope, piece)));
                }
            }
        });
        Ok(())
    }

    fn all_gather(&self, mine: &[f64]) -> Result<Vec<f64>> {
        let mut all = vec![0.0; self.size * mine.len()];
        self.world.all_gather_into(mine, &mut all[..]);
        Ok(all)
    }

    fn broadcast(&self, message: &mut Vec<u8>) -> Result<()> {
        let root = self.world.process_at_rank(0);
        let mut length = message.len() as u64;
        root.broadcast_into(&mut length);
        message.resize(length as usize, 0);
        message.chunks_mut(MOST).for_each(|piece| root.broadcast_into(piece));
        Ok(())
    }

    /// Says why, unless that has been said, and ends all processes.
    fn fail(&self, why: &str) {
        if !why.is_empty() {
            eprintln!("error: rank {}: {why}", self.rank);
        }
        self.world.abort(1)
    }
}

//! Ranks: parts of a job that compute at the same time and tell each other what they need, as threads of one
//! process or as processes of MPI, for which the crate `warpsolve` has its own [`Comm`].
//!
//! | file | what |
//! |---|---|
//! | `threads` | ranks that are threads of one process |
//! | `launcher` | whether a launcher such as mpirun has started this process as one of many |
//! | `partition` | which rank has which rows |
//! | `ranges` | the same where each has rows in a row |
//! | `metis` | the same by METIS, with the feature of this name |
//! | `piece` | the rows of one rank, and whom it exchanges elements with |
//! | `inside` | the rows of one rank in its own columns |
//! | `numbering` | unknowns of one rank and of others around them |
//! | `halo` | what they exchange about these |
//! | `runs` | long lists of numbers that mostly follow each other |
//! | `looked_at` | which columns some rows have |
//! | `same` | whether ranks were given the same |
//! | `message` | arrays of numbers as bytes |

use std::sync::Arc;

use bytemuck::{AnyBitPattern, NoUninit};
use cuda_std::Real;

use crate::error::{Error, Result};
use crate::pages::in_large_pages;

mod halo;
mod inside;
pub mod launcher;
mod looked_at;
mod message;
#[cfg(feature = "metis")]
mod metis;
mod numbering;
mod one_process;
mod partition;
mod piece;
mod ranges;
mod runs;
mod same;
mod threads;

pub(crate) use halo::{Halo, one_after_the_other};
pub(crate) use inside::Block;
pub use inside::Inside;
pub(crate) use looked_at::{LookedAt, columns_with_entries};
pub(crate) use message::{Reader, Writer};
pub use numbering::Numbering;
pub(crate) use numbering::{Row, in_runs};
pub use one_process::{Alarm, Item, OneProcess};
pub use partition::{Partition, Partitioning, Quality};
pub use piece::{Border, Links, Piece};
pub(crate) use piece::{Pieces, entries_outside};
pub use ranges::Ranges;
pub(crate) use runs::Placed;
pub use runs::{NOWHERE, Runs};
pub use same::{Given, check_same};
pub use threads::Team;

/// How a rank talks to the others.
///
/// Every rank makes the same calls in the same order, but for [`send`](Comm::send) and
/// [`receive`](Comm::receive), which come in pairs. Between two ranks messages arrive in the order in which
/// they were sent.
///
/// # Errors
/// [`Error::Rank`] where a rank has failed: it names the rank, and every rank gets it.
pub trait Comm: Send + Sync {
    /// This rank, counted from 0.
    fn rank(&self) -> usize;
    /// How many ranks there are.
    fn size(&self) -> usize;
    /// Sends a message to one rank.
    fn send(&self, to: usize, message: &[u8]) -> Result<()>;
    /// The next message from one rank.
    fn receive(&self, from: usize) -> Result<Vec<u8>>;
    /// Sends to some ranks and receives from some, which expect this.
    fn exchange(&self, sends: &[(usize, &[u8])], receives: &mut [(usize, &mut [u8])]) -> Result<()>;
    /// The numbers of every rank, one rank after the other; each has as many as this one.
    fn all_gather(&self, mine: &[f64]) -> Result<Vec<f64>>;
    /// The message of rank 0, which every other rank's is replaced by.
    fn broadcast(&self, message: &mut Vec<u8>) -> Result<()>;
    /// Lets every rank end with an error that names this one.
    fn fail(&self, why: &str);
    /// What ranks can do beside, where they are threads of one process.
    fn one_process(&self) -> Option<&dyn OneProcess> {
        None
    }

    /// Waits until every rank has come here. A gathering of nothing would not do: MPI waits for nobody then.
    fn barrier(&self) -> Result<()> {
        self.all_gather(&[0.0]).map(drop)
    }

    /// Messages of every rank, at rank 0.
    fn gather(&self, mine: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>> {
        if self.rank() != 0 {
            self.send(0, &mine)?;
            return Ok(None);
        }
        let others = (1..self.size()).map(|from| self.receive(from));
        std::iter::once(Ok(mine)).chain(others).collect::<Result<_>>().map(Some)
    }
}

/// The sums over ranks of `mine`, in T and in the order of ranks: the same ranks, the same bits. All ranks
/// call this.
pub fn sums<T: Real>(comm: &dyn Comm, mine: &[T]) -> Result<Vec<T>> {
    combine(comm, mine, |a, b| a + b)
}

/// The maxima over ranks; NaN where any is.
pub(crate) fn maxima<T: Real>(comm: &dyn Comm, mine: &[T]) -> Result<Vec<T>> {
    combine(comm, mine, T::max_nan)
}

fn combine<T: Real>(comm: &dyn Comm, mine: &[T], with: impl Fn(T, T) -> T) -> Result<Vec<T>> {
    let mine: Vec<f64> = mine.iter().map(|v| v.to_f64()).collect();
    let all = comm.all_gather(&mine)?;
    let of = |rank: usize, k: usize| T::from_f64(all[rank * mine.len() + k]);
    Ok((0..mine.len()).map(|k| (1..comm.size()).fold(of(0, k), |sum, rank| with(sum, of(rank, k)))).collect())
}

/// Sends messages to some ranks, and receives so many elements from some, in their order. Those take part.
pub(crate) fn received<U: NoUninit + AnyBitPattern>(
    comm: &dyn Comm,
    messages: &[(usize, &[u8])],
    receives: &[(usize, usize)],
) -> Result<Vec<U>> {
    let count = receives.iter().map(|&(_, count)| count).sum();
    let mut received = in_large_pages(vec![U::zeroed(); count]);
    let mut rest = &mut received[..];
    let mut places: Vec<(usize, &mut [u8])> = Vec::with_capacity(receives.len());
    for &(from, count) in receives {
        let place;
        (place, rest) = std::mem::take(&mut rest).split_at_mut(count);
        places.push((from, bytemuck::cast_slice_mut(place)));
    }
    comm.exchange(messages, &mut places)?;
    Ok(received)
}

/// Sends a message to every rank, of which empty ones do not go, and receives one from each. All ranks call
/// this.
pub(crate) fn all_to_all(comm: &dyn Comm, mut messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
    let (rank, size) = (comm.rank(), comm.size());
    let lengths: Vec<f64> = messages.iter().map(|message| message.len() as f64).collect();
    let lengths = comm.all_gather(&lengths)?;
    let mut received: Vec<Vec<u8>> =
        (0..size).map(|from| vec![0; lengths[from * size + rank] as usize]).collect();
    received[rank] = std::mem::take(&mut messages[rank]);
    let is_sent = |&(other, length): &(usize, usize)| other != rank && length > 0;
    let sends = messages.iter().enumerate().filter(|(to, message)| is_sent(&(*to, message.len())));
    let sends: Vec<(usize, &[u8])> = sends.map(|(to, message)| (to, &message[..])).collect();
    let receives = received.iter_mut().enumerate().filter(|(from, place)| is_sent(&(*from, place.len())));
    let mut receives: Vec<(usize, &mut [u8])> =
        receives.map(|(from, place)| (from, &mut place[..])).collect();
    comm.exchange(&sends, &mut receives)?;
    Ok(received)
}

/// Whether every rank has succeeded; otherwise, at every rank, the error of the first that has not, with its
/// number. All ranks call this.
pub fn agree<R>(comm: &dyn Comm, result: Result<R>) -> Result<R> {
    agree_and_count(comm, result.map(|result| (result, 0.0))).map(|(result, _)| result)
}

/// [`agree`], and the sum over ranks of what each has counted, in one message.
pub(crate) fn agree_and_count<R>(comm: &dyn Comm, result: Result<(R, f64)>) -> Result<(R, f64)> {
    if let Err(Error::Rank { .. }) = result {
        // Every rank has it already.
        return result;
    }
    let mine = result.as_ref().map_or([1.0, 0.0], |&(_, count)| [0.0, count]);
    let all = comm.all_gather(&mine)?;
    let Some(rank) = all.chunks(mine.len()).position(|of_rank| of_rank[0] > 0.0) else {
        let counted = all.chunks(mine.len()).map(|of_rank| of_rank[1]).sum();
        return result.map(|(result, _)| (result, counted));
    };
    let mut message = result.as_ref().err().map(|error| error.to_string().into_bytes()).unwrap_or_default();
    // Through rank 0, which is where broadcasts come from.
    if rank != 0 {
        if comm.rank() == rank {
            comm.send(0, &message)?;
        } else if comm.rank() == 0 {
            message = comm.receive(rank)?;
        }
    }
    comm.broadcast(&mut message)?;
    match result {
        Err(error) if comm.rank() == rank && rank == 0 => Err(error),
        _ => Err(Error::Rank { rank, message: String::from_utf8_lossy(&message).into_owned() }),
    }
}

/// [`agree`] of ranks that talk like this; `None` where there is one alone.
pub fn agreed<R>(comm: Option<&Arc<dyn Comm>>, result: Result<R>) -> Result<R> {
    match comm {
        None => result,
        Some(comm) => agree(&**comm, result),
    }
}

/// [`agree`], with [`Error::Rank`] at every rank, also at the one that has failed: they have agreed already.
pub fn agree_within<R>(comm: &dyn Comm, result: Result<R>) -> Result<R> {
    agree(comm, result).map_err(|error| told(comm, error))
}

/// An error that every rank has, as that of the rank where it happened.
pub(crate) fn told(comm: &dyn Comm, error: Error) -> Error {
    match error {
        Error::Rank { .. } => error,
        own => Error::Rank { rank: comm.rank(), message: own.to_string() },
    }
}

#[cfg(test)]
mod tests;

//! A solve on several ranks.
//!
//! Rank 0 is whoever called: it checks, chooses, and gives orders. The other ranks [work]: they carry out
//! what they are told, each with its rows, until they are told to quit.
//!
//! | file | what |
//! |---|---|
//! | `by_rows` | the same where no rank has the whole |
//! | `exchange` | what an exchange costs, measured |
//! | `info` | what a solve was like |
//! | `look` | a look at the matrix before it is known how to solve |
//! | `orders` | what rank 0 says |
//! | `part` | what a rank has set up, and solves with |
//! | `serve` | the other ranks |
//! | `share`, `whole` | what each rank gets of a system, and rank 0 beside |
//! | `system` | rank 0 |
//! | `there` | rows that are on the devices already |

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::{Device, Options};
use crate::comm::{Comm, Partition, Partitioning, Team, agree};
use crate::error::{Error, Result};
use crate::matrix::Csr;

pub mod by_rows;
pub mod exchange;
mod info;
mod look;
mod observer;
mod orders;
mod part;
mod serve;
mod share;
mod system;
mod there;
mod whole;

pub use info::Info;
pub(super) use look::OnDevices;
use orders::Order;
use serve::{Systems, serve};
pub(super) use system::prepare;

/// Ranks that wait for orders, of which the caller is the first.
pub struct Ranks {
    comm: Arc<dyn Comm>,
    partitioning: Partitioning,
    systems: AtomicU64,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Ranks {
    /// `size` ranks that are threads of this process; rank k > 0 computes on the device that `open(k)` opens
    /// in its thread.
    ///
    /// # Errors
    /// [`Error::Rank`] with the error of a rank that has no device.
    pub fn threads(
        size: usize,
        partitioning: Partitioning,
        open: impl Fn(usize) -> Result<Device> + Send + Sync + 'static,
    ) -> Result<Ranks> {
        let team = Team::new(size).into_iter().map(|rank| Arc::new(rank) as Arc<dyn Comm>);
        Self::of_team(team.collect(), partitioning, open)
    }

    /// A rank for each of several GPUs of this machine, given by their ordinals; the caller, rank 0, computes
    /// on the first of them, which it opens itself.
    ///
    /// # Errors
    /// As [`Ranks::threads`].
    pub fn gpus(ordinals: Vec<u32>, partitioning: Partitioning) -> Result<Ranks> {
        Self::threads(ordinals.len(), partitioning, move |rank| Device::cuda(ordinals[rank]))
    }

    /// The same for a team that is there, a rank for each thread.
    ///
    /// # Errors
    /// As [`Ranks::threads`].
    pub fn of_team(
        team: Vec<Arc<dyn Comm>>,
        partitioning: Partitioning,
        open: impl Fn(usize) -> Result<Device> + Send + Sync + 'static,
    ) -> Result<Ranks> {
        let open = Arc::new(open);
        let mut team = team.into_iter();
        let comm = team.next().ok_or_else(no_rank)?;
        let threads = team.map(|comm| {
            let open = open.clone();
            std::thread::spawn(move || {
                work(&comm, || open(comm.rank()));
            })
        });
        let threads = Mutex::new(threads.collect());
        let ranks = Ranks { comm, partitioning, systems: AtomicU64::new(0), threads };
        agree(&*ranks.comm, Ok(()))?;
        Ok(ranks)
    }

    /// The ranks of `comm`, of which this is the first; in the others somebody calls [`work`].
    ///
    /// # Errors
    /// [`Error::Rank`] with the error of a rank that has no device.
    pub fn processes(comm: Arc<dyn Comm>, partitioning: Partitioning) -> Result<Ranks> {
        let ranks = Ranks { comm, partitioning, systems: AtomicU64::new(0), threads: Mutex::default() };
        agree(&*ranks.comm, Ok(()))?;
        Ok(ranks)
    }

    /// How many there are.
    pub fn size(&self) -> usize {
        self.comm.size()
    }

    fn order(&self, order: &Order) -> Result<()> {
        self.comm.broadcast(&mut order.written())
    }

    /// What `work` gives; an error of it that is not another rank's ends all ranks.
    fn fatal<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        work().inspect_err(|error| end(&*self.comm, error))
    }

    /// Which rank has which rows: all of a node, unless it was given otherwise.
    fn partition(&self, a: &Csr<f64>, options: &Options) -> Result<Arc<Partition>> {
        let unknowns = options.near_null.as_ref().map_or(1, |space| space.unknowns());
        let block = match self.partitioning {
            Partitioning::Given(_) => options.block_size,
            _ if options.block_size == 1 && a.n_rows().is_multiple_of(unknowns) => unknowns,
            _ => options.block_size,
        };
        Partition::new(a, self.size(), block, &self.partitioning).map(Arc::new)
    }

    fn new_system(&self) -> u64 {
        self.systems.fetch_add(1, Ordering::Relaxed)
    }
}

/// What every rank but the first does: it opens a device and serves until rank 0 is done. Where that fails
/// all ranks end. Whether all went well.
pub fn work(comm: &Arc<dyn Comm>, open: impl FnOnce() -> Result<Device>) -> bool {
    let mut systems = Systems::new();
    guarded(comm, || serve(comm, open(), &mut systems)).is_ok()
}

/// Runs `first` in this thread, and `other` in a thread of its own for every other of `size` ranks, each with
/// how it talks to the others. What fails or panics on one of them ends all.
///
/// # Errors
/// What `first` gives; [`Error::Rank`] with the error of another rank.
pub fn together<R>(
    size: usize,
    first: impl FnOnce(&Arc<dyn Comm>) -> Result<R>,
    other: impl Fn(&Arc<dyn Comm>) -> Result<()> + Sync,
) -> Result<R> {
    let mut team = Team::new(size).into_iter().map(|rank| Arc::new(rank) as Arc<dyn Comm>);
    let comm = team.next().ok_or_else(no_rank)?;
    let other = &other;
    std::thread::scope(|scope| {
        for comm in team {
            // Its error is told by the first.
            scope.spawn(move || drop(guarded(&comm, || other(&comm))));
        }
        guarded(&comm, || first(&comm))
    })
}

fn no_rank() -> Error {
    Error::Option("there must be at least 1 rank".into())
}

/// What `work` of this rank gives; where it fails or panics all ranks end.
///
/// # Errors
/// Those of `work`.
pub fn guarded<R>(comm: &Arc<dyn Comm>, work: impl FnOnce() -> Result<R>) -> Result<R> {
    caught(comm, work).inspect_err(|error| end(&**comm, error))
}

/// What `work` of this rank gives; where it panics all ranks end. Its errors are those that all ranks have.
///
/// # Errors
/// Those of `work`; [`Error::Rank`] for a panic.
pub fn caught<R>(comm: &Arc<dyn Comm>, work: impl FnOnce() -> Result<R>) -> Result<R> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(worked) => worked,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked");
            comm.fail(text);
            Err(Error::Rank { rank: comm.rank(), message: text.into() })
        }
    }
}

/// Lets all ranks end for an error of this one; that of another has ended them already.
fn end(comm: &dyn Comm, error: &Error) {
    if !matches!(error, Error::Rank { .. }) {
        comm.fail(&error.to_string());
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.comm.fail("it panicked");
        }
        // Where a rank has failed all of them end by themselves.
        let _ = self.order(&Order::Quit);
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        threads.into_iter().for_each(|thread| drop(thread.join()));
    }
}

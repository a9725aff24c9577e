//! The threads that the CPU backend computes with.

use std::sync::Arc;

use crate::error::{Error, Result};

/// Threads for each core of the machine at most.
const THREADS_PER_CORE: usize = 8;

/// Refuses so many threads that waking them would take all the time: more than 8 for each core.
pub fn check_threads(asked: usize) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let most = THREADS_PER_CORE * cores;
    if asked <= most { Ok(()) } else { Err(Error::Threads { asked, cores, most }) }
}

/// A pool of threads.
#[derive(Debug, Clone)]
pub(super) enum Pool {
    /// The backend's own.
    Own(Arc<rayon::ThreadPool>),
    /// The pool of the caller, or else rayon's global one.
    Shared,
}

impl Pool {
    /// A pool of its own; 0 threads for one for each core.
    pub fn new(threads: usize) -> Result<Pool> {
        check_threads(threads)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|e| Error::Option(format!("cannot start {threads} threads: {e}")))?;
        Ok(Pool::Own(Arc::new(pool)))
    }

    pub fn threads(&self) -> usize {
        match self {
            Pool::Own(pool) => pool.current_num_threads(),
            Pool::Shared => rayon::current_num_threads(),
        }
    }

    /// Runs `work` in the pool.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let (mut work, mut result) = (Some(work), None);
        self.run(&mut || result = work.take().map(|work| work()));
        result.expect("the pool has run it")
    }

    /// Rayon's part of [`Pool::install`], compiled once instead of for every kind of work.
    fn run(&self, work: &mut (dyn FnMut() + Send)) {
        match self {
            Pool::Own(pool) => pool.install(work),
            Pool::Shared if rayon::current_thread_index().is_some() => work(),
            Pool::Shared => rayon::scope(|_| work()),
        }
    }
}

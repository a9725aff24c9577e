//! A simulation on several ranks: the first is used like one alone, and asks the others to do their parts.

use std::sync::Arc;

use super::checkpoint::Fingerprint;
use super::simulation::Simulation;
use warpsolve_host::backend::cells::Cells;
use warpsolve_host::backend::distributed::Exchanged;
use warpsolve_host::comm::Comm;
use warpsolve_host::error::{Error, Result};
use warpsolve_host::precond::amg::Assembles;
use warpsolve_host::solver::cg::CgSteps;

/// What the first rank asks of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    Step,
    Voltage,
    Potential,
    Activation,
    Checkpoint,
    Restore { steps: u64 },
    Info,
    Quit,
}

/// What several ranks have, and have told each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RanksInfo {
    /// How many ranks.
    pub ranks: usize,
    /// Nodes of the rank that has fewest.
    pub least_nodes: usize,
    /// Nodes of the rank that has most.
    pub most_nodes: usize,
    /// Nodes of others that ranks look at, summed over ranks.
    pub shared: u64,
    /// Whether ranks wrote each other's device memory; otherwise all went through the host.
    pub peer_memory: bool,
    /// Exchanges of elements between products, of the first rank.
    pub exchanges: u64,
    /// Bytes that all ranks sent in them.
    pub exchanged_bytes: u64,
    /// Reductions over ranks.
    pub reductions: u64,
}

impl Request {
    fn written(self) -> Vec<u8> {
        let (code, steps) = match self {
            Request::Step => (0, 0),
            Request::Voltage => (1, 0),
            Request::Potential => (2, 0),
            Request::Activation => (3, 0),
            Request::Checkpoint => (4, 0),
            Request::Restore { steps } => (5, steps),
            Request::Info => (6, 0),
            Request::Quit => (7, 0),
        };
        [code, steps].into_iter().flat_map(u64::to_le_bytes).collect()
    }

    fn read(message: &[u8]) -> Result<Request> {
        let words: Vec<u64> = message.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect();
        Ok(match words[..] {
            [0, _] => Request::Step,
            [1, _] => Request::Voltage,
            [2, _] => Request::Potential,
            [3, _] => Request::Activation,
            [4, _] => Request::Checkpoint,
            [5, steps] => Request::Restore { steps },
            [6, _] => Request::Info,
            [7, _] => Request::Quit,
            _ => return Err(Error::Option("rank 0 asks for something else".into())),
        })
    }
}

/// How the first of several ranks asks the others; they quit when it is dropped.
pub(super) struct Requests {
    comm: Option<Arc<dyn Comm>>,
}

impl Requests {
    /// Of a rank that talks like this; `None` where it is alone.
    pub fn new(comm: Option<&Arc<dyn Comm>>) -> Self {
        Requests { comm: comm.cloned() }
    }

    /// Asks the others, if there are any and this is the first.
    pub fn ask(&self, request: Request) -> Result<()> {
        match &self.comm {
            Some(comm) if comm.rank() == 0 => comm.broadcast(&mut request.written()),
            _ => Ok(()),
        }
    }

    /// The next request of the first rank.
    fn next(&self) -> Result<Request> {
        let Some(comm) = self.comm.as_ref().filter(|comm| comm.rank() > 0) else { return Ok(Request::Quit) };
        let mut message = Vec::new();
        comm.broadcast(&mut message)?;
        Request::read(&message)
    }

    /// What was `made`; an error of this rank alone ends all, because the others wait for it.
    pub fn watch<R>(&self, made: Result<R>) -> Result<R> {
        if let (Some(comm), Err(error)) = (&self.comm, &made)
            && !is_of_all(error)
            && !matches!(error, Error::Rank { .. })
        {
            comm.fail(&error.to_string());
        }
        made
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        if let Some(comm) = self.comm.as_ref().filter(|_| std::thread::panicking()) {
            comm.fail("it panicked");
        }
        // Where a rank has failed all of them end by themselves.
        let _ = self.ask(Request::Quit);
    }
}

/// Whether every rank has come to this error: a step ends so where a system was not solved, which all know by
/// the same norms.
pub(super) fn is_of_all(error: &Error) -> bool {
    matches!(error, Error::Option(_) | Error::NotFinite { .. })
}

/// Refuses another mesh, or other parameters, than those of the first rank. All ranks call this.
pub(super) fn check_same(comm: Option<&Arc<dyn Comm>>, own: Fingerprint) -> Result<()> {
    let Some(comm) = comm else { return Ok(()) };
    let own = [own.stimuli, own.rest].map(f64::from);
    match comm.all_gather(&own)?[..2] == own {
        true => Ok(()),
        false => Err(Error::Option(
            "its mesh or its parameters are not those of rank 0; start all ranks with the same files and options"
                .into(),
        )),
    }
}

impl<B: Cells + Assembles + CgSteps<f64> + Clone + 'static> Simulation<B> {
    /// Does what the first rank asks for, on every other one, until it is dropped there; on the first, and
    /// alone, nothing.
    ///
    /// # Errors
    /// [`Error::Rank`] where another rank has failed; others are this one's own, and have ended all.
    pub fn serve(&mut self) -> Result<()> {
        loop {
            let done = match self.requests.next()? {
                Request::Step => self.advance().map(|_| ()),
                Request::Voltage => self.voltage().map(|_| ()),
                Request::Potential => self.potential().map(|_| ()),
                Request::Activation => self.activation_times().map(|_| ()),
                Request::Checkpoint => self.state().map(|_| ()),
                Request::Restore { steps } => self.take_over(&[], steps),
                Request::Info => self.info().map(|_| ()),
                Request::Quit => return Ok(()),
            };
            match self.requests.watch(done) {
                // Which rank 0 tells.
                Err(error) if is_of_all(&error) => {}
                done => done?,
            }
        }
    }

    /// What the ranks have, and have told each other so far; `None` where there is one alone.
    ///
    /// # Errors
    /// [`Error::Rank`] where a rank has failed; those of a device that counts it.
    pub fn ranks(&self) -> Result<Option<RanksInfo>> {
        self.requests.ask(Request::Info)?;
        self.requests.watch(self.info())
    }

    /// [`Simulation::ranks`], which all ranks call.
    fn info(&self) -> Result<Option<RanksInfo>> {
        let Some(comm) = self.share.comm() else { return Ok(None) };
        let Exchanged { exchanges, bytes, reductions } = self.backend.exchanged()?;
        let [nodes, shared] = self.share.nodes();
        let of_all = comm.all_gather(&[nodes, shared, bytes as usize].map(|count| count as f64))?;
        let of = |k: usize| of_all.iter().skip(k).step_by(3).map(|&count| count as u64);
        Ok(Some(RanksInfo {
            ranks: comm.size(),
            least_nodes: of(0).min().unwrap_or(0) as usize,
            most_nodes: of(0).max().unwrap_or(0) as usize,
            shared: of(1).sum(),
            peer_memory: self.backend.is_connected(),
            exchanges,
            exchanged_bytes: of(2).sum(),
            reductions,
        }))
    }
}

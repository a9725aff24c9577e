//! A simulation on several ranks: the first is used like one alone, and asks the others to do their parts.

use std::path::Path;

use super::requests::{Request, is_of_all};
use super::simulation::Simulation;
use warpsolve_host::backend::cells::Cells;
use warpsolve_host::backend::distributed::Exchanged;
use warpsolve_host::error::{Error, Result};
use warpsolve_host::precond::amg::Assembles;
use warpsolve_host::solver::cg::CgSteps;

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

impl<B: Cells + Assembles + CgSteps<f64> + Clone + 'static> Simulation<B> {
    /// Does what the first rank asks for, on every other one, until it is dropped there; on the first, and
    /// alone, nothing.
    ///
    /// # Errors
    /// [`Error::Rank`](warpsolve_host::Error::Rank) where another rank has failed; others are this one's own,
    /// and have ended all.
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
                Request::Piece { of, pvtu } => self.own_piece(of, Path::new(&pvtu)).map(|_| ()),
                Request::Quit => return Ok(()),
            };
            match self.requests.watch(done) {
                // Which rank 0 tells.
                Err(error) if is_of_all(&error) => {}
                // That all ranks have agreed on; if one has ended, so does the next request.
                Err(Error::Rank { .. }) => {}
                done => done?,
            }
        }
    }

    /// What the ranks have, and have told each other so far; `None` where there is one alone.
    ///
    /// # Errors
    /// [`Error::Rank`](warpsolve_host::Error::Rank) where a rank has failed; those of a device that counts
    /// it.
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

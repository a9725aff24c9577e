//! What the first of several ranks asks of the others.

use std::sync::Arc;

use super::checkpoint::Fingerprint;
use warpsolve_host::comm::Comm;
use warpsolve_host::error::{Error, Result};

/// What files of results have at their nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fields {
    /// `v_m`, and `phi_e` of the bidomain equations.
    Potentials,
    Activation,
}

/// What the first rank asks of the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Request {
    Step,
    Voltage,
    Potential,
    Activation,
    Checkpoint,
    Restore {
        steps: u64,
    },
    Info,
    /// A piece of what this PVTU file lists.
    Piece {
        of: Fields,
        pvtu: String,
    },
    Quit,
}

impl Request {
    /// A code and a number, and the name of a file behind them.
    fn written(&self) -> Vec<u8> {
        let (code, number) = match self {
            Request::Step => (0, 0),
            Request::Voltage => (1, 0),
            Request::Potential => (2, 0),
            Request::Activation => (3, 0),
            Request::Checkpoint => (4, 0),
            Request::Restore { steps } => (5, *steps),
            Request::Info => (6, 0),
            Request::Piece { of: Fields::Potentials, .. } => (7, 0),
            Request::Piece { of: Fields::Activation, .. } => (7, 1),
            Request::Quit => (8, 0),
        };
        let file = if let Request::Piece { pvtu, .. } = self { pvtu.as_bytes() } else { &[] };
        [code, number].into_iter().flat_map(u64::to_le_bytes).chain(file.iter().copied()).collect()
    }

    fn read(message: &[u8]) -> Result<Request> {
        let (head, file) = message.split_at_checked(16).unwrap_or((message, &[]));
        let words: Vec<u64> = head.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect();
        let piece = |of| Request::Piece { of, pvtu: String::from_utf8_lossy(file).into_owned() };
        Ok(match words[..] {
            [0, _] => Request::Step,
            [1, _] => Request::Voltage,
            [2, _] => Request::Potential,
            [3, _] => Request::Activation,
            [4, _] => Request::Checkpoint,
            [5, steps] => Request::Restore { steps },
            [6, _] => Request::Info,
            [7, 0] => piece(Fields::Potentials),
            [7, 1] => piece(Fields::Activation),
            [8, _] => Request::Quit,
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
    pub fn next(&self) -> Result<Request> {
        let Some(comm) = self.comm.as_ref().filter(|comm| comm.rank() > 0) else { return Ok(Request::Quit) };
        let mut message = Vec::new();
        comm.broadcast(&mut message)?;
        Request::read(&message)
    }

    /// What was `made`; an error of this rank alone ends all, because the others wait for it, and then says
    /// which rank it was.
    pub fn watch<R>(&self, made: Result<R>) -> Result<R> {
        let Some(comm) = &self.comm else { return made };
        made.map_err(|error| {
            if is_of_all(&error) || matches!(error, Error::Rank { .. }) {
                return error;
            }
            comm.fail(&error.to_string());
            Error::Rank { rank: comm.rank(), message: error.to_string() }
        })
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
pub(super) fn check_same(comm: &dyn Comm, own: Fingerprint) -> Result<()> {
    let own = [own.stimuli, own.rest].map(f64::from);
    match comm.all_gather(&own)?[..2] == own {
        true => Ok(()),
        false => Err(Error::Option(
            "its mesh or its parameters are not those of rank 0; start all ranks with the same files and options"
                .into(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsolve_host::comm::Team;

    #[test]
    fn requests_are_read_as_they_were_written() {
        for request in [
            Request::Step,
            Request::Voltage,
            Request::Potential,
            Request::Activation,
            Request::Checkpoint,
            Request::Restore { steps: u64::MAX },
            Request::Info,
            Request::Piece { of: Fields::Potentials, pvtu: "/tmp/v_000001.pvtu".into() },
            Request::Piece { of: Fields::Activation, pvtu: String::new() },
            Request::Quit,
        ] {
            assert_eq!(Request::read(&request.written()).unwrap(), request);
        }
        assert!(Request::read(&[]).is_err());
    }

    #[test]
    fn an_error_of_one_rank_is_told_to_all() {
        let team = || Team::new(2).into_iter().map(|rank| Arc::new(rank) as Arc<dyn Comm>);
        let ranks: Vec<Requests> = team().map(|comm| Requests::new(Some(&comm))).collect();
        // What all have come to leaves them as they are.
        assert!(matches!(ranks[1].watch::<()>(Err(Error::Option("unsolved".into()))), Err(Error::Option(_))));
        ranks[0].ask(Request::Step).unwrap();
        assert_eq!(ranks[1].next().unwrap(), Request::Step);
        let fault = Error::NoDevice("it fell off the bus".into());
        let why = ranks[0].watch::<()>(Err(fault)).unwrap_err().to_string();
        assert!(why.starts_with("rank 0: ") && why.contains("it fell off the bus"), "{why}");
        assert_eq!(ranks[1].next().unwrap_err().to_string(), why);
        assert_eq!(ranks[0].ask(Request::Step).unwrap_err().to_string(), why);
    }
}

//! The ranks that are told what to do.

use std::collections::HashMap;
use std::sync::Arc;

use super::orders::Order;
use super::part::{self, Part, Solved};
use super::share::{Found, Share, Sides};
use super::there::take_rows;
use crate::comm::{Comm, agree};
use crate::error::{Error, Result};
use crate::job::Device;
use crate::solver::Stop;

/// Carries out the orders of rank 0 on `device`, in every other rank, until rank 0 is done; an error of the
/// device is told to all. What was set up stays with the caller: it is taken away after all know of an error.
///
/// # Errors
/// [`Error::Rank`](crate::Error::Rank) where another rank has failed; others are this rank's own.
pub(super) fn serve(comm: &Arc<dyn Comm>, device: Result<Device>, systems: &mut Systems) -> Result<()> {
    let device = agree(&**comm, device)?;
    device.run(|| carry_out(comm, &device, systems))
}

/// What a rank has set up, by number.
pub(super) type Systems = HashMap<u64, Box<dyn Part>>;

fn carry_out(comm: &Arc<dyn Comm>, device: &Device, systems: &mut Systems) -> Result<()> {
    loop {
        let mut order = Vec::new();
        comm.broadcast(&mut order)?;
        match Order::read(&order)? {
            // An error is rank 0's to tell.
            Order::Look => drop(take_rows(&**comm, device, None)),
            Order::SetUp { system, choices } => {
                let made = Share::receive(&**comm, choices.projections)
                    .and_then(|share| part::set_up(comm, device, &choices, share, None));
                // An error here is rank 0's to tell: another way may do.
                if let Ok(part) = agree(&**comm, made) {
                    // Rank 0 tells how all of them are stored.
                    part::storage_of_all(&**comm, part.storage(), 0)?;
                    systems.insert(system, part);
                }
            }
            Order::Solve { system, stop } => {
                let part = systems.get_mut(&system).ok_or_else(|| no_system(system))?;
                solve(&**comm, &mut **part, &stop)?;
            }
            Order::Drop { system } => drop(systems.remove(&system)),
            Order::Quit => return Ok(()),
        }
    }
}

fn no_system(system: u64) -> Error {
    Error::Option(format!("system {system} was never set up"))
}

fn solve(comm: &dyn Comm, part: &mut dyn Part, stop: &Stop) -> Result<()> {
    let Sides { b, start } = Sides::receive(comm)?;
    let Solved { x, exchanged, bytes_moved, .. } = part.solve(&b, start.as_deref(), stop, None)?;
    Found { x, exchanged, bytes_moved }.gather(comm).map(drop)
}

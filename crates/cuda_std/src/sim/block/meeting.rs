//! Letting threads go on that have waited for each other.

use super::Grid;
use crate::lanes::WARP_SIZE;
use crate::sim::exchange::{Exchange, State, exchange_result};
use crate::sim::fault::{FaultKind, Waiting};
use crate::sim::race::Races;
use std::ops::Range;

impl Grid<'_> {
    /// Gives the lanes whose partners have all come their results; returns whether there were any.
    pub(super) fn complete_exchanges(&self, warp: Range<u32>) -> Result<bool, FaultKind> {
        let mut lanes = [State::Exited; WARP_SIZE as usize];
        for thread in warp.clone() {
            lanes[(thread - warp.start) as usize] = self.now().states[thread as usize].get();
        }
        let mut complete = 0u32;
        for lane in 0..warp.len() as u32 {
            let State::Warp(mask, exchange, _) = lanes[lane as usize] else { continue };
            // Lanes that have met share their mask, so one of them answers for all.
            if complete & (1 << lane) == 0 {
                let wanted = |i: &u32| mask & (1 << i) != 0;
                let mut others = (0..WARP_SIZE).filter(wanted).map(|i| &lanes[i as usize]);
                if !others.all(|other| other.meets(&lanes[lane as usize])) {
                    continue;
                }
                complete |= mask;
                if let Exchange::Sync = exchange {
                    self.in_races(|races| races.sync_warp(warp.start));
                }
            }
            self.thread.set(warp.start + lane);
            let result = exchange_result(&lanes, lane, warp.len() as u32)?;
            self.now().states[(warp.start + lane) as usize].set(State::Ready(result));
        }
        Ok(complete != 0)
    }

    /// Lets everybody go on if all wait at one barrier of the block; returns whether they do. Otherwise they
    /// have all ended, or some wait for other blocks.
    pub(super) fn complete_barrier(&self) -> Result<bool, FaultKind> {
        let mut waiting: Vec<Waiting> = Vec::new();
        let (mut exited, mut barriers, mut at_grid, mut votes) = (0, 0, 0, 0);
        for (thread, state) in self.now().states.iter().enumerate() {
            let (call, place) = match state.get() {
                State::Barrier(vote, place) => {
                    barriers += 1;
                    votes += u64::from(vote);
                    ("sync_threads", place)
                }
                State::Grid(place) => {
                    at_grid += 1;
                    ("sync_grid", place)
                }
                // What it waits for may let others of the block go on, if they do not wait for it.
                State::Cluster(_) => return Ok(false),
                State::Copies { place, .. } => ("bulk::Barrier::wait", place),
                State::Warp(_, exchange, place) => (exchange.call(), place),
                State::Exited => {
                    exited += 1;
                    continue;
                }
                State::Ready(_) => unreachable!("every thread that can run has run"),
            };
            match waiting.iter_mut().find(|w| w.call == call && w.place == place) {
                Some(group) => group.threads.push(thread as u32),
                None => waiting.push(Waiting { call, place, threads: vec![thread as u32] }),
            }
        }
        if exited == self.block_size {
            return Ok(false);
        }
        if barriers.max(at_grid) < self.block_size || waiting.len() > 1 {
            self.thread.set(waiting[0].threads[0]);
            return Err(FaultKind::Divergence { waiting, exited });
        }
        if at_grid > 0 {
            return Ok(false);
        }
        self.in_races(Races::pass_barrier);
        self.now().states.iter().for_each(|s| s.set(State::Ready(votes)));
        Ok(true)
    }

    /// Lets all blocks go on if they all wait at the barrier of the grid; returns whether there are any left.
    pub(super) fn complete_grid_barrier(&self) -> Result<bool, FaultKind> {
        let ended = self.residents.iter().filter(|resident| resident.has_ended()).count();
        let waiting = self.residents.len() - ended;
        if waiting == 0 {
            return Ok(false);
        }
        if ended > 0 {
            return Err(FaultKind::GridDivergence { waiting: waiting as u32, ended: ended as u32 });
        }
        self.in_races(Races::pass_grid_barrier);
        let states = self.residents.iter().flat_map(|resident| &resident.states);
        states.for_each(|state| state.set(State::Ready(0)));
        Ok(true)
    }
}

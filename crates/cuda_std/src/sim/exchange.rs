//! What threads wait for, and what the lanes of a warp get from each other.

use super::fault::FaultKind;
use crate::lanes::{Shuffle, WARP_SIZE, WarpReductionOp};
use std::panic::Location;

/// What the lanes of a warp do together.
#[derive(Debug, Clone, Copy)]
pub(super) enum Exchange {
    Shuffle { shuffle: Shuffle, value: u64, operand: u32, width: u32 },
    Ballot(bool),
    Match(u64),
    Reduce { op: WarpReductionOp, value: u32, signed: bool },
    Sync,
}

impl Exchange {
    fn is_same_call(&self, other: &Exchange) -> bool {
        match (self, other) {
            (Exchange::Shuffle { shuffle, .. }, Exchange::Shuffle { shuffle: other, .. }) => shuffle == other,
            (Exchange::Reduce { op, .. }, Exchange::Reduce { op: other, .. }) => op == other,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// The function called, as reports name it.
    pub fn call(&self) -> &'static str {
        match self {
            Exchange::Shuffle { shuffle: Shuffle::Up, .. } => "warp_shuffle_up",
            Exchange::Shuffle { shuffle: Shuffle::Down, .. } => "warp_shuffle_down",
            Exchange::Shuffle { shuffle: Shuffle::Xor, .. } => "warp_shuffle_xor",
            Exchange::Shuffle { shuffle: Shuffle::Index, .. } => "warp_shuffle_idx",
            Exchange::Ballot(_) => "warp_vote",
            Exchange::Match(_) => "warp_match",
            Exchange::Reduce { .. } => "warp_reduce",
            Exchange::Sync => "sync_warp",
        }
    }
}

/// What a thread waits for.
#[derive(Debug, Clone, Copy)]
pub(super) enum State {
    /// Nothing: it goes on with this result of what it waited for.
    Ready(u64),
    /// All threads of the block, of which it counts those that say `true`.
    Barrier(bool, &'static Location<'static>),
    /// All threads of the grid.
    Grid(&'static Location<'static>),
    /// All threads of the cluster.
    Cluster(&'static Location<'static>),
    /// Bulk copies: the array of their barrier, and the phase.
    Copies {
        barrier: usize,
        phase: u32,
        place: &'static Location<'static>,
    },
    /// The lanes of the mask.
    Warp(u32, Exchange, &'static Location<'static>),
    Exited,
}

impl State {
    /// Where it waits.
    pub fn place(&self) -> Option<&'static Location<'static>> {
        match self {
            State::Barrier(_, place)
            | State::Grid(place)
            | State::Cluster(place)
            | State::Copies { place, .. }
            | State::Warp(_, _, place) => Some(place),
            State::Ready(_) | State::Exited => None,
        }
    }

    /// Whether a lane in this state is no obstacle to the warp-wide operation that another waits in.
    pub fn meets(&self, other: &State) -> bool {
        match (self, other) {
            (State::Exited, _) => true,
            (State::Warp(mask, exchange, place), State::Warp(other_mask, other_exchange, other_place)) => {
                mask == other_mask
                    && exchange.is_same_call(other_exchange)
                    && (std::ptr::eq(*place, *other_place) || place == other_place)
            }
            _ => false,
        }
    }
}

/// What `lane` gets from the exchange that it and its partners wait in.
pub(super) fn exchange_result(
    lanes: &[State; WARP_SIZE as usize],
    lane: u32,
    present: u32,
) -> Result<u64, FaultKind> {
    let State::Warp(mask, exchange, place) = lanes[lane as usize] else { unreachable!("the lane waits") };
    match exchange {
        Exchange::Sync => Ok(0),
        Exchange::Ballot(_) => Ok((0..WARP_SIZE)
            .filter(|i| mask & (1 << i) != 0)
            .filter(|i| matches!(lanes[*i as usize], State::Warp(_, Exchange::Ballot(true), _)))
            .fold(0, |votes, i| votes | 1 << i)),
        Exchange::Match(value) => Ok((0..WARP_SIZE)
            .filter(|i| mask & (1 << i) != 0)
            .filter(|i| matches!(lanes[*i as usize], State::Warp(_, Exchange::Match(v), _) if v == value))
            .fold(0, |same, i| same | 1 << i)),
        Exchange::Reduce { op, signed, .. } => {
            let values =
                (0..WARP_SIZE).filter(|i| mask & (1 << i) != 0).filter_map(|i| match lanes[i as usize] {
                    State::Warp(_, Exchange::Reduce { value, .. }, _) => Some(value),
                    _ => None,
                });
            Ok(values.reduce(|a, b| op.apply(a, b, signed)).unwrap_or_default().into())
        }
        Exchange::Shuffle { shuffle, value, operand, width } => {
            // As the PTX manual defines shfl.sync: `last` is the last lane of the group.
            let first = lane & !(width - 1);
            let last = first + width - 1;
            let source = match shuffle {
                Shuffle::Up => lane.wrapping_sub(operand),
                Shuffle::Down => lane.saturating_add(operand),
                Shuffle::Xor => lane ^ (operand & (WARP_SIZE - 1)),
                Shuffle::Index => first | (operand & (width - 1)),
            };
            let outside = if shuffle == Shuffle::Up { operand > lane - first } else { source > last };
            if outside {
                return Ok(value);
            }
            match lanes[source as usize] {
                _ if mask & (1 << source) == 0 => Err("is not in the mask"),
                State::Warp(_, Exchange::Shuffle { value, .. }, _) => Ok(value),
                _ if source >= present => Err("is beyond the end of the block"),
                _ => Err("has exited"),
            }
            .map_err(|reason| {
                let call = format!("{} at {place}", exchange.call());
                FaultKind::InactiveLane { call, lane, source_lane: source, reason }
            })
        }
    }
}

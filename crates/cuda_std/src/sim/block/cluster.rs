//! Blocks of a cluster: who they are, their barrier, and each other's shared memory.

use super::Grid;
use crate::host::Dim3;
use crate::sim::exchange::State;
use crate::sim::fault::{Access, FaultKind};
use crate::sim::resident::Resident;
use crate::sim::shared::SharedBase;
use std::panic::Location;

impl Grid<'_> {
    fn blocks_in_cluster(&self) -> usize {
        self.configuration.cluster.count() as usize
    }

    /// The blocks of a cluster, by rank.
    pub(super) fn blocks_of(&self, cluster: u32) -> impl Iterator<Item = u32> + use<> {
        let (grid, size) = (self.configuration.grid, self.configuration.cluster);
        let clusters = Dim3 { x: grid.x / size.x, y: grid.y / size.y, z: grid.z / size.z };
        let first = clusters.place(cluster);
        (0..size.count() as u32).map(move |rank| {
            let Dim3 { x, y, z } = size.place(rank);
            grid.number(Dim3 { x: first.x * size.x + x, y: first.y * size.y + y, z: first.z * size.z + z })
        })
    }

    /// The rank of the running block. The blocks of a cluster have places in the order of their ranks.
    pub fn cluster_rank(&self) -> u32 {
        (self.running.get() % self.blocks_in_cluster()) as u32
    }

    /// The first place of the running block's cluster.
    fn cluster_place(&self) -> usize {
        self.running.get() - self.cluster_rank() as usize
    }

    /// The cluster of the running block, by the number of its first block.
    pub(super) fn cluster(&self) -> u32 {
        self.residents[self.cluster_place()].block.get()
    }

    /// The array of another block that is what `base` is of this one.
    #[track_caller]
    pub fn map_shared(&self, base: SharedBase, rank: u32) -> SharedBase {
        let blocks = self.blocks_in_cluster() as u32;
        if rank >= blocks {
            self.fault_here(FaultKind::ClusterRank { rank, blocks });
        }
        let (place, own) = (self.cluster_place() + rank as usize, &self.residents[base.place].shared);
        let bytes = own.bytes(base).len();
        let array = self.residents[place].shared.array(own.name(base), bytes, 1);
        SharedBase { place, array, ..base }
    }

    /// Faults unless the block is there whose array it is, and notes that it has to stay.
    #[track_caller]
    pub(super) fn check_remote(&self, access: Access, base: SharedBase) {
        if base.place == self.running.get() {
            return;
        }
        let (owner, thread) = (&self.residents[base.place], self.thread() as usize);
        let reason = if owner.has_ended() {
            "has ended"
        } else if self.now().passed[thread].get() == 0 {
            "may not have begun: cluster::sync comes first"
        } else {
            let arrived = self.now().arrived[thread].get();
            if owner.remote.get().is_none_or(|(before, _)| before < arrived) {
                owner.remote.set(Some((arrived, Location::caller())));
            }
            return;
        };
        let (array, rank) = (owner.shared.name(base), (base.place - self.cluster_place()) as u32);
        self.fault_here(FaultKind::ClusterMemory { access, array, rank, reason });
    }

    /// Faults if the running block has ended though others may still access its shared memory.
    pub(super) fn check_end(&self) -> Result<(), FaultKind> {
        let Some((arrived, place)) = self.now().remote.get() else { return Ok(()) };
        let last = self.now().passed.iter().map(|passed| passed.get()).max().unwrap_or_default();
        if self.now().has_ended() && last <= arrived {
            return Err(FaultKind::ClusterEnd { rank: self.cluster_rank(), place });
        }
        Ok(())
    }

    #[track_caller]
    pub fn cluster_arrive(&self) {
        let (arrived, passed) = self.cluster_barrier();
        if arrived.get() > passed.get() {
            let call = "cluster::arrive for the second time without cluster::wait";
            self.fault_here(FaultKind::ClusterOrder { call });
        }
        arrived.set(arrived.get() + 1);
    }

    #[track_caller]
    pub fn cluster_wait(&self) {
        let (arrived, passed) = self.cluster_barrier();
        if arrived.get() == passed.get() {
            self.fault_here(FaultKind::ClusterOrder { call: "cluster::wait without cluster::arrive" });
        }
        self.wait(State::Cluster(Location::caller()));
        passed.set(passed.get() + 1);
    }

    /// How often the running thread has arrived, and waited.
    fn cluster_barrier(&self) -> (&std::cell::Cell<u32>, &std::cell::Cell<u32>) {
        let thread = self.thread() as usize;
        (&self.now().arrived[thread], &self.now().passed[thread])
    }

    /// Lets threads go on that wait for their cluster, where all of it has arrived; returns whether there
    /// were any.
    pub(super) fn complete_cluster_barriers(&self) -> Result<bool, FaultKind> {
        let (mut complete, mut stuck) = (false, None);
        for (number, cluster) in self.residents.chunks(self.blocks_in_cluster()).enumerate() {
            let arrived = live(cluster).map(|(_, _, arrived)| arrived).min().unwrap_or_default();
            for (resident, thread, mine) in live(cluster) {
                let state = &cluster[resident].states[thread];
                let State::Cluster(place) = state.get() else { continue };
                if mine <= arrived {
                    state.set(State::Ready(0));
                    complete = true;
                } else {
                    stuck = stuck.or(Some((number, resident, thread, place)));
                }
            }
        }
        match stuck {
            Some((number, resident, thread, place)) if !complete => {
                self.running.set(number * self.blocks_in_cluster() + resident);
                self.thread.set(thread as u32);
                let first = number * self.blocks_in_cluster();
                Err(divergence(&self.residents[first..first + self.blocks_in_cluster()], place))
            }
            _ => Ok(complete),
        }
    }
}

/// The threads of a cluster that have not ended: the block, the thread, how often it has arrived.
fn live(cluster: &[Resident]) -> impl Iterator<Item = (usize, usize, u32)> {
    cluster.iter().enumerate().flat_map(|(number, resident)| {
        let threads = resident.states.iter().zip(&resident.arrived).enumerate();
        let live = threads.filter(|(_, (state, _))| !matches!(state.get(), State::Exited));
        live.map(move |(thread, (_, arrived))| (number, thread, arrived.get()))
    })
}

/// Who waits for whom.
fn divergence(cluster: &[Resident], place: &'static Location<'static>) -> FaultKind {
    let states = live(cluster).map(|(resident, thread, _)| cluster[resident].states[thread].get());
    let (waiting, missing): (Vec<State>, Vec<State>) =
        states.partition(|state| matches!(state, State::Cluster(_)));
    let elsewhere = missing.first().and_then(State::place);
    FaultKind::ClusterDivergence {
        waiting: waiting.len() as u32,
        place,
        missing: missing.len() as u32,
        elsewhere,
    }
}

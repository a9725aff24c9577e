//! Elements that ranks put into each other's memory before a product.

use std::sync::Arc;

use cuda_std::memory::Word;
use gpu_kernels::border::{Arrivals, Inbox, Outbox, put, receive};

use super::peers::Peers;
use super::windows::Windows;
use crate::backend::gpu::{Buffer, Gpu, bytes_of, bytes_of_mut};
use crate::comm::Comm;
use crate::error::Result;
use crate::launch::Address;

/// How many elements go to other ranks, or come from them.
type Counts = [(usize, usize)];

/// What a rank exchanges before a product with one matrix, in windows that the ranks write.
pub(super) struct Channel {
    /// First, so that it goes while what its kernels look at is there.
    windows: Windows,
    peers: Arc<Peers>,
    rank: usize,
    /// Elements that come from others.
    received: usize,
    neighbours: usize,
    /// Which ranks they are, and where each is told.
    ranks: Arc<Buffer>,
    arrivals: Arc<Buffer>,
    /// Bytes that an element takes where it is put.
    slot: u32,
    /// Ranks that get elements: how many each gets with those before it, and where they go.
    receivers: usize,
    ends: Arc<Buffer>,
    targets: Arc<Buffer>,
    epoch: Arc<Buffer>,
}

impl Channel {
    /// For elements in so many bytes each, so many to and from other ranks. All ranks call this.
    pub fn open(
        gpu: &Gpu,
        sends: &Counts,
        receives: &Counts,
        slot: usize,
        peers: &Arc<Peers>,
    ) -> Result<Channel> {
        let comm = peers.comm();
        let received = receives.iter().map(|&(_, count)| count).sum();
        let windows = peers.windows(2 * received * slot)?;
        // Who sends without receiving waits too: until what was sent before has been read.
        let mut neighbours: Vec<usize> = sends.iter().chain(receives).map(|&(rank, _)| rank).collect();
        neighbours.sort_unstable();
        neighbours.dedup();
        let targets = targets(comm, (sends, receives), &windows, slot)?;
        let ends = sends.iter().scan(0, |end, &(_, count)| {
            *end += count as u64;
            Some(*end)
        });
        let ends: Vec<u64> = ends.collect();
        let (rank, device) = (comm.rank(), gpu.device());
        let ranks: Vec<u32> = neighbours.iter().map(|&rank| rank as u32).collect();
        let word = (rank * size_of::<u32>()) as Address;
        let arrivals: Vec<u64> = neighbours.iter().map(|&to| windows.of(to) + word).collect();
        Ok(Channel {
            windows,
            peers: peers.clone(),
            rank,
            received,
            neighbours: neighbours.len(),
            ranks: Buffer::from_slice(device, &ranks)?,
            arrivals: Buffer::from_slice(device, &arrivals)?,
            receivers: sends.len(),
            slot: slot as u32,
            ends: Buffer::from_slice(device, &ends)?,
            targets: Buffer::from_slice(device, &targets)?,
            epoch: Buffer::zeroed(device, size_of::<u32>())?,
        })
    }

    /// Whether anything is exchanged, or a neighbour waits for word of this rank.
    fn has_neighbours(&self) -> bool {
        self.neighbours > 0
    }

    /// Queues that the elements of x at `n` places go to whom they are for.
    ///
    /// # Safety
    /// These are places of x, which is in memory of this device, and elements of T fit into those of the
    /// channel.
    pub unsafe fn put<T: Word>(&self, gpu: &Gpu, n: usize, places: &Buffer, x: *const T) -> Result<()> {
        if !self.has_neighbours() {
            return Ok(());
        }
        let outbox = Outbox {
            receivers: self.receivers as u32,
            ends: self.ends.address as *const u64,
            targets: self.targets.address as *const u64,
            slot: self.slot,
            neighbours: self.neighbours as u32,
            arrivals: self.arrivals.address as *const u64,
            epoch: self.epoch.address as *mut u32,
            counts: self.peers.exchange_counts(),
            counter: gpu.counter(),
        };
        let (places, guard) = (places.address as *const u32, gpu.guard());
        let kernel = put::<T> { n: n as u64, places, x, outbox, guard };
        // SAFETY: the caller's promise. The targets are within windows of ranks that wait for this.
        unsafe { gpu.launch_resident(n, &kernel) }
    }

    /// Where the elements of others are when they have come.
    pub fn inbox<T: Word>(&self) -> Inbox<T> {
        Inbox {
            received: self.windows.places_of(self.rank) as *const T,
            stride: self.received as u64,
            epoch: self.epoch.address as *const u32,
        }
    }

    /// Waits, on the device, until they are there.
    pub fn receive(&self, gpu: &Gpu) -> Result<()> {
        if !self.has_neighbours() {
            return Ok(());
        }
        let arrivals = Arrivals {
            epoch: self.epoch.address as *const u32,
            neighbours: self.neighbours as u32,
            ranks: self.ranks.address as *const u32,
            arrived: self.windows.of(self.rank) as *const u32,
            failed: self.peers.failed(),
        };
        // SAFETY: the words are there as long as the channel is.
        unsafe { gpu.launch_block(&receive { arrivals, guard: gpu.guard() }) }
    }
}

/// The address of the first element that each rank gets, in odd exchanges, and then in even ones.
fn targets(
    comm: &dyn Comm,
    (sends, receives): (&Counts, &Counts),
    windows: &Windows,
    slot: usize,
) -> Result<Vec<u64>> {
    let received: usize = receives.iter().map(|&(_, count)| count).sum();
    // Each tells whom it receives from where that rank's elements begin, and how many there are in all.
    let mut first = 0;
    let told = receives.iter().map(|&(from, count)| {
        let place = [first as u64, received as u64];
        first += count;
        (from, place)
    });
    let told: Vec<(usize, [u64; 2])> = told.collect();
    let messages: Vec<(usize, &[u8])> = told.iter().map(|(from, place)| (*from, bytes_of(place))).collect();
    let mut heard = vec![[0_u64; 2]; sends.len()];
    let mut places: Vec<(usize, &mut [u8])> =
        sends.iter().zip(&mut heard).map(|(&(to, _), place)| (to, bytes_of_mut(place))).collect();
    comm.exchange(&messages, &mut places)?;
    let mut targets = Vec::new();
    for odd in 0..2 {
        for (&(to, _), [first, stride]) in sends.iter().zip(&heard) {
            targets.push(windows.places_of(to) + (odd * stride + first) * slot as u64);
        }
    }
    Ok(targets)
}

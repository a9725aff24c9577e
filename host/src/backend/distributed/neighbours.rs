//! Numbers and elements of the unknowns at the borders of ranks, which their devices tell each other while
//! they set something up.

use std::sync::Arc;

use cuda_std::memory::Word;
use gpu_kernels::border::{take_received, take_zeros};

use super::channel::Channel;
use super::peers::Peers;
use crate::backend::gpu::{Buffer, Gpu};
use crate::comm::{Halo, Runs, one_after_the_other};
use crate::error::Result;

/// How the devices of ranks tell each other about the unknowns that others look at.
pub(crate) struct Neighbours {
    /// From whoever has an unknown to those that look at it, and back.
    there: Way,
    back: Way,
}

/// One way.
struct Way {
    channel: Channel,
    /// Places of what is sent, and of what is received.
    sent: (usize, Arc<Buffer>),
    received: (usize, Arc<Buffer>),
}

/// Bytes of the longest elements.
const SLOT: usize = 8;

impl Way {
    fn open(
        gpu: &Gpu,
        sends: &[(usize, Runs)],
        receives: &[(usize, Runs)],
        peers: &Arc<Peers>,
    ) -> Result<Way> {
        let counts = |lists: &[(usize, Runs)]| -> Vec<(usize, usize)> {
            lists.iter().map(|(rank, places)| (*rank, places.len())).collect()
        };
        let channel = Channel::open(gpu, &counts(sends), &counts(receives), SLOT, peers)?;
        let places = |lists: &[(usize, Runs)]| -> Result<_> {
            let places = one_after_the_other(lists);
            Ok((places.len(), gpu.numbers_of_runs(&places)?.buffer().clone()))
        };
        Ok(Way { channel, sent: places(sends)?, received: places(receives)? })
    }

    /// Sends what is at the places of x, and waits, on the device, for what is received.
    ///
    /// # Safety
    /// As of [`Neighbours::update`].
    unsafe fn exchange<T: Word>(&self, gpu: &Gpu, x: *const T) -> Result<()> {
        // SAFETY: the caller's promise; no element is longer than a slot.
        unsafe { self.channel.put(gpu, self.sent.0, &self.sent.1, x)? };
        self.channel.receive(gpu)
    }

    fn places_received(&self) -> (usize, *const u32) {
        (self.received.0, self.received.1.address as *const u32)
    }
}

impl Neighbours {
    /// Of unknowns that are exchanged so. All ranks call this.
    pub fn new(gpu: &Gpu, Halo { sends, receives }: &Halo, peers: &Arc<Peers>) -> Result<Self> {
        let there = Way::open(gpu, sends, receives, peers)?;
        Ok(Neighbours { there, back: Way::open(gpu, receives, sends, peers)? })
    }

    /// Queues that the elements of others become what their ranks have. All ranks call this.
    ///
    /// # Safety
    /// `x` has an element for each unknown that this rank has or looks at, in memory of this device.
    pub unsafe fn update<T: Word>(&self, gpu: &Gpu, x: *mut T) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.there.exchange(gpu, x)? };
        let (n, places) = self.there.places_received();
        let kernel = take_received::<T> { n: n as u64, places, inbox: self.there.channel.inbox(), x };
        // SAFETY: there is an element at each place, and a place of its own for each that was received.
        unsafe { gpu.launch(n, &kernel) }
    }

    /// Queues that numbers become 0, on all ranks, where any rank has 0 for them. All ranks call this.
    ///
    /// # Safety
    /// As of [`Neighbours::update`].
    pub unsafe fn settle(&self, gpu: &Gpu, numbers: *mut u32) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.back.exchange(gpu, numbers)? };
        let (n, places) = self.back.places_received();
        let kernel = take_zeros { n: n as u64, places, inbox: self.back.channel.inbox(), numbers };
        // SAFETY: there is a number at each place.
        unsafe {
            gpu.launch(n, &kernel)?;
            self.update(gpu, numbers)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::distributed::Distributed;
    use crate::comm::{Comm, Numbering, Team};
    use crate::launch::sim::Sim;
    use crate::setup::DeviceIndices;

    /// Rank r has every third unknown of 50, and looks at those beside them; rank 2 looks at one more.
    fn unknowns(rank: usize) -> Numbering {
        let is_seen = |i: u32| {
            let is_own = |i: u32| i as usize % 3 == rank;
            is_own(i) || is_own(i + 1) && i % 4 != 1 || (rank, i) == (2, 33)
        };
        Numbering::new(rank, (0..50).filter(|&i| is_seen(i)).map(|i| (i, i % 3)), 50)
    }

    #[test]
    fn devices_tell_each_other_what_the_host_would() {
        let on_rank = |team: Team| {
            let (rank, comm) = (team.rank(), Arc::new(team) as Arc<dyn Comm>);
            let gpu = Gpu::new(Arc::new(Sim::strict())).unwrap();
            let backend = Distributed::connected::<f64>(gpu.clone(), comm.clone()).unwrap();
            let (numbering, peers) = (unknowns(rank), backend.peers().unwrap());
            let halo = numbering.halo(&*comm).unwrap();
            let neighbours = Neighbours::new(&gpu, halo, peers).unwrap();
            // Some are 0 on one rank, some on another.
            for round in 0..3 {
                let number = |(k, i): (usize, u32)| (i + 7 * k as u32 + round + rank as u32) % 5 * (i + 1);
                let mut numbers: Vec<u32> = numbering.numbers().iter().enumerate().map(number).collect();
                let there = DeviceIndices::from_slice(gpu.device(), &numbers).unwrap();
                // SAFETY: there is a number for each unknown.
                unsafe { neighbours.settle(&gpu, there.ptr_mut()) }.unwrap();
                halo.settle(&*comm, &mut numbers).unwrap();
                assert_eq!(there.to_host().unwrap(), numbers);
                let mut x: Vec<f64> = numbers.iter().map(|&i| f64::from(i) / 3.0 + rank as f64).collect();
                let mut there = crate::backend::Memory::<f64>::vector(&gpu, &x).unwrap();
                // SAFETY: there is an element for each unknown.
                unsafe { neighbours.update(&gpu, there.ptr_mut()) }.unwrap();
                halo.update(&*comm, &mut x).unwrap();
                assert_eq!(crate::backend::Memory::<f64>::to_host(&gpu, &there).unwrap(), x);
            }
        };
        std::thread::scope(|scope| {
            Team::new(3).into_iter().for_each(|team| drop(scope.spawn(|| on_rank(team))));
        });
    }
}

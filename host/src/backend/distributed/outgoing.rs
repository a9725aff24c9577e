//! Elements on a device that go to other ranks: straight to their devices, or through the host.

use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::border::{Inbox, gather};

use super::channel::Channel;
use super::peers::Peers;
use crate::backend::gpu::{Buffer, DeviceVector, Gpu, transfer};
use crate::backend::memory::check_lengths;
use crate::comm::Links;
use crate::error::Result;

/// The elements that go to other ranks, and the way to them.
pub struct DeviceOutgoing<T: Real> {
    /// Their places.
    places: Arc<Buffer>,
    count: usize,
    /// How many come from others.
    received: usize,
    way: Way<T>,
}

/// How elements come to other ranks.
enum Way<T: Real> {
    /// Through the host, from the first to the second.
    Host(DeviceVector<T>, DeviceVector<T>),
    /// Straight to their devices.
    Peers(Channel),
}

impl<T: Real> DeviceOutgoing<T> {
    /// The elements at the places of `links`. With `peers` all ranks call this.
    pub fn new(gpu: &Gpu, links: &Links, peers: Option<&Arc<Peers>>) -> Result<Self> {
        let (places, received) = (links.places_sent(), links.count_received());
        let way = match peers {
            None => Way::Host(gpu.allocate(places.len())?, gpu.allocate(received)?),
            Some(peers) => {
                let sends: Vec<_> = links.sends.iter().map(|(to, places)| (*to, places.len())).collect();
                Way::Peers(Channel::open(gpu, &sends, &links.receives, size_of::<T>(), peers)?)
            }
        };
        let (count, places) = (places.len(), gpu.numbers_of_runs(&places)?.buffer().clone());
        Ok(DeviceOutgoing { count, received, places, way })
    }

    /// Queues that the elements of x go there; false where they go through the host.
    pub fn put(&self, gpu: &Gpu, x: &DeviceVector<T>) -> Result<bool> {
        match &self.way {
            Way::Host(..) => Ok(false),
            Way::Peers(channel) => {
                // SAFETY: the places are those of elements of x: whoever made the links has checked that.
                unsafe { channel.put(gpu, self.count, &self.places, x.ptr())? };
                Ok(true)
            }
        }
    }

    /// The elements of x, on their way through the host.
    pub fn sent(&self, gpu: &Gpu, x: &DeviceVector<T>, elements: &mut Vec<T>) -> Result<()> {
        let Way::Host(sent, _) = &self.way else { return Ok(()) };
        let n = sent.len();
        let (places, out) = (self.places.address as *const u32, sent.address() as *mut T);
        let kernel = gather { n: n as u64, places, x: x.ptr(), out, guard: gpu.guard() };
        // SAFETY: the places are those of elements of x: whoever made the links has checked that.
        unsafe { gpu.launch(n, &kernel)? };
        *elements = sent.to_host()?;
        Ok(())
    }

    /// Takes what was received by way of the host.
    pub fn deliver(&self, gpu: &Gpu, received: Option<&[T]>) -> Result<()> {
        let (Way::Host(_, place), Some(received)) = (&self.way, received) else { return Ok(()) };
        check_lengths("an exchange", place.len(), &[("the elements received", received.len())])?;
        // SAFETY: the lengths are the same.
        unsafe { transfer::upload(&**gpu.device(), place.address(), received) }
    }

    /// Lets the device wait for what other ranks put.
    pub fn receive(&self, gpu: &Gpu) -> Result<()> {
        match &self.way {
            Way::Host(..) => Ok(()),
            Way::Peers(channel) => channel.receive(gpu),
        }
    }

    /// How many elements come from others.
    pub fn received(&self) -> usize {
        self.received
    }

    /// Where these are.
    pub fn inbox(&self) -> Inbox<T> {
        match &self.way {
            Way::Peers(channel) => channel.inbox(),
            Way::Host(_, received) => Inbox { received: received.ptr(), stride: 0, epoch: std::ptr::null() },
        }
    }
}

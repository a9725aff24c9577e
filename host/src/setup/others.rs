//! What ranks tell each other about the unknowns at their borders.

use std::sync::Arc;

use super::matrix::indices::DeviceIndices;
use crate::backend::distributed::{Neighbours, Peers};
use crate::backend::gpu::Gpu;
use crate::comm::{Comm, Halo, Numbering, Runs, sums};
use crate::error::{Error, Result};

/// The other ranks, and the unknowns that this one has or looks at.
pub struct Others<'a> {
    comm: &'a dyn Comm,
    peers: Option<&'a Arc<Peers>>,
    numbering: &'a Numbering,
}

impl<'a> Others<'a> {
    /// Of the ranks of `comm`; with `peers` where nothing between them goes through the host.
    pub(super) fn new(comm: &'a dyn Comm, peers: Option<&'a Arc<Peers>>, numbering: &'a Numbering) -> Self {
        Others { comm, peers, numbering }
    }

    /// The number of each unknown in the whole.
    pub(super) fn numbers(&self) -> Runs {
        self.numbering.numbers()
    }

    /// The number of an unknown in the whole.
    pub(super) fn number(&self, place: u32) -> u32 {
        self.numbering.number(place)
    }

    /// Which unknown of this rank is at each place.
    pub(super) fn own(&self) -> Runs {
        self.numbering.own().inverse(self.numbering.len())
    }

    /// The unknowns that ranks tell each other about, and how. All ranks call this.
    pub(super) fn border(&self) -> Result<Border<'a>> {
        let (places, halo) = self.numbering.halo(self.comm)?.alone();
        Ok(Border { comm: self.comm, places, halo })
    }

    /// Whether any rank has something to decide. All ranks call this.
    pub(super) fn is_any_open(&self, is_open: bool) -> Result<bool> {
        Ok(sums(self.comm, &[f64::from(u8::from(is_open))])? != [0.0])
    }

    /// How the devices of ranks tell each other, where nothing goes through the host. All ranks call this.
    pub(super) fn neighbours(&self, gpu: &Gpu) -> Result<Option<Arc<Neighbours>>> {
        let of = |peers| self.numbering.neighbours(self.comm, |halo| Neighbours::new(gpu, halo, peers));
        self.peers.map(of).transpose()
    }
}

/// The unknowns that ranks tell each other about through the host.
pub(super) struct Border<'a> {
    comm: &'a dyn Comm,
    /// Their places, ascending.
    pub places: Runs,
    /// Of those places.
    halo: Halo,
}

impl Border<'_> {
    /// The elements of others become those that their ranks have. All ranks call this.
    pub fn update<U: bytemuck::NoUninit + bytemuck::AnyBitPattern>(&self, elements: &mut [U]) -> Result<()> {
        self.halo.update(self.comm, elements)
    }

    /// Numbers become 0, on all ranks, where any rank has 0 for them. All ranks call this.
    pub fn settle(&self, numbers: &mut [u32]) -> Result<()> {
        self.halo.settle(self.comm, numbers)
    }
}

/// How a device of a rank tells the others about the unknowns at its border.
pub(super) enum OnDevice<'a> {
    /// Their devices.
    Devices(Arc<Neighbours>),
    /// Through the host, the unknowns at these places.
    Host(Border<'a>, DeviceIndices),
}

impl<'a> OnDevice<'a> {
    /// All ranks call this.
    pub fn of(gpu: &Gpu, others: &Others<'a>) -> Result<Self> {
        if let Some(neighbours) = others.neighbours(gpu)? {
            return Ok(OnDevice::Devices(neighbours));
        }
        let border = others.border()?;
        let places = gpu.numbers_of_runs(&border.places)?;
        Ok(OnDevice::Host(border, places))
    }

    /// The numbers of others become those that their ranks have. All ranks call this.
    ///
    /// # Safety
    /// There is a number for each unknown that this rank has or looks at, in memory of this device.
    pub unsafe fn update(&self, gpu: &Gpu, numbers: *mut u32) -> Result<()> {
        match self {
            // SAFETY: the caller's promise.
            OnDevice::Devices(neighbours) => unsafe { neighbours.update(gpu, numbers) },
            OnDevice::Host(border, places) => {
                // SAFETY: the border's places are those of numbers, and none is there twice.
                unsafe { gpu.change_numbers_at(numbers, places, |numbers| border.update(numbers)) }
            }
        }
    }

    /// Numbers become 0, on all ranks, where any rank has 0 for them. All ranks call this.
    ///
    /// # Safety
    /// As of [`OnDevice::update`].
    pub unsafe fn settle(&self, gpu: &Gpu, numbers: *mut u32) -> Result<()> {
        match self {
            // SAFETY: the caller's promise.
            OnDevice::Devices(neighbours) => unsafe { neighbours.settle(gpu, numbers) },
            OnDevice::Host(border, places) => {
                // SAFETY: as above.
                unsafe { gpu.change_numbers_at(numbers, places, |numbers| border.settle(numbers)) }
            }
        }
    }
}

/// What a set-up that all ranks make together never asks for.
pub(in crate::setup) fn only_alone(what: &str) -> Error {
    Error::Option(format!("ranks cannot set up {what} together: a mistake of this library"))
}

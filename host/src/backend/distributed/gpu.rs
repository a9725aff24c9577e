//! Borders on a device: a kernel adds their entries to what the product left, before anything else is done
//! with it. Elements go to other ranks' devices straight, or through the host.

use std::sync::{Arc, Mutex, PoisonError};

use cuda_std::Real;
use gpu_kernels::border;

use super::border::{BorderRows, Borders};
use super::channel::Channel;
use super::peers::{OverRanks, Peers};
use crate::backend::gpu::matrix::log2_lanes;
use crate::backend::gpu::{
    Buffer, DeviceMatrix, DeviceScalars, DeviceVector, Gpu, pointer_or_null, slot, transfer,
};
use crate::backend::memory::check_lengths;
use crate::backend::{Coef, Memory, Products, Slot, Then, Vectors};
use crate::comm::Links;
use crate::error::Result;
use crate::launch::Launch;

/// A border in device memory.
pub struct DeviceBorder<T: Real> {
    rows: usize,
    /// Logarithm of the number of lanes that share a row.
    log2_lanes: u32,
    /// Rows, row pointers and columns.
    index: [Arc<Buffer>; 3],
    values: DeviceVector<T>,
    /// Places of the elements that others need.
    places: Arc<Buffer>,
    sends: usize,
    way: Way<T>,
    /// A vector to work with, scalars for coefficients without slots, and for sums.
    scratch: Mutex<(DeviceVector<T>, DeviceScalars<T>)>,
}

/// How elements come to other ranks.
enum Way<T: Real> {
    /// Through the host, from the first to the second.
    Host(DeviceVector<T>, DeviceVector<T>),
    /// Straight to their devices.
    Peers(Channel),
}

impl<T: Real> Borders<T> for Gpu {
    type Border = DeviceBorder<T>;

    fn shared_device(&self) -> Option<&Arc<dyn Launch>> {
        Some(self.device())
    }

    fn border(
        &self,
        border: BorderRows<T>,
        n: usize,
        links: &Links,
        peers: Option<&Arc<Peers>>,
    ) -> Result<DeviceBorder<T>> {
        let BorderRows { rows, entries, sent } = border;
        let row_ptr: Vec<u64> = entries.row_ptr().iter().map(|&p| p as u64).collect();
        let device = self.device();
        let way = match peers {
            None => Way::Host(self.allocate(sent.len())?, self.allocate(entries.n_cols())?),
            Some(peers) => Way::Peers(Channel::open::<T>(self, links, peers)?),
        };
        Ok(DeviceBorder {
            rows: rows.len(),
            log2_lanes: log2_lanes(rows.len(), entries.nnz()),
            index: [
                Buffer::from_slice(device, &rows)?,
                Buffer::from_slice(device, &row_ptr)?,
                Buffer::from_slice(device, entries.col_idx())?,
            ],
            values: self.vector(entries.values())?,
            places: Buffer::from_slice(device, &sent)?,
            sends: sent.len(),
            way,
            scratch: Mutex::new((self.allocate(n)?, self.allocate(2)?)),
        })
    }

    fn put(&self, border: &DeviceBorder<T>, x: &DeviceVector<T>) -> Result<bool> {
        match &border.way {
            Way::Host(..) => Ok(false),
            Way::Peers(channel) => channel.put(self, border.sends, &border.places, x).map(|()| true),
        }
    }

    fn sent(&self, border: &DeviceBorder<T>, x: &DeviceVector<T>, elements: &mut Vec<T>) -> Result<()> {
        let Way::Host(sent, _) = &border.way else { return Ok(()) };
        let n = sent.len();
        let (places, out) = (border.places.address as *const u32, sent.address() as *mut T);
        let kernel = border::gather { n: n as u64, places, x: x.ptr(), out, guard: self.guard() };
        // SAFETY: the places are those of elements of x: `DistributedMatrix::new` has checked that.
        unsafe { self.launch(n, &kernel)? };
        *elements = sent.to_host()?;
        Ok(())
    }

    fn reduce_over(&self, peers: &Peers, s: &DeviceScalars<T>, over: OverRanks) -> Result<()> {
        peers.reduce(self, s, over)
    }

    fn multiply_with_border(
        &self,
        a: &DeviceMatrix<T>,
        border: &DeviceBorder<T>,
        received: Option<&[T]>,
        x: &DeviceVector<T>,
        then: Then<T, Self>,
    ) -> Result<()> {
        if let (Way::Host(_, place), Some(received)) = (&border.way, received) {
            check_lengths("a product", place.len(), &[("the elements received", received.len())])?;
            // SAFETY: the lengths are the same.
            unsafe { transfer::upload(&**self.device(), place.address(), received)? };
        }
        let mut scratch = border.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let (rest, s) = &mut *scratch;
        match then {
            Then::Store { y } => {
                self.multiply(a, x, Then::Store { y: &mut *y })?;
                self.add_border(border, T::ONE, None, y)
            }
            Then::Add { y } => {
                self.multiply(a, x, Then::Add { y: &mut *y })?;
                self.add_border(border, T::ONE, None, y)
            }
            Then::Scaled { omega, d, y, z } => {
                self.multiply(a, x, Then::Store { y: &mut *y })?;
                self.add_border(border, T::ONE, None, y)?;
                self.scale_rows(omega, d, y, z)
            }
            Then::Residual { b, r } => {
                self.multiply(a, x, Then::Residual { b, r: &mut *r })?;
                self.add_border(border, -T::ONE, None, r)
            }
            Then::Sweep { omega, d, b, y } if d.len() == b.len() => {
                self.multiply(a, x, Then::Sweep { omega, d, b, y: &mut *y })?;
                self.add_border(border, -omega, Some(d), y)
            }
            Then::SweepAdd { omega, d, b, y } => {
                self.multiply(a, x, Then::SweepAdd { omega, d, b, y: &mut *y })?;
                self.add_border(border, -omega, Some(d), y)
            }
            Then::Sweep { omega, d, b, y } => {
                self.multiply(a, x, Then::Residual { b, r: &mut *rest })?;
                self.add_border(border, -T::ONE, None, rest)?;
                self.scale_rows(omega, d, rest, y)?;
                self.axpby(s, Coef::ONE, x, Coef::ONE, y)
            }
            Then::SweepNorm { omega, d, b, y, s: scalars, out, .. } => {
                self.multiply(a, x, Then::Residual { b, r: &mut *rest })?;
                self.add_border(border, -T::ONE, None, rest)?;
                self.dot(rest, rest, scalars, out)?;
                self.scale_rows(omega, d, rest, y)?;
                self.axpby(s, Coef::ONE, x, Coef::ONE, y)
            }
            Then::Dot { w, y, s: scalars, out } => {
                self.multiply(a, x, Then::Dot { w, y: &mut *y, s: scalars, out })?;
                self.add_border_dot(border, w, y, s, slot(scalars, out))
            }
        }
    }
}

impl Gpu {
    /// `y += a D E x` with E the entries of the border and x what was received; `d = None` means D = I.
    fn add_border<T: Real>(
        &self,
        border: &DeviceBorder<T>,
        a: T,
        d: Option<&DeviceVector<T>>,
        y: &mut DeviceVector<T>,
    ) -> Result<()> {
        border.receive(self)?;
        let (d, y, guard) = (pointer_or_null(d), y.ptr_mut(), self.guard());
        let kernel = border::add_border { border: border.entries(), inbox: border.inbox(), a, d, y, guard };
        // SAFETY: rows are those of y and d, and columns those of what was received: `DistributedMatrix::new`
        // and the matrix's own checks have seen to that.
        unsafe { self.launch(border.threads(), &kernel) }
    }

    /// `y += E x`, and `dots`, the products (w, y) and (y, y), become those of now; `s` is to work with.
    fn add_border_dot<T: Real>(
        &self,
        border: &DeviceBorder<T>,
        w: &DeviceVector<T>,
        y: &mut DeviceVector<T>,
        s: &DeviceScalars<T>,
        dots: *mut T,
    ) -> Result<()> {
        border.receive(self)?;
        if border.rows == 0 {
            return Ok(());
        }
        let kernel = border::add_border_dot {
            border: border.entries(),
            inbox: border.inbox(),
            w: w.ptr(),
            y: y.ptr_mut(),
            dots,
            reduction: self.reduction(s, Slot(0)),
            guard: self.guard(),
        };
        // SAFETY: as above; the product has checked the slots of the dot products.
        unsafe { self.launch_reduction(border.threads(), &kernel) }
    }
}

impl<T: Real> DeviceBorder<T> {
    /// Threads that a kernel over its rows needs.
    fn threads(&self) -> usize {
        self.rows << self.log2_lanes
    }

    /// Lets the device wait for what other ranks put.
    fn receive(&self, gpu: &Gpu) -> Result<()> {
        match &self.way {
            Way::Host(..) => Ok(()),
            Way::Peers(channel) => channel.receive(gpu),
        }
    }

    fn entries(&self) -> border::Border<T> {
        let [rows, row_ptr, columns] = &self.index;
        border::Border {
            n: self.rows as u64,
            rows: rows.address as *const u32,
            row_ptr: row_ptr.address as *const u64,
            columns: columns.address as *const u32,
            values: self.values.ptr(),
            log2_lanes: self.log2_lanes,
        }
    }

    fn inbox(&self) -> border::Inbox<T> {
        match &self.way {
            Way::Peers(channel) => channel.inbox(),
            Way::Host(_, received) => {
                border::Inbox { received: received.ptr(), stride: 0, epoch: std::ptr::null() }
            }
        }
    }
}

//! Borders on a device: a kernel adds their entries to what the product left, before anything else is done
//! with it.

use std::sync::{Arc, Mutex, PoisonError};

use cuda_std::Real;
use gpu_kernels::border;

use super::border::{BorderRows, Borders};
use super::outgoing::DeviceOutgoing;
use super::peers::{OverRanks, Peers};
use crate::backend::gpu::buffer::check_reach;
use crate::backend::gpu::matrix::log2_lanes;
use crate::backend::gpu::{Buffer, DeviceMatrix, DeviceScalars, DeviceVector, Gpu, pointer_or_null, slot};
use crate::backend::memory::check_lengths;
use crate::backend::{Coef, Memory, Products, Slot, Then, Vectors};
use crate::comm::{Links, Runs};
use crate::error::{Error, Result};
use crate::launch::Launch;

/// A border in device memory.
pub struct DeviceBorder<T: Real> {
    rows: usize,
    /// Logarithm of the number of lanes that share a row.
    log2_lanes: u32,
    /// Rows, row pointers and columns.
    index: [Arc<Buffer>; 3],
    values: DeviceVector<T>,
    /// A vector to work with, scalars for coefficients without slots, and for sums.
    scratch: Mutex<(DeviceVector<T>, DeviceScalars<T>)>,
}

/// Sources in device memory.
pub struct DeviceSources {
    n: usize,
    n_own: usize,
    /// Elements that they need of others, counted up to the last one.
    n_received: usize,
    sources: Arc<Buffer>,
}

impl<T: Real> Borders<T> for Gpu {
    type Outgoing = DeviceOutgoing<T>;
    type Border = DeviceBorder<T>;
    type Sources = DeviceSources;

    fn shared_device(&self) -> Option<&Arc<dyn Launch>> {
        Some(self.device())
    }

    fn outgoing(&self, links: &Links, peers: Option<&Arc<Peers>>) -> Result<DeviceOutgoing<T>> {
        DeviceOutgoing::new(self, links, peers)
    }

    fn border(&self, BorderRows { rows, entries }: BorderRows<T>, n: usize) -> Result<DeviceBorder<T>> {
        check_reach(entries.nnz() as u64)?;
        let row_ptr: Vec<u32> = entries.row_ptr().iter().map(|&p| p as u32).collect();
        let device = self.device();
        let index = [
            Buffer::from_slice(device, &rows)?,
            Buffer::from_slice(device, &row_ptr)?,
            Buffer::from_slice(device, entries.col_idx())?,
        ];
        DeviceBorder::new(self, rows.len(), index, self.vector(entries.values())?, n)
    }

    fn sources(&self, sources: &Runs, n_own: usize) -> Result<DeviceSources> {
        let (n, n_received) = (sources.len(), sources.end().saturating_sub(n_own));
        Ok(DeviceSources { n, n_own, n_received, sources: self.numbers_of_runs(sources)?.buffer().clone() })
    }

    fn put(&self, outgoing: &DeviceOutgoing<T>, x: &DeviceVector<T>) -> Result<bool> {
        outgoing.put(self, x)
    }

    fn sent(&self, outgoing: &DeviceOutgoing<T>, x: &DeviceVector<T>, elements: &mut Vec<T>) -> Result<()> {
        outgoing.sent(self, x, elements)
    }

    fn arrange(
        &self,
        (sources, outgoing): (&DeviceSources, &DeviceOutgoing<T>),
        received: Option<&[T]>,
        x: &DeviceVector<T>,
        y: &mut DeviceVector<T>,
    ) -> Result<()> {
        let &DeviceSources { n, n_own, n_received, ref sources } = sources;
        check_lengths("elements to arrange", n, &[("the result", y.len())])?;
        check_lengths("elements to arrange", n_own, &[("their vector", x.len())])?;
        if n_received > outgoing.received() {
            return Err(Error::Matrix(format!(
                "{n_received} elements are to come from other ranks, and fewer do"
            )));
        }
        outgoing.deliver(self, received)?;
        outgoing.receive(self)?;
        let kernel = border::arrange {
            n: n as u64,
            source: sources.address as *const u32,
            n_own: n_own as u64,
            x: x.ptr(),
            inbox: outgoing.inbox(),
            y: y.ptr_mut(),
            guard: self.guard(),
        };
        // SAFETY: the sources are within the vectors and what is received, as checked above.
        unsafe { self.launch(n, &kernel) }
    }

    fn reduce_over(&self, peers: &Peers, s: &DeviceScalars<T>, over: OverRanks) -> Result<()> {
        peers.reduce(self, s, over)
    }

    fn multiply_with_border(
        &self,
        a: &DeviceMatrix<T>,
        border: (&DeviceBorder<T>, &DeviceOutgoing<T>),
        received: Option<&[T]>,
        x: &DeviceVector<T>,
        then: Then<T, Self>,
    ) -> Result<()> {
        border.1.deliver(self, received)?;
        let mut scratch = border.0.scratch.lock().unwrap_or_else(PoisonError::into_inner);
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
        (border, outgoing): (&DeviceBorder<T>, &DeviceOutgoing<T>),
        a: T,
        d: Option<&DeviceVector<T>>,
        y: &mut DeviceVector<T>,
    ) -> Result<()> {
        outgoing.receive(self)?;
        let (d, y, guard) = (pointer_or_null(d), y.ptr_mut(), self.guard());
        let kernel = border::add_border { border: border.entries(), inbox: outgoing.inbox(), a, d, y, guard };
        // SAFETY: rows are those of y and d, and columns those of what was received: `DistributedMatrix::new`
        // and the matrix's own checks have seen to that.
        unsafe { self.launch(border.threads(), &kernel) }
    }

    /// `y += E x`, and `dots`, the products (w, y) and (y, y), become those of now; `s` is to work with.
    fn add_border_dot<T: Real>(
        &self,
        (border, outgoing): (&DeviceBorder<T>, &DeviceOutgoing<T>),
        w: &DeviceVector<T>,
        y: &mut DeviceVector<T>,
        s: &DeviceScalars<T>,
        dots: *mut T,
    ) -> Result<()> {
        outgoing.receive(self)?;
        if border.rows == 0 {
            return Ok(());
        }
        let kernel = border::add_border_dot {
            border: border.entries(),
            inbox: outgoing.inbox(),
            w: w.ptr(),
            y: y.ptr_mut(),
            dots,
            reduction: self.reduction(s, Slot(0)),
            guard: self.guard(),
        };
        // SAFETY: as above; the product has checked the slots of the dot products.
        unsafe { self.launch_resident(border.threads(), &kernel) }
    }
}

impl<T: Real> DeviceBorder<T> {
    /// So many rows of a matrix of `n`: which these are, row pointers and columns, and values.
    pub(crate) fn new(
        gpu: &Gpu,
        rows: usize,
        index: [Arc<Buffer>; 3],
        values: DeviceVector<T>,
        n: usize,
    ) -> Result<Self> {
        let log2_lanes = log2_lanes(rows, values.len());
        let scratch = Mutex::new((gpu.allocate(n)?, gpu.allocate(2)?));
        Ok(DeviceBorder { rows, log2_lanes, index, values, scratch })
    }

    /// Threads that a kernel over its rows needs.
    fn threads(&self) -> usize {
        self.rows << self.log2_lanes
    }

    fn entries(&self) -> border::Border<T> {
        let [rows, row_ptr, columns] = &self.index;
        border::Border {
            n: self.rows as u64,
            rows: rows.address as *const u32,
            row_ptr: row_ptr.address as *const u32,
            columns: columns.address as *const u32,
            values: self.values.ptr(),
            log2_lanes: self.log2_lanes,
        }
    }
}

//! GPUs, and the simulator: every launch of a kernel goes through [`Gpu`].

use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

use cuda_std::Real;
use cuda_std::host::Kernel;
use gpu_kernels::coefficient::Coefficient;
use gpu_kernels::monitor::Guard;
use gpu_kernels::reduce::Reduction;
use gpu_kernels::{BLOCK, MAX_REDUCTION_BLOCKS};

use super::{Coef, Slot, check_slots};
use crate::error::Result;
use crate::launch::{Launch, notice, sim::Sim};

pub(crate) mod buffer;
mod cells;
mod coded;
mod columns;
pub(crate) mod matrix;
mod memory;
mod monitor;
mod monitoring;
mod native;
mod products;
mod shared;
pub(crate) mod short_indices;
mod together;
pub(crate) mod transfer;
mod update;
mod vectors;
mod work;

pub(crate) use buffer::Buffer;
pub use buffer::{DeviceScalars, DeviceVector, check_memory};
pub use matrix::DeviceMatrix;
pub use monitor::DeviceMonitor;
pub use native::{Argument, Arrangement, MatrixAddresses, NativeModule};
use together::Together;
pub(crate) use transfer::{bytes_of, bytes_of_mut};
pub(crate) use work::Work;

/// Sums that one launch makes at most, and the most blocks of such a launch; scratch memory is sized by them.
pub(crate) const MAX_SUMS: u32 = 36;
/// See [`MAX_SUMS`].
pub(crate) const MAX_SUM_BLOCKS: u32 = 1024;

/// The guard of a launch that nothing stops.
pub(crate) const UNGUARDED: Guard = Guard { state: std::ptr::null_mut(), mirror: std::ptr::null_mut() };

/// A backend that launches kernels on one device.
#[derive(Clone)]
pub struct Gpu {
    device: Arc<dyn Launch>,
    partials: Arc<Buffer>,
    counter: Arc<Buffer>,
    guard: Option<DeviceMonitor>,
    /// Where launches wait for those of other columns, if it computes one of several.
    together: Option<Arc<Together>>,
}

impl Gpu {
    /// A backend on `device`. Takes a little device memory for reductions.
    pub fn new(device: Arc<dyn Launch>) -> Result<Self> {
        let partials = (2 * MAX_REDUCTION_BLOCKS).max(MAX_SUMS * MAX_SUM_BLOCKS) as usize;
        let partials = Buffer::new(&device, partials * size_of::<f64>())?;
        let counter = Buffer::zeroed(&device, size_of::<u32>())?;
        Ok(Gpu { device, partials, counter, guard: None, together: None })
    }

    /// A backend on the simulator.
    pub fn simulated() -> Result<Self> {
        Gpu::new(Arc::new(Sim::new()))
    }

    /// Others for `count` columns that do the same at once.
    pub(super) fn columns(&self, count: usize) -> Result<(Vec<Gpu>, Option<Arc<Together>>)> {
        let together = Together::on(&self.device);
        let column = |_| Ok(Gpu { together: together.clone(), ..Gpu::new(self.device.clone())? });
        Ok(((0..count).map(column).collect::<Result<_>>()?, together.clone()))
    }

    /// The device.
    pub fn device(&self) -> &Arc<dyn Launch> {
        &self.device
    }

    /// Launches with as many blocks as the threads of the work take.
    ///
    /// # Safety
    /// The kernel's arguments are addresses of this device, of memory with room for all that the kernel reads
    /// and writes. It may be given back as soon as this returns: that is queued behind the kernel.
    #[track_caller]
    pub(crate) unsafe fn launch(&self, work: impl Into<Work>, kernel: &dyn Kernel) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.launch_in_blocks_of(BLOCK, work, kernel) }
    }

    /// [`Gpu::launch`] with blocks of so many threads.
    ///
    /// # Safety
    /// As of [`Gpu::launch`].
    #[track_caller]
    pub(crate) unsafe fn launch_in_blocks_of(
        &self,
        block: u32,
        work: impl Into<Work>,
        kernel: &dyn Kernel,
    ) -> Result<()> {
        let Work { threads, bytes } = work.into();
        // A kernel may stop its guard, also on a rank without rows: one block at least.
        let least = usize::from(self.guard.is_some());
        let blocks = threads.div_ceil(block as usize).max(least) as u32;
        // SAFETY: the caller's promise.
        unsafe { self.queue(bytes, [blocks, block], kernel) }
    }

    /// Launches at least one block, and no more than are resident at once: a kernel with a reduction, whose
    /// result is written even for empty vectors, and whose every block costs a partial sum; or one whose
    /// blocks take many rows.
    ///
    /// # Safety
    /// As of [`Gpu::launch`].
    #[track_caller]
    pub(crate) unsafe fn launch_resident(&self, work: impl Into<Work>, kernel: &dyn Kernel) -> Result<()> {
        let Work { threads, bytes } = work.into();
        let resident = self.device.resident_blocks(kernel.name(), BLOCK)?;
        let most = resident.min(MAX_REDUCTION_BLOCKS) as usize;
        let blocks = threads.div_ceil(BLOCK as usize).clamp(1, most);
        // SAFETY: the caller's promise.
        unsafe { self.queue(bytes, [blocks as u32, BLOCK], kernel) }
    }

    /// Launches one block.
    ///
    /// # Safety
    /// As of [`Gpu::launch`].
    #[track_caller]
    pub(crate) unsafe fn launch_block(&self, kernel: &dyn Kernel) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.queue(None, [1, BLOCK], kernel) }
    }

    /// Queues a kernel on so many blocks of so many threads, with a notice where that is wanted.
    ///
    /// # Safety
    /// As of [`Gpu::launch`].
    #[track_caller]
    pub(crate) unsafe fn queue(
        &self,
        bytes: Option<u64>,
        [grid, block]: [u32; 2],
        kernel: &dyn Kernel,
    ) -> Result<()> {
        if let Some(together) = &self.together
            && together.takes(self.counter.address, bytes, [grid, block], kernel)?
        {
            return Ok(());
        }
        notice::launch(self.device.info(), kernel.name(), [grid, block], Location::caller());
        // SAFETY: the caller's promise.
        unsafe { self.device.launch_moving(bytes, grid, block, kernel) }
    }

    pub(crate) fn guard(&self) -> Guard {
        self.guard.as_ref().map_or(UNGUARDED, DeviceMonitor::guard)
    }

    pub(crate) fn reduction<T: Real>(&self, s: &DeviceScalars<T>, out: Slot) -> Reduction<T> {
        Reduction { partials: self.partials(), counter: self.counter(), out: slot(s, out) }
    }

    /// Room for the partial sums of one launch.
    pub(crate) fn partials<T>(&self) -> *mut T {
        self.partials.address as *mut T
    }

    /// The counter of a launch's blocks that have ended; 0 between launches.
    pub(crate) fn counter(&self) -> *mut u32 {
        self.counter.address as *mut u32
    }

    pub(crate) fn allocate<T: Real>(&self, len: usize) -> Result<DeviceVector<T>> {
        let buffer = Buffer::zeroed(&self.device, len * size_of::<T>())?;
        Ok(DeviceVector { buffer, offset: 0, len, element: PhantomData })
    }
}

/// The address of a scalar, which exists: callers have checked that.
pub(crate) fn slot<T: Real>(s: &DeviceScalars<T>, slot: Slot) -> *mut T {
    debug_assert!(slot.0 < s.len);
    (s.address() as *mut T).wrapping_add(slot.0)
}

/// The coefficient's addresses. [`Error::Length`](crate::Error::Length) for a slot that is not there.
pub(crate) fn coefficient<T: Real>(s: &DeviceScalars<T>, coef: Coef) -> Result<Coefficient<T>> {
    let slots = coef.num.iter().chain(&coef.den).flatten();
    slots.into_iter().try_for_each(|&slot| check_slots("a coefficient", s.len, slot, 1))?;
    let pointer =
        |slot_or_one: Option<Slot>| slot_or_one.map_or(std::ptr::null(), |i| slot(s, i).cast_const());
    Ok(Coefficient { scale: T::from_f64(coef.scale), num: coef.num.map(pointer), den: coef.den.map(pointer) })
}

/// Rows of the blocks on the diagonal of the matrix that `d` stands for, one of as many rows as `x` has.
pub(crate) fn block_of<T: Real>(d: &DeviceVector<T>, x: &DeviceVector<T>) -> usize {
    // A rank may have no rows.
    (d.len / x.len.max(1)).max(1)
}

/// How many vectors `x` and `y` are.
fn distinct<T: Real>(x: &DeviceVector<T>, y: &DeviceVector<T>) -> usize {
    1 + usize::from(x.address() != y.address())
}

pub(crate) fn pointer_or_null<T: Real>(d: Option<&DeviceVector<T>>) -> *const T {
    d.map_or(std::ptr::null(), |d| d.ptr())
}

pub(crate) fn constant<T: Real>(scale: f64) -> Coefficient<T> {
    Coefficient { scale: T::from_f64(scale), num: [std::ptr::null(); 2], den: [std::ptr::null(); 2] }
}

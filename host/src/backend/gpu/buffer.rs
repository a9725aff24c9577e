//! Device memory that is given back when its last user is gone.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use cuda_std::{Real, memory::Word, warp::WARP_SIZE};

use super::transfer;
use crate::backend::Length;
use crate::backend::memory::check_lengths;
use crate::error::{Error, Result};
use crate::launch::{Address, Handle, Launch};
use crate::pages::in_large_pages;

/// A block of device memory.
pub(crate) struct Buffer {
    device: Arc<dyn Launch>,
    pub(crate) address: Address,
    bytes: usize,
    /// Who gives memory back that the device did not allocate.
    owner: Option<Box<dyn Any + Send + Sync>>,
}

impl Buffer {
    pub(crate) fn new(device: &Arc<dyn Launch>, bytes: usize) -> Result<Arc<Self>> {
        let address = device.alloc(bytes.max(1))?;
        Ok(Arc::new(Buffer { device: device.clone(), address, bytes, owner: None }))
    }

    /// Memory that the host reads while kernels write it.
    pub(crate) fn host_visible(device: &Arc<dyn Launch>, bytes: usize) -> Result<Arc<Self>> {
        let address = device.alloc_host_visible(bytes)?;
        Ok(Arc::new(Buffer { device: device.clone(), address, bytes, owner: None }))
    }

    /// Memory that other devices can use too, when this one is done with what is queued.
    pub(crate) fn shared(device: &Arc<dyn Launch>, bytes: usize) -> Result<Arc<Self>> {
        let address = device.alloc_shared(bytes)?;
        Ok(Arc::new(Buffer { device: device.clone(), address, bytes, owner: None }))
    }

    /// A copy of this there.
    pub(crate) fn shared_copy(&self) -> Result<Arc<Self>> {
        let copy = Buffer::shared(&self.device, self.bytes)?;
        // SAFETY: both have this size.
        unsafe { self.device.copy(copy.address, self.address, self.bytes)? };
        Ok(copy)
    }

    /// The same for devices of other processes, and how they find it.
    pub(crate) fn exported(device: &Arc<dyn Launch>, bytes: usize) -> Result<(Arc<Self>, Handle)> {
        let (address, handle) = device.alloc_exported(bytes)?;
        Ok((Arc::new(Buffer { device: device.clone(), address, bytes, owner: None }), handle))
    }

    #[track_caller]
    pub(crate) fn from_slice<U: Word>(device: &Arc<dyn Launch>, values: &[U]) -> Result<Arc<Self>> {
        let buffer = Buffer::new(device, size_of_val(values))?;
        // SAFETY: just allocated with this size.
        unsafe { transfer::upload(&**device, buffer.address, values)? };
        Ok(buffer)
    }

    /// A copy in memory of `device` of what another device has finished. It is queued.
    pub(crate) fn copied(device: &Arc<dyn Launch>, from: &Buffer) -> Result<Arc<Self>> {
        let buffer = Buffer::new(device, from.bytes)?;
        // SAFETY: both have this size. Whoever asks for the copy keeps `from` until it is done.
        unsafe { device.copy_from(buffer.address, &**from.device(), from.address, from.bytes)? };
        Ok(buffer)
    }

    /// Memory that `owner` gives back when this is gone.
    ///
    /// # Safety
    /// The device can use so many bytes there until then.
    pub(crate) unsafe fn owned_by(
        device: &Arc<dyn Launch>,
        address: Address,
        bytes: usize,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Arc<Self> {
        Arc::new(Buffer { device: device.clone(), address, bytes, owner: Some(owner) })
    }

    /// The owner of the memory, if that is of this type. Whoever takes it lets nothing use the buffer any
    /// more.
    pub(crate) fn take_owner<O: Any>(&mut self) -> Option<O> {
        let owner = self.owner.as_mut().filter(|owner| (***owner).is::<O>())?;
        std::mem::replace(owner, Box::new(())).downcast().ok().map(|owner| *owner)
    }

    /// Its size.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// The device that it is on.
    pub(crate) fn device(&self) -> &Arc<dyn Launch> {
        &self.device
    }

    pub(crate) fn zeroed(device: &Arc<dyn Launch>, bytes: usize) -> Result<Arc<Self>> {
        let buffer = Buffer::new(device, bytes)?;
        // SAFETY: just allocated with this size.
        unsafe { device.zero(buffer.address, bytes)? };
        Ok(buffer)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        match self.owner.take() {
            // SAFETY: the address came from this device, and this is its only owner.
            None => unsafe { self.device.free(self.address) },
            Some(owner) => {
                // What is queued may use it. A fault that comes up here comes up again in the next call.
                let _ = self.device.synchronize();
                drop(owner);
            }
        }
    }
}

/// The first `len` elements of a buffer.
#[track_caller]
pub(crate) fn download<U: Word>(buffer: &Buffer, len: usize, zero: U) -> Result<Vec<U>> {
    let mut values = vec![zero; len];
    // SAFETY: the buffer has at least that many elements.
    unsafe { transfer::download(&**buffer.device(), &mut values, buffer.address)? };
    Ok(values)
}

/// Scalars in device memory.
pub type DeviceScalars<T> = DeviceVector<T>;

/// A vector in device memory: a whole allocation, or a column of one.
pub struct DeviceVector<T> {
    pub(crate) buffer: Arc<Buffer>,
    pub(crate) offset: usize,
    pub(crate) len: usize,
    pub(crate) element: PhantomData<T>,
}

impl<T: Real> DeviceVector<T> {
    /// Where the elements are, for kernels that read them.
    pub(crate) fn ptr(&self) -> *const T {
        self.address() as *const T
    }
    /// Where the elements are, for kernels that write them.
    pub(crate) fn ptr_mut(&mut self) -> *mut T {
        self.address() as *mut T
    }
    pub(crate) fn address(&self) -> Address {
        self.buffer.address + (self.offset * size_of::<T>()) as u64
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[track_caller]
    pub(crate) fn to_host(&self) -> Result<Vec<T>> {
        let mut values = in_large_pages(vec![T::ZERO; self.len]);
        self.copy_to_host(&mut values)?;
        Ok(values)
    }

    /// Fills `values` with the elements.
    #[track_caller]
    pub(crate) fn copy_to_host(&self, values: &mut [T]) -> Result<()> {
        check_lengths("a copy to the host", self.len, &[("values", values.len())])?;
        // SAFETY: both are valid for this many bytes.
        unsafe { transfer::download(&*self.buffer.device, values, self.address()) }
    }
}

/// Entries that 32-bit row pointers reach. Lanes look at places behind the end of a row, which must not come
/// to 0 again.
const REACH: u64 = u32::MAX as u64 - 2 * WARP_SIZE as u64;

/// [`Error::Reach`] where so many entries are more than 32-bit row pointers reach.
pub(crate) fn check_reach(nnz: u64) -> Result<()> {
    if nnz <= REACH {
        return Ok(());
    }
    Err(Error::Reach { nnz })
}

/// Refuses a solve that the device cannot hold, before anything is allocated.
///
/// `parts` are (what, bytes).
pub fn check_memory(device: &dyn Launch, parts: &[(&str, u64)]) -> Result<()> {
    let needed: u64 = parts.iter().map(|p| p.1).sum();
    let (free, total) = device.memory()?;
    if needed <= free {
        return Ok(());
    }
    let detail: Vec<String> =
        parts.iter().map(|(what, bytes)| format!("{what} {:.1} MiB", *bytes as f64 / 1048576.0)).collect();
    Err(Error::DeviceMemory {
        device: device.info().name.clone(),
        needed,
        free,
        total,
        detail: detail.join(", "),
    })
}

impl<T> Length for DeviceVector<T> {
    fn length(&self) -> usize {
        self.len
    }
}

impl<T: Real> DeviceVector<T> {
    /// The distance in elements of vectors that lie side by side, as those of [`Memory::vectors`] do.
    ///
    /// [`Error::Option`] for others.
    pub(crate) fn distance(vectors: &[DeviceVector<T>]) -> Result<usize> {
        let distance = if vectors.len() > 1 { vectors[1].offset.wrapping_sub(vectors[0].offset) } else { 0 };
        let in_place = |(k, v): (usize, &DeviceVector<T>)| {
            Arc::ptr_eq(&v.buffer, &vectors[0].buffer)
                && v.offset == vectors[0].offset.wrapping_add(k.wrapping_mul(distance))
        };
        if vectors.iter().enumerate().all(in_place) {
            return Ok(distance);
        }
        Err(Error::Option("a basis must be vectors that were made together, in their order".into()))
    }
}

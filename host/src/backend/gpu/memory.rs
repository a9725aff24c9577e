//! Device memory that is given back when its last user is gone.

use std::marker::PhantomData;
use std::sync::Arc;

use cuda_std::{Real, memory::Word};

use crate::error::{Error, Result};
use crate::launch::{Address, Launch};

/// A block of device memory.
pub(super) struct Buffer {
    device: Arc<dyn Launch>,
    pub(super) address: Address,
}

impl Buffer {
    pub(super) fn new(device: &Arc<dyn Launch>, bytes: usize) -> Result<Arc<Self>> {
        let address = device.alloc(bytes.max(1))?;
        Ok(Arc::new(Buffer { device: device.clone(), address }))
    }

    /// Memory that the host reads while kernels write it.
    pub(super) fn host_visible(device: &Arc<dyn Launch>, bytes: usize) -> Result<Arc<Self>> {
        let address = device.alloc_host_visible(bytes)?;
        Ok(Arc::new(Buffer { device: device.clone(), address }))
    }

    pub(super) fn from_slice<U: Word>(device: &Arc<dyn Launch>, values: &[U]) -> Result<Arc<Self>> {
        let buffer = Buffer::new(device, size_of_val(values))?;
        // SAFETY: just allocated with this size.
        unsafe { device.upload(buffer.address, bytes_of(values))? };
        Ok(buffer)
    }

    /// The device that it is on.
    pub(super) fn device(&self) -> &Arc<dyn Launch> {
        &self.device
    }

    pub(super) fn zeroed(device: &Arc<dyn Launch>, bytes: usize) -> Result<Arc<Self>> {
        let buffer = Buffer::new(device, bytes)?;
        // SAFETY: just allocated with this size.
        unsafe { device.zero(buffer.address, bytes)? };
        Ok(buffer)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the address came from this device, and this is its only owner.
        unsafe { self.device.free(self.address) };
    }
}

/// A vector in device memory: a whole allocation, or a column of one.
pub struct DeviceVector<T> {
    pub(super) buffer: Arc<Buffer>,
    pub(super) offset: usize,
    pub(super) len: usize,
    pub(super) element: PhantomData<T>,
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
    pub(super) fn address(&self) -> Address {
        self.buffer.address + (self.offset * size_of::<T>()) as u64
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn to_host(&self) -> Result<Vec<T>> {
        let mut values = vec![T::ZERO; self.len];
        // SAFETY: both are valid for this many bytes.
        unsafe { self.buffer.device.download(bytes_of_mut(&mut values), self.address())? };
        Ok(values)
    }
}

pub(super) fn bytes_of<U: Word>(values: &[U]) -> &[u8] {
    // SAFETY: words have no padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

pub(super) fn bytes_of_mut<U: Word>(values: &mut [U]) -> &mut [u8] {
    // SAFETY: words have no padding, and every bit pattern is a value.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
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

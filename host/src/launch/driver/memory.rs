//! Device memory that is taken and given back in the order of the stream.
//!
//! `cuMemAlloc` and `cuMemFree` go to the operating system, and what is freed must not be in use: the host
//! would wait for the device at every release. A device's pool keeps what is given back, and both calls are
//! queued like a kernel: a set-up that needs hundreds of buffers for a moment each never waits.

use super::status::{check, failed};
use crate::error::{Error, Result};
use crate::launch::Address;
use cust::device::{Device, DeviceAttribute};
use cust::memory::{cuda_free_locked, cuda_malloc_locked};
use cust::sys::{self, CUmemPool_attribute, CUmemoryPool, CUresult, CUstream};

const SUCCESS: CUresult = CUresult::CUDA_SUCCESS;

/// The device's memory. Its context is current in every call.
pub(super) struct DeviceMemory {
    /// The device's default pool. None where the device or its driver has no pools.
    pool: Option<CUmemoryPool>,
}

// SAFETY: a pool's handle belongs to the process, and the driver locks what is behind it.
unsafe impl Send for DeviceMemory {}
// SAFETY: as above.
unsafe impl Sync for DeviceMemory {}

impl DeviceMemory {
    /// The memory of `device`. Its pool, if it has one, keeps all that is given back.
    pub(super) fn of(device: Device) -> DeviceMemory {
        DeviceMemory { pool: default_pool(device) }
    }

    /// Takes `bytes` bytes, for what is queued on `stream` from now on.
    ///
    /// # Safety
    /// The stream is of the current context, and all that uses the memory is queued on it.
    pub(super) unsafe fn take(&self, address: &mut Address, bytes: usize, stream: CUstream) -> CUresult {
        // SAFETY: the caller vouches for the stream.
        unsafe {
            if self.pool.is_none() {
                return sys::cuMemAlloc_v2(address, bytes);
            }
            let status = sys::cuMemAllocAsync(address, bytes, stream);
            if status != CUresult::CUDA_ERROR_OUT_OF_MEMORY {
                return status;
            }
            // What the pool holds may be in pieces that are too small.
            self.trim(stream);
            sys::cuMemAllocAsync(address, bytes, stream)
        }
    }

    /// Gives memory back behind what is queued on `stream`. Faults come up in the next call that reports
    /// them.
    ///
    /// # Safety
    /// The memory was taken here for this stream, and nothing queued later uses it.
    pub(super) unsafe fn give_back(&self, address: Address, stream: CUstream) {
        // SAFETY: the caller's promise; without a pool nothing queued earlier uses it either.
        unsafe {
            if self.pool.is_some() {
                sys::cuMemFreeAsync(address, stream);
            } else {
                sys::cuStreamSynchronize(stream);
                sys::cuMemFree_v2(address);
            }
        }
    }

    /// Lets the pool hold so many bytes which nobody uses, as far as the system has them. In small pieces:
    /// other calls of the driver wait while one is taken. The driver joins them where that is needed.
    ///
    /// # Safety
    /// The stream is of the current context.
    pub(super) unsafe fn reserve(&self, bytes: u64, stream: CUstream) {
        const PIECE: usize = 128 << 20;
        if self.pool.is_none() {
            return;
        }
        let missing = bytes.saturating_sub(self.idle()) / PIECE as u64;
        let mut taken = Vec::new();
        for _ in 0..missing {
            let mut address = 0;
            // SAFETY: `address` is writable; the caller vouches for the stream.
            if unsafe { sys::cuMemAllocAsync(&mut address, PIECE, stream) } != SUCCESS {
                break;
            }
            taken.push(address);
        }
        for address in taken {
            // SAFETY: taken above, and nothing uses it.
            unsafe { sys::cuMemFreeAsync(address, stream) };
        }
    }

    /// Bytes which the pool holds and nobody uses; the driver counts them as taken.
    pub(super) fn idle(&self) -> u64 {
        let Some(pool) = self.pool else { return 0 };
        let get = |attribute| {
            let mut bytes = 0_u64;
            // SAFETY: these attributes are 64-bit integers.
            unsafe { sys::cuMemPoolGetAttribute(pool, attribute, (&raw mut bytes).cast()) };
            bytes
        };
        let reserved = get(CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
        reserved.saturating_sub(get(CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT))
    }

    /// Waits for `stream` and returns what the pool holds and nobody uses to the system.
    ///
    /// # Safety
    /// The stream is of the current context.
    pub(super) unsafe fn trim(&self, stream: CUstream) {
        let Some(pool) = self.pool else { return };
        // SAFETY: the caller vouches for the stream; memory in use stays in the pool.
        unsafe {
            sys::cuStreamSynchronize(stream);
            sys::cuMemPoolTrimTo(pool, 0);
        }
    }
}

/// The default pool of a device that has pools, told to return nothing to the system by itself.
fn default_pool(device: Device) -> Option<CUmemoryPool> {
    let supported = device.get_attribute(DeviceAttribute::MemoryPoolsSupported).is_ok_and(|value| value != 0);
    let (mut pool, mut threshold) = (std::ptr::null_mut(), u64::MAX);
    // SAFETY: both are writable, and the threshold is a 64-bit integer.
    let found = unsafe {
        supported
            && sys::cuDeviceGetDefaultMemPool(&mut pool, device.as_raw()) == SUCCESS
            && sys::cuMemPoolSetAttribute(
                pool,
                CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                (&raw mut threshold).cast(),
            ) == SUCCESS
    };
    found.then_some(pool)
}

/// Takes `bytes` bytes of page-locked host memory, one at least, which device and host see at the same
/// address.
///
/// # Errors
/// There is not so much, or the device, called `name`, sees it at another address.
pub(super) fn take_page_locked(bytes: usize, name: &str) -> Result<Address> {
    let call = || format!("cuMemAllocHost({bytes} bytes of page-locked memory)");
    // SAFETY: the contents are the caller's business.
    let pointer = unsafe { cuda_malloc_locked::<u8>(bytes) }.map_err(failed(call()))?;
    let mut address = 0;
    // SAFETY: `address` is writable, and the pointer came from the driver.
    let status = unsafe { sys::cuMemHostGetDevicePointer_v2(&mut address, pointer.cast(), 0) };
    let unified = check(status, call).and_then(|()| match address == pointer as Address {
        true => Ok(()),
        false => Err(Error::Device {
            call: call(),
            message: format!(
                "{name} sees host memory at another address than the host; \
                 a device with unified addressing is needed"
            ),
        }),
    });
    if let Err(error) = unified {
        // SAFETY: just allocated, used nowhere. A failure to give it back would hide the cause.
        let _ = unsafe { cuda_free_locked(pointer) };
        return Err(error);
    }
    Ok(address)
}

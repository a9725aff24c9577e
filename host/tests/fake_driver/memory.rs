//! Memory and copies.

use super::*;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> u32 {
    unsafe {
        *free = MEMORY - *USED.lock().unwrap();
        *total = MEMORY;
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> u32 {
    assert_eq!(CURRENT.get(), 71, "the first device has a pool");
    let mut used = USED.lock().unwrap();
    if *used + bytes > MEMORY {
        return OUT_OF_MEMORY;
    }
    *used += bytes;
    unsafe { *address = take(&DEVICE, bytes) as u64 };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemFree_v2(address: u64) -> u32 {
    let Some(bytes) = give_back(&DEVICE, address as usize) else { return 1 };
    *USED.lock().unwrap() -= bytes;
    SUCCESS
}

const DEFAULT_POOL: usize = 0x900;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetDefaultMemPool(pool: *mut usize, device: c_int) -> u32 {
    assert_eq!(device, 70, "the second device has no pools");
    unsafe { *pool = DEFAULT_POOL };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolSetAttribute(pool: usize, attribute: c_uint, value: *const u64) -> u32 {
    // The release threshold.
    assert_eq!((pool, attribute, unsafe { *value }), (DEFAULT_POOL, 4, u64::MAX));
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolGetAttribute(pool: usize, attribute: c_uint, value: *mut u64) -> u32 {
    assert_eq!(pool, DEFAULT_POOL);
    let pool = POOL.lock().unwrap();
    unsafe {
        *value = match attribute {
            5 => pool.used + pool.idle.iter().sum::<usize>(),
            7 => pool.used,
            _ => return 1,
        } as u64;
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemPoolTrimTo(pool: usize, keep: usize) -> u32 {
    assert_eq!((pool, keep), (DEFAULT_POOL, 0));
    let idle = std::mem::take(&mut POOL.lock().unwrap().idle);
    *USED.lock().unwrap() -= idle.iter().sum::<usize>();
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocAsync(address: *mut u64, bytes: usize, handle: usize) -> u32 {
    assert!(CURRENT.get() == 70 && bytes > 0 && stream(handle).capture.is_none());
    let mut pool = POOL.lock().unwrap();
    if let Some(i) = pool.idle.iter().position(|&idle| idle >= bytes) {
        pool.idle[i] -= bytes;
    } else {
        let mut used = USED.lock().unwrap();
        if *used + bytes > MEMORY {
            return OUT_OF_MEMORY;
        }
        *used += bytes;
    }
    pool.used += bytes;
    unsafe { *address = take(&DEVICE, bytes) as u64 };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemFreeAsync(address: u64, handle: usize) -> u32 {
    assert!(stream(handle).capture.is_none());
    queue(handle, Work::Free(address as usize))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocHost_v2(address: *mut usize, bytes: usize) -> u32 {
    if CURRENT.get() == 0 {
        return INVALID_CONTEXT;
    }
    unsafe { *address = take(&LOCKED, bytes) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemFreeHost(address: usize) -> u32 {
    if give_back(&LOCKED, address).is_some() { SUCCESS } else { 1 }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostGetDevicePointer_v2(device: *mut u64, host: usize, flags: c_uint) -> u32 {
    assert_eq!(flags, 0);
    // The second device, compute capability 8.0, has no unified addressing.
    unsafe { *device = (host + if CURRENT.get() == 71 { 4096 } else { 0 }) as u64 };
    SUCCESS
}

/// At once, whatever is queued on a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoD_v2(to: u64, from: *const u8, bytes: usize) -> u32 {
    unsafe { std::ptr::copy_nonoverlapping(from, to as *mut u8, bytes) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoH_v2(to: *mut u8, from: u64, bytes: usize) -> u32 {
    unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to, bytes) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyHtoDAsync_v2(to: u64, from: usize, bytes: usize, handle: usize) -> u32 {
    assert!(within(&DEVICE, to as usize, bytes) || within(&LOCKED, to as usize, bytes));
    let status = queue(handle, Work::Copy { to: to as usize, from, bytes });
    // Pageable memory has been read when the call returns.
    if status == SUCCESS && !within(&LOCKED, from, bytes) { stream(handle).drain(None) } else { status }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyDtoHAsync_v2(to: usize, from: u64, bytes: usize, handle: usize) -> u32 {
    assert!(within(&DEVICE, from as usize, bytes) || within(&LOCKED, from as usize, bytes));
    queue(handle, Work::Copy { to, from: from as usize, bytes })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, handle: usize) -> u32 {
    assert!(within(&DEVICE, to as usize, bytes) && within(&DEVICE, from as usize, bytes));
    queue(handle, Work::Copy { to: to as usize, from: from as usize, bytes })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD8Async(to: u64, value: u8, bytes: usize, handle: usize) -> u32 {
    assert!(value == 0 && within(&DEVICE, to as usize, bytes));
    queue(handle, Work::Zero { to: to as usize, bytes })
}
